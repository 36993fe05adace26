"""A chat that WhatsApp exported, a .txt or a .zip with it inside: the conversations of one phone, split by silence."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.message_as_dict import Speaker, message_of
from langmem_plugin.conversation.sessions.session_timeout import is_silent
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.imported_records import ImportedRecord, ImportedSession, Remark
from langmem_plugin.portability.sources.source_parsing import DAMAGED_ZIP, refuse_larger

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
_YEAR_DIGITS, _MONTHS = 4, 12
_GENERATED = "\u200e"  # an iPhone's mark in front of what WhatsApp itself writes in a message's place

_PLACE = "https://maps."  # a position that somebody sent

_WORDS: dict[str, list[str]] = json.loads(Path(__file__).with_name("whatsapp_words.json").read_text("utf-8"))
"""WhatsApp's own, in the languages that are known: in a file's place, at the end of what was edited, and for what was
deleted. Android writes those of files in angle brackets, an iPhone behind its mark.
"""
_ATTACHED = re.compile(
    "<(?:attached|adjunto|מצורף): [^<>\n]{1,200}>|^[^<>\n/]{1,200}\\.[a-z0-9]{1,5} "
    "\\((?:file attached|archivo adjunto|הקובץ מצורף|קובץ מצורף)\\)",
    re.IGNORECASE,
)
_MOST_NAMED = 10
_LARGEST_CHAT = 100_000_000  # bytes of text: a busy group of ten years has some 20
_SAID_BY: dict[bool, Speaker] = {True: "assistant", False: "user"}


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry that begins with a date, with the lines below it. Without a sender it is a notice of WhatsApp's own."""

    number: int
    head: re.Match[str]
    sender: str | None
    text: str


def _entries(lines: Iterable[str]) -> Iterator[_Entry]:
    """Yield messages and notices in order, each with the number of its first line."""
    found: _Entry | None = None
    more: list[str] = []
    for number, line in enumerate(lines, 1):
        head = _HEAD.match(line, 0, _LONGEST_HEAD)
        if head is None:
            more.append(line)
            continue
        if found is not None:
            yield replace(found, text="\n".join([found.text, *more]))
        rest = line[head.end() :]
        name, colon, text = rest.partition(":")
        is_said = bool(colon) and len(name) <= _LONGEST_NAME and (not text or text.startswith(" "))
        found = _Entry(number, head, name_of(name) if is_said else None, text.removeprefix(" ") if is_said else rest)
        more = []
    if found is not None:
        yield replace(found, text="\n".join([found.text, *more]))


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


def _order(entries: Sequence[_Entry]) -> DateOrder:
    """Return the order in which the dates of a chat are read. Only with slashes does anybody write the month first, and
    then a number above 12 tells. Raises InvalidInput where none does.
    """
    if all(len(entry.head["a"]) == _YEAR_DIGITS for entry in entries):
        return "year-first"
    if all(entry.head["between"] != "/" for entry in entries):
        return "day-first"
    day_first, month_first = (sum(int(entry.head[each]) > _MONTHS for entry in entries) for each in "ab")
    if day_first == month_first and any(int(entry.head["a"]) != int(entry.head["b"]) for entry in entries):
        raise InvalidInput(
            "the chat's dates do not say whether the day or the month comes first: say --dates day-first or month-first"
        )
    return "month-first" if month_first > day_first else "day-first"


def _day(entry: _Entry, order: DateOrder) -> date | None:
    first, second, third = (int(entry.head[each]) for each in "abc")
    if len(entry.head["a"]) == _YEAR_DIGITS:
        order = "year-first"
    year, month, day = {
        "year-first": (first, second, third),
        "day-first": (third, second, first),
        "month-first": (third, first, second),
    }[order]
    try:
        return date(year + 2_000 if year < 100 else year, month, day)  # noqa: PLR2004 - of two digits
    except ValueError:
        return None


def _instant(entry: _Entry, order: DateOrder, zone: ZoneInfo) -> datetime:
    """Return the instant, by a phone of this zone. Raises ValueError if there is no such time."""
    day, hour, half = _day(entry, order), int(entry.head["hour"]), entry.head["half"]
    if day is None:
        raise ValueError("there is no such day")
    if half is not None:
        hour = hour % 12 + (12 if _BETWEEN.sub("", half.casefold()) in _EVENING else 0)
    of_day = time(hour, int(entry.head["minute"]), int(entry.head["second"] or 0), tzinfo=zone)
    return datetime.combine(day, of_day).astimezone(UTC)


