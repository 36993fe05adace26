"""Which language an utterance is written in."""

from collections.abc import Sequence

from langmem_plugin.references.said.lexicon import lexicon
from langmem_plugin.references.said.spanish_enclitics import has_enclitic
from langmem_plugin.references.text.tokens import Token, tokens
from langmem_plugin.references.words import LANGUAGES, Language

_SPANISH_MARKS = frozenset("áéíóúñ¿¡")


def language_of(text: str, found: Sequence[Token] | None = None) -> Language:
    """The language an utterance is written in: by script, else by its function words; English when in doubt.

    `found` are its tokens, where they are at hand.
    """
    english, hebrew, spanish = LANGUAGES
    if any("\u05d0" <= letter <= "\u05ea" for letter in text):
        return hebrew
    words = [token.text for token in (tokens(text) if found is None else found) if token.word]
    accented = bool(words) and not _SPANISH_MARKS.isdisjoint(text.lower())
    in_spanish = _known(words, spanish) + sum(has_enclitic(word, word) for word in words) + 2 * accented
    return spanish if in_spanish > _known(words, english) else english


def _known(words: Sequence[str], language: Language) -> int:
    forms = lexicon(language).forms
    return sum((word in language.stop) + ((word,) in forms) for word in words)
