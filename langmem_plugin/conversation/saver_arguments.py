"""What the checkpointer may be constructed with: refused at once, and said how to give it, where it cannot be used."""

import re
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from datetime import datetime, timedelta
from pathlib import Path

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.errors import InvalidInput


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
