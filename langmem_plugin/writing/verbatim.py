"""Check that words a model quotes were said: letter for letter, but for spacing, capitals and quote marks."""

import unicodedata
from collections.abc import Sequence

from langmem_plugin.foreign_text import ANGLES

_DOUBLE, _SINGLE = "“”„‟«»″״＂", "‘’‚‛′׳`´＇"
_SAME = {ord(each): '"' for each in _DOUBLE} | {ord(each): "'" for each in _SINGLE} | ANGLES
_AROUND = " \t\r\n.,;:!?…\"'"


def found_in(quote: str, text: str) -> str | None:
    """Return the place in the text as the person wrote it; None where they did not say it, or it is no whole word."""
    wanted, _ = _plain(quote)
    wanted = wanted.strip(_AROUND)
    if not any(map(str.isalnum, wanted)):
        return None
    plain, places = _plain(text)
    start = plain.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not _splits_word(plain, start) and not _splits_word(plain, end):
            return text[places[start] : places[end - 1] + 1]
        start = plain.find(wanted, start + 1)
    return None


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """Return the text in one spelling, and where each of its letters stands in it."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            letters.append(" ")
        elif unicodedata.category(letter) == "Cf":  # marks of direction are not seen
            continue
        else:
            small = letter.lower()
            letters.append((small if len(small) == 1 else letter).translate(_SAME))
        places.append(place)
    return "".join(letters), places


def _splits_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()
