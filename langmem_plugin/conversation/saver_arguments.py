"""What the checkpointer may be constructed with: refused at once, and said how to give it, where it cannot be used."""

import re
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from datetime import datetime, timedelta
from pathlib import Path

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.database import Database
from langmem_plugin.errors import InvalidInput


def url_of(database: Database | str | Path) -> str:
    """The URL of a database that is not open yet; a path is that of a SQLite file."""
    if isinstance(database, Path):
        return f"sqlite:///{database}"
    if isinstance(database, str):
        return database
    raise InvalidInput(f"a database of {type(database).__name__}: give a URL, the Path of a SQLite file or a Database")


def url_of_conn_string(conn_string: str | Path) -> str:
    """As the stock savers take it: a file's path, `:memory:` or a URL."""
    if not isinstance(conn_string, str | Path):
        raise InvalidInput(f"a connection string of {type(conn_string).__name__}: give a file's path or a URL")
    if conn_string == ":memory:":
        return "sqlite://"
    return str(conn_string) if "://" in str(conn_string) else url_of(Path(conn_string))


def check_arguments(  # noqa: PLR0917 - all are needed
    region: str | None,
    carry: Collection[str],
    count_tokens: Callable[..., int],
    media: Media | Path | str,
    now: Callable[[], datetime],
    turn_timeout: timedelta,
    executor: Executor | None,
) -> None:
    """Raises InvalidInput."""
    if region is not None and not (isinstance(region, str) and re.fullmatch("[A-Z]{2}", region)):
        raise InvalidInput(f'region={region!r}: pass two capital letters such as "IL", or leave it out')
    if isinstance(carry, str) or not isinstance(carry, Collection) or not all(isinstance(name, str) for name in carry):
        raise InvalidInput(f'carry={carry!r}: pass the names of channels, as in carry=("cart",)')
    if not callable(count_tokens):
        raise InvalidInput(f"count_tokens={count_tokens!r}: pass a function of a message that returns a number")
    if not isinstance(media, Media | Path | str):
        raise InvalidInput(f"media={media!r}: pass a folder, 'beside', 'database', 'drop', 'leave' or a Media")
    if not callable(now) or not isinstance(instant := now(), datetime) or instant.tzinfo is None:
        raise InvalidInput("now must return aware datetimes: pass lambda: datetime.now(UTC)")
    if not isinstance(turn_timeout, timedelta):
        raise InvalidInput(f"turn_timeout={turn_timeout!r}: pass a timedelta")
    if executor is not None and not isinstance(executor, Executor):
        raise InvalidInput(f"executor={executor!r}: pass a concurrent.futures.Executor, or leave it out")
