"""The `langmem` command: each action is one call to a verb of the package.

A command's module is imported when it is called: together they import all that there is.
"""

import atexit
import errno
import gc
import getpass
import io
import sys
from importlib import import_module, metadata
from typing import Annotated, Any, NamedTuple

try:
    import rich  # noqa: F401
    import typer
    from typer.core import TyperCommand, TyperGroup
except ImportError as error:
    raise ImportError("the langmem command needs more: pip install 'phone-memory[cli]'") from error

from langmem_plugin.errors import LangMemError
from langmem_plugin.foreign_text import visible


class Listed(NamedTuple):
    """`place` is module:function, or module:app of several commands."""

    place: str
    line: str


COMMANDS = {
    "recall": Listed(
        "asking:recall",
        "Search as a reply would, in all that the person may see; the best first, with the numbers behind each.",
    ),
    "backup": Listed("upkeep:backup", "Copy the database and the pictures of one moment, while services go on."),
    "analytics": Listed(
        "asking:analytics",
        "How many memories of what kind there are, since when, from where, and which of them are used.",
    ),
    "chat": Listed("trying_out:chat", "Text with a small agent, or with a graph of your own."),
    "demo": Listed(
        "trying_out:demo", 'Play a short conversation: a fact, a list, "number 2", a restart, half an hour of silence.'
    ),
    "bench": Listed(
        "trying_out:bench",
        "Time remembering, recall and a whole turn (without a chat model), in a new SQLite file that is deleted again.",
    ),
    "erase": Listed("privacy:erase", "Delete everything of a person."),
    "restore": Listed("privacy:restore", "Undo an erasure whose time is not over."),
    "expire": Listed(
        "upkeep:expire", "Archive the sessions that fell silent and purge the archive of what is too old."
    ),
    "sweep": Listed(
        "upkeep:sweep",
        "Do at once what a service does in the background: archive what fell silent, delete what is past its time.",
    ),
    "doctor": Listed(
        "upkeep:doctor", "Say what there is, read every session and every memory, and report what is damaged."
    ),
    "resolve": Listed("asking:resolve", "Explain what an utterance refers to, and why."),
    "say": Listed("asking:say", "Answer a chat command as the person would get it."),
    "export": Listed(
        "portability:export_person", "All that is stored of one person, for them to read or to import elsewhere."
    ),
    "import": Listed("portability:import_person", "One person's export, or what another product kept."),
    "reindex": Listed(
        "upkeep:reindex", "Bring the vector indexes up to date, and make anew what is missing or damaged."
    ),
    "reembed": Listed(
        "upkeep:reembed",
        "Embed what has no vector of the present model, as after a change of it, and drop the vectors of other models.",
    ),
    "worker": Listed("upkeep:worker", "Read what people said in conversations that are quiet, and store the facts."),
    "mcp": Listed(
        "serve:mcp",
        "Serve one person's memory over MCP: --phone for the program that starts this, --http for those with a token.",
    ),
    "serve": Listed(
        "serve:serve",
        "Serve the API at /api, people's pages at /me and the console at /console, to those with a token.",
    ),
    "sessions": Listed("sessions:app", "Conversations, current and archived."),
    "migrate": Listed("portability:app", "Take over conversations and memories from elsewhere."),
    "keys": Listed("keys:app", "The keys that encrypt what is stored of people."),
    "memories": Listed("memories:app", "What is remembered of one person."),
    "instructions": Listed("instructions:app", "What one person wants done from now on."),
    "aliases": Listed("instructions:aliases_app", "Names that mean the same to one person when they ask."),
    "people": Listed("people:app", "Who is who: people, and what they write from."),
    "config": Listed("configuration:app", "What is set, and by whom."),
    "audit": Listed("privacy:audit_app", "What was done, by whom and to whom: without contents."),
    "token": Listed("keys:token_app", "Access tokens: each opens one person's memory, or everybody's."),
}


_LOOKED_THROUGH = 100_000
"""How many objects are made before the collector looks for garbage among them."""


class LangMem(TyperGroup):
    """All commands; an error of ours is told in a line."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: TyperCommand(name, help=each.line) for name, each in COMMANDS.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if name is None or command is None else loaded(name), rest

    def invoke(self, ctx: Any) -> Any:  # a Context of click, which typer may bring along as its own
        from langmem_plugin.database.audit_trail import acting  # noqa: PLC0415 - help needs no database

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal may lack the letters
        try:
            with acting(_operator()):
                return super().invoke(ctx)
        except (LangMemError, ImportError, OSError) as error:  # ImportError: of an extra, which its text names
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read the output has left
            typer.echo(visible(f"langmem: {' '.join(_told(error).split())}"), err=True)
            raise typer.Exit(1) from error


def _told(error: Exception) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    where = "" if error.filename is None else f"{error.filename}: "
    hint = ": free some space, and run it again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    return f"{where}{error.strerror}{hint}"


def _operator() -> str:
    """The user who runs the command, for the audit log."""
    try:
        return f"operator:{getpass.getuser()}"
    except (OSError, KeyError):  # a container's user may have no name
        return "operator"


def loaded(name: str) -> Any:
    """The command itself, with those below it."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    found = getattr(import_module(f"langmem_plugin.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langmem {metadata.version('phone-memory')}")
        raise typer.Exit


app = typer.Typer(
    cls=LangMem,
    no_args_is_help=True,
    help="Memory for LangGraph agents that people text.",
    pretty_exceptions_enable=False,
)


@app.callback()
def langmem(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="print it, and end")
    ] = False,
) -> None:
    """Memory for LangGraph agents that people text."""


def main() -> None:
    """Runs the script `langmem`.

    What a command imports is no garbage: to look through all of it, again and again and once more at the end, takes a
    quarter of a short command's time. A process that others import this into goes on as it is.
    """
    gc.set_threshold(_LOOKED_THROUGH)
    atexit.register(gc.freeze)
    app()
