"""How far long work is: a line on a terminal, and nothing in a pipe or a log."""

from rich.console import Console
from rich.progress import Progress, ProgressColumn


def progress(*columns: str | ProgressColumn, transient: bool = False) -> Progress:
    """On standard error, so that what is printed can be piped."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)
