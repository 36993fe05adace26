"""A long text split between sentences: never inside a line of a list or a block of code."""

import re
import unicodedata
from collections.abc import Callable, Iterator

_FENCE = "```"
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*(?:\n|\Z)|\Z)", re.MULTILINE | re.DOTALL)
_LIST_LINE = re.compile(r"\A[ \t]*(?:[-*•–]|\(?\d{1,4}[.)]|\(?[a-zA-Z][.)]|\|)\s?")
_SENTENCE = re.compile(r"(?<=[.!?…。！？؟])[ \t]+|(?<=[。！？])")
_JOINS = ("\u200d", "\ufe0e", "\ufe0f")


def split(text: str, longest: int, measure: Callable[[str], int] = len) -> list[str]:
    """Return the parts, none of them empty or longer than `longest` by `measure`."""
    found, current = [], ""
    for atom in _atoms(text):
        if measure((current + atom).rstrip()) <= longest:
            current += atom
            continue
        found.append(current)
        *whole, current = _pieces(atom, longest, measure)
        found += whole
    return [part for each in (*found, current) if (part := each.strip("\n").rstrip()) and part.strip()]


def _atoms(text: str) -> Iterator[str]:
    """Give the pieces that stay whole if possible, each with the spaces behind it."""
    at = 0
    for code in _CODE.finditer(text):
        yield from _sentences(text[at : code.start()])
        yield code[0]
        at = code.end()
    yield from _sentences(text[at:])


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        if _LIST_LINE.match(line):
            yield line
            continue
        at = 0
        for end in _SENTENCE.finditer(line):
            yield line[at : end.end()]
            at = end.end()
        yield line[at:]


def _pieces(atom: str, longest: int, measure: Callable[[str], int]) -> list[str]:
    """Cut a piece that is too long for any part: code between lines, each part a block of its own; text by words."""
    if measure(atom.rstrip()) <= longest:
        return [atom]
    if atom.lstrip().startswith(_FENCE):
        opening, *lines = atom.strip().splitlines()
        body = "\n".join(lines[:-1] if lines and lines[-1].strip() == _FENCE else lines)
        room = longest - measure(f"{opening}\n\n{_FENCE}")
        if room > 0:
            return [f"{opening}\n{piece}\n{_FENCE}\n" for piece in _filled(re.split(r"(?<=\n)", body), room, measure)]
    return _filled(re.split(r"(?<=\s)(?=\S)", atom), longest, measure)


def _filled(words: list[str], longest: int, measure: Callable[[str], int]) -> list[str]:
    found, current = [], ""
    for word in words:
        if measure((current + word).rstrip()) <= longest:
            current += word
            continue
        found.append(current)
        current = word
        while measure(current.rstrip()) > longest:
            cut = _cut(current, longest, measure)
            found.append(current[:cut])
            current = current[cut:]
    return [each.strip("\n") for each in (*found, current) if each.strip()]


def _cut(word: str, longest: int, measure: Callable[[str], int]) -> int:
    """Return the place to cut a word that is too long: outside of visible characters, unless one alone is too long."""
    fits = longest
    while measure(word[:fits]) > longest:
        fits -= 1
    cut = fits
    while cut > 1 and _joined(word[cut - 1], word[cut]):
        cut -= 1
    return cut if cut > 1 else max(fits, 1)


def _joined(one: str, other: str) -> bool:
    is_tone = "\U0001f3fb" <= other <= "\U0001f3ff"
    return one == _JOINS[0] or other in _JOINS or is_tone or unicodedata.combining(other) > 0
