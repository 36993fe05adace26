"""Standing instructions: what a person wants done from now on, always or under a condition."""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import standing_instruction as table
from langmem_plugin.errors import InstructionNotFound, InvalidInput
from langmem_plugin.memory.conditions import Situation, parsed
from langmem_plugin.memory.models import storable
from langmem_plugin.memory.repository import MemoryRepository

_IF_THEN = re.compile(r"\s*if\s+(?P<condition>.+?),?\s+then\s+(?P<text>.+)", re.IGNORECASE | re.DOTALL)


class Instruction(BaseModel):
    """One standing instruction; 10 is the highest priority. Without a condition it always applies."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    owner: str
    text: str
    priority: int = Field(default=1, ge=1, le=10)
    condition: str | None = None
    active: bool = True
    expires_at: AwareDatetime | None = None
    usage_count: int = 0
    last_used: AwareDatetime | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class InstructionChanges(TypedDict, total=False):
    """What may change in an instruction."""

    text: str
    priority: int
    condition: str | None
    active: bool
    expires_at: datetime | None


class StandingInstructions:
    """The instructions of every owner, in one database. Every change is one of the owner's numbered changes."""

    def __init__(self, database: Database, repository: MemoryRepository, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._repository = repository
        self._now = now

    def add(
        self,
        owner: str,
        text: str,
        *,
        priority: int = 1,
        condition: str | None = None,
        expires_at: datetime | None = None,
    ) -> Instruction:
        """Stores it after its condition was understood; "if … then …" in the text may hold the condition.

        What stands between "if" and "then" but is no condition of ours is left in the text, for the model.
        Raises InvalidInput for an empty text, a priority outside 1 to 10 or a condition that cannot be read.
        """
        if condition is None:
            text, condition = split(text)
        now = self._now()
        made = _validated(
            {
                "id": str(uuid.uuid4()),
                "owner": owner,
                "text": text.strip(),
                "priority": priority,
                "condition": condition,
                "expires_at": expires_at,
                "created_at": now,
                "updated_at": now,
            }
        )
        with self._database.write() as connection:
            self._repository.begin_change(connection, owner)
            connection.execute(insert(table), _values(made))
        return made

    def get(self, owner: str, instruction_id: str) -> Instruction:
        """Raises InstructionNotFound."""
        with self._database.read() as connection:
            return self._one(connection, owner, instruction_id)

    def list_instructions(
        self, owner: str, *, active_only: bool = True, priority_min: int = 1, priority_max: int = 10
    ) -> list[Instruction]:
        """Highest priority first, and the newer first among equals; `active_only` leaves out the expired too."""
        chosen = [table.c.priority >= priority_min, table.c.priority <= priority_max]
        if active_only:
            chosen.append(self._active())
        with self._database.read() as connection:
            return self._listed(connection, owner, *chosen)

    def in_force(self, connection: Connection, owner: str) -> list[Instruction]:
        """All that are active, whatever their condition, in the order in which they override one another."""
        return self._listed(connection, owner, self._active())

    def applicable(self, owner: str, situation: Situation) -> list[Instruction]:
        """Those that hold now, in the order in which they override one another: the first wins."""
        return applying(self.list_instructions(owner), situation)

    def update(self, owner: str, instruction_id: str, **changes: Unpack[InstructionChanges]) -> Instruction:
        """Changes what is named. Raises InstructionNotFound or InvalidInput, and then nothing is changed."""
        with self._database.write() as connection:
            before = self._one(connection, owner, instruction_id)
            after = _validated(before.model_dump() | dict(changes) | {"updated_at": self._now()})
            self._repository.begin_change(connection, owner)
            connection.execute(
                update(table)
                .where(table.c.owner == owner, table.c.instruction_id == instruction_id)
                .values(**_values(after))
            )
        return after

    def remove(self, owner: str, instruction_id: str) -> Instruction:
        """The instruction as it was. Raises InstructionNotFound."""
        with self._database.write() as connection:
            before = self._one(connection, owner, instruction_id)
            self._repository.begin_change(connection, owner)
            connection.execute(delete(table).where(table.c.owner == owner, table.c.instruction_id == instruction_id))
        return before

    def note_use(self, connection: Connection, owner: str, instruction_ids: Sequence[str]) -> None:
        """Counts one use of each, in the caller's transaction; one that is gone is left alone."""
        connection.execute(
            update(table)
            .where(table.c.owner == owner, table.c.instruction_id.in_(instruction_ids))
            .values(usage_count=table.c.usage_count + 1, last_used=self._now())
        )

    def _active(self) -> ColumnElement[bool]:
        return and_(table.c.active, or_(table.c.expires_at.is_(None), table.c.expires_at > self._now()))

    def _listed(self, connection: Connection, owner: str, *chosen: ColumnElement[bool]) -> list[Instruction]:
        order = (table.c.priority.desc(), table.c.created_at.desc(), table.c.instruction_id)
        rows = connection.execute(select(table).where(table.c.owner == owner, *chosen).order_by(*order))
        return [_instruction(row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's public name for it

    def _one(self, connection: Connection, owner: str, instruction_id: str) -> Instruction:
        row = connection.execute(
            select(table).where(table.c.owner == owner, table.c.instruction_id == instruction_id)
        ).first()
        if row is None:
            raise InstructionNotFound(f"there is no instruction {instruction_id}: list them for their ids")
        return _instruction(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it


def applying(instructions: Iterable[Instruction], situation: Situation) -> list[Instruction]:
    """Those whose condition holds, in their order."""
    return [each for each in instructions if each.condition is None or parsed(each.condition).holds(situation)]


def split(text: str) -> tuple[str, str | None]:
    """(what to do, condition) of "if … then …"; (text, None) when there is no condition that can be read."""
    said = _IF_THEN.fullmatch(text)
    if said is None:
        return text, None
    try:
        parsed(said["condition"])
    except InvalidInput:
        return text, None
    return said["text"], said["condition"]


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


def _values(made: Instruction) -> dict[str, Any]:
    values = made.model_dump()
    values["instruction_id"] = values.pop("id")
    return values


def _instruction(row: Mapping[Any, Any]) -> Instruction:
    values = dict(row)
    return Instruction(id=values.pop("instruction_id"), **values)
