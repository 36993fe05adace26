"""Take records of other products into the memory: nothing twice, and the next run finishes what is half done.

The ids of what is stored follow from the record's own id, so a record that comes again is found. Sessions are stored
whole, memories in batches.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions.past_sessions import PastMessageOf, PastSession
from langmem_plugin.conversation.storage.codec import is_automated
from langmem_plugin.conversation.transcript import role_of, written_at
from langmem_plugin.database import Database, audit_trail
from langmem_plugin.database.erased_keys import is_erased
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.facts import classify
from langmem_plugin.identifiers import OwnerKey, normalised
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.instructions.conditions import parsed
from langmem_plugin.memory.instructions.instructions import Instruction
from langmem_plugin.memory.keep.categories import COLOR, DEFAULT_COLOR, Category
from langmem_plugin.memory.keep.memory_rows import checked
from langmem_plugin.memory.models import LIVE, Memory, bare, worded
from langmem_plugin.memory.write.reconciler import HeldFacts, decided, stated
from langmem_plugin.portability.person_writer import AT_ONCE, PersonWriter, stable_id
from langmem_plugin.portability.records import (
    BadRecord,
    ImportedCategory,
    ImportedInstruction,
    ImportedMemory,
    ImportedRecords,
    ImportedSession,
    ImportReport,
    Kind,
    first_error,
)

_PASSING = ("Temporary", "Question", "Joke", "Automated", "No words")  # the beginnings of the reasons of `classify`


class JunkAudit:
    """A check of one person's memories for junk, in the order they come; later ones are compared with those that
    `accept` took.

    `held` is what is stored, `assistant_said` what the assistant said, in the form of `bare`.
    """

    def __init__(self, held: HeldFacts, assistant_said: Collection[str], now: datetime) -> None:
        self._held = held
        self._assistant_said = assistant_said
        self._now = now

    def accept(self, memory: Memory) -> None:
        self._held.add(stated(memory))

    def finding(self, memory: Memory, *, said_by_assistant: bool) -> tuple[str | None, str | None]:
        """Return the reason to leave the memory out, because it would double another, or else the first doubt. Memories
        that are history at their source are only checked for repetition.
        """
        fact = stated(memory)
        decision = decided(fact, self._held.concerning(fact))
        if decision.same is not None:
            return f"it says what memory {decision.same.memory.id} says", None
        if memory.status not in LIVE:
            return None, None
        passing = _passing(memory.text) if memory.key is None else None
        is_assistants = said_by_assistant or bare(memory.text) in self._assistant_said
        is_over = memory.expires_at is not None and memory.expires_at <= self._now
        told = (memory.quote, memory.said_at, memory.session_id, memory.source_id)
        against = (
            is_assistants and "these are the assistant's own words",
            is_over and "its time is over",
            passing and f"it is nothing that lasts: {passing}",
            decision.newer and f"memory {decision.newer.memory.id} is newer and contradicts it",
            decision.over and f"it contradicts memory {decision.over[-1].memory.id}",
            memory.source_type not in ("manual", "command")
            and not any(told)
            and "nothing says when or in which words it was told",
        )
        return None, next((each for each in against if each), None)


def _passing(text: str) -> str | None:
    found = classify(text)
    return found.reason if not found.should_store and found.reason.startswith(_PASSING) else None


Doubtful = Literal["pending", "leave-out"]


@dataclass
class _Run:
    """A running import. `ones` is the name that the records have for their person, where all become one person's."""

    phone: str | None
    phone_of: Mapping[str, str]
    doubtful: Doubtful
    dry_run: bool
    progress: Callable[[int], object]
    report: ImportReport = field(default_factory=ImportReport)
    waiting: dict[OwnerKey, list[tuple[ImportedMemory, Memory]]] = field(default_factory=dict)
    assistant_said: dict[str, set[str]] = field(default_factory=dict)
    ones: str | None = None
    erased: dict[OwnerKey, bool] = field(default_factory=dict)

    def count(self, kind: Kind, *, stored: bool, many: int = 1) -> None:
        (self.report.stored if stored else self.report.there_already)[kind] += many
        self.progress(many)