def records(
    path: Path, *, bot: str, phone: str, silence: timedelta | None, zone: ZoneInfo, order: DateOrder | None = None
) -> Iterator[ImportedRecord]:
    """Yield its conversations in the order of the file.

    `bot` is the name under which the assistant stands in the chat; who else writes is the person. The export tells no
    time zone: `zone` is that of the phone that made it, and `order` its order of dates where they do not say it.
    Notices of WhatsApp itself and files that are not part of the export are left out; a file's caption stays. Raises
    UnreadableImport for a file that is no such chat; InvalidInput for a bot who writes nothing in it, for several
    persons, and for dates that may be read in two ways.
    """
    entries = list(_entries(_lines_of(path)))
    if not entries:
        raise UnreadableImport(
            f"{path.name} is no WhatsApp chat: no line begins with a date and a time as WhatsApp has it"
        )
    order = order or _order(entries)
    typed = [(each, words) for each in entries if each.sender is not None and (words := typed_text(each.text))]
    person = _person([str(each.sender) for each, _ in typed], bot)
    talk: list[tuple[datetime, BaseMessage, _Entry]] = []
    seen: Counter[str] = Counter()
    for entry, words in typed:
        try:
            at = _instant(entry, order, zone)
        except ValueError as error:
            yield Remark(place=f"{path.name}:{entry.number}", reason=f"its date cannot be read ({error})")
            continue
        if talk and is_silent(talk[-1][0], None, at, silence):
            yield _session(talk, path, phone, person)
            talk = []
        role = _SAID_BY[entry.sender == name_of(bot)]
        notes = {"sender": entry.sender, "timestamp": at.isoformat()}
        talk.append((at, message_of(role, words, _name(role, at, words, seen), notes, None, None), entry))
    if talk:
        yield _session(talk, path, phone, person)


def _lines_of(path: Path) -> list[str]:
    try:
        content = _chat_in(path)
    except UnreadableImport:
        raise
    except DAMAGED_ZIP as error:
        raise UnreadableImport(f"{path.name} is damaged ({error}): export the chat again") from error
    return [each.rstrip("\r") for each in content.decode("utf-8-sig", errors="replace").split("\n")]


def _chat_in(path: Path) -> bytes:
    """Return the chat; in an archive it is the one text, or the one that WhatsApp names so."""
    if not zipfile.is_zipfile(path):
        refuse_larger(path.name, path.stat().st_size, _LARGEST_CHAT)
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        texts = [each for each in archive.infolist() if each.filename.lower().endswith(".txt")]
        named = [each for each in texts if Path(each.filename).name.lower().startswith(("_chat", "whatsapp"))]
        if len(named or texts) != 1:
            raise UnreadableImport(f"{path.name} holds {len(named or texts)} chats: give the .txt of one")
        [chat] = named or texts
        refuse_larger(chat.filename, chat.file_size, _LARGEST_CHAT)  # and no more than that is read
        return archive.read(chat)


def _person(senders: Sequence[str], bot: str) -> str:
    """Return the person's name in the chat. Raises InvalidInput if it is not clear who is who."""
    names = Counter(senders)
    everybody = ", ".join(repr(name) for name, _ in names.most_common(_MOST_NAMED))
    if name_of(bot) not in names:
        raise InvalidInput(f"{bot!r} writes nothing in this chat: say by --bot which of {everybody} is the assistant")
    others = [name for name in names if name != name_of(bot)]
    if len(others) > 1:
        raise InvalidInput(f"{everybody} write in this chat: a group's is no one person's")
    return others[0] if others else ""


def _name(role: Speaker, at: datetime, words: str, seen: Counter[str]) -> str:
    """The same whenever the chat is exported, also a longer one; what was sent twice in a minute is two messages."""
    digest = sha256(f"{role}\x00{at.isoformat()}\x00{words}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"whatsapp-{digest}-{seen[digest]}"


def _session(talk: list[tuple[datetime, BaseMessage, _Entry]], path: Path, phone: str, name: str) -> ImportedSession:
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
