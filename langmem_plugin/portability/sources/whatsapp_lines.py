"""Lines of an exported WhatsApp chat: Android's `date, time - name: text` and an iPhone's `[date, time] name: text`.

English, Hebrew and Spanish phones, 12 and 24 hours, and whatever order and separators their dates have.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

DateOrder = Literal["day-first", "month-first", "year-first"]

_MARKS = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"  # of direction, which WhatsApp puts in front of things
_M = f"[{_MARKS}]{{0,4}}+"
_SPACE = f"[{_MARKS} \u00a0\u202f\t]"
_EVENING = ("pm", "אחהצ", "בערב")
_HALF = f'[ap]\\.?+{_SPACE}?+m\\.?+|לפנה["״]צ|אחה["״]צ|בבוקר|בערב'
_HEAD = re.compile(
    f"{_M}(?P<bracket>\\[)?+{_M}"
    f"(?P<a>[0-9]{{1,4}})(?P<between>[./-]){_M}(?P<b>[0-9]{{1,2}})[./-]{_M}(?P<c>[0-9]{{1,4}}),?+{_SPACE}{{1,3}}+"
    f"(?P<hour>[0-9]{{1,2}})[:.](?P<minute>[0-9]{{2}})(?:[:.](?P<second>[0-9]{{2}}))?+"
    f"(?:{_SPACE}{{0,3}}+(?P<half>{_HALF}))?+{_M}"
    f"(?(bracket)\\]{_SPACE}?+|{_SPACE}{{1,3}}+[-–]{_SPACE}{{1,3}}+)",
    re.IGNORECASE,
)
_BETWEEN = re.compile('[. "״\u00a0\u202f]')
_ALL_MARKS = re.compile(f"[{_MARKS}]")
_LONGEST_HEAD = 60
_LONGEST_NAME = 200
_YEAR_DIGITS = 4
_GENERATED = "\u200e"  # an iPhone's mark in front of what WhatsApp itself writes in a message's place

_PLACE = "https://maps."  # a position that somebody sent
_SLASH = "/"

_FILES = (  # Android writes them in angle brackets, an iPhone behind its mark
    *("media omitted", "multimedia omitido", "archivo omitido", "המדיה לא נכללה", "מדיה הושמטה", "התוכן הושמט"),
    *("image omitted", "video omitted", "audio omitted", "sticker omitted", "gif omitted", "document omitted"),
    *("contact card omitted", "video note omitted", "imagen omitida", "vídeo omitido", "video omitido"),
    *("audio omitido", "sticker omitido", "gif omitido", "documento omitido", "tarjeta de contacto omitida"),
    *("התמונה הושמטה", "הסרטון הושמט", "השמע הושמט", "הסטיקר הושמט", "המסמך הושמט", "כרטיס איש הקשר הושמט"),
)
_ATTACHED = re.compile(
    "<(?:attached|adjunto|מצורף): [^<>\n]{1,200}>|^[^<>\n/]{1,200}\\.[a-z0-9]{1,5} "
    "\\((?:file attached|archivo adjunto|הקובץ מצורף|קובץ מצורף)\\)",
    re.IGNORECASE,
)
_EDITED = (
    "<this message was edited>",
    "<se editó este mensaje.>",
    "<se editó este mensaje>",
    "<ההודעה נערכה>",
    "<הודעה זו נערכה>",
)
_DELETED = frozenset(
    {
        *("this message was deleted", "you deleted this message", "waiting for this message"),
        *("se eliminó este mensaje", "eliminaste este mensaje", "este mensaje fue eliminado"),
        *("הודעה זו נמחקה", "מחקת הודעה זו", "מחקת את ההודעה הזו", "ההודעה נמחקה"),
    }
)


@dataclass(frozen=True, slots=True)
class Line:
    """What begins with a date, with the lines below it. Without a sender it is a notice of WhatsApp's own."""

    number: int
    day: tuple[str, str, str]
    between: str  # what stands between day, month and year
    time: tuple[str, str, str | None, str | None]
    sender: str | None
    text: str


def lines_of(text: Iterable[str]) -> Iterator[Line]:
    """Messages and notices in order, each with the number of its first line."""
    found: Line | None = None
    more: list[str] = []
    for number, written in enumerate(text, 1):
        line = written.rstrip("\r\n")
        head = _HEAD.match(line, 0, _LONGEST_HEAD)
        if head is None:
            more.append(line)
            continue
        if found is not None:
            yield replace(found, text="\n".join([found.text, *more]))
        found, more = _begun(number, head, line[head.end() :]), []
    if found is not None:
        yield replace(found, text="\n".join([found.text, *more]))