class Importer:
    """An importer of records; `owner_of` returns the key of the person with an identifier in any spelling."""

    def __init__(
        self, saver: ConversationSaver, service: MemoryService, owner_of: Callable[[str], OwnerKey], *, enabled: bool
    ) -> None:
        self._enabled = enabled
        self._saver = saver
        self._service = service
        self._owner_of = owner_of
        self._writer = PersonWriter(saver, service)

    def run(
        self,
        records: ImportedRecords,
        *,
        phone: str | int | None = None,
        phone_of: Mapping[str, str] = MappingProxyType({}),
        doubtful: Doubtful = "pending",
        dry_run: bool = False,
        progress: Callable[[int], object] = lambda _: None,
    ) -> ImportReport:
        """Store what another product kept, as a module of `portability.sources` reads it: nothing twice.

        `phone` is the person whom all of it becomes; without it each record says whose it is. `phone_of` maps a
        record's name for somebody to a phone; a name that is not in it stays as it is.

        What the junk audit doubts is stored to be confirmed, or left out. Raises what a source raises for a file
        that it cannot read at all, EmbeddingUnavailable or StoreUnavailable; what was done before stays done.
        """
        refuse_switched_off(enabled=self._enabled)
        database = self._service.database
        whose = None if phone is None else normalised(phone, database.region)
        run = _Run(whose, phone_of, doubtful, dry_run, progress)
        for record in records:
            if isinstance(record, BadRecord):
                run.report.skip(record.place, record.reason)
                continue
            with run.report.skipping(record.place):
                self._take(run, record)
        for owner in list(run.waiting):
            self._store_waiting(run, owner)
        note_import(database, whose, dry_run=dry_run)
        return run.report

    def _take(
        self, run: _Run, record: ImportedSession | ImportedCategory | ImportedInstruction | ImportedMemory
    ) -> None:
        owner = self._owner(run, record.phone)
        if self._is_erased(run, owner):
            run.report.leave_erased(record.place)
        elif isinstance(record, ImportedSession):
            self._session(run, owner, record)
        elif isinstance(record, ImportedCategory):
            self._category(run, owner, record)
        elif isinstance(record, ImportedInstruction):
            self._instruction(run, owner, record)
        else:
            self._memory(run, owner, record)

    def _is_erased(self, run: _Run, owner: OwnerKey) -> bool:
        """Tell whether the owner was erased; it is read once for each person of an import."""
        if owner not in run.erased:
            with self._saver.database.read() as connection:
                run.erased[owner] = is_erased(connection, owner)
        return run.erased[owner]

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
        said = run.assistant_said.setdefault(owner, set())
        said.update(bare(each.text) for each in record.messages if role_of(each) == "assistant")
        session_id, is_there = self._writer.session_id(owner, record.source_id)
        if not is_there and not run.dry_run:
            named = _named(owner, record)
            past = PastSession(
                thread=owner,
                session_id=session_id,
                created_at=record.began_at,
                last_active=max(record.began_at, record.ended_at),
                ended_at=self._saver.sessions.now(),  # the archive keeps it from now on, however old it is
                messages=[PastMessageOf(each, written_at(each)) for each in named],
                client_name=record.client_name,
            )
            is_there = not self._writer.store_session(past)
        run.count("message", stored=not is_there, many=len(record.messages))
        run.count("session", stored=not is_there)

    def _category(self, run: _Run, owner: OwnerKey, record: ImportedCategory) -> None:
        color = record.color if record.color is not None and COLOR.fullmatch(record.color) else DEFAULT_COLOR
        if record.color not in {None, color}:
            run.report.doubt(record.place, "its colour is none: it has the usual one")
        made = Category(
            stable_id(owner, record.source_id),
            record.name,
            color,
            record.description,
            None if record.parent is None else stable_id(owner, record.parent),
            record.created_at or self._service.now(),
        )
        run.count("category", stored=run.dry_run or self._service.categories.take_in(owner, made))

    def _instruction(self, run: _Run, owner: OwnerKey, record: ImportedInstruction) -> None:
        text, condition = record.text.strip(), record.condition
        try:
            if condition is not None:
                parsed(condition)
        except InvalidInput:
            text, condition = f"if {condition} then {text}", None
            run.report.doubt(record.place, "its condition is none that is understood here: it is kept in words")
        now = self._service.now()
        values = {
            "id": stable_id(owner, record.source_id),
            "owner": owner,
            "text": text,
            "priority": record.priority,
            "condition": condition,
            "active": record.active,
            "expires_at": record.expires_at,
            "created_at": record.created_at or now,
            "updated_at": record.created_at or now,
        }
        try:
            made = Instruction.model_validate(values)
        except ValidationError as error:
            raise InvalidInput(first_error(error)) from error
        run.count("instruction", stored=run.dry_run or self._service.instructions.take_in(owner, made))

    # Memories: held back until there are enough of a person's to be embedded together

    def _memory(self, run: _Run, owner: OwnerKey, record: ImportedMemory) -> None:
        now = self._service.now()
        fields = {"source_type": "api_import", "created_at": now} | dict(record.fields)
        fields = {"updated_at": fields["created_at"]} | fields
        values = {**fields, "id": stable_id(owner, record.source_id), "owner": owner, "text": worded(record.text)}
        try:
            memory = Memory.model_validate(checked(values))
        except ValidationError as error:
            raise InvalidInput(first_error(error)) from error
        statement = stated(memory).statement
        read = {
            "slot": memory.slot or (statement.slot.key if statement.slot and memory.key is None else None),
            "valid_from": memory.valid_from or statement.valid_from,
            "valid_to": memory.valid_to or statement.valid_to,
        }
        waiting = run.waiting.setdefault(owner, [])
        waiting.append((record, memory.model_copy(update=read)))
        if len(waiting) >= AT_ONCE:
            self._store_waiting(run, owner)

    def _store_waiting(self, run: _Run, owner: OwnerKey) -> None:
        waiting = run.waiting.pop(owner)
        memories = [memory for _, memory in waiting]
        with self._saver.database.read() as connection:
            there = self._service.repository.ids_there(connection, owner, [each.id for each in memories])
        audit = JunkAudit(
            self._service.reconciler.beside(owner, memories), run.assistant_said.get(owner, ()), self._service.now()
        )
        accepted: dict[str, Memory] = {}
        for record, memory in waiting:
            if memory.id in there or memory.id in accepted:
                run.count("memory", stored=False)
            elif (judged := self._judged(run, audit, record, memory)) is not None:
                accepted[memory.id] = judged
        if run.dry_run:
            run.count("memory", stored=True, many=len(accepted))
            return
        place = {memory.id: record.place for record, memory in waiting}
        stored, refused = self._writer.store_memories(owner, list(accepted.values()))
        run.count("memory", stored=True, many=len(stored))
        for memory_id, reason in refused.items():
            run.report.skip(place[memory_id], reason)

    def _judged(self, run: _Run, audit: JunkAudit, record: ImportedMemory, memory: Memory) -> Memory | None:
        known, doubt = audit.finding(memory, said_by_assistant=record.said_by_assistant)
        if known or (doubt and run.doubtful == "leave-out"):
            run.report.doubt(record.place, f"left out: {known or doubt}")
            return None
        if doubt:
            run.report.doubt(record.place, f"to be confirmed: {doubt}")
            expired = memory.expires_at is not None and memory.expires_at <= self._service.now()
            changes = {"status": "pending"} | ({"expires_at": None} if expired else {})
            memory = memory.model_copy(update=changes)
        audit.accept(memory)
        return memory


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


def refuse_switched_off(*, enabled: bool) -> None:
    """Raise ConfigurationError where the memory is switched off."""
    if not enabled:
        raise ConfigurationError("the memory is switched off: nothing is stored that could go out, or is taken in")


def note_import(database: Database, whose: str | None, *, dry_run: bool) -> None:
    """Note in the audit log that data were imported."""
    if not dry_run:
        with database.write() as connection:
            audit_trail.record(connection, "data.imported", owner=whose)
