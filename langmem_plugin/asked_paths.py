"""Files that are written beside their place first: an error names the path that was asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def told_of(asked: Path, written: Path) -> Iterator[None]:
    """`written` is where it is made before it is there."""
    try:
        yield
    except OSError as error:
        if error.filename is None or not str(error.filename).startswith(str(written)):
            raise
        raise OSError(error.errno, error.strerror, str(asked)) from error
