"""The languages the resolver reads; adding one is adding a table to LANGUAGES."""

from .english import ENGLISH
from .hebrew import HEBREW
from .spanish import SPANISH
from .table import Comparison, Words, phrases

LANGUAGES: tuple[Words, ...] = (ENGLISH, HEBREW, SPANISH)

__all__ = ["ENGLISH", "HEBREW", "LANGUAGES", "SPANISH", "Comparison", "Words", "phrases"]
