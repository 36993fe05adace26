"""The lists in plain text and markdown: numbered, lettered, labelled ("Week 2: …") or bulleted lines, and tables."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from langmem_plugin.references.tokens import normal, stem
from langmem_plugin.references.words import LANGUAGES

_LABEL = re.compile(
    r"""^(?P<indent>\s*)(?:[*_]{1,2})?
        (?: \#?\s?(?P<number>\d{1,3})\s?(?:[.):\]]|\s[-–—]|(?=\s*\uFE0F?\u20E3)|\s(?=[*_]{2}))(?!\d)
          | (?P<keycap>\d)\uFE0F?\u20E3 | (?P<ten>\U0001F51F)
          | \((?P<paren>\d{1,3})\) | \[(?P<square>\d{1,3})\] | \#(?P<hash>\d{1,3})\b[:.)]?
          | (?P<circled>[\u2460-\u2473])
          | \(?(?P<letter>[a-zA-Z\u05d0-\u05ea])[.)](?=\s)
          | (?P<bullet>[-*•◦▪‣–·✓✔☐🔹🔸▶➤]|[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?)\s
        )\s*(?:[*_]{1,2}(?=\s))?(?P<text>.*)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^\s*(?:#{1,6}\s+|[-*•]\s+)?[*_]{0,3}(?P<label>[^\W\d_]{2,14})\s?(?P<number>\d{1,4}|[A-Za-z\u05d0-\u05ea](?![^\W_]))"
    r"(?P<rest>[*_]{0,3}\s*(?:[:.)–—-].*|\(.*)?)$"
)
_INLINE = re.compile(r"(?:(?<=\s)|^)(?:\(?(\d{1,2})[.)]|(\d)\uFE0F?\u20E3|#(\d{1,2})[:.)]?)\s+(?=\S)")
_DETAIL = re.compile(r"^\W*\*{0,2}([^:*]{2,40}?)\*{0,2}:\*{0,2}\s+(.+)$")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(.*)|\*\*([^*]+)\*\*:?|__([^_]+)__:?)\s*$")
_CALLED = re.compile(r"^\s*(?:\*\*(.+?)\*\*|__(.+?)__|\*([^*]+)\*|[\"“«](.+?)[\"”»])")
_HEAD = re.compile(r"(?<!\s)\s++[–—-]\s++|(?<!\s)\s*+[:;(]\s*+|[.?!,]\s++")
_NUMBER_COLUMNS = ("#", "no", "no.", "number", "nr", "", "num", "nº", "מספר")
_FENCED = re.compile(r"(?ms)^[^\S\n]*```.*?(?:^[^\S\n]*```[^\n]*$|\Z)|^[^\S\n]*>+[^\S\n]?")
"""The parts that are left out of a text: code, whose comments and numbers are no list of the reply's, and the marks of
quoted lines, whose text may be one.
"""
_RULE = re.compile(r"^[\s:|-]+$")
_MARKS = re.compile(r"\*+|__|`")
_MANY_DIGITS = 10
_LONGEST_NAME = 8  # words
_LONGEST_TITLE = 200
_MONTHS = frozenset(month for language in LANGUAGES for month in language.months)


@dataclass
class ListLine:
    """One entry of a list in text; `number` is None for a bullet; `called` is the name it begins with."""

    number: int | None
    text: str
    details: dict[str, str] = field(default_factory=dict)
    called: str = ""


@dataclass
class TextList:
    """One list of a text, the words above it, and the word before each number ("week" of "Week 2: …")."""

    lines: list[ListLine] = field(default_factory=list)
    title: str = ""
    label: str = ""
    lettered: bool = False
    indent: int = 0

    @property
    def numbered(self) -> bool:
        return bool(self.lines) and self.lines[-1].number is not None


