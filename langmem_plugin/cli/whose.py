"""Whose a thing is that an operator names: by a phone, by an id alone, or by both."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langmem_plugin.cli.opening import note_read
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, ScopeKey, masked
from langmem_plugin.memory.keep.owner_changes import owners_of_instruction, owners_of_memory

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

Phone = Annotated[str, typer.Argument(help="whose: a phone or any other identifier, in any spelling")]
Whose = Annotated[str | None, typer.Option("--phone", help="whose it is, where several people have this id")]

_KINDS = {"memory": ("memories", owners_of_memory), "instruction": ("instructions", owners_of_instruction)}


def owner_of(memory: "PhoneMemory", kind: Literal["memory", "instruction"], its_id: str, phone: str | None) -> OwnerKey:
    """The key of the person who has it; that an operator looked is noted.

    Raises InvalidInput where nobody has it, or it is not clear who is meant.
    """
    kinds, owners = _KINDS[kind]
    with memory.database.read() as connection:
        found = [OwnerKey(each) for each in owners(connection, its_id) if not isinstance(each, ScopeKey)]
    if phone is not None:
        person = memory.people.typed(phone)
        found = [each for each in found if each == person]
    if not found:
        raise InvalidInput(f"there is no {kind} {its_id}: `langmem {kinds} list PHONE` shows their ids")
    if len(found) > 1:
        raise InvalidInput(f"{' and '.join(map(masked, found))} have this id: say whose it is by --phone")
    note_read(memory.saver, subject=its_id, owner=found[0])
    return found[0]
