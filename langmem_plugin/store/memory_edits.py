"""Changes of lines as changes of the memory: lines are remembered, corrected or forgotten for the person of a run."""

import functools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from langchain_core.messages import BaseMessage
from sqlalchemy import Connection

from langmem_plugin.database.audit_trail import TOOL, acting
from langmem_plugin.errors import (
    DamagedMemory,
    InstructionNotFound,
    InvalidInput,
    MemoryNotFound,
    StaleMemory,
    TooManyInstructions,
)
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.instructions.instructions import Instruction, split
from langmem_plugin.memory.models import MemoryFields, storable
from langmem_plugin.store.memory_lines import Changes, Line, Section, with_short_ids

REFUSED = (InvalidInput, MemoryNotFound, InstructionNotFound, StaleMemory, DamagedMemory, TooManyInstructions)
"""The errors that say why something cannot be done; their words can be shown."""
_ALL = 10**9


class Run(Protocol):
    """The current run: whom it serves, and what it may write for them."""

    def owner(self) -> OwnerKey: ...
    def messages(self) -> Sequence[BaseMessage]: ...
    def of_another(self) -> str | None: ...
    def unasked(self) -> str | None: ...
    def refusal(self, text: str, messages: Sequence[BaseMessage]) -> str | None: ...
    def evidence(self, messages: Sequence[BaseMessage]) -> MemoryFields: ...
    def fenced(self) -> AbstractContextManager[None]: ...


def lines_of(service: MemoryService, owner: OwnerKey) -> tuple[list[Line], list[Line]]:
    """Return the memories of a person, the newest first, and their instructions, the highest priority first."""
    memories = service.list_memories(owner, limit=_ALL)
    instructions = service.instructions.list_instructions(owner)
    lines = with_short_ids([*memories, *instructions])
    return lines[: len(memories)], lines[len(memories) :]


class MemoryEdits:
    def __init__(self, service: MemoryService, run: Run) -> None:
        self._service = service
        self._run = run

    def lines(self) -> tuple[list[Line], list[Line]]:
        return lines_of(self._service, self._run.owner())

    def apply(self, changes: Changes) -> None:
        """Apply the changes. Where something among them may not be remembered, refuse all of them before
        anything is written.
        """
        messages = self._run.messages()
        self._refuse(changes, messages)
        done, kept = 0, set[str]()
        with acting(TOOL, within=True), self._run.fenced():
            try:
                for line, text in changes.changed:
                    self._change(line, text, messages)
                    done += 1
                for section, text in changes.new:
                    kept |= self._add(section, text, messages)
                    done += 1
                for line in changes.removed:
                    self._remove(line, kept)
                    done += 1
            except REFUSED as error:
                before = f"; {done} changes before it were made, read the file again" if done else ""
                raise InvalidInput(f"{error}{before}") from error

    def _refuse(self, changes: Changes, messages: Sequence[BaseMessage]) -> None:
        said = [text for section, text in changes.new if not section.of_instructions]
        said += [line.reworded(text) for line, text in changes.changed if isinstance(line.of, Memory)]
        refused = self._run.unasked() if changes.new or changes.changed else self._run.of_another()
        for text in said:
            refused = refused or self._run.refusal(storable(text), messages)
        if refused is not None:
            raise InvalidInput(refused.removesuffix("."))

    def _change(self, line: Line, text: str, messages: Sequence[BaseMessage]) -> None:
        service, owner, old, text = self._service, self._run.owner(), line.of, storable(line.reworded(text))
        if isinstance(old, Instruction):
            said, condition = split(text)
            service.instructions.update(owner, old.id, text=said, condition=condition)
        elif old.key is not None:  # a named value stays under its name
            service.update(owner, old.id, revision=old.revision, text=text)
        else:
            fields = self._run.evidence(messages)
            fields |= {"fact_type": old.fact_type, "category": old.category, "tags": old.tags}
            fields |= {"private": old.private, "expires_at": old.expires_at}
            with service.database.provided(functools.partial(self._refuse_changed, old)):
                service.supersede(owner, old.id, text, **fields)

    def _refuse_changed(self, old: Memory, connection: Connection) -> None:
        held = self._service.repository.by_id(connection, old.owner, old.id)
        if held is not None and held.revision != old.revision:
            raise StaleMemory(f"{old.text!r} has just been changed by somebody else: read the file again")

    def _add(self, section: Section, text: str, messages: Sequence[BaseMessage]) -> set[str]:
        """Remember a line; return the ids of the memories that hold it, or that it replaced."""
        if section.of_instructions:
            said, condition = split(storable(text))
            self._service.instructions.take(self._run.owner(), said, condition=condition)
            return set()
        fields = self._run.evidence(messages)
        if section.fact_type is not None:
            fields["fact_type"] = section.fact_type
        made = self._service.remember(self._run.owner(), storable(text), **fields)
        return {made.id, *made.concerned}

    def _remove(self, line: Line, kept: set[str]) -> None:
        """Forget the line, unless what was just remembered is this memory or has taken its place."""
        owner, known = self._run.owner(), line.of
        if isinstance(known, Instruction):
            self._service.instructions.remove(owner, known.id)
        elif known.id not in kept:
            self._service.forget(owner, known.id, revision=known.revision)
