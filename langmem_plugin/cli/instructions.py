"""`langmem instructions` and `aliases`: a person's standing instructions, and names that mean the same to them."""

from typing import TYPE_CHECKING, Annotated

import typer

from langmem_plugin.cli.opening import Phone, Whose, memory_of, note_read, on, owner_of
from langmem_plugin.cli.printing import Reveal, Rows, Told, Yes, confirm, day, shown
from langmem_plugin.memory.instructions.instructions import Instruction
from langmem_plugin.memory.keep.aliases import Alias

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

app = typer.Typer(no_args_is_help=True, help="What one person wants done from now on.")
aliases_app = typer.Typer(no_args_is_help=True, help="Names that mean the same to one person when they ask.")
_Id = Annotated[str, typer.Argument(help="the instruction's id, as `langmem instructions list` shows it")]


@app.command("list")
@on(memory_of, embeds=False)
def list_instructions(
    memory: "PhoneMemory",
    phone: Phone,
    *,
    every: Annotated[bool, typer.Option("--all", help="also what is switched off or over")] = False,
    reveal: Reveal = False,
) -> Told:
    """Those in force, the highest priority first."""
    note_read(memory.saver, subject="instructions", owner=phone)
    found = memory.instructions.list_instructions(memory.people.typed(phone), active_only=not every)
    rows = [(each.id, each.text, each.condition, each.priority, _state(each)) for each in found]
    return Told(
        {"instructions": [_masked(each, reveal=reveal) for each in found]},
        [Rows(("id", "text", "if", "priority", "state"), rows, folded=("text", "if"))],
    )


@app.command()
@on(memory_of, embeds=False)
def add(
    memory: "PhoneMemory",
    phone: Phone,
    text: Annotated[str, typer.Argument(help='such as "never use emojis", or "if it rains then say so"')],
    *,
    condition: Annotated[str | None, typer.Option("--if", help="when it applies; default: always")] = None,
    priority: Annotated[int, typer.Option(min=1, max=10, help="10 goes before all others")] = 1,
    reveal: Reveal = False,
) -> Told:
    """Add one, for all of this person's replies."""
    owner = memory.people.typed(phone)
    made = memory.instructions.add(owner, text, condition=condition, priority=priority)
    return _told(made, "is in force", reveal=reveal)


@app.command("switch-off")
@on(memory_of, embeds=False)
def switch_off(memory: "PhoneMemory", instruction_id: _Id, *, phone: Whose = None, reveal: Reveal = False) -> Told:
    """Keep it, and follow it no more."""
    return _switched(memory, instruction_id, phone, is_on=False, reveal=reveal)


@app.command("switch-on")
@on(memory_of, embeds=False)
def switch_on(memory: "PhoneMemory", instruction_id: _Id, *, phone: Whose = None, reveal: Reveal = False) -> Told:
    """Follow again what was switched off."""
    return _switched(memory, instruction_id, phone, is_on=True, reveal=reveal)


@app.command()
@on(memory_of, embeds=False)
def remove(
    memory: "PhoneMemory", instruction_id: _Id, *, phone: Whose = None, yes: Yes = False, reveal: Reveal = False
) -> Told:
    """Delete one for good."""
    owner = owner_of(memory, "instruction", instruction_id, phone)
    confirm(f"Delete instruction {instruction_id} for good?", yes=yes)
    return _told(memory.instructions.remove(owner, instruction_id), "is deleted", reveal=reveal)


@aliases_app.command("list")
@on(memory_of, embeds=False)
def list_aliases(
    memory: "PhoneMemory",
    phone: Phone,
    *,
    every: Annotated[bool, typer.Option("--all", help="also what was removed or does not count now")] = False,
    reveal: Reveal = False,
) -> Told:
    """Those that count, the first learnt first."""
    note_read(memory.saver, subject="aliases", owner=phone)
    found = memory.service.aliases.list_aliases(memory.people.typed(phone), include_removed=every)
    rows = [(each.id, each.alias, each.name, each.source) for each in found]
    return Told(
        {"aliases": [_masked(each, reveal=reveal) for each in found]},
        [Rows(("id", "alias", "means", "known from"), rows, folded=("alias", "means"))],
    )


@aliases_app.command("add")
@on(memory_of, embeds=False)
def add_alias(
    memory: "PhoneMemory",
    phone: Phone,
    alias: Annotated[str, typer.Argument(help='such as "k8s"')],
    name: Annotated[str, typer.Argument(help='such as "Kubernetes"')],
    *,
    reveal: Reveal = False,
) -> Told:
    """Take two names for each other in all this person asks."""
    return _told(memory.service.aliases.add(memory.people.typed(phone), alias, name), "counts", reveal=reveal)


@aliases_app.command("remove")
@on(memory_of, embeds=False)
def remove_alias(
    memory: "PhoneMemory",
    phone: Phone,
    alias_id: Annotated[str, typer.Argument(help="the alias's id, as `langmem aliases list` shows it")],
    *,
    reveal: Reveal = False,
) -> Told:
    """It counts no more, and is not learnt again from the same words; `add` brings it back."""
    removed = memory.service.aliases.remove(memory.people.typed(phone), alias_id)
    return _told(removed, "counts no more", reveal=reveal)


def _switched(memory: "PhoneMemory", instruction_id: str, phone: str | None, *, is_on: bool, reveal: bool) -> Told:
    owner = owner_of(memory, "instruction", instruction_id, phone)
    changed = memory.instructions.update(owner, instruction_id, active=is_on)
    return _told(changed, "is in force" if is_on else "is switched off", reveal=reveal)


def _state(instruction: Instruction) -> str:
    if not instruction.active:
        return "off"
    return "on" if instruction.expires_at is None else f"until {day(instruction.expires_at)}"


def _told(one: Instruction | Alias, now: str, *, reveal: bool) -> Told:
    if isinstance(one, Alias):
        return Told({"alias": _masked(one, reveal=reveal)}, [f"{one.id} {now}: {one.alias} means {one.name}"])
    return Told({"instruction": _masked(one, reveal=reveal)}, [f"{one.id} {now}: {one.text}"])


def _masked(one: Instruction | Alias, *, reveal: bool) -> dict[str, object]:
    fields = vars(one) if isinstance(one, Alias) else one.model_dump()
    return fields | {"owner": shown(one.owner, reveal=reveal)}
