"""The languages the resolver reads; adding one is adding a table to LANGUAGES."""

from langmem_plugin.references.words.english import ENGLISH
from langmem_plugin.references.words.hebrew import HEBREW
from langmem_plugin.references.words.spanish import SPANISH
from langmem_plugin.references.words.table import Comparison, Words, phrases

LANGUAGES: tuple[Words, ...] = (ENGLISH, HEBREW, SPANISH)

__all__ = ["ENGLISH", "HEBREW", "LANGUAGES", "SPANISH", "Comparison", "Words", "phrases"]
