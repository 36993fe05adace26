"""A chat that WhatsApp exported, a .txt or a .zip with it inside: the conversations of one phone, split by silence."""

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import IO, Literal
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage
from sqlalchemy import select

from langmem_plugin.conversation.sessions.silence import is_idle
from langmem_plugin.conversation.transcript import Speaker, message_of, written_at
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.records import BadRecord, ImportedRecord, ImportedRecords, ImportedSession

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

_WORDS: dict[str, list[str]] = json.loads(Path(__file__).with_name("whatsapp_words.json").read_text("utf-8"))
"""WhatsApp's own, in the languages that are known: in a file's place, at the end of what was edited, and for what was
deleted. Android writes those of files in angle brackets, an iPhone behind its mark.
"""
_ATTACHED = re.compile(
    "<(?:attached|adjunto|מצורף): [^<>\n]{1,200}>|^[^<>\n/]{1,200}\\.[a-z0-9]{1,5} "
    "\\((?:file attached|archivo adjunto|הקובץ מצורף|קובץ מצורף)\\)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """An entry that begins with a date, with the lines below it. Without a sender it is a notice of WhatsApp's own."""

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
    """Gives what somebody typed; None of a notice, and of a file without words of theirs."""
    plain = _ALL_MARKS.sub("", text).strip()
    if plain.rstrip(".").casefold() in _WORDS["deleted"]:
        return None
    first, _, below = text.partition("\n")
    if _is_file(first):
        text = below
    elif text.startswith(_GENERATED) and _ATTACHED.search(text) is None and _PLACE not in text:
        return None
    text = _ATTACHED.sub("", text)
    for edited in _WORDS["edited"]:
        if _ALL_MARKS.sub("", text).rstrip().casefold().endswith(edited):
            text = text.rstrip()[: text.rstrip().rindex("<")]
    text = text.strip().lstrip(_GENERATED).rstrip(_GENERATED).strip()
    return text or None


def _is_file(line: str) -> bool:
    plain = _ALL_MARKS.sub("", line).strip().casefold()
    if plain.startswith("<") and plain.endswith(">"):
        return plain[1:-1] in _WORDS["files"]
    return line.startswith(_GENERATED) and plain in _WORDS["files"]


def orders_that_fit(lines: Sequence[Line]) -> list[DateOrder]:
    """The orders in which the dates of a chat can be read, each by itself and all in their order.

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
    """The instant of the line, by a phone of this zone. Raises ValueError if there is no such time."""
    hour, minute, second, half = line.time
    of_day = int(hour)
    if half is not None:
        said = _BETWEEN.sub("", half.casefold())
        of_day = of_day % 12 + (12 if said in _EVENING else 0)
    midnight = _midnight(line.day, order)
    return midnight.replace(hour=of_day, minute=int(minute), second=int(second or 0), tzinfo=zone).astimezone(UTC)


_MOST_NAMED = 10
_LARGEST_CHAT = 100_000_000  # bytes of text: a busy group of ten years has some 20
_SAID_BY: dict[bool, Speaker] = {True: "assistant", False: "user"}


def records(
    path: Path,
    *,
    bot: str,
    phone: str | None = None,
    person: str | None = None,
    silence: timedelta | None,
    zone: ZoneInfo,
    order: DateOrder | None = None,
) -> Iterator[ImportedRecord]:
    """Its conversations in the order of the file.

    `bot` is the name under which the assistant stands in the chat; everybody else who writes is the person, whose name
    is `person` where more than one does. The export tells no time zone: `zone` is that of the phone that made it, and
    `order` its order of dates where they do not say it. Notices of WhatsApp itself and files that are not part of the
    export are left out; a file's caption stays. Raises UnreadableImport for a file
    that is no such chat; InvalidInput for a bot who writes nothing in it, for several persons, and for dates that may
    be read in two ways.
    """
    with _text_of(path) as text:
        lines = list(lines_of(text))
    if not lines:
        raise UnreadableImport(
            f"{path.name} is no WhatsApp chat: no line begins with a date and a time as WhatsApp has it"
        )
    order = order or _only_order(lines)
    them, whose = name_of(bot), _person(lines, name_of(bot), person)
    said: list[tuple[datetime, BaseMessage, Line]] = []
    seen: Counter[str] = Counter()
    for line in lines:
        place = f"{path.name}:{line.number}"
        if line.sender is None:
            continue
        try:
            at = instant_of(line, order, zone)
        except ValueError as error:
            yield BadRecord(place=place, reason=f"its date cannot be read ({error})")
            continue
        if (words := typed_text(line.text)) is None:
            continue
        if line.sender not in {them, whose}:
            yield BadRecord(
                place=place, reason="it is neither the assistant's nor the person's: see --bot and --person"
            )
            continue
        role = _SAID_BY[line.sender == them]
        name = _name(role, at, words, seen)
        notes = {"sender": line.sender, "timestamp": at.isoformat()}
        said.append((at, message_of(role, words, name, notes, None, None), line))
    for talk in _split(said, silence):
        yield _session(talk, path, phone, whose)


def recognises(path: Path) -> bool:
    """Tells whether its first lines are of such a chat."""
    try:
        with _text_of(path) as text:
            return any(line.sender is not None for line, _ in zip(lines_of(text), range(5), strict=False))
    except (UnreadableImport, OSError, ValueError):
        return False


@contextmanager
def _text_of(path: Path) -> Iterator[Iterable[str]]:
    """The lines of the chat; in an archive it is the one text, or the one that WhatsApp names so."""
    if not zipfile.is_zipfile(path):
        _refuse_vast(path.name, path.stat().st_size)
        with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as lines:
            yield lines
        return
    with _opened(path) as archive:
        texts = [each for each in archive.infolist() if each.filename.lower().endswith(".txt")]
        chats = [each for each in texts if Path(each.filename).name.lower().startswith(("_chat", "whatsapp"))] or texts
        if len(chats) != 1:
            raise UnreadableImport(f"{path.name} holds {len(chats)} chats: give the .txt of one")
        _refuse_vast(chats[0].filename, chats[0].file_size)  # and no more than that is read
        with _stored(archive, chats[0]) as stored:
            yield io.TextIOWrapper(stored, encoding="utf-8-sig", errors="replace", newline="\n")


def _refuse_vast(name: str, size: int) -> None:
    if size > _LARGEST_CHAT:
        raise UnreadableImport(f"{name} holds {size:,} bytes: bring it in in parts of at most {_LARGEST_CHAT:,}")


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise UnreadableImport(f"{path.name} is damaged ({error}): export the chat again") from error


def _stored(archive: zipfile.ZipFile, chat: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(chat)
    except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:  # with a password, or packed otherwise
        raise UnreadableImport(f"{chat.filename} cannot be unpacked ({error}): give the .txt itself") from error


def _only_order(lines: list[Line]) -> DateOrder:
    """Raises InvalidInput if the dates may be read in two ways, or in none."""
    fitting = orders_that_fit(lines)
    if len(fitting) == 1:
        return fitting[0]
    raise InvalidInput(
        "the chat's dates do not say whether the day or the month comes first: say --dates day-first or month-first"
    )


def _person(lines: list[Line], bot: str, person: str | None) -> str:
    """The person's name in the chat. Raises InvalidInput if it is not clear who is who."""
    names = Counter(line.sender for line in lines if line.sender is not None and typed_text(line.text) is not None)
    everybody = ", ".join(repr(name) for name, _ in names.most_common(_MOST_NAMED))
    if bot not in names:
        raise InvalidInput(f"{bot!r} writes nothing in this chat: say by --bot which of {everybody} is the assistant")
    others = [name for name in names if name != bot]
    if person is not None:
        if name_of(person) not in others:
            raise InvalidInput(f"{person!r} writes nothing in this chat: say by --person which of {everybody} it is")
        return name_of(person)
    if len(others) > 1:
        raise InvalidInput(f"several persons write in this chat: say by --person which of {everybody} it is")
    return others[0] if others else ""


def _name(role: Speaker, at: datetime, words: str, seen: Counter[str]) -> str:
    """The same whenever the chat is exported, also a longer one; what was sent twice in a minute is two messages."""
    digest = sha256(f"{role}\x00{at.isoformat()}\x00{words}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"whatsapp-{digest}-{seen[digest]}"


def _split(
    said: list[tuple[datetime, BaseMessage, Line]], silence: timedelta | None
) -> Iterator[list[tuple[datetime, BaseMessage, Line]]]:
    talk: list[tuple[datetime, BaseMessage, Line]] = []
    for each in said:
        if talk and is_idle(talk[-1][0], each[0], silence):
            yield talk
            talk = []
        talk.append(each)
    if talk:
        yield talk


def _session(
    talk: list[tuple[datetime, BaseMessage, Line]],
    path: Path,
    phone: str | None,
    name: str,
) -> ImportedSession:
    instants = [at for at, _, _ in talk]
    return ImportedSession(
        phone=phone,
        messages=[message for _, message, _ in talk],
        began_at=min(instants),
        ended_at=max(instants),
        source_id=str(talk[0][1].id),
        place=f"{path.name}:{talk[0][2].number}",
        client_name=name or None,
    )


def only_new(records: ImportedRecords, database: Database, thread: str) -> Iterator[ImportedRecord]:
    """A session of which the thread holds a part is given as one of the messages that it does not hold.

    Messages are known by their ids, so these must be the same each time they are read.
    """
    for record in records:
        if isinstance(record, ImportedSession):
            held = _held(database, thread, [each.id for each in record.messages if each.id])
            more = [each for each in record.messages if each.id not in held]
            if held and more:
                began_at = written_at(more[0]) or record.began_at
                yield replace(record, messages=more, source_id=str(more[0].id), began_at=began_at)
                continue
        yield record


def _held(database: Database, thread: str, ids: list[str]) -> set[str]:
    found: set[str] = set()
    with database.read() as connection:
        for part in in_parts(ids):
            of_thread = select(message_table.c.message_id).where(message_table.c.thread == thread)
            query = of_thread.where(message_table.c.message_id.in_(part))
            found.update(connection.execute(query).scalars())
    return found
