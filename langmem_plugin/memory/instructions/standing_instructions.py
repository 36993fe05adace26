"""Standing instructions: what a person wants done from now on, always or under a condition."""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Unpack

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    func,
    or_,
    select,
    update,
)

from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.encryption import Encryption, encryption_of
from langmem_plugin.database.memory_tables import standing_instruction as table
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.schema import insert_new
from langmem_plugin.errors import (
    DamagedMemory,
    InstructionNotFound,
    InvalidInput,
    StaleMemory,
    TooManyInstructions,
)
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.instructions.conditions import Situation, parsed
from langmem_plugin.memory.instructions.conflicts import concerns, opposed, withdraws
from langmem_plugin.memory.keep.changes_and_checksums import AnyRow, Damages, SealedTable, all_rows, begin_change, owned
from langmem_plugin.memory.memory_types import plain, storable

MOST_INSTRUCTIONS = 200  # instructions of one owner: all of them are in every prompt
SEALED = SealedTable(
    table,
    table.c.instruction_id,
    words=("text", "condition"),
    beside=("text", "condition", "priority", "active", "expires_at", "created_at"),
    checked=("instruction_id", "owner", "text", "priority", "condition", "active", "expires_at", "created_at"),
)
STORED = SEALED.stored()
_JUST = timedelta(hours=1)
_OF_MESSAGES = uuid.UUID("b7a4ff3e-6f0c-5d65-9a35-2f8f6d1d6c11")
_IF_THEN = re.compile(r"\A\s*+if\s(?P<condition>.+?)\sthen\s(?P<text>.+)", re.IGNORECASE | re.DOTALL)


