"""The `langmem` command: each action is one call to a verb of the package.

A command's module is imported when it is called: together they import all that there is.
"""

import ast
import atexit
import errno
import gc
import getpass
import io
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any

try:
    import rich  # noqa: F401
    import typer
    from typer.core import TyperCommand, TyperGroup
except ImportError as error:
    raise ImportError("the langmem command needs more: pip install 'phone-memory[cli]'") from error

from langmem_plugin.errors import LangMemError
from langmem_plugin.text_sanitizing import visible

_LOOKED_THROUGH = 100_000
"""The number of objects that are made before the garbage collector looks for garbage among them."""

COMMANDS = {
    "demo": "chat_demo_bench:demo",
    "chat": "chat_demo_bench:chat",
    "bench": "chat_demo_bench:bench",
    "serve": "serve_and_mcp:serve",
    "mcp": "serve_and_mcp:mcp",
    "worker": "expire_doctor_reindex_worker:worker",
    "token": "keys_and_tokens:token_app",
    "keys": "keys_and_tokens:app",
    "people": "people:app",
    "memories": "memories:app",
    "sessions": "sessions:app",
    "recall": "recall_and_resolve:recall",
    "resolve": "recall_and_resolve:resolve",
    "audit": "erase_and_audit:audit",
    "export": "export_and_import:export_person",
    "import": "export_and_import:import_person",
    "erase": "erase_and_audit:erase",
    "restore": "erase_and_audit:restore",
    "doctor": "expire_doctor_reindex_worker:doctor",
    "expire": "expire_doctor_reindex_worker:expire",
    "reindex": "expire_doctor_reindex_worker:reindex",
}
"""The place of each command: module:function, or module:app for a group of commands. They are in the order of help: to
try it, to serve it, to look, to hand over and to erase, to keep it in order.
"""


class LangMem(TyperGroup):
    """The group of all commands; an error of ours is printed in one line."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: TyperCommand(name) for name in COMMANDS})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - a Context of click, or of typer's own copy
        return TyperCommand(cmd_name, help=_help(COMMANDS[cmd_name])) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if name is None or command is None else loaded(name), rest

    def invoke(self, ctx: Any) -> Any:
        from langmem_plugin.database.audit_recording import acting  # noqa: PLC0415 - help needs no database

        sys.stdout = sys.stdout or io.StringIO()  # it is None where it was closed
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal may lack the letters
        try:
            with acting(_operator()):
                return super().invoke(ctx)
        except (LangMemError, ImportError, OSError) as error:  # ImportError: an extra is missing, and is named
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # the program that read the output has ended
            typer.echo(visible(f"langmem: {' '.join(_told(error).split())}"), err=True)
            raise typer.Exit(1) from error


def _told(error: Exception) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    where = "" if error.filename is None else f"{error.filename}: "
    hint = ": free some space, and run it again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    return f"{where}{error.strerror}{hint}"


def _operator() -> str:
    """Return the user who runs the command, for the audit log."""
    try:
        return f"operator:{getpass.getuser()}"
    except (OSError, KeyError):  # a container's user may have no name
        return "operator"


def _help(place: str) -> str:
    """Return a command's help, read from its source without importing it."""
    module, _, named = place.partition(":")
    for node in ast.parse(Path(__file__).with_name(f"{module}.py").read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == named:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.targets[0]) == named:
            return next(str(ast.literal_eval(each.value)) for each in node.value.keywords if each.arg == "help")
    return ""


def loaded(name: str) -> Any:
    """Return the command itself, with those below it."""
    module, _, attribute = COMMANDS[name].partition(":")
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
    """Run the script `langmem`.

    What a command imports is never garbage: looking through all of it again and again, and once more at the end, takes
    a quarter of a short command's time. A process that only imports this module is left as it is.
    """
    gc.set_threshold(_LOOKED_THROUGH)
    atexit.register(gc.freeze)
    app()