def read_lists(text: str) -> list[TextList]:
    """Return every list of a text with at least two entries, in order; [] if it shows none."""
    text = _FENCED.sub("\n", text)
    found = [each for each in _Reader(text).lists if len(each.lines) > 1]
    return found or [TextList(lines) for lines in [inline_list(text)] if lines]


def read_lines(text: str) -> list[ListLine]:
    """Return the entries of a text's longest list, numbered ones before bullets; one numbered entry is a list too."""
    found = read_lists(text) or [each for each in _Reader(text).lists if each.numbered and "\n" in text]
    return max(found, key=lambda each: (each.numbered, len(each.lines))).lines if found else []


class _Reader:
    """The reading of a text's lines, from first to last."""

    def __init__(self, text: str) -> None:
        self.lists: list[TextList] = []
        self._title: dict[str, str] = {}
        self._apart = True  # whether a heading or a paragraph stands between the last entry and here
        rows = text.splitlines()
        self._labels = _labels(rows)
        place = 0
        while place < len(rows):
            row = rows[place]
            if size := _table_at(rows, place):
                table = [dict(each) for each in _rows([rows[place], *rows[place + 2 : place + size]])]
                self.lists.append(TextList([_row_line(each) for each in table], self._heading()))
                self._apart, place = True, place + size - 1
            elif row.strip():
                self._read(row)
            place += 1

    def _read(self, row: str) -> None:
        labelled = _LABELLED.match(row)
        if labelled and stem(normal(labelled["label"])) in self._labels:
            self._add_labelled(labelled)
            return
        heading = _HEADING.match(row)
        match = None if heading else _LABEL.match(row)
        indent = len(row) - len(row.lstrip())
        last = self.lists[-1] if self.lists else None
        if match is not None and _plain(match["text"]):
            self._add(match, indent, last)
        elif last is not None and last.lines and indent > last.indent and not self._apart:
            _add_detail(last.lines[-1], row.strip())
        elif heading or not (last is not None and last.label and not row.rstrip().endswith(":")):
            text = next((part for part in heading.groups() if part), "") if heading else row
            self._title = {"heading": text} if heading else self._title | {"row": row}
            self._apart = True

    def _add(self, match: re.Match[str], indent: int, last: TextList | None) -> None:
        number = _number(match)
        inside = last is not None and bool(last.lines) and not self._apart
        if (
            last is not None
            and inside
            and (last.label or indent > last.indent + 1 or (number is None and last.numbered))
        ):
            _add_detail(last.lines[-1], match["text"])
            return
        goes_on = (
            last is not None
            and not last.label
            and (
                not self._apart
                if number is None
                else last.numbered and number > (last.lines[-1].number or 0) and (not self._apart or number > 1)
            )
            and (number is None) is not last.numbered
        )
        if not goes_on or last is None:
            last = TextList(title=self._heading(), lettered=match["letter"] is not None, indent=indent)
            self.lists.append(last)
        elif self._apart:
            last.title = f"{last.title} {self._heading()}"[:_LONGEST_TITLE]
        last.lines.append(ListLine(number, _plain(match["text"]), called=called(match["text"])))
        self._apart = False

    def _add_labelled(self, match: re.Match[str]) -> None:
        label = stem(normal(match["label"]))
        number = int(match["number"]) if match["number"].isdigit() else _place_of(match["number"])
        last = self.lists[-1] if self.lists else None
        if last is None or last.label != label or any(line.number == number for line in last.lines):
            last = TextList(title=self._heading(), label=label, lettered=not match["number"].isdigit())
            self.lists.append(last)
        rest = match["rest"].strip("*_ \t").lstrip(":.)–—- ")
        text = _plain(f"{match['label']} {match['number']}{match['rest']}")
        last.lines.append(ListLine(number, text, called=called(rest.lstrip("*_ "))))
        self._apart = False

    def _heading(self) -> str:
        return _plain(" ".join(self._title.values()))[:_LONGEST_TITLE]


