"""The languages the resolver reads: a table each. What no table can hold (script, word order, letters written onto a
word) is a branch by the language's name in said/; another language needs both.
"""

from langmem_plugin.references.words.english import ENGLISH
from langmem_plugin.references.words.hebrew import HEBREW
from langmem_plugin.references.words.language_table import Comparison, Language, phrases, word_set
from langmem_plugin.references.words.spanish import SPANISH

LANGUAGES: tuple[Language, ...] = (ENGLISH, HEBREW, SPANISH)

__all__ = ["ENGLISH", "HEBREW", "LANGUAGES", "SPANISH", "Comparison", "Language", "phrases", "word_set"]
