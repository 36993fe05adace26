"""The detection of the language that a message is in, kept for each person: they are answered in it."""

import re
from collections.abc import Sequence

from langmem_plugin.agent.commands.recognition import language_of_command, may_be_typed
from langmem_plugin.agent.replying.reply_texts import ENGLISH, Replies, replies_in, words_in
from langmem_plugin.memory.find.tokenizer import STOP_WORDS, words_of
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.people.person_settings import LanguageCode, PersonSettings

_SHORT_WORD, _A_FEW = 3, 2
_LONGEST = 2_000  # letters that are looked at
_NO_WORD = re.compile(r"https?://|.{1,99}@", re.DOTALL)
_HEBREW = re.compile("[\u05d0-\u05ea]")
_LATIN_WORD = re.compile("[a-z]+")
_LETTERS = re.compile(r"[^\W\d_]")
_SPANISH_LETTERS = re.compile("[ñ¿¡]")
_ACCENTS = re.compile("[áéíóú]")
_OF_OTHERS = re.compile("[àâãäåæçèêëìîïòôõöøœßùû]|\\b(?:não|você|obrigad[oa]|je|est|und|ich|nicht|sono|che|grazie)\\b")

# Words that make up a message of a word or two, beside those of a sentence.
_ENGLISH, _SPANISH = (frozenset(words_in(each)["written"]) for each in ("en", "es"))
_ONLY_ENGLISH = (frozenset(STOP_WORDS["english"]) | _ENGLISH) - frozenset(STOP_WORDS["spanish"]) - {"a"}
_ONLY_SPANISH = (frozenset(STOP_WORDS["spanish"]) | _SPANISH) - frozenset(STOP_WORDS["english"]) - {"a"}


def replies_for(person_settings: PersonSettings, person: str, text: str) -> Replies:
    """Return the texts for the author of `text`, and keep the language. One without any, as "👍", changes nothing."""
    written = written_in(text)
    if written is None:
        before, words = person_settings.language(person), _own_words(text)
        # Several words in Latin letters alone are no Hebrew.
        is_latin = len(_LATIN_WORD.findall(words)) > _A_FEW and not _HEBREW.search(words)
        return ENGLISH if before == "he" and is_latin else replies_in(before)
    person_settings.set_language(person, written)
    return replies_in(written)


def written_in(text: str) -> LanguageCode | None:
    """Return the language of a text; None if it does not tell, or if people are not answered in it."""
    of_command, words = language_of_command(text), _own_words(text)
    if hebrew := len(_HEBREW.findall(words)):
        return "he" if 2 * hebrew >= len(_LETTERS.findall(words)) else None
    said = words_of(words)
    english, spanish = _evidence(said, _ONLY_ENGLISH, _ENGLISH), _evidence(said, _ONLY_SPANISH, _SPANISH)
    if not _OF_OTHERS.search(words):
        spanish += 2 * bool(_SPANISH_LETTERS.search(words)) + bool(_ACCENTS.search(words) and not english)
        if english != spanish:
            return "en" if english > spanish else "es"
    return of_command


def _own_words(text: str) -> str:
    """Return the words of a text, without addresses and a command's words."""
    text = storable(text[:_LONGEST])
    parts = [each for each in text.casefold().split() if not _NO_WORD.match(each)]
    return " ".join(parts[1:] if may_be_typed(text) else parts)


def _evidence(said: Sequence[str], words: frozenset[str], sure: frozenset[str]) -> int:
    """Count how many of `words` were said; one that is as short as "te" or "no" does not count alone."""
    found = [word for word in said if word in words]
    return len(found) if len(found) > 1 or any(word in sure or len(word) > _SHORT_WORD for word in found) else 0