class InstructionContent(BaseModel):
    """The fields of a standing instruction; 10 is the highest priority. Without a condition it always applies."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    priority: int = Field(default=1, ge=1, le=10)
    condition: str | None = None
    active: bool = True
    expires_at: AwareDatetime | None = None
    usage_count: int = 0
    last_used: AwareDatetime | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class Instruction(InstructionContent):
    """One standing instruction of one owner."""

    owner: OwnerKey

    @property
    def as_told(self) -> str:
        """Return the text for a model, with a condition on a topic: whether the talk is about it is for it to say."""
        return f"if {self.condition}: {self.text}" if self.condition and "topic" in self.condition else self.text

    def is_in_force(self, at: datetime) -> bool:
        """Tell whether it is active and has not expired; its condition is another question."""
        return self.active and (self.expires_at is None or self.expires_at > at)


class InstructionChanges(TypedDict, total=False):
    """The fields of an instruction that may change."""

    text: str
    priority: int
    condition: str | None
    active: bool
    expires_at: datetime | None


@dataclass(frozen=True)
class Taken:
    """The outcome of a person's own order.

    `stored`: it is new. `duplicate`: it was there already. `withdrawn`: it took back `instruction`, which is off now.
    """

    instruction: Instruction
    outcome: Literal["stored", "duplicate", "withdrawn"]


class StandingInstructions:
    """The instructions of every owner, in one database. Every change is one of the owner's numbered changes."""

    def __init__(self, database: Database, damages: Damages, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._damages = damages
        self._now = now

    def add(
        self,
        owner: str | int,
        text: str,
        *,
        priority: int = 1,
        condition: str | None = None,
        expires_at: datetime | None = None,
    ) -> Instruction:
        """Store the instruction after its condition was understood; "if … then …" in the text may hold the condition.

        Words between "if" and "then" that are no condition of ours are left in the text, for the model. Raises
        InvalidInput for an empty text, a priority outside 1 to 10 or a condition that cannot be read,
        TooManyInstructions where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        if condition is None:
            text, condition = split(text)
        made = self._made(owner, text, priority=priority, condition=condition, expires_at=expires_at)
        with self._database.write() as connection:
            begin_change(connection, owner)
            return _stored(connection, made)

    def take(
        self,
        owner: str | int,
        text: str,
        *,
        condition: str | None = None,
        priority: int | None = None,
        expires_at: datetime | None = None,
        said_in: str | None = None,
    ) -> Taken:
        """Take an order that the person just gave, weighed against those that they gave before.

        An order that is in force already is not stored twice; one that was off or expired is in force anew. "Stop …"
        takes back the order that is there. An order without a priority gets that of the order it opposes, which is off
        then: the newest word holds. `said_in` names the message, which is taken once however often it is given. Raises
        as `add` does.
        """
        owner = owner_key(self._database, owner)
        made = self._made(owner, text, priority=priority or 1, condition=condition, expires_at=expires_at)
        if said_in is not None:
            made = made.model_copy(update={"id": str(uuid.uuid5(_OF_MESSAGES, f"{owner}\0{said_in}\0{plain(text)}"))})
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = self._listed(connection, owner)
            if again := next((each for each in there if each.id == made.id), None):
                return Taken(again, "stored" if again.active else "duplicate")
            active = [each for each in there if each.is_in_force(made.created_at)]
            if (before := next((each for each in there if same(each, made)), None)) is not None:
                if before in active:
                    return Taken(self._renewed(connection, before, made, priority), "duplicate")
                connection.execute(delete(table).where(table.c.owner == owner, table.c.instruction_id == before.id))
            under = [each for each in active if plain(each.condition or "") == plain(condition or "")]
            if just := next((each for each in there if _was_just_withdrawn(each, made)), None):
                return Taken(just, "withdrawn")
            if taken_back := [each for each in under if withdraws(made.text, each.text)]:
                return Taken(_switched_off(connection, taken_back, made.created_at)[0], "withdrawn")
            beaten = [each for each in under if opposed(made.text, each.text)]
            level = priority or max([1, *(each.priority for each in beaten)])
            _switched_off(connection, [each for each in beaten if each.priority <= level], made.created_at)
            made = made.model_copy(update={"priority": level})
            return Taken(_stored(connection, made), "stored")

    def release(self, owner: str | int, topic: str) -> list[Instruction]:
        """Switch off the instructions about a topic; return those that were. "Emojis" ends "never use emojis"."""
        owner = owner_key(self._database, owner)
        with self._database.write() as connection:
            now = self._now()
            standing = [each for each in self._listed(connection, owner) if each.is_in_force(now)]
            ended = [each for each in standing if concerns(topic, each.text)]
            if not ended:
                return []
            begin_change(connection, owner)
            return _switched_off(connection, ended, now)

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Instruction]:
        """Return the owner's instructions, in force or not, the first made first."""
        return sorted(self._listed(connection, owner), key=lambda each: (each.created_at, each.id))

    def take_in(self, owner: str | int, instruction: Instruction) -> bool:
        """Store an instruction of another database as it is; False where the owner has it already.

        Raises InvalidInput for a condition that cannot be read, TooManyInstructions where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        made = _validated(instruction.model_dump() | {"owner": owner})
        with self._database.write() as connection:
            begin_change(connection, owner)
            if any(each.id == made.id for each in self._listed(connection, owner)):
                return False
            _stored(connection, made)
            return True

    def get(self, owner: str | int, instruction_id: str) -> Instruction:
        """Return the instruction. Raises InstructionNotFound or DamagedMemory."""
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            return self._one(connection, owner, instruction_id)

    def list_instructions(
        self, owner: str | int, *, active_only: bool = True, priority_min: int = 1, priority_max: int = 10
    ) -> list[Instruction]:
        """Return the instructions, highest priority first, and the newer first among equals; `active_only` leaves out
        the expired too.
        """
        owner = owner_key(self._database, owner)
        chosen = [table.c.priority >= priority_min, table.c.priority <= priority_max]
        if active_only:
            chosen.append(self._active())
        with self._database.read() as connection:
            return self._listed(connection, owner, *chosen)

    def in_force(self, connection: Connection, owner: OwnerKey) -> list[Instruction]:
        """Return all that are active, whatever their condition, in the order in which they override one another."""
        return self._listed(connection, owner, self._active())

    def applicable(self, owner: str | int, situation: Situation) -> list[Instruction]:
        """Return the instructions that hold now, in the order in which they override one another: the first wins."""
        return applying(self.list_instructions(owner), situation)

    def update(
        self,
        owner: str | int,
        instruction_id: str,
        *,
        if_still: Instruction | None = None,
        **changes: Unpack[InstructionChanges],
    ) -> Instruction:
        """Change what is named. Raises InstructionNotFound or InvalidInput, and StaleMemory where it is not
        `if_still` any more.

        `if_still` is what the change was decided upon. Then nothing is changed.
        """
        owner = owner_key(self._database, owner)
        with self._database.write() as connection:
            begin_change(connection, owner)
            before = self._one(connection, owner, instruction_id)
            _refuse_changed(before, if_still)
            after = _validated(before.model_dump() | dict(changes) | {"updated_at": self._now()})
            _rewrite(connection, after)
        return after

    def remove(self, owner: str | int, instruction_id: str, *, if_still: Instruction | None = None) -> Instruction:
        """Remove the instruction; return it as it was, a damaged one without its text. Raises
        InstructionNotFound, or StaleMemory.
        """
        owner = owner_key(self._database, owner)
        now = self._now()
        with self._database.write() as connection:
            begin_change(connection, owner)
            try:
                before = self._one(connection, owner, instruction_id)
                _refuse_changed(before, if_still)
            except DamagedMemory:
                before = Instruction(id=instruction_id, owner=owner, text="", created_at=now, updated_at=now)
            connection.execute(delete(table).where(table.c.owner == owner, table.c.instruction_id == instruction_id))
            record(connection, "instruction.removed", owner=owner, subject=instruction_id)
        return before

    def note_use(self, connection: Connection, owner: OwnerKey, instruction_ids: Sequence[str]) -> None:
        """Count one use of each, in the caller's transaction; one that is gone is left alone."""
        connection.execute(
            update(table)
            .where(table.c.owner == owner, table.c.instruction_id.in_(instruction_ids))
            .values(usage_count=table.c.usage_count + 1, last_used=self._now())
        )

    def _made(self, owner: OwnerKey, text: str, **fields: Any) -> Instruction:
        now = self._now()
        made = {"id": str(uuid.uuid4()), "owner": owner, "text": text.strip(), "created_at": now, "updated_at": now}
        return _validated(made | fields)

    def _renewed(
        self, connection: Connection, before: Instruction, said: Instruction, priority: int | None
    ) -> Instruction:
        """Store the instruction again with the end, and where one was said the priority, that it was given now."""
        changed = {"expires_at": said.expires_at, "priority": priority or before.priority}
        if all(getattr(before, name) == value for name, value in changed.items()):
            return before
        after = before.model_copy(update={**changed, "updated_at": said.updated_at})
        _rewrite(connection, after)
        return after

    def _active(self) -> ColumnElement[bool]:
        return and_(table.c.active, or_(table.c.expires_at.is_(None), table.c.expires_at > self._now()))

    def _listed(self, connection: Connection, owner: OwnerKey, *chosen: ColumnElement[bool]) -> list[Instruction]:
        order = (table.c.priority.desc(), table.c.created_at.desc(), table.c.instruction_id)
        rows = all_rows(connection, select(*STORED).where(table.c.owner == owner, *chosen).order_by(*order))
        return list(self._damages.whole("instruction", rows, as_instruction, encryption_of(connection)))

    def _one(self, connection: Connection, owner: OwnerKey, instruction_id: str) -> Instruction:
        found = self._listed(connection, owner, table.c.instruction_id == instruction_id)
        if not found and owned(connection, owner, table.c.instruction_id, [instruction_id]):
            raise DamagedMemory([instruction_id])
        if not found:
            raise InstructionNotFound(f"there is no instruction {instruction_id}: list them for their ids")
        return found[0]


def content_of(instruction: Instruction) -> Mapping[str, Any]:
    """Return the fields that a change is decided upon, which how often it was used is not."""
    return instruction.model_dump(exclude={"usage_count", "last_used", "updated_at"})


def _refuse_changed(instruction: Instruction, if_still: Instruction | None) -> None:
    if if_still is not None and content_of(instruction) != content_of(if_still):
        raise StaleMemory(f"instruction {instruction.id} has changed meanwhile: read it again")


def applying(instructions: Iterable[Instruction], situation: Situation) -> list[Instruction]:
    """Return the instructions whose condition holds, in their order."""
    return [each for each in instructions if each.condition is None or parsed(each.condition)(situation)]


def same(one: Instruction, other: Instruction) -> bool:
    """Tell whether both say the same under the same condition: case, spacing and the full stop do not count."""
    return _compared(one.text) == _compared(other.text) and plain(one.condition or "") == plain(other.condition or "")


def _compared(text: str) -> str:
    return plain(text).replace("’", "'").strip(" .!,;:")


def _was_just_withdrawn(instruction: Instruction, said: Instruction) -> bool:
    """Tell whether the same words withdrew it just before, as where a run reads its message a second time."""
    return (
        not instruction.active
        and said.created_at - instruction.updated_at < _JUST
        and plain(instruction.condition or "") == plain(said.condition or "")
        and withdraws(said.text, instruction.text)
    )


def _stored(connection: Connection, made: Instruction) -> Instruction:
    """Store the instruction. Raises TooManyInstructions. The owner's change has begun."""
    held = select(func.count()).select_from(table).where(table.c.owner == made.owner)
    if connection.execute(held).scalar_one() >= MOST_INSTRUCTIONS:
        raise TooManyInstructions(f"{MOST_INSTRUCTIONS} instructions are there: remove one before adding another")
    encryption = encryption_of(connection)
    [stored] = insert_new(connection, table, [made], lambda _, each: as_values(each, encryption), _renamed)
    record(connection, "instruction.added", owner=stored.owner, subject=stored.id, content=stored.text)
    return stored


def _rewrite(connection: Connection, after: Instruction) -> None:
    values = as_values(after, encryption_of(connection))
    connection.execute(
        update(table).where(table.c.owner == after.owner, table.c.instruction_id == after.id).values(values)
    )
    record(connection, "instruction.changed", owner=after.owner, subject=after.id, content=after.text)


def _switched_off(connection: Connection, instructions: Sequence[Instruction], at: datetime) -> list[Instruction]:
    off = [each.model_copy(update={"active": False, "updated_at": at}) for each in instructions]
    for each in off:
        _rewrite(connection, each)
    return off


def split(text: str) -> tuple[str, str | None]:
    """Return (what to do, condition) of "if … then …"; (text, None) when there is no condition that can be read."""
    found = _IF_THEN.fullmatch(text)
    if found is None:
        return text, None
    condition = found["condition"].strip().removesuffix(",")
    try:
        parsed(condition)
    except InvalidInput:
        return text, None
    return found["text"].strip(), condition


def _validated(values: Mapping[str, Any]) -> Instruction:
    if not str(values["text"]).strip() or storable(str(values["text"])) != values["text"]:
        raise InvalidInput("an instruction needs a text, without NULs and halves of characters")
    if values["condition"] is not None:
        parsed(values["condition"])
    try:
        return Instruction.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(f"{first['loc'][0]} of an instruction: {first['msg']}") from error


def _renamed(made: Instruction) -> Instruction:
    return made.model_copy(update={"id": str(uuid.uuid4())})


def as_values(made: Instruction, encryption: Encryption) -> dict[str, Any]:
    """Return the columns of `made`; its words encrypted where everything is."""
    values = made.model_dump()
    return SEALED.values(values | {"instruction_id": values.pop("id")}, encryption)


def as_instruction(row: AnyRow, encryption: Encryption) -> Instruction | None:
    """Read a row of STORED; None where it does not hold what was written, or is in plain and should not be."""
    values = SEALED.read(row, encryption)
    if values is None:
        return None
    try:
        return Instruction(id=values.pop("instruction_id"), **values)
    except ValidationError:
        return None
