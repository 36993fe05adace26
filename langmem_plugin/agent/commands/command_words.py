"""The commands: their words in each language, how one is told from other texts, and which one was meant."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import OSA

from langmem_plugin.agent.replying.replies import LANGUAGES, words_in
from langmem_plugin.memory.models import storable

CommandName = Literal[
    "remember",
    "memories",
    "search",
    "why",
    "forget",
    "undo",
    "confirm",
    "instructions",
    "privacy",
    "export",
    "timezone",
    "link",
    "reset",
    "help",
]

_WORDS: Mapping[str, Mapping[CommandName, str]] = {each: words_in(each)["commands"] for each in LANGUAGES}
_COMMAND_OF: Mapping[str, CommandName] = {
    word: command for words in _WORDS.values() for command, forms in words.items() for word in forms.split()
}
_LANGUAGE_OF = {
    word: language for language, words in _WORDS.items() for forms in words.values() for word in forms.split()
}
_TYPED = re.compile(r"/(?P<word>[^\W\d][\w-]*)(?P<bot>@\w+)?[.,:;!?]*(?:\s+(?P<rest>.*))?", re.DOTALL)
_SHORTEST = 3  # letters: "/s" and "/ok" mean something else where they are written
_SHORT = 5  # letters of a word in which one slip is as much as can be told from another word


@dataclass(frozen=True)
class Typed:
    """A text that begins with a slash and a word: the word as it is compared, and what follows."""

    word: str
    rest: str

    @property
    def command(self) -> CommandName | None:
        return _COMMAND_OF.get(self.word)


def may_be_typed(text: str) -> bool:
    """Tells whether the text begins with a slash, after any invisible characters: a quick test for most texts."""
    return next(
        (each == "/" or unicodedata.normalize("NFKC", each) == "/" for each in text if not _is_unseen(each)), False
    )


def cleaned(text: str) -> str:
    """The text as it is stored: without controls, halves of characters, and marks that cannot be seen at either end."""
    kept = "".join(each for each in storable(text) if each in "\n\t" or unicodedata.category(each) != "Cc")
    start, end = 0, len(kept)
    while start < end and _is_unseen(kept[start]):
        start += 1
    while end > start and _is_unseen(kept[end - 1]):
        end -= 1
    return kept[start:end]


def typed(text: str) -> Typed | None:
    """Reads a command; None for a text that is no slash and word: a path, "/5", or text. `text` is cleaned."""
    first, *_ = text.split(maxsplit=1) or [""]
    word = "".join(each for each in unicodedata.normalize("NFKC", first[:100]) if unicodedata.category(each) != "Cf")
    found = _TYPED.fullmatch(word + text[len(first) :])
    if found is None:
        return None
    return Typed(found["word"].casefold().replace("-", "_"), cleaned(found["rest"] or ""))


def nearest(word: str, language: str) -> str | None:
    """The command that a word, in English or in `language`, is a slip of the pen for, by its word in `language`.

    The first letter is right and one other is wrong, left out, added or changed places, two in a word of more than
    five. Nobody mistypes the first letter, and so "/research" is none.
    """
    if len(word) < _SHORTEST or word in _COMMAND_OF:
        return None
    near = [
        (distance, known)
        for known, of in _LANGUAGE_OF.items()
        if of in ("en", language)
        and known[0] == word[0]
        and (distance := OSA.distance(known, word)) <= (1 if len(known) <= _SHORT else 2)
    ]
    if not near:
        return None
    meant = min(near, key=lambda each: (each[0], _LANGUAGE_OF[each[1]] != language, each[1]))[1]
    if _LANGUAGE_OF[meant] == language:
        return meant
    return _WORDS[language][_COMMAND_OF[meant]].split()[0]


def language_of_command(text: str) -> Literal["he", "es"] | None:
    """The language of a command's word; None for the English ones, which all people use."""
    found = typed(cleaned(text[:200]))
    language = _LANGUAGE_OF.get(found.word) if found else None
    match language:
        case "he" | "es" as known:
            return known
    return None


def _is_unseen(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) in ("Cf", "Cc")
