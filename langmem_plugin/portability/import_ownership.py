"""Store imported data where they belong: once, and never in another person's conversation."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import imported_sessions
from langmem_plugin.conversation.sessions.sessions_to_index import owner_noted
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.owners_and_erasures import person_of
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.identifiers import OwnerKey

_OF_IMPORTS = uuid.UUID("5f0c6a5e-8a0b-5f6e-9d0e-2f6d6f0c7b11")

_One = TypeVar("_One")


def refuse_switched_off(saver: ConversationSaver) -> None:
    """Raise ConfigurationError where the memory is switched off."""
    if saver.keeps_nothing:
        raise ConfigurationError("the memory is switched off: nothing is stored that could go out, or is taken in")


def note_import(saver: ConversationSaver, whose: str | None) -> None:
    """Note in the audit log that data were imported."""
    with saver.database.write() as connection:
        record(connection, "data.imported", owner=whose)


def stable_id(owner: OwnerKey, source_id: str) -> str:
    """Return an id that is the same whenever the same thing is imported for the same person."""
    return str(uuid.uuid5(_OF_IMPORTS, f"{owner}\0{source_id}"))


def session_id_for(saver: ConversationSaver, owner: OwnerKey, wanted: str) -> tuple[str, bool]:
    """Return the id that a session gets here, and whether it exists already: another person's is never touched."""
    with saver.database.read() as connection:
        for session_id in (wanted, stable_id(owner, wanted)):
            thread = imported_sessions.thread_with(connection, session_id)
            if thread is None:
                return session_id, False
            if is_theirs(connection, owner, thread):
                return session_id, True
    raise InvalidInput("both ids that the session could have are another person's")


def is_theirs(connection: Connection, owner: OwnerKey, thread: str) -> bool:
    """Tell whether the conversation is this person's."""
    noted = owner_noted(connection, thread)
    return noted is not None and person_of(connection, noted) == owner


def store_in_parts(
    parts: Iterable[Sequence[_One]],
    store: Callable[[Sequence[_One]], object],
    skipping: Callable[[_One], AbstractContextManager[None]],
) -> None:
    """Store one part after another; of a part with one that is refused each alone, `skipping` that one."""
    for part in parts:
        try:
            store(part)
        except InvalidInput:
            for each in part:
                with skipping(each):
                    store([each])