def _begun(number: int, head: re.Match[str], rest: str) -> Line:
    day = (head["a"], head["b"], head["c"])
    time = (head["hour"], head["minute"], head["second"], head["half"])
    name, colon, text = rest.partition(":")
    if not colon or len(name) > _LONGEST_NAME or (text and not text.startswith(" ")):
        return Line(number, day, head["between"], time, None, rest)
    return Line(number, day, head["between"], time, name_of(name), text.removeprefix(" "))


def name_of(written: str) -> str:
    """A name as it is compared: without the marks around it, and without the ~ of who is no contact."""
    plain = _ALL_MARKS.sub("", written).replace("\u00a0", " ").replace("\u202f", " ").replace("\u2011", "-")
    return plain.strip().removeprefix("~").strip()


def typed_text(text: str) -> str | None:
    """What somebody typed; None of a notice, and of a file without words of theirs."""
    plain = _ALL_MARKS.sub("", text).strip()
    if plain.rstrip(".").casefold() in _DELETED:
        return None
    first, _, below = text.partition("\n")
    if _is_file(first):
        text = below
    elif text.startswith(_GENERATED) and _ATTACHED.search(text) is None and _PLACE not in text:
        return None
    text = _ATTACHED.sub("", text)
    for edited in _EDITED:
        if _ALL_MARKS.sub("", text).rstrip().casefold().endswith(edited):
            text = text.rstrip()[: text.rstrip().rindex("<")]
    text = text.strip().lstrip(_GENERATED).rstrip(_GENERATED).strip()
    return text or None


def _is_file(line: str) -> bool:
    plain = _ALL_MARKS.sub("", line).strip().casefold()
    if plain.startswith("<") and plain.endswith(">"):
        return plain[1:-1] in _FILES
    return line.startswith(_GENERATED) and plain in _FILES


def orders_that_fit(lines: Sequence[Line]) -> list[DateOrder]:
    """In which orders the dates of a chat can be read, each by itself and all in their order.

    One if they say it or if it makes no difference. A chat goes forward in time: of two the one in which it goes back
    less often is meant. Only with slashes does anybody write the month first.
    """
    days = [line.day for line in lines]
    if all(len(day[0]) == _YEAR_DIGITS for day in days):
        return ["year-first"]
    if all(line.between != _SLASH for line in lines):
        return ["day-first"]
    orders: tuple[DateOrder, ...] = ("day-first", "month-first")
    read = {order: [_date(day, order) for day in days] for order in orders}
    if read["day-first"] == read["month-first"]:
        return ["day-first"]
    wrong = {order: sum(each is None for each in read[order]) for order in orders}
    back = {order: _steps_back([each for each in read[order] if each is not None]) for order in orders}
    least = min((wrong[order], back[order]) for order in orders)
    return [order for order in orders if (wrong[order], back[order]) == least]


def _steps_back(dates: list[tuple[int, int, int]]) -> int:
    return sum(after < before for before, after in pairwise(dates))


def _date(day: tuple[str, str, str], order: DateOrder) -> tuple[int, int, int] | None:
    """Year, month, day; None if there is no such date."""
    try:
        at = _midnight(day, order)
    except ValueError:
        return None
    return at.year, at.month, at.day


def _midnight(day: tuple[str, str, str], order: DateOrder) -> datetime:
    first, second, third = map(int, day)
    if len(day[0]) == _YEAR_DIGITS or order == "year-first":
        year, month, of_month = first, second, third
    elif order == "day-first":
        of_month, month, year = first, second, third
    else:
        month, of_month, year = first, second, third
    return datetime(year + 2_000 if year < 100 else year, month, of_month, tzinfo=UTC)  # noqa: PLR2004 - of two digits


def instant_of(line: Line, order: DateOrder, zone: ZoneInfo) -> datetime:
    """When the phone of this zone says that the line was written. Raises ValueError if there is no such time."""
    hour, minute, second, half = line.time
    of_day = int(hour)
    if half is not None:
        said = _BETWEEN.sub("", half.casefold())
        of_day = of_day % 12 + (12 if said in _EVENING else 0)
    midnight = _midnight(line.day, order)
    return midnight.replace(hour=of_day, minute=int(minute), second=int(second or 0), tzinfo=zone).astimezone(UTC)
