"""Take a person's document into the memory unchanged: nothing twice, and the next run finishes what is half done.

Every part is stored in transactions of its own, and each finds out what exists already; so no state of an import is
kept anywhere.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

from langchain_core.messages import HumanMessage
from pydantic import ValidationError
from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import imported_sessions, session_move
from langmem_plugin.conversation.sessions.imported_sessions import PastMessageOf, PastSession
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.sessions.sessions_to_index import owner_noted
from langmem_plugin.conversation.turns.message_claims import ClaimRecord, MessageClaims
from langmem_plugin.database import BULK_WORK
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.identifiers import OwnerKey, is_group, usable
from langmem_plugin.identifiers.identifier import is_uuid
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.instructions.standing_instructions import Instruction
from langmem_plugin.memory.keep.categories import Category
from langmem_plugin.memory.keep.memory_row_mapping import checked, validated
from langmem_plugin.memory.keep.usage_and_verdicts import Use
from langmem_plugin.memory.keep.usage_and_verdicts import keep as keep_uses
from langmem_plugin.memory.keep.usage_and_verdicts import there as uses_there
from langmem_plugin.memory.memory_types import Memory, worded
from langmem_plugin.memory.write.memory_merge import OwnerMerge
from langmem_plugin.people import consent_records, links, person_settings
from langmem_plugin.people.consent_records import Consent, Given
from langmem_plugin.people.time_zones import zone_named
from langmem_plugin.portability import document_format as exported
from langmem_plugin.portability.document_format import FORMAT, FORMAT_VERSION, PersonExport, Record
from langmem_plugin.portability.import_ownership import (
    is_theirs,
    note_import,
    refuse_switched_off,
    session_id_for,
    store_in_parts,
)
from langmem_plugin.portability.imported_records import ImportReport, first_error
from langmem_plugin.portability.json_messages import from_json
from langmem_plugin.writing import extraction_jobs as job_records
from langmem_plugin.writing.extraction_jobs import JobRecord

OneRecord = TypeVar("OneRecord", bound=Record)


@dataclass
class _Run:
    """A running import: whose it becomes, what was renamed, and what it did so far."""

    owner: OwnerKey
    document: Mapping[str, Any]
    report: ImportReport = field(default_factory=ImportReport)
    session_ids: dict[str, str] = field(default_factory=dict)
    by_themselves: bool = False

    def records(self, name: str, kind: type[OneRecord]) -> Iterator[tuple[str, OneRecord]]:
        """Yield (place, record) of the readable records; for each of the others the report says why not."""
        held = self.document.get(name, [])
        if not isinstance(held, Sequence) or isinstance(held, str):
            self.report.skip(name, "this is no list")
            return
        for number, raw in enumerate(held, 1):
            if (record := self.record(f"{name} {number}", raw, kind)) is not None:
                yield f"{name} {number}", record

    def record(self, place: str, raw: object, kind: type[OneRecord]) -> OneRecord | None:
        try:
            return kind.model_validate(raw)
        except ValidationError as error:
            self.report.skip(place, first_error(error))
            return None

    def single(self, name: str, kind: type[OneRecord]) -> OneRecord | None:
        raw = self.document.get(name)
        return None if raw is None else self.record(name, raw, kind)

    def session(self, session_id: str | None) -> str | None:
        return None if session_id is None else self.session_ids.get(session_id, session_id)


class DocumentImporter:
    """An importer of documents; `owner_of` returns the key of the person with an identifier in any spelling."""

    def __init__(
        self, saver: ConversationSaver, service: MemoryService, owner_of: Callable[[str | int], OwnerKey]
    ) -> None:
        self._saver = saver
        self._service = service
        self._owner_of = owner_of
        self._merge = OwnerMerge(service.repository)
        self._claims = MessageClaims(saver.database, saver.sessions, lambda: saver.serde)

    def run(
        self,
        document: PersonExport | Mapping[str, Any],
        *,
        phone: str | int | None = None,
        by_themselves: bool = False,
    ) -> ImportReport:
        """Import a document; report what was stored, what existed, and what was left out and why.

        With `by_themselves` the person brings it: what an assistant or a tool is said to have said in it cannot be
        proven, so no conversation of it goes on, and no message waits for an answer. Raises UnreadableImport for
        what is no such document, or is one of a newer format.
        """
        refuse_switched_off(self._saver)
        given = document.model_dump() if isinstance(document, PersonExport) else document
        person = _person_of(given)
        owner = self._owner_of(person if phone is None else phone)
        run = _Run(owner, given, by_themselves=by_themselves)
        self._settings(run)
        self._identifiers(run)
        self._sessions(run)
        self._categories(run)
        self._memories(run)
        self._uses(run)
        self._instructions(run)
        self._said_elsewhere(run)
        if not by_themselves:
            self._incoming(run)
        note_import(self._saver, owner)
        return run.report

    def _settings(self, run: _Run) -> None:
        settings, consent = run.single("settings", exported.Settings), run.single("consent", exported.Consent)
        if settings is not None and settings.time_zone is not None and zone_named(settings.time_zone) is None:
            run.report.skip("settings", "this is no time zone that is known here")
            settings = settings.model_copy(update={"time_zone": None})
        with self._saver.database.write() as connection:
            if settings is not None and settings != exported.Settings():
                is_new = person_settings.keep_settings(connection, run.owner, settings.time_zone, settings.language)
                name = None if run.by_themselves else settings.name  # an operator gives it
                if name is not None and person_settings.name_of(connection, run.owner) is None:
                    person_settings.keep_name(connection, run.owner, name)
                    is_new = True
                run.report.count("settings", is_new)
            given = Consent(**{name: Given(**part.model_dump()) for name, part in consent or ()})
            if given != Consent():
                is_new = consent_records.consent_in(connection, run.owner, lock=True) == Consent()
                if is_new:
                    consent_records.keep(connection, run.owner, given)
                run.report.count("consent", is_new)

    def _identifiers(self, run: _Run) -> None:
        for place, record in run.records("identifiers", exported.Identifier):
            with run.report.skipping(place), links.alone(self._saver.database) as connection:
                usable(record.identifier)
                if is_group(record.identifier) or is_group(run.owner):
                    raise InvalidInput("a group is nobody: it cannot be linked")
                kept = links.keep_identifier(connection, run.owner, record.identifier, record.linked_at)
                if kept is None:
                    raise InvalidInput("this identifier is somebody else's here: link it yourself if it is theirs")
                run.report.count("identifier", kept)

    # Conversations

    def _sessions(self, run: _Run) -> None:
        files = {record.sha256: (place, record) for place, record in run.records("files", exported.File)}
        held = run.document.get("sessions", [])
        for number, raw in enumerate(held if isinstance(held, list) else [], 1):
            place = f"sessions {number}"
            said = raw.get("messages") if isinstance(raw, Mapping) else None
            bare = {**raw, "messages": []} if isinstance(raw, Mapping) else raw
            if (record := run.record(place, bare, exported.Session)) is not None:
                with run.report.skipping(place):
                    self._session(run, place, record, said if isinstance(said, list) else [], files)

    def _session(
        self,
        run: _Run,
        place: str,
        record: exported.Session,
        said: Sequence[Any],
        files: Mapping[str, tuple[str, exported.File]],
    ) -> None:
        session_id, is_there = session_id_for(self._saver, run.owner, record.session_id)
        run.session_ids[record.session_id] = session_id
        messages = dict(self._messages(run, place, said))
        if is_there:
            run.report.count("message", 0, of=len(messages))
            run.report.count("session", 0)
            return
        thread, is_noted = self._thread(run.owner, record.conversation)
        was_moved = record.conversation is not None and thread != record.conversation
        ends = was_moved or run.by_themselves
        if run.by_themselves and record.ended_at is None:
            run.report.doubt(place, "kept as a past conversation: who said what in it is this document's word alone")
        contents = self._contents(run, record.files, files)
        places = {number: at for at, number in enumerate(messages)}
        past = PastSession(
            thread=thread,
            session_id=session_id,
            created_at=record.created_at,
            last_active=record.last_active,
            ended_at=record.last_active if ends and record.ended_at is None else record.ended_at,
            messages=list(messages.values()),
            owner=run.owner if is_noted else None,
            client_name=record.client_name,
            client_phone=record.client_phone,
            files=contents,
        )

        def along(connection: Connection, session: Session, rows: Sequence[int]) -> None:
            if (job := record.extraction) is not None:
                read = frozenset(rows[places[each]] for each in job.read if each in places)
                job_records.keep(connection, session, JobRecord(job.state, read, job.facts, job.error))

        stored = imported_sessions.store(self._saver, past, along)
        run.report.count("message", len(messages) if stored else 0, of=len(messages))
        run.report.count("session", stored)
        if record.extraction is not None:
            run.report.count("extraction", stored)

    def _messages(self, run: _Run, place: str, said: Sequence[Any]) -> Iterator[tuple[int, PastMessageOf]]:
        """Yield the readable messages with their numbers."""
        for number, raw in enumerate(said, 1):
            of_message = f"{place}, message {number}"
            if (record := run.record(of_message, raw, exported.Message)) is not None:
                with run.report.skipping(of_message):
                    message = from_json(record.message)
                    message.id = record.message_id
                    yield number, PastMessageOf(message, record.stored_at, record.tokens)

    def _contents(
        self, run: _Run, digests: Sequence[str], files: Mapping[str, tuple[str, exported.File]]
    ) -> list[tuple[bytes, str]]:
        """Return the files of a session, each with its type."""
        found: list[tuple[bytes, str]] = []
        for digest in () if self._saver.media.place == "drop" else digests:
            place, record = files.get(digest, (f"file {digest[:12]}", None))
            with run.report.skipping(place):
                if record is None or record.data is None:
                    # A document that names a digest must not get another person's file with that digest.
                    raise InvalidInput("what is in this file is not in the document")
                found.append((_content(record.data, digest), record.mime_type))
                run.report.count("file", 1)
        return found

    def _thread(self, owner: OwnerKey, conversation: str | None) -> tuple[str, bool]:
        """Return the thread for a session of this conversation, and whether to note that it is the owner's.

        It is the owner's own conversation, unless the given one is theirs too, or is a server's that is nobody's here.
        """
        if conversation is None or conversation == owner:
            return owner, False
        with self._saver.database.read() as connection:
            if is_theirs(connection, owner, conversation):
                return conversation, False
            is_noted = owner_noted(connection, conversation) != conversation
            is_free = not is_noted and not session_move.is_there(connection, conversation)
        return (conversation, True) if is_free and is_uuid(conversation) else (owner, False)

    # Long-term memory

    def _categories(self, run: _Run) -> None:
        """Take in the categories in the document's order, parents before children."""
        ids: dict[str | None, str] = {}  # of the document's ids, those that they have here
        for place, record in run.records("categories", exported.Category):
            with run.report.skipping(place):
                made = Category(**record.model_dump() | {"parent_id": ids.get(record.parent_id)})
                ids[record.category_id], stored = self._service.categories.take_in(run.owner, made)
                run.report.count("category", stored)

    def _memories(self, run: _Run) -> None:
        memories: dict[str, Memory] = {}
        place: dict[str, str] = {}
        for of_record, record in run.records("memories", exported.Memory):
            values = record.model_dump() | {"session_id": run.session(record.session_id), "owner": run.owner}
            with run.report.skipping(of_record):
                worded(record.text)
                made = validated(checked(values))
                if made.id in memories:
                    raise InvalidInput(f"memory {made.id} was in the document already")
                memories[made.id], place[made.id] = made, of_record

        def store(part: Sequence[Memory]) -> None:
            run.report.count("memory", len(self._service.take_in(run.owner, part)), of=len(part))

        store_in_parts(in_parts([*memories.values()]), store, lambda each: run.report.skipping(place[each.id]))
        with self._saver.database.write(patience=BULK_WORK) as connection:
            there = self._service.repository.ids_there(connection, run.owner, [*memories])
            settled = self._merge.settle(connection, run.owner, sorted(there), self._service.now())
        for memory_id in settled:
            run.report.doubt(f"memory {memory_id}", "it cannot hold beside what was known here: it is history now")

    def _uses(self, run: _Run) -> None:
        given = dict(run.records("uses", exported.Use))
        wanted = list({each.memory_id for each in given.values()})
        with self._saver.database.write() as connection:
            there = self._service.repository.ids_there(connection, run.owner, wanted)
            kept = [
                Use(**each.model_dump() | {"session_id": run.session(each.session_id)})
                for each in given.values()
                if each.memory_id in there
            ]
            new = {each.access_id for each in kept} - uses_there(connection, run.owner, kept)
            keep_uses(connection, run.owner, kept)
        run.report.count("use", len(new), of=len(kept))
        for place, use in given.items():
            if use.memory_id not in there:
                run.report.skip(place, "the memory that was used is not there")

    def _instructions(self, run: _Run) -> None:
        for place, record in run.records("instructions", exported.Instruction):
            with run.report.skipping(place):
                made = Instruction(**record.model_dump(), owner=run.owner)
                run.report.count("instruction", self._service.instructions.take_in(run.owner, made))

    def _said_elsewhere(self, run: _Run) -> None:
        given = (PastMessage(**each.model_dump()) for _, each in run.records("said_elsewhere", exported.Saying))
        said = [replace(each, session_id=str(run.session(each.session_id))) for each in given]
        for part in in_parts(said):
            run.report.count("said elsewhere", self._service.history.add(run.owner, part), of=len(part))

    def _incoming(self, run: _Run) -> None:
        for position, (place, record) in enumerate(run.records("incoming", exported.Incoming)):
            with run.report.skipping(place), self._saver.database.write() as connection:
                message = None if record.message is None else from_json(record.message)
                if not isinstance(message, HumanMessage | None):  # it would be answered
                    raise InvalidInput("this is no message of a person")
                claim = ClaimRecord(record.message_id, record.received_at, message, record.reply, record.sent)
                stored = self._claims.keep_record(connection, run.owner, claim, position)
                run.report.count("incoming", stored)


def _person_of(document: Mapping[str, Any]) -> str:
    """Return whose the document is. Raises UnreadableImport."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise UnreadableImport("this is no person's document of phone-memory: name its format, or take another file")
    version = document.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise UnreadableImport(f"format_version={version!r} is no version: the document is damaged")
    if version > FORMAT_VERSION:
        raise UnreadableImport(
            f"the document has format {version}, and this version of phone-memory reads up to {FORMAT_VERSION}: "
            "install a newer one"
        )
    if unknown := document.keys() - PersonExport.model_fields.keys():
        raise UnreadableImport(f"the document has parts that nobody knows: {', '.join(sorted(map(str, unknown)))}")
    person = document.get("person")
    if not isinstance(person, str) or not person.strip():
        raise UnreadableImport("the document does not say whose it is")
    return person


def _content(data: str, digest: str) -> bytes:
    """Return what a file holds. Raises InvalidInput if it is damaged."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("its data is no base64") from error
    if sha256(content).hexdigest() != digest:
        raise InvalidInput("its data is not what its sha256 says")
    return content
