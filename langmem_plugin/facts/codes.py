"""Words in which every letter and sign counts: "Abc123", "C++", "v1.10", "A-", an address on the web."""

import re
from collections.abc import Iterator
from typing import Final

_TOKEN = re.compile(r"[^\s,;!?()\"“”]++")
_AMOUNT = re.compile(
    r"[$€£₪]?+\d++(?:[.,:/-]\d++)*+(?:k|m|st|nd|rd|th|am|pm|a\.m|p\.m|h|hs|kg|g|mg|mcg|ml|cl|km|cm|lb|lbs|oz|%|[$€£₪])?+(?:/[^\W\d_]++)?+",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\d{1,2}\.\d0")
_COUNTED = re.compile(r"[^\W\d_]{3,}-\d++s?+|\d++-[^\W\d_]{3,}(?:-[^\W\d_]++)?+", re.IGNORECASE)
_SIGNS: Final = frozenset("+#@_\\*&^%~=<>|")
_GRADE = re.compile(r"[A-Za-z]{1,2}-")


def codes(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each begins and ends, and how it is written; an e-mail address in small letters, since its case is free."""
    for found in _TOKEN.finditer(text):
        word = found.group().rstrip(".:'").removesuffix("'s")
        if _is_code(word):
            yield (
                found.start(),
                found.start() + len(word),
                word.casefold() if "@" in word or _COUNTED.fullmatch(word) else word,
            )


def _is_code(word: str) -> bool:
    if word.isalpha():
        return False
    if _VERSION.fullmatch(word) or "://" in word or _GRADE.fullmatch(word):
        return True
    if _AMOUNT.fullmatch(word):
        return False
    letters = any(c.isalpha() for c in word)
    if any("\u05d0" <= c <= "\u05ea" for c in word):
        return False  # Hebrew writes its small words onto numbers: "ב-18:30"
    return letters and (any(c.isdigit() for c in word) or any(c in _SIGNS for c in word))
