"""Which language an utterance is written in."""

from langmem_plugin.references.said.lexicon import lexicon
from langmem_plugin.references.said.spanish_enclitics import has_enclitic
from langmem_plugin.references.text.tokens import tokens
from langmem_plugin.references.words import LANGUAGES, Language

_SPANISH_MARKS = frozenset("áéíóúñ¿¡")


def language_of(text: str) -> Language:
    """The language an utterance is written in: by script, else by its function words; English when in doubt."""
    english, hebrew, spanish = LANGUAGES
    if any("\u05d0" <= letter <= "\u05ea" for letter in text):
        return hebrew
    words = [token.text for token in tokens(text) if token.word]
    accented = bool(words) and not _SPANISH_MARKS.isdisjoint(text.lower())
    scores = []
    for language in (english, spanish):
        table = lexicon(language)[0]
        scores.append(sum((word in language.stop) + ((word,) in table) for word in words))
    scores[1] += sum(has_enclitic(word, word) for word in words)
    return spanish if scores[1] + 2 * accented > scores[0] else english
