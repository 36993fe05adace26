"""`langmem instructions`: the standing instructions of one person."""

from pathlib import Path
from typing import Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Phone, Url, Whose, memory_of, note_read, owner_of
from langmem_plugin.cli.printing import Json, Reveal, Yes, confirm, day, print_json, print_table, say, shown
from langmem_plugin.memory.instructions.instructions import Instruction

app = typer.Typer(no_args_is_help=True, help="What one person wants done from now on.")
_Id = Annotated[str, typer.Argument(help="the instruction's id, as `langmem instructions list` shows it")]


@app.command("list")
def list_instructions(
    phone: Phone,
    *,
    every: Annotated[bool, typer.Option("--all", help="also what is switched off or over")] = False,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Those in force, the highest priority first."""
    with memory_of(database, config, embeds=False) as memory:
        note_read(memory.saver, subject="instructions", owner=phone)
        found = memory.instructions.list_instructions(memory.people.typed(phone), active_only=not every)
    if as_json:
        print_json({"instructions": [_document(each, reveal=reveal) for each in found]})
        return
    print_table(
        ("id", "text", "if", "priority", "state"),
        [(each.id, each.text, each.condition, each.priority, _state(each)) for each in found],
        folded=("text", "if"),
    )


@app.command()
def add(
    phone: Phone,
    text: Annotated[str, typer.Argument(help='such as "never use emojis", or "if it rains then say so"')],
    *,
    condition: Annotated[str | None, typer.Option("--if", help="when it applies; default: always")] = None,
    priority: Annotated[int, typer.Option(min=1, max=10, help="10 goes before all others")] = 1,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Add one, for all of this person's replies."""
    with memory_of(database, config, embeds=False) as memory:
        owner = memory.people.typed(phone)
        made = memory.instructions.add(owner, text, condition=condition, priority=priority)
    _tell(made, "is in force", reveal=reveal, as_json=as_json)


@app.command("switch-off")
def switch_off(
    instruction_id: _Id,
    *,
    phone: Whose = None,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Keep it, and follow it no more."""
    _switched(instruction_id, phone, on=False, reveal=reveal, as_json=as_json, database=database, config=config)


@app.command("switch-on")
def switch_on(
    instruction_id: _Id,
    *,
    phone: Whose = None,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Follow again what was switched off."""
    _switched(instruction_id, phone, on=True, reveal=reveal, as_json=as_json, database=database, config=config)


@app.command()
def remove(
    instruction_id: _Id,
    *,
    phone: Whose = None,
    yes: Yes = False,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Delete one for good."""
    with memory_of(database, config, embeds=False) as memory:
        owner = owner_of(memory, "instruction", instruction_id, phone)
        confirm(f"Delete instruction {instruction_id} for good?", yes=yes)
        removed = memory.instructions.remove(owner, instruction_id)
    _tell(removed, "is deleted", reveal=reveal, as_json=as_json)


def _switched(
    instruction_id: str,
    phone: str | None,
    *,
    on: bool,
    reveal: bool,
    as_json: bool,
    database: str | None,
    config: Path | None,
) -> None:
    with memory_of(database, config, embeds=False) as memory:
        owner = owner_of(memory, "instruction", instruction_id, phone)
        changed = memory.instructions.update(owner, instruction_id, active=on)
    _tell(changed, "is in force" if on else "is switched off", reveal=reveal, as_json=as_json)


def _state(instruction: Instruction) -> str:
    if not instruction.active:
        return "off"
    return "on" if instruction.expires_at is None else f"until {day(instruction.expires_at)}"


def _tell(instruction: Instruction, what: str, *, reveal: bool, as_json: bool) -> None:
    if as_json:
        print_json({"instruction": _document(instruction, reveal=reveal)})
    else:
        say(f"{instruction.id} {what}: {instruction.text}")


def _document(instruction: Instruction, *, reveal: bool) -> dict[str, Any]:
    return instruction.model_dump() | {"owner": shown(instruction.owner, reveal=reveal)}
