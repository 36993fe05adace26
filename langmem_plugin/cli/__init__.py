"""The `langmem` command: each action is one call to a verb of the package."""

from importlib import metadata
from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ImportError as error:
    raise ImportError("the langmem command needs more: pip install 'phone-memory[cli]'") from error

from langmem_plugin.cli.lazy_commands import LazyCommands


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langmem {metadata.version('phone-memory')}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyCommands,
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
