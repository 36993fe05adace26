"""The words facts are stated in, a table per language."""

from langmem_plugin.facts.words.english import ENGLISH
from langmem_plugin.facts.words.hebrew import HEBREW
from langmem_plugin.facts.words.language_table import Language
from langmem_plugin.facts.words.spanish import SPANISH

LANGUAGES = (ENGLISH, HEBREW, SPANISH)

__all__ = ["LANGUAGES", "Language"]
