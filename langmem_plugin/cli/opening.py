"""Opens what a command works on, and turns our errors into one line and an exit code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import typer

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.errors import LangMemError
from langmem_plugin.people import links
from langmem_plugin.settings import Settings
from langmem_plugin.terminal import visible

Url = Annotated[
    str | None,
    typer.Option(
        "--database", help="sqlite:///file.db or postgresql://…; default: $LANGMEM_DATABASE or data/langmem.db"
    ),
]


@contextmanager
def plain_errors() -> Iterator[None]:
    try:
        yield
    except (LangMemError, ImportError) as error:  # of an extra: its text names it
        typer.echo(visible(f"langmem: {error}"), err=True)
        sys.exit(1)


@contextmanager
def opened(url: str | None) -> Iterator[tuple[ConversationSaver, SessionManager]]:
    with plain_errors():
        settings = Settings()
        with ConversationSaver.from_settings(settings, url) as saver:
            yield saver, SessionManager(saver, settings, person_of=partial(links.person_in, saver.database))
