"""Lists in plain text: numbered, lettered or bulleted lines and markdown tables."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

_LABEL = re.compile(
    r"""^(?P<indent>\s*)(?:[*_]{1,2})?
        (?: \#?\s?(?P<number>\d{1,3})\s?(?:[.):\]]|\s[-–—]|(?=\s*\uFE0F?\u20E3)|\s(?=[*_]{2}))(?!\d)
          | (?P<keycap>\d)\uFE0F?\u20E3 | (?P<ten>\U0001F51F)
          | \((?P<paren>\d{1,3})\) | \[(?P<square>\d{1,3})\] | \#(?P<hash>\d{1,3})\b[:.)]?
          | (?P<circled>[\u2460-\u2473])
          | \(?(?P<letter>[a-zA-Z\u05d0-\u05ea])[.)](?=\s)
          | (?:option|opci[oó]n|אפשרות|number|no\.|item|מספר)\s(?P<worded>\d{1,3})\s?[:.)\-–]
          | (?P<bullet>[-*•◦▪‣–·✓✔☐🔹🔸▶➤]|\p{Emoji})\s
        )\s*(?:[*_]{1,2})?\s*(?P<text>.*)$
    """.replace(r"|\p{Emoji}", "|[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?"),
    re.VERBOSE | re.IGNORECASE,
)
_INLINE = re.compile(r"(?:(?<=\s)|^)(?:\(?(\d{1,2})[.)]|(\d)\uFE0F?\u20E3|#(\d{1,2})[:.)]?)\s+(?=\S)")
_DETAIL = re.compile(r"^\W*\*{0,2}([^:*]{2,40}?)\*{0,2}:\*{0,2}\s+(.+)$")
_NUMBER_COLUMNS = ("#", "no", "no.", "number", "nr", "", "num", "nº", "מספר")
_MANY_DIGITS = 10
_CALLED = re.compile(r"^\W*(?:(?P<called>#|[^\W\d]{1,12})\s?)(?P<number>\d{1,6})\b(?![:.,]\d)")
_OPENING = 20  # letters by which a line of a list is known
_RULE = re.compile(r"^[\s:|-]+$")


@dataclass
class ListLine:
    """One entry of a list in text; `number` is None for a bullet."""

    number: int | None
    text: str
    details: dict[str, str] = field(default_factory=dict)
    lettered: bool = False


def read_lines(text: str) -> list[ListLine]:
    """Entries of the list a text shows, in order; the longest list if there are several kinds. Empty when
    it shows none.
    """
    table = read_table(text)
    if table:
        return [ListLine(_row_number(row), " ".join(row.values()), row) for row in table]
    numbered: list[ListLine] = []
    bullets: list[ListLine] = []
    base: int | None = None
    current: ListLine | None = None
    for raw in text.splitlines():
        match = _LABEL.match(raw)
        indent = len(raw) - len(raw.lstrip())
        if match is None:
            if current is not None and raw.strip() and indent > (base or 0):
                _add_detail(current, raw.strip())
            elif raw.strip():
                current = None
            continue
        if base is not None and indent > base + 1 and current is not None:
            _add_detail(current, match["text"])
            continue
        number = _number(match)
        if number is None and numbered:
            if current is not None:
                _add_detail(current, match["text"])
            continue
        body = _plain(match["text"])
        if not body:
            continue
        if base is None or number is not None:
            base = indent
        current = ListLine(number, body, lettered=match["letter"] is not None)
        (bullets if number is None else numbered).append(current)
    if numbered:
        return numbered if len(numbered) > 1 or len(text.splitlines()) > 1 else _inline(text) or numbered
    return bullets if len(bullets) > 1 else _inline(text)


def plain_lines(text: str) -> list[ListLine]:
    """Lines without a sign of a list, which may still be one: "Lot 14 – truck" by its number, "Mon 9:00 – dentist"."""
    rows = [raw.strip() for raw in text.splitlines() if raw.strip()]
    called = [_CALLED.match(row) for row in rows]
    common = Counter(match["called"].lower() for match in called if match)
    return [
        ListLine(int(match["number"]) if match and common[match["called"].lower()] > 1 else None, _plain(row))
        for row, match in zip(rows, called, strict=True)
    ]


def behind_list(text: str, lines: Sequence[str]) -> str:
    """What a text says behind the last of its lines that are of a list: those given, and all with the sign of one."""
    rows = text.splitlines()
    openings = [line[:_OPENING] for line in lines if line]
    of_list = [
        place
        for place, row in enumerate(rows)
        if _LABEL.match(row) or row.count("|") > 1 or any(opening in row for opening in openings)
    ]
    return "\n".join(rows[max(of_list, default=-1) + 1 :])


def _row_number(row: dict[str, str]) -> int | None:
    title, first = next(iter(row.items()), ("", ""))
    counts = title.strip().lower() in _NUMBER_COLUMNS and first.isdecimal() and len(first) < _MANY_DIGITS
    return int(first) if counts else None


def _number(match: re.Match[str]) -> int | None:
    for group in ("number", "keycap", "paren", "square", "hash", "worded"):
        if match[group]:
            return int(match[group])
    if match["ten"]:
        return 10
    if match["circled"]:
        return ord(match["circled"]) - 0x245F
    if match["letter"]:
        letter = match["letter"].lower()
        return "אבגדהוזחטי".find(letter) + 1 if letter >= "\u05d0" else ord(letter) - 96
    return None


def _inline(text: str) -> list[ListLine]:
    """`1) soup 2) salad 3) pasta` in one line; numbers must run 1, 2, 3 …"""
    found = list(_INLINE.finditer(text))
    numbers = [int(next(group for group in match.groups() if group)) for match in found]
    if len(found) < 2 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        ListLine(number, _plain(text[match.end() : end].strip(" ,;\n")))
        for number, match, end in zip(numbers, found, ends, strict=True)
    ]


def _add_detail(line: ListLine, text: str) -> None:
    detail = _DETAIL.match(text)
    if detail:
        line.details[detail[1].strip().lower().replace(" ", "_")] = _plain(detail[2])
    else:
        line.text += " " + _plain(text)


def _plain(text: str) -> str:
    return re.sub(r"\*\*|__|`", "", text).strip()


def read_table(text: str) -> list[dict[str, str]]:
    """Rows of the first markdown table as dicts by column title; [] when there is none."""
    lines = [line.strip() for line in text.splitlines()]
    for above, line, place in zip(lines, lines[1:], range(len(lines)), strict=False):
        if "--" in line and "|" in line and "|" in above and _RULE.match(line):
            return _rows([above, *takewhile(lambda row: "|" in row, lines[place + 2 :])])
    barred = [line for line in lines if line.startswith("|") and line.count("|") > 2]
    return _rows(barred) if len(barred) > 2 else []  # a table without the line under its head


def _rows(lines: list[str]) -> list[dict[str, str]]:
    header, *rows = map(_cells, lines)
    return [dict(zip(header, row, strict=False)) for row in rows]


def _cells(row: str) -> list[str]:
    return [_plain(cell) for cell in row.strip().strip("|").split("|")]
