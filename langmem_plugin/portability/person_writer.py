"""Store imported data where they belong: once, and never in another person's conversation."""

import base64
import binascii
import functools
import uuid
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from sqlalchemy import Connection, select

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import past_sessions, session_move
from langmem_plugin.database import BULK_WORK
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.database.owners import person_of
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.identifiers.identifier import is_uuid
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.models import Memory
from langmem_plugin.memory.write.merging import OwnerMerge

_OF_IMPORTS = uuid.UUID("5f0c6a5e-8a0b-5f6e-9d0e-2f6d6f0c7b11")
AT_ONCE = 300  # the number of memories that are embedded and stored together


def stable_id(owner: OwnerKey, source_id: str) -> str:
    """Return an id that is the same whenever the same thing is imported for the same person."""
    return str(uuid.uuid5(_OF_IMPORTS, f"{owner}\0{source_id}"))


def refuse_switched_off(*, enabled: bool) -> None:
    """Raise ConfigurationError where the memory is switched off."""
    if not enabled:
        raise ConfigurationError("the memory is switched off: nothing is stored that could go out, or is taken in")


class PersonWriter:
    """The writer of imported data; `owner` is the key of the person to whom everything goes."""

    def __init__(self, saver: ConversationSaver, service: MemoryService) -> None:
        self._saver = saver
        self._service = service
        self._merge = OwnerMerge(service.repository)

    def note_import(self, whose: str | None) -> None:
        """Note in the audit log that data were imported."""
        with self._saver.database.write() as connection:
            record(connection, "data.imported", owner=whose)

    def session_id(self, owner: OwnerKey, wanted: str) -> tuple[str, bool]:
        """Return the id that a session gets here, and whether it exists already: another person's is never touched."""
        with self._saver.database.read() as connection:
            for session_id in (wanted, stable_id(owner, wanted)):
                thread = past_sessions.thread_with(connection, session_id)
                if thread is None:
                    return session_id, False
                if self._is_of(connection, owner, thread):
                    return session_id, True
        raise InvalidInput("both ids that the session could have are another person's")

    def thread(self, owner: OwnerKey, conversation: str | None) -> tuple[str, bool]:
        """Return the thread for a session of this conversation, and whether to note that it is the owner's.

        It is the owner's own conversation, unless the given one is theirs too, or is a server's that is nobody's here.
        """
        if conversation is None or conversation == owner:
            return owner, False
        with self._saver.database.read() as connection:
            if self._is_of(connection, owner, conversation):
                return conversation, False
            noted = select(thread_owner.c.thread).where(thread_owner.c.thread == conversation)
            is_free = connection.execute(noted).first() is None and not session_move.is_there(connection, conversation)
        return (conversation, True) if is_free and is_uuid(conversation) else (owner, False)

    def kept_file(self, data: str, digest: str, mime_type: str) -> Callable[[], bytes] | None:
        """Store a file for `PastSession.files`: a folder has it on disk when this returns. Raises InvalidInput if it is
        damaged.
        """
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInput("its data is no base64") from error
        if sha256(content).hexdigest() != digest:
            raise InvalidInput("its data is not what its sha256 says")
        self._saver.media.keep(content, mime_type)
        return None if self._saver.media.folder is not None else functools.partial(bytes, content)

    def store_memories(self, owner: OwnerKey, memories: Sequence[Memory]) -> tuple[set[str], dict[str, str]]:
        """Store memories; return the ids of the new ones, and of those that no database can hold, with the reason."""
        stored: set[str] = set()
        refused: dict[str, str] = {}
        for start in range(0, len(memories), AT_ONCE):
            batch = memories[start : start + AT_ONCE]
            try:
                stored |= {each.id for each in self._service.take_in(owner, batch)}
            except InvalidInput:  # one of them is refused: storing each alone shows which
                for each in batch:
                    try:
                        stored |= {made.id for made in self._service.take_in(owner, [each])}
                    except InvalidInput as error:
                        refused[each.id] = str(error)
        return stored, refused

    def settle(self, owner: OwnerKey, memory_ids: Sequence[str]) -> Mapping[str, object]:
        """Settle these memories with the owner's others: one that repeats or contradicts another becomes history."""
        with self._saver.database.write(patience=BULK_WORK) as connection:
            there = self._service.repository.ids_there(connection, owner, memory_ids)
            return self._merge.settle(connection, owner, sorted(there), self._service.now())

    @staticmethod
    def _is_of(connection: Connection, owner: OwnerKey, thread: str) -> bool:
        noted = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
        if noted is not None:
            return noted.owner is not None and person_of(connection, noted.owner) == owner
        return person_of(connection, thread) == owner
