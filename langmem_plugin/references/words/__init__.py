"""The languages the resolver reads; adding one is adding a table to LANGUAGES."""

from langmem_plugin.references.words.english import ENGLISH
from langmem_plugin.references.words.hebrew import HEBREW
from langmem_plugin.references.words.language_table import Comparison, Language, phrases
from langmem_plugin.references.words.spanish import SPANISH

LANGUAGES: tuple[Language, ...] = (ENGLISH, HEBREW, SPANISH)

__all__ = ["ENGLISH", "HEBREW", "LANGUAGES", "SPANISH", "Comparison", "Language", "phrases"]
