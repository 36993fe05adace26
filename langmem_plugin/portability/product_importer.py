"""Import records of other products into the memory: nothing twice, and the next run finishes what is half done.

The ids of what is stored follow from the record's own id, so a record that comes again is found. A fact is weighed
against what is known, as any other that is remembered. Sessions are stored whole, memories in batches.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from langchain_core.messages import BaseMessage
from pydantic import ValidationError
from sqlalchemy import select

from langmem_plugin.conversation.message_as_dict import written_at
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import imported_sessions
from langmem_plugin.conversation.sessions.imported_sessions import PastMessageOf, PastSession
from langmem_plugin.conversation.storage.codec import is_automated
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.owners_and_erasures import is_erased
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, normalised
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.instructions.conditions import parsed
from langmem_plugin.memory.instructions.standing_instructions import Instruction
from langmem_plugin.memory.keep.categories import COLOR, DEFAULT_COLOR, Category
from langmem_plugin.memory.memory_types import MemoryFields
from langmem_plugin.portability.import_ownership import (
    note_import,
    refuse_switched_off,
    session_id_for,
    stable_id,
    store_in_parts,
)
from langmem_plugin.portability.imported_records import (
    ERASED,
    Imported,
    ImportedCategory,
    ImportedInstruction,
    ImportedMemory,
    ImportedRecords,
    ImportedSession,
    ImportReport,
    Remark,
    first_error,
)

_Waiting = tuple[str, ImportedMemory]
"""A fact that is to be remembered, behind its id here."""


@dataclass
class _Run:
    """A running import. `ones` is the name that the records have for their person, where all become one person's."""

    phone: str | None
    phone_of: Mapping[str, str]
    report: ImportReport = field(default_factory=ImportReport)
    waiting: dict[OwnerKey, dict[str, ImportedMemory]] = field(default_factory=dict)
    ones: str | None = None
    held: dict[OwnerKey, set[str]] = field(default_factory=dict)
    categories: dict[tuple[OwnerKey, str], str] = field(default_factory=dict)
    """The ids here of the categories of a person, by those of the source."""


