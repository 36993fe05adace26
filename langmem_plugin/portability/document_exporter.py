"""Read all that is stored of one person, part by part, so that much data never has to be in memory at once."""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TextIO

from pydantic import BaseModel
from sqlalchemy import Column, ColumnElement, Connection, func, or_, select

from langmem_plugin.conversation.media.media_reference import MediaReference, references_in
from langmem_plugin.conversation.media.media_store import FileEncryption, data_of, files_in
from langmem_plugin.conversation.message_as_dict import role_of, written_at
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage.message_rows import row_behind
from langmem_plugin.conversation.turns.message_claims import ClaimRecord, MessageClaims
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.conversation_tables import incoming, question, thread_owner
from langmem_plugin.database.conversation_tables import media as media_table
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.database.memory_tables import history_message, memory_category
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.database.memory_tables import standing_instruction as instruction_table
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.people_tables import identifier as identifier_table
from langmem_plugin.database.people_tables import person as person_table
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.usage_and_verdicts import logged
from langmem_plugin.memory.memory_types import LIVE
from langmem_plugin.people import consent_records, links, person_settings
from langmem_plugin.portability import document_format as exported
from langmem_plugin.portability.document_format import FORMAT, FORMAT_VERSION, PersonExport
from langmem_plugin.portability.import_ownership import refuse_switched_off
from langmem_plugin.portability.json_messages import as_json
from langmem_plugin.writing import extraction_jobs as job_records

log = event_log(__name__)

_OWNER = {"owner"}
_Files = dict[str, tuple[str, MediaReference | None]]
"""By its digest a thread that a file was brought to, and the reference to it where a message has one."""
_OF_THREADS = (session_table, message_table, media_table)
_OTHERS = (
    *(history_message.c.owner, memory_category.c.owner, incoming.c.thread, question.c.thread),
    *(person_table.c.person, identifier_table.c.person),
)


@dataclass(frozen=True, slots=True)
class Holdings:
    """The amounts stored of a person. `pending` counts memories that wait for their consent; `messages` counts every
    version of a message.
    """

    sessions: int
    messages: int
    files: int
    memories: int
    pending: int
    instructions: int
    other_records: int
    """The number of memories that were replaced, archived or forgotten, of messages that can be searched, categories,
    claims of messages, identifiers and settings.
    """

    @property
    def is_something(self) -> bool:
        return any(asdict(self).values())


