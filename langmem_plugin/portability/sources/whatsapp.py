"""A chat that WhatsApp exported, a .txt or a .zip with it inside: the conversations of one phone, split by silence."""

import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import IO
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.sessions.silence import is_idle
from langmem_plugin.conversation.transcript import Speaker, message_of
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.records import BadRecord, ImportedRecord, ImportedSession
from langmem_plugin.portability.sources.whatsapp_lines import (
    DateOrder,
    Line,
    instant_of,
    lines_of,
    name_of,
    orders_that_fit,
    typed_text,
)

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
    """Whether its first lines are of such a chat."""
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
