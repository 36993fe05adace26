"""Every command's errors: one line and exit code 1, never a traceback."""

import errno
import getpass
import io
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from langmem_plugin.errors import LangMemError
from langmem_plugin.terminal import visible


class PlainErrors(TyperGroup):
    """A group of commands; the outermost one is enough."""

    def invoke(self, ctx: Any) -> Any:  # a Context of click, which typer may bring along as its own
        from langmem_plugin.database.audit_trail import acting  # noqa: PLC0415 - what only shows its help needs no database

        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal may lack the letters
        try:
            with acting(_operator()):
                return super().invoke(ctx)
        except (LangMemError, ImportError, OSError) as error:  # ImportError: of an extra, which its text names
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read the output has left
            typer.echo(visible(f"langmem: {' '.join(str(error).split())}"), err=True)
            raise typer.Exit(1) from error


def _operator() -> str:
    """Who runs the command, for the audit log."""
    try:
        return f"operator:{getpass.getuser()}"
    except (OSError, KeyError):  # a container's user may have no name
        return "operator"
