"""The choice of the tool that a message means: the nearest by name and description, with points for and against it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.offline.english import WORDS, in_english, pattern
from langmem_plugin.offline.tool_arguments import CARRIERS, Filled, Json, fill
from langmem_plugin.references import PreviousCall, Reference
from langmem_plugin.references.said.utterance_words import language_of
from langmem_plugin.references.shown.lists_in_tool_results import reads, tool_nouns

# Cosines of the offline embeddings; tests of the model and of the example graphs hold what they tell apart.
_READ_FROM = 0.30  # below this no tool is meant
_ACT_FROM = 0.36  # the same for a tool that changes something
# Points added to or taken from a tool's cosine.
_SHARED_WORDS = 0.15
_SHARED_VERB = 0.20
_USES_WHAT_IS_MEANT = 0.08
_LACKS_ARGUMENTS = 0.05
_LACKS_WHAT_NOBODY_POINTS_AT = 0.15
_ACTS_ON_A_QUESTION = 0.10

_REQUEST, _QUESTION, _WITHHELD = pattern("request"), pattern("question"), pattern("withheld")
_OPEN, _POINTER = pattern("open"), pattern("pointer")
_CLAUSE_END, _OPENING = pattern("clause_end"), pattern("opening")
_ALIKE = [set(verbs.split()) for verbs in WORDS["alike"]]
_NO_VERBS = CARRIERS - {"make", "put"}


class Request:
    """The request of a person, and the things it refers to: in English, whatever they wrote it in."""

    def __init__(self, text: str, references: Sequence[Reference], follows: PreviousCall | None = None) -> None:
        self._text = text
        self.follows = follows
        self.language = language_of(text)
        self.said = in_english(text, self.language)
        self.references = [replace(each, words=in_english(each.words, self.language)) for each in references]

    def to(self, tool: Json) -> tuple[str, list[Reference]]:
        """Return the request as it is filled into a tool: a text to be written stays as the person called it."""
        if reads(tool["name"]):
            return self.said, self.references
        own = _stems(_told(tool))
        text, *words = (
            in_english(each, self.language, lambda name: not own.isdisjoint(_stems(name)))
            for each in (self._text, *(each.words for each in self.references))
        )
        return text, [replace(each, words=said) for each, said in zip(self.references, words, strict=True)]

    def standing(self, tool: Json) -> dict[str, Any]:
        """Return the previous call's arguments (week, account) for a tool that acts on what that call showed."""
        if (
            self.follows is None
            or reads(tool["name"])
            or tool_nouns(tool["name"]).isdisjoint(tool_nouns(self.follows.tool))
        ):
            return {}
        parameters = tool.get("parameters", {})
        optional = parameters.get("properties", {}).keys() - set(parameters.get("required", ()))
        return {name: value for name, value in self.follows.arguments.items() if name in optional}

    def answered(self, answer: "Request") -> "Request":
        """Return the request with the answer to a question about it, in place of the words that left it open."""
        words = next((each.words for each in answer.references), "")
        said = _OPEN.sub(lambda _: words, self.said, count=1) if words else self.said
        said = said if said != self.said else f"{said} and {answer.said}"
        return Request(said, [*(each for each in self.references if len(each.items) == 1), *answer.references])


@dataclass
class Choice:
    """A tool that may be meant, with its arguments and how near the message it is."""

    tool: Json
    filled: Filled
    score: float = 1.0


class Chooser:
    """The choosing of a tool. It keeps the vectors of tools, few and known, and never those of a person's messages."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._tools: dict[tuple[str, str], list[Any]] = {}

    def nearest(self, request: Request, tools: Sequence[Json]) -> Choice | None:
        """Return the tool that is meant; None if all are far, or if it writes and nobody tells it to."""
        pointed = request.said
        for each in request.references:
            if each.words:
                pointed = pointed.replace(each.words, " ".join(sorted(each.kinds)) or each.words)
        spoken = [self.vector(text) for text in {request.said, pointed}]
        choices = [self._choice(request, spoken, tool) for tool in tools]
        best = max(choices, key=lambda choice: choice.score, default=None)
        if best is None or best.score < (_READ_FROM if reads(best.tool["name"]) else _ACT_FROM):
            return None
        told = reads(best.tool["name"]) or shares_verb(request.said, best.tool)
        return best if told and not withholds(request.said, best.tool) else None

    def vector(self, text: str) -> Any:
        return np.array(self._embeddings.embed_query(text))

    def _choice(self, request: Request, spoken: list[Any], tool: Json) -> Choice:
        filled = fill(tool, *request.to(tool), request.standing(tool))
        whole, *parts = self._vectors_of(tool)
        near = max(float(said @ whole + max(said @ part for part in [whole, *parts])) / 2 for said in spoken)
        return Choice(tool, filled, near + _adjustment(request.said, tool, filled))

    def _vectors_of(self, tool: Json) -> list[Any]:
        """Return the vectors of name and description together, then of the name and of each sentence alone."""
        name, description = _words_of_name(tool), " ".join(tool.get("description", "").replace("`", "").split())
        if (name, description) not in self._tools:
            texts = [f"{name}: {description}", name, *re.split(r"(?<=[.:;])\s+", description)]
            self._tools[name, description] = [self.vector(text) for text in texts if text]
        return self._tools[name, description]


def is_question(said: str) -> bool:
    return bool(_QUESTION.search(said)) and not _REQUEST.match(said)


def withholds(said: str, tool: Json) -> bool:
    """Tell whether to hold a tool back: it would change something, and the person only asks, doubts or forbids."""
    return not reads(tool["name"]) and (is_question(said) or bool(_WITHHELD.search(said)))


def _adjustment(said: str, tool: Json, filled: Filled) -> float:
    score = _SHARED_WORDS * _shared(said, tool)
    if not reads(tool["name"]):
        score += _SHARED_VERB * shares_verb(said, tool) - _ACTS_ON_A_QUESTION * is_question(said)
    if filled.referred:
        score += _USES_WHAT_IS_MEANT
    if filled.missing:
        pointed = _POINTER.search(said) or not any(argument.is_id for argument in filled.missing)
        score -= _LACKS_ARGUMENTS if pointed else _LACKS_WHAT_NOBODY_POINTS_AT
    return score


def shares_verb(said: str, tool: Json) -> bool:
    """Tell whether a clause begins with a verb of the tool: "save it", "the second one, please order it"."""
    clauses = (_OPENING.sub("", each).split() for each in _CLAUSE_END.split(said.lower()))
    verbs = {words[0] for words in clauses if words and not words[0].endswith(("ed", "ing"))} - _NO_VERBS
    meant = verbs.union(*(alike for alike in _ALIKE if alike & verbs))
    return not _stems(" ".join(meant)).isdisjoint(_stems(_told(tool)))


def _words_of_name(tool: Json) -> str:
    """Return the words of a tool's name: get weather, for `getWeather` and `get_weather`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", " ", tool["name"]).lower()


def _told(tool: Json) -> str:
    return f"{_words_of_name(tool)} {tool.get('description', '')}"


def _shared(said: str, tool: Json) -> float:
    """Return the share of the message's words that the tool's name and description hold."""
    words, held = _stems(said), _stems(_told(tool))
    return len(words & held) / max(len(words), 1)


def _stems(text: str) -> set[str]:
    return {re.sub(r"(?<=..)(?:ing|ed|es|s|e)$", "", word) for word in re.findall(r"[a-z]{3,}", text.lower())}
