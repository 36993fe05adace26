"""Before something is deleted or joined the operator is asked, or has said --yes."""

import sys
from typing import Annotated

import typer

from langmem_plugin.errors import InvalidInput
from langmem_plugin.terminal import visible

Yes = Annotated[bool, typer.Option("--yes", help="do not ask")]


def confirm(question: str, *, yes: bool) -> None:
    """Raises InvalidInput where nobody can be asked, and Abort for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("nobody can be asked here, and nothing is done: say --yes if that is meant")
    typer.confirm(visible(question), abort=True, err=True)
