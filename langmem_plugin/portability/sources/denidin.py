"""DeniDin's `data/sessions` directory: a file for each session, archived ones in `expired/`, one for each message.

A session names its messages, but those that were pruned from it are there too, and know their session; so messages are
found by what they say. `chat_id` and `phone_number` are how sessions and messages were written before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.message_as_dict import Speaker, message_of
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.identifiers.identifier import is_uuid
from langmem_plugin.portability.imported_records import ImportedRecord, ImportedSession, ImportReport
from langmem_plugin.portability.sources.source_parsing import instant, json_file, mapping, text_of

_MESSAGES = "messages"
_Said = tuple[int, Path, Mapping[str, Any]]
"""A message: its number, its file, and what that holds."""


def recognises(path: Path) -> bool:
    """Tells whether there is a folder of messages in it."""
    return path.is_dir() and (path / _MESSAGES).is_dir()


def records(path: Path) -> Iterator[ImportedRecord]:
    """Sessions whose own file is lost or damaged are made anew from their messages. Raises UnreadableImport."""
    if not path.is_dir():
        raise UnreadableImport(f"{path} is no directory of sessions: name DeniDin's data/sessions")
    report = ImportReport()
    sessions: dict[str, tuple[str, Mapping[str, Any]]] = {}
    messages: defaultdict[str, list[_Said]] = defaultdict(list)
    for file, session_id, held in _read(path, report):
        place = str(file.relative_to(path))
        if file.parent.name == _MESSAGES:
            if isinstance(number := held.get("order_num"), int):
                messages[session_id].append((number, file, held))
            else:
                report.skip(place, "it has no order_num")
        elif session_id in sessions:
            report.skip(place, f"session {session_id} was in another file already")
        else:
            sessions[session_id] = place, held
    for session_id in dict.fromkeys([*sessions, *messages]):
        place, held = sessions.get(session_id, (f"{_MESSAGES} of session {session_id}", {}))
        said = sorted(messages[session_id], key=lambda one: one[:2])
        with report.skipping(place):
            yield _session(held, session_id, said, place, report)
    yield from report.skipped


def _read(path: Path, report: ImportReport) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Give each file that can be read, the id of its session, and what it holds."""
    for file in sorted(path.rglob("*.json")):
        with report.skipping(str(file.relative_to(path))):
            held = mapping(json_file(file), "it")
            if (session_id := text_of(held, "session_id", "chat_id")) is None:
                raise InvalidInput("it has no session_id")
            yield file, session_id, held


def _session(
    held: Mapping[str, Any], session_id: str, said: list[_Said], place: str, report: ImportReport
) -> ImportedSession:
    messages: list[BaseMessage] = []
    instants: list[datetime] = []
    chat = text_of(held, "whatsapp_chat", "phone_number", "chat_id")
    for _, file, message in said:
        with report.skipping(f"{_MESSAGES}/{file.name}"):
            made, written = _message(message, file)
            messages.append(made)
            instants.append(written)
            chat = chat or _chat_in(message)
    if chat is None or (chat == session_id and is_uuid(chat)):
        raise InvalidInput("neither it nor its messages say whose it is")
    began, last = instant(held.get("created_at")), instant(held.get("last_active"))
    if began is None and not instants:
        raise InvalidInput("it has no messages and does not say when it began")
    return ImportedSession(
        phone=chat,
        messages=messages,
        began_at=min([*filter(None, [began]), *instants]),
        ended_at=max([*filter(None, [began, last]), *instants]),
        source_id=session_id,
        place=place,
        client_name=text_of(held, "client_name"),
    )


def _message(held: Mapping[str, Any], file: Path) -> tuple[BaseMessage, datetime]:
    content = held.get("content")
    role: Speaker | None = next((each for each in get_args(Speaker) if each == held.get("role")), None)
    if role is None or not isinstance(content, str):
        raise InvalidInput("it has no role of user or assistant, or no text")
    written = instant(held.get("timestamp")) or instant(held.get("received_at"))
    if written is None:
        raise InvalidInput("it has no timestamp")
    received = instant(held.get("received_at")) or written
    notes = {
        "sender": text_of(held, "sender"),
        "recipient": text_of(held, "recipient"),
        "timestamp": written.isoformat(),
        "received_at": received.isoformat(),
        "was_received": held.get("was_received") is not False,
        "image_path": text_of(held, "image_path"),
    }
    return message_of(role, content, text_of(held, "message_id") or file.stem, notes, None, None), written


def _chat_in(message: Mapping[str, Any]) -> str | None:
    """The chat's other side: the sender of what the user said, the recipient of what the assistant did."""
    return text_of(message, "sender" if message.get("role") == "user" else "recipient")