def _labels(rows: list[str]) -> frozenset[str]:
    """Return the words that stand with at least two numbers at the beginnings of lines."""
    numbers: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        if match := _LABELLED.match(row):
            numbers[stem(normal(match["label"]))].add(match["number"])
    return frozenset(label for label, told in numbers.items() if len(told) > 1 and label not in _MONTHS)


def called(text: str) -> str:
    """Return the name that an entry begins with: its words in bold or quotes, or before a dash, colon or bracket; ""
    for a sentence without one.
    """
    if match := _CALLED.match(text):
        name = next(group for group in match.groups() if group)
        return _plain(_HEAD.split(name, maxsplit=1)[0] if len(name.split()) > _LONGEST_NAME else name).strip(" .:,")
    name = _HEAD.split(_plain(text), maxsplit=1)[0].strip(" .:,")
    return name if 0 < len(name.split()) <= _LONGEST_NAME else ""


def _number(match: re.Match[str]) -> int | None:
    for group in ("number", "keycap", "paren", "square", "hash"):
        if match[group]:
            return int(match[group])
    if match["ten"]:
        return 10
    if match["circled"]:
        return ord(match["circled"]) - 0x245F
    return _place_of(match["letter"]) if match["letter"] else None


def _place_of(letter: str) -> int:
    low = letter.lower()
    return "אבגדהוזחטי".find(low) + 1 if low >= "\u05d0" else ord(low) - 96


def inline_list(text: str) -> list[ListLine]:
    """Read `1) soup 2) salad 3) pasta` in one line; numbers must run 1, 2, 3 …"""
    found = list(_INLINE.finditer(text))
    numbers = [int(next(group for group in match.groups() if group)) for match in found]
    if len(found) < 2 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    texts = [text[match.end() : end].strip(" ,;\n") for match, end in zip(found, ends, strict=True)]
    return [ListLine(number, _plain(each), called=called(each)) for number, each in zip(numbers, texts, strict=True)]


def _add_detail(line: ListLine, text: str) -> None:
    detail = _DETAIL.match(text)
    if detail:
        line.details[detail[1].strip().lower().replace(" ", "_")] = _plain(detail[2])
    else:
        line.text += " " + _plain(text)


def _plain(text: str) -> str:
    return _MARKS.sub("", text).strip()


def read_table(text: str) -> list[dict[str, str]]:
    """Return the rows of the first markdown table as dicts by column title; [] if there is none."""
    lines = [line.strip() for line in text.splitlines()]
    for place in range(len(lines)):
        if size := _table_at(lines, place):
            return list(_rows([lines[place], *lines[place + 2 : place + size]]))
    barred = [line for line in lines if line.startswith("|") and line.count("|") > 2]
    return list(_rows(barred)) if len(barred) > 2 else []  # a table without the line under its head


def _table_at(rows: list[str], place: int) -> int:
    """Count the rows of the table whose head stands at a place; 0 if none stands there."""
    if place + 1 >= len(rows) or "|" not in rows[place]:
        return 0
    rule = rows[place + 1]
    if "--" not in rule or "|" not in rule or not _RULE.match(rule):
        return 0
    return 2 + len(list(takewhile(lambda row: "|" in row, rows[place + 2 :])))


def _rows(lines: list[str]) -> Iterator[dict[str, str]]:
    header, *rows = map(_cells, lines)
    return (dict(zip(header, row, strict=False)) for row in rows)


def _cells(row: str) -> list[str]:
    return [_plain(cell) for cell in row.strip().strip("|").split("|")]


def _row_line(row: dict[str, str]) -> ListLine:
    title, first = next(iter(row.items()), ("", ""))
    counts = title.strip().lower() in _NUMBER_COLUMNS and first.isdecimal() and len(first) < _MANY_DIGITS
    cells = list(row.values())[counts:]
    return ListLine(int(first) if counts else None, " ".join(cells), row, called=cells[0] if cells else "")
