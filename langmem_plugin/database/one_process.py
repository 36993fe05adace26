"""One process at a time does what several would do twice: a lock that goes with its process."""

import contextlib
from collections.abc import Iterator

from filelock import FileLock, Timeout

from langmem_plugin.database.engine import Database


@contextlib.contextmanager
def alone_or_not(database: Database, name: str) -> Iterator[bool]:
    """Whether no other process works on this database under this name; one that is killed holds nobody up."""
    if not database.is_sqlite:
        with database.alone_or_not(f"langmem {name}") as locked:
            yield locked
    elif database.path is None:
        yield True
    else:
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(FileLock(f"{database.path}-{name}.lock", timeout=0, mode=0o600))
            except Timeout:
                yield False
            else:
                yield True
