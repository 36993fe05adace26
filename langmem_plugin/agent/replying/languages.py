"""The language in which a person is answered: that of the message, else that of the one before."""

import re
from collections.abc import Sequence

from langmem_plugin.agent.commands.command_words import language_of_command, may_be_typed
from langmem_plugin.agent.replying.replies import Replies, replies_in, words_in
from langmem_plugin.memory.find.tokenizer import STOP_WORDS, words_of
from langmem_plugin.memory.models import storable
from langmem_plugin.people.person_settings import LanguageCode, PersonSettings

_SHORT = 3
_LONGEST = 2_000  # letters that are looked at
_NO_WORD = re.compile(r"https?://|.{1,99}@", re.DOTALL)
_HEBREW = re.compile("[\u05d0-\u05ea]")
_LETTERS = re.compile(r"[^\W\d_]")
_SPANISH_LETTERS = re.compile("[ñ¿¡]")
_ACCENTS = re.compile("[áéíóú]")
_OF_OTHERS = re.compile("[àâãäåæçèêëìîïòôõöøœßùû]|\\b(?:não|você|obrigad[oa]|je|est|und|ich|nicht|sono|che|grazie)\\b")
# What a message of a word or two is made of, beside the words of a sentence.
_ENGLISH, _SPANISH = (frozenset(words_in(each)["written"]) for each in ("en", "es"))
_ONLY_ENGLISH = (frozenset(STOP_WORDS["english"]) | _ENGLISH) - frozenset(STOP_WORDS["spanish"]) - {"a"}
_ONLY_SPANISH = (frozenset(STOP_WORDS["spanish"]) | _SPANISH) - frozenset(STOP_WORDS["english"]) - {"a"}


class Languages:
    """Remembers, by `person_settings`, in which language each person wrote last."""

    def __init__(self, person_settings: PersonSettings) -> None:
        self._person_settings = person_settings

    def language_for(self, person: str, text: str) -> Replies:
        """The texts for who wrote `text`. A text that says nothing, such as "👍" or "/reset", changes nothing."""
        written = written_in(text)
        if written is None:
            return replies_in(self._person_settings.language(person))
        self._person_settings.set_language(person, written)
        return replies_in(written)


def written_in(text: str) -> LanguageCode | None:
    """The language of a text; None where it does not tell, or is none of those that people are answered in."""
    text = storable(text[:_LONGEST])
    of_command = language_of_command(text)
    parts = [each for each in text.casefold().split() if not _NO_WORD.match(each)]
    words = " ".join(parts[1:] if may_be_typed(text) else parts)
    if hebrew := len(_HEBREW.findall(words)):
        return "he" if 2 * hebrew >= len(_LETTERS.findall(words)) else None
    said = words_of(words)
    english, spanish = _evidence(said, _ONLY_ENGLISH, _ENGLISH), _evidence(said, _ONLY_SPANISH, _SPANISH)
    if not _OF_OTHERS.search(words):
        spanish += 2 * bool(_SPANISH_LETTERS.search(words)) + bool(_ACCENTS.search(words) and not english)
        if english != spanish:
            return "en" if english > spanish else "es"
    return of_command


def _evidence(said: Sequence[str], words: frozenset[str], sure: frozenset[str]) -> int:
    """How many of `words` were said; one that is as short as "te" or "no" is none by itself."""
    found = [word for word in said if word in words]
    return len(found) if len(found) > 1 or any(word in sure or len(word) > _SHORT for word in found) else 0
