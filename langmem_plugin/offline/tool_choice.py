"""Which tool a message means: the nearest by name and description, with what speaks for and against it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.offline.argument_schema import Json, is_id
from langmem_plugin.offline.tool_arguments import Filled, fill
from langmem_plugin.references import Reference

# Cosines of the offline embeddings; the tests of the model and of the example graphs hold what they keep apart.
_READ_FROM = 0.30  # below this no tool is meant
_ACT_FROM = 0.36  # the same for a tool that changes something
# What is added to or taken from a tool's cosine.
_SHARED_WORDS = 0.15
_USES_WHAT_IS_MEANT = 0.08
_LACKS_ARGUMENTS = 0.05
_LACKS_WHAT_NOBODY_POINTS_AT = 0.15
_ACTS_ON_A_QUESTION = 0.10

_READS = re.compile(r"(?:get|list|search|find|show|look|check|read|view|fetch|query|recall)\b")
_QUESTION = re.compile(
    r"\?\s*$|^\W*(?:what|who|whose|when|where|which|how|why|is|are|do|does|did|show|tell|give|list|find|any)\b",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"\b(?:number|first|second|third|fourth|fifth|last|next|that|this|those|these|it|them|one|ones|both)\b|#\s?\d",
    re.IGNORECASE,
)


@dataclass
class Choice:
    """A tool that may be meant, with its arguments and how near the message it is."""

    tool: Json
    filled: Filled
    score: float = 1.0


class Chooser:
    """Keeps the vectors of tools, which are few and known; never those of messages, which are a person's."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._tools: dict[tuple[str, str], list[Any]] = {}

    def nearest(self, said: str, references: Sequence[Reference], tools: Sequence[Json]) -> Choice | None:
        """The tool that is meant; None when all are far."""
        spoken = [self.vector(text) for text in {said, _with_kinds(said, references)}]
        choices = [self._choice(said, spoken, references, tool) for tool in tools]
        best = max(choices, key=lambda choice: choice.score, default=None)
        return best if best is not None and best.score >= (_READ_FROM if _reads(best.tool) else _ACT_FROM) else None

    def vector(self, text: str) -> Any:
        return np.array(self._embeddings.embed_query(text))

    def _choice(self, said: str, spoken: list[Any], references: Sequence[Reference], tool: Json) -> Choice:
        filled = fill(tool, said, references, {})
        whole, *parts = self._vectors_of(tool)
        near = max(
            (float(vector @ whole) + max(float(vector @ part) for part in [whole, *parts])) / 2 for vector in spoken
        )
        return Choice(tool, filled, near + _adjustment(said, tool, filled))

    def _vectors_of(self, tool: Json) -> list[Any]:
        """Of name and description together, then of the name and of each sentence alone."""
        name, description = _words_of_name(tool), " ".join(tool.get("description", "").replace("`", "").split())
        if (name, description) not in self._tools:
            texts = [f"{name}: {description}", name, *re.split(r"(?<=[.:;])\s+", description)]
            self._tools[name, description] = [self.vector(text) for text in texts if text]
        return self._tools[name, description]


def is_question(said: str) -> bool:
    return bool(_QUESTION.search(said))


def acts_on_question(said: str, tool: Json) -> bool:
    """Who asks does not want anything changed."""
    return is_question(said) and not _reads(tool)


def _adjustment(said: str, tool: Json, filled: Filled) -> float:
    score = _SHARED_WORDS * _shared(said, tool)
    if filled.referred:
        score += _USES_WHAT_IS_MEANT
    if filled.missing:
        pointed = _POINTER.search(said) or not any(argument.is_id for argument in filled.missing)
        score -= _LACKS_ARGUMENTS if pointed else _LACKS_WHAT_NOBODY_POINTS_AT
    return score - (_ACTS_ON_A_QUESTION if acts_on_question(said, tool) else 0)


def _reads(tool: Json) -> bool:
    return bool(_READS.match(_words_of_name(tool)))


def _words_of_name(tool: Json) -> str:
    """`getWeather`, `get_weather` → get weather."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", " ", tool["name"]).lower()


def _shared(said: str, tool: Json) -> float:
    """The share of the message's words that the tool's name and description hold."""
    words, held = _stems(said), _stems(f"{_words_of_name(tool)} {tool.get('description', '')}")
    return len(words & held) / max(len(words), 1)


def _stems(text: str) -> set[str]:
    return {re.sub(r"(?<=..)(?:ing|ed|es|s|e)$", "", word) for word in re.findall(r"[a-z]{3,}", text.lower())}


def _with_kinds(said: str, references: Sequence[Reference]) -> str:
    """The message with "number 3" or "that one" replaced by the kind of thing it means."""
    for reference in references:
        found = re.search(re.escape(reference.words), said, re.IGNORECASE)
        if found and reference.items and reference.sort != "asked":
            said = said[: found.start()] + _kind(reference.items[0]) + said[found.end() :]
    return said


def _kind(item: Json) -> str:
    keyed = next((key for key in item if is_id(key) and "_" in key), None)
    return keyed.rsplit("_", 1)[0].replace("_", " ") if keyed else next(iter(item), "").replace("_", " ")