class Importer:
    """An importer of records; `owner_of` returns the key of the person with an identifier in any spelling."""

    def __init__(self, saver: ConversationSaver, service: MemoryService, owner_of: Callable[[str], OwnerKey]) -> None:
        self._saver = saver
        self._service = service
        self._owner_of = owner_of

    def run(
        self,
        records: ImportedRecords,
        *,
        phone: str | int | None = None,
        phone_of: Mapping[str, str] = MappingProxyType({}),
    ) -> ImportReport:
        """Store what another product kept, as a module of `portability.sources` reads it: nothing twice.

        `phone` is the person whom all of it becomes; without it each record says whose it is. `phone_of` maps a
        record's name for somebody to a phone; a name that is not in it stays as it is.

        Raises what a source raises for a file that it cannot read at all, EmbeddingUnavailable or StoreUnavailable;
        what was done before stays done.
        """
        refuse_switched_off(self._saver)
        whose = None if phone is None else normalised(phone, self._service.database.region)
        run = _Run(whose, phone_of)
        for record in records:
            if isinstance(record, Remark):
                run.report.skipped.append(record)
                continue
            with run.report.skipping(record.place):
                self._take(run, record)
        for owner, waiting in run.waiting.items():
            self._remember(run, owner, waiting)
        note_import(self._saver, whose)
        return run.report

    def _take(self, run: _Run, record: Imported) -> None:
        owner = self._owner(run, record.phone)
        with self._saver.database.read() as connection:
            if is_erased(connection, owner):
                raise InvalidInput(ERASED)
        if isinstance(record, ImportedSession):
            self._session(run, owner, record)
        elif isinstance(record, ImportedCategory):
            self._category(run, owner, record)
        elif isinstance(record, ImportedInstruction):
            self._instruction(run, owner, record)
        elif isinstance(record, ImportedMemory):
            run.waiting.setdefault(owner, {})[stable_id(owner, record.source_id)] = record

    def _owner(self, run: _Run, named: str | None) -> OwnerKey:
        """Return the owner of a record. Raises InvalidInput where it is unknown."""
        if run.phone is None:
            if named is None:
                raise InvalidInput("it is not said whose this is: name the phone it is to be imported for")
            return self._owner_of(run.phone_of.get(named, named))
        if named is not None:
            run.ones = run.ones or named
            if run.ones != named:
                raise InvalidInput("this is another person's than the records before: import it without naming a phone")
        return self._owner_of(run.phone)

    def _session(self, run: _Run, owner: OwnerKey, record: ImportedSession) -> None:
        """Store the session; of one that has grown since it was stored, what is new as a session of its own."""
        messages = _named(owner, record)
        held = self._held(run, owner)
        new = [each for each in messages if each.id not in held]
        wanted, began_at = record.source_id, record.began_at
        if 0 < len(new) < len(messages):
            wanted, began_at = str(new[0].id), written_at(new[0]) or began_at
        past = PastSession(
            thread=owner,
            session_id=session_id_for(self._saver, owner, wanted)[0],
            created_at=began_at,
            last_active=max(began_at, record.ended_at),
            ended_at=self._saver.sessions.now(),  # the archive keeps it from now on, however old it is
            messages=[PastMessageOf(each, written_at(each)) for each in new],
            client_name=record.client_name,
        )
        stored = bool(new or not messages) and imported_sessions.store(self._saver, past)
        if stored:
            held.update(str(each.id) for each in new)
        run.report.count("message", len(new) if stored else 0, of=len(new if stored else messages))
        run.report.count("session", stored)

    def _held(self, run: _Run, owner: OwnerKey) -> set[str]:
        """Return the ids of the messages that the owner's conversation has; they are read once for each person."""
        if owner not in run.held:
            of_thread = select(message_table.c.message_id).where(message_table.c.thread == owner)
            with self._saver.database.read() as connection:
                run.held[owner] = set(connection.execute(of_thread).scalars())
        return run.held[owner]

    def _category(self, run: _Run, owner: OwnerKey, record: ImportedCategory) -> None:
        made = Category(
            stable_id(owner, record.source_id),
            record.name,
            record.color if record.color is not None and COLOR.fullmatch(record.color) else DEFAULT_COLOR,
            record.description,
            None if record.parent is None else run.categories.get((owner, record.parent)),
            record.created_at or self._service.now(),
        )
        run.categories[owner, record.source_id], stored = self._service.categories.take_in(owner, made)
        run.report.count("category", stored)

    def _instruction(self, run: _Run, owner: OwnerKey, record: ImportedInstruction) -> None:
        now = self._service.now()
        fields: dict[str, Any] = {"created_at": now, "updated_at": now, "text": record.text.strip(), **record.fields}
        condition = fields.get("condition")
        try:
            if condition is not None:
                parsed(condition)
        except InvalidInput:
            fields |= {"text": f"if {condition} then {fields['text']}", "condition": None}
            run.report.doubt(record.place, "its condition is none that is understood here: it is kept in words")
        try:
            made = Instruction(id=stable_id(owner, record.source_id), owner=owner, **fields)
        except ValidationError as error:
            raise InvalidInput(first_error(error)) from error
        run.report.count("instruction", self._service.instructions.take_in(owner, made))

    def _remember(self, run: _Run, owner: OwnerKey, waiting: Mapping[str, ImportedMemory]) -> None:
        """Remember the facts in the order in which they were said: a later run then decides as this one did."""
        with self._saver.database.read() as connection:
            there = self._service.repository.ids_there(connection, owner, list(waiting))
        run.report.count("memory", 0, of=len(there))
        now = self._service.now()
        left = [(memory_id, each) for memory_id, each in waiting.items() if memory_id not in there]
        left.sort(key=lambda one: one[1].fields.get("said_at") or one[1].fields.get("created_at") or now)
        parts = self._embedding_ahead([*in_parts(left)])
        store_in_parts(parts, partial(self._remembered, run, owner), lambda one: run.report.skipping(one[1].place))

    def _embedding_ahead(self, parts: Sequence[Sequence[_Waiting]]) -> Iterator[Sequence[_Waiting]]:
        """Give one part after another; the embedder knows its vectors already, since meanwhile it embeds the next."""
        with ThreadPoolExecutor(1, "langmem-embedding") as pool:
            for part, following in itertools.pairwise([[], *parts, []]):
                begun = pool.submit(self._service.embedder.texts, [each.text.strip() for _, each in following])
                if part:
                    yield part
                wait([begun])

    def _remembered(self, run: _Run, owner: OwnerKey, new: Sequence[_Waiting]) -> None:
        facts = [
            (each.text, cast("MemoryFields", {"source_type": "api_import", **each.fields, "id": memory_id}))
            for memory_id, each in new
        ]
        for (_, record), made in zip(new, self._service.remember_many(owner, facts), strict=True):
            is_known = made.outcome == "duplicate"
            run.report.count("memory", not is_known)
            if is_known:
                run.report.doubt(record.place, f"it says what memory {made.id} says")
            elif made.status != "active":
                run.report.doubt(record.place, f"it is {made.status}, and not recalled")


def _named(owner: OwnerKey, record: ImportedSession) -> list[BaseMessage]:
    """Return the messages with ids of their own, the same at each import; automated ones are left out."""
    named: list[BaseMessage] = []
    taken: set[str] = set()
    for number, each in enumerate(record.messages, 1):
        if is_automated(each):
            continue
        if not each.id or each.id in taken:
            each = each.model_copy(update={"id": stable_id(owner, f"{record.source_id}\0{number}")})  # noqa: PLW2901
        taken.add(str(each.id))
        named.append(each)
    return named
