"""A long text split between sentences: never inside a line of a list or a block of code."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

_FENCE = "```"
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*(?:\n|\Z)|\Z)", re.MULTILINE | re.DOTALL)
_LIST_LINE = re.compile(r"\A[ \t]*(?:[-*•–]|\(?\d{1,4}[.)]|\(?[a-zA-Z][.)]|\|)\s?")
_SENTENCE = re.compile(r"(?<=[.!?…。！？؟])[ \t]+|(?<=[。！？])")
_JOINS = ("\u200d", "\ufe0e", "\ufe0f")
_Measure = Callable[[str], int]
_Cut = Callable[[str, int, _Measure], list[str]]


def split(text: str, longest: int, measure: _Measure = len) -> list[str]:
    """Return the parts, none of them empty or longer than `longest` by `measure`."""
    filled = _filled(_atoms(text), longest, measure, _pieces)
    return [part for each in filled if (part := each.strip("\n").rstrip()) and part.strip()]


def _filled(atoms: Iterable[str], longest: int, measure: _Measure, cut: _Cut) -> list[str]:
    """Join the atoms that have room in one part; one that is too long for any part is cut."""
    found, current = [], ""
    for atom in atoms:
        if measure((current + atom).rstrip()) <= longest:
            current += atom
            continue
        found.append(current)
        *whole, current = cut(atom, longest, measure)
        found += whole
    return [each for each in (*found, current) if each]


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


def _pieces(atom: str, longest: int, measure: _Measure) -> list[str]:
    """Cut a piece that is too long for any part: code between lines, each part a block of its own; text by words."""
    if measure(atom.rstrip()) <= longest:
        return [atom]
    if atom.lstrip().startswith(_FENCE):
        opening, *lines = atom.strip().splitlines()
        body = "\n".join(lines[:-1] if lines and lines[-1].strip() == _FENCE else lines)
        room = longest - measure(f"{opening}\n\n{_FENCE}")
        if room > 0:
            blocks = _filled(re.split(r"(?<=\n)", body), room, measure, _letters)
            return ["\n".join((opening, each.strip("\n"), _FENCE, "")) for each in blocks]
    return _filled(re.split(r"(?<=\s)(?=\S)", atom), longest, measure, _letters)


def _letters(word: str, longest: int, measure: _Measure) -> list[str]:
    """Cut a word that is too long: outside of visible characters, unless one alone is too long."""
    found = []
    while measure(word.rstrip()) > longest:
        fits = longest
        while measure(word[:fits]) > longest:
            fits -= 1
        cut = fits
        while cut > 1 and _joined(word[cut - 1], word[cut]):
            cut -= 1
        cut = cut if cut > 1 else max(fits, 1)
        found.append(word[:cut])
        word = word[cut:]
    return [*found, word]


def _joined(one: str, other: str) -> bool:
    is_tone = "\U0001f3fb" <= other <= "\U0001f3ff"
    return one == _JOINS[0] or other in _JOINS or is_tone or unicodedata.combining(other) > 0