class Exporter:
    """The exporter of one person's data: nothing of anybody else is ever read.

    `person` is any identifier of a person or a group.
    """

    def __init__(self, saver: ConversationSaver, service: MemoryService, now: Callable[[], datetime]) -> None:
        self._saver = saver
        self._service = service
        self._claims = MessageClaims(saver.database, saver.sessions, lambda: saver.serde)
        self._now = now

    def export(self, person: str | int) -> PersonExport:
        """Return the export as one document."""
        parts = {name: list(part) if isinstance(part, Iterator) else part for name, part in self.parts(person)}
        return PersonExport.model_validate(parts)

    def write(self, person: str | int, file: TextIO) -> None:
        """Write the export into a file, as JSON, one record at a time and on one line each."""
        before = "{"
        for name, part in self.parts(person):
            file.write(f"{before}\n{json.dumps(name)}: ")
            if isinstance(part, Iterator):
                between = "["
                for record in part:
                    file.write(f"{between}\n{record.model_dump_json()}")
                    between = ","
                file.write("[]" if between == "[" else "\n]")
            else:
                file.write(part.model_dump_json() if isinstance(part, BaseModel) else json.dumps(part, default=str))
            before = ","
        file.write("\n}\n")

    def holdings(self, person: str | int) -> Holdings:
        """Count what is stored, without reading it."""
        person = owner_key(self._saver.database, person)
        with self._saver.database.read() as connection:

            def many(holder: Column[str], *also: ColumnElement[bool]) -> int:
                keys = threads if holder.table in _OF_THREADS else [person]
                rows = select(func.count()).where(holder.in_(keys), *also)
                return int(connection.execute(rows).scalar_one())

            threads, owner, state = threads_of(connection, person), memory_table.c.owner, memory_table.c.status
            return Holdings(
                sessions=many(session_table.c.thread),
                messages=many(message_table.c.thread),
                files=many(media_table.c.thread),
                memories=many(owner, state == "active"),
                pending=many(owner, state == "pending"),
                instructions=many(instruction_table.c.owner),
                other_records=many(owner, state.not_in(LIVE)) + sum(map(many, _OTHERS)),
            )

    def parts(self, person: str | int) -> Iterator[tuple[str, Any]]:
        """Yield the fields of the document in their order; a list is an iterator, to be read before the next field.

        When all of it was read the export is noted. Raises ConfigurationError where the memory is switched off.
        """
        refuse_switched_off(self._saver)
        person = owner_key(self._saver.database, person)
        yield "format", FORMAT
        yield "format_version", FORMAT_VERSION
        yield "exported_at", self._now().isoformat()
        yield "person", person
        with self._saver.database.read() as connection:
            zone, language = person_settings.settings_in(connection, person)
            set_by_them = {"time_zone": zone, "language": language}
            name = person_settings.name_of(connection, person)
            yield "settings", exported.Settings.model_validate({**set_by_them, "name": name})
            yield "consent", exported.Consent.model_validate(asdict(consent_records.consent_in(connection, person)))
            linked = links.linked_to(connection, person)
            yield "identifiers", (exported.Identifier(identifier=each, linked_at=at) for each, at in linked)
            categories = self._service.categories.all_of(connection, person)
            yield "categories", (exported.Category(**asdict(each)) for each in categories)
            memories = self._service.repository.all_of(connection, person)
            yield "memories", (exported.Memory(**each.model_dump(exclude=_OWNER)) for each in memories)
            yield "uses", (exported.Use(**asdict(each)) for each in logged(connection, person))
            instructions = self._service.instructions.all_of(connection, person)
            yield "instructions", (exported.Instruction(**each.model_dump(exclude=_OWNER)) for each in instructions)
            said = self._service.history.of_no_session_here(connection, person)
            yield "said_elsewhere", (exported.Saying(**asdict(each)) for each in said)
            yield "incoming", map(_incoming, self._claims.records(connection, person))
            files: _Files = {}
            yield "sessions", self._sessions(connection, person, files)
            yield "files", self._files(connection, files)
        with self._saver.database.write() as connection:
            record(connection, "data.exported", owner=person)

    def _sessions(self, connection: Connection, person: OwnerKey, files: _Files) -> Iterator[exported.Session]:
        """Yield the sessions; fill in `files`."""
        found = [each for thread in threads_of(connection, person) for each in session_rows.all_of(connection, thread)]
        for session in sorted(found, key=lambda each: (each.created_at, each.session_id)):
            brought = files_in(connection, self._saver.media, session.thread, session.number)
            for digest in brought:
                files.setdefault(digest, (session.thread, None))
            yield self._session(connection, person, session, brought, files)

    def _session(
        self,
        connection: Connection,
        person: OwnerKey,
        session: Session,
        brought: list[str],
        files: _Files,
    ) -> exported.Session:
        checkpoints = self._saver.checkpoints.of(connection, session)
        rows = checkpoints.listed()
        client = session_rows.client_of(connection, session)
        messages: list[exported.Message] = []
        place: dict[int, int] = {}
        for row, message in zip(rows, checkpoints.messages_of(rows), strict=True):
            if row_behind(message) is not None:
                log.error("export.unreadable_message", extra={"session_id": session.session_id, "row": row.row})
                continue
            form = as_json(message)
            for each in references_in(form):
                if each.sha256 in brought and each.path:
                    files[each.sha256] = session.thread, each
            place[row.row] = len(messages) + 1
            messages.append(
                exported.Message(
                    message_id=message.id and str(message.id).encode("utf-8", "replace").decode(),
                    role=role_of(message),
                    text=message.text.encode("utf-8", "replace").decode(),
                    said_at=written_at(message) or row.created_at,
                    stored_at=row.created_at,
                    tokens=row.tokens,
                    message=form,
                )
            )
        job = job_records.of_session(connection, session)
        return exported.Session(
            session_id=session.session_id,
            conversation=None if session.thread == person else session.thread,
            created_at=session.created_at,
            last_active=session.last_active,
            ended_at=session.ended_at,
            client_name=client.name,
            client_phone=client.phone,
            messages=messages,
            files=brought,
            extraction=None
            if job is None
            else exported.Extraction(
                state=job.state,
                read=sorted(place[row] for row in job.taken if row in place),
                facts=[dict(each) for each in job.facts],
                error=job.error,
            ),
        )

    def _files(self, connection: Connection, files: _Files) -> Iterator[exported.File]:
        for digest, (thread, reference) in sorted(files.items(), key=lambda each: each[0]):
            data = data_of(connection, thread, digest)
            if data is None and reference is not None:
                data = self._saver.media.load(reference, FileEncryption.of(connection, thread))
            yield exported.File(
                sha256=digest,
                mime_type=(reference and reference.mime_type) or "application/octet-stream",
                size=None if reference is None else reference.size,
                data=None if data is None else base64.b64encode(data).decode(),
            )


def _incoming(claim: ClaimRecord) -> exported.Incoming:
    return exported.Incoming(**claim._asdict() | {"message": claim.message and as_json(claim.message)})


def threads_of(connection: Connection, person: OwnerKey) -> list[str]:
    """Return the conversations of all their identifiers, and those on a server that were noted to be theirs."""
    keys = links.identifiers_of(connection, person)
    noted = select(thread_owner.c.thread).where(thread_owner.c.owner.in_(keys)).order_by(thread_owner.c.thread)
    anothers = or_(thread_owner.c.owner.is_(None), thread_owner.c.owner.not_in(keys))  # null: runs named two people
    others = select(thread_owner.c.thread).where(thread_owner.c.thread.in_(keys), anothers)
    not_theirs = set(connection.execute(others).scalars())
    return [each for each in dict.fromkeys([*keys, *connection.execute(noted).scalars()]) if each not in not_theirs]
