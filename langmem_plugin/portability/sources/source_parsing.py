"""The things that every source reads in the same way: files, records one after another, instants, texts."""

import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.imported_records import ImportedRecord, Remark

_Raw = TypeVar("_Raw")

LARGEST_UNPACKED = 512 * 2**20
"""The size that a file may have when it is read, in bytes."""
DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError, NotImplementedError)
"""The errors of reading a zip whose bytes were changed, or one with a password."""
_OF_A_VALUE = 64  # what Python takes for one, at the least


def refuse_vast(path: Path) -> None:
    """Before it is read as JSON: sixty megabytes of brackets would become some gigabytes. Raises UnreadableImport."""
    becomes = path.stat().st_size
    with path.open("rb") as file:
        while becomes <= LARGEST_UNPACKED and (part := file.read(2**20)):
            becomes += _OF_A_VALUE * sum(map(part.count, (b",", b"[", b"{")))
    refuse_larger(path.name, becomes, LARGEST_UNPACKED)


def refuse_larger(name: str, size: int, most: int) -> None:
    """Raise UnreadableImport for what would take more than `most` bytes."""
    if size > most:
        raise UnreadableImport(f"{name} would take {size:,} bytes: bring it in by parts of at most {most:,}")


def json_file(path: Path) -> Any:
    """Raises UnreadableImport for what is no JSON; of a file that is not there what the system says."""
    refuse_vast(path)
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableImport(f"{path.name} is no JSON: {error}") from error


def numbered(kind: str, raws: Iterable[_Raw]) -> Iterator[tuple[str, _Raw]]:
    """Yield each with its place: the `kind` and a number."""
    return ((f"{kind} {at}", raw) for at, raw in enumerate(raws, 1))


def json_in(path: Path) -> Any:
    """Return what a file of JSON holds; None for anything else."""
    try:
        return json_file(path) if path.is_file() else None
    except UnreadableImport:
        return None


def each_read(
    placed: Iterable[tuple[str, _Raw]], read: Callable[[_Raw, str], ImportedRecord]
) -> Iterator[ImportedRecord]:
    """Yield what `read` makes of each and of its place; of one that it refuses, why."""
    for place, raw in placed:
        try:
            yield read(raw, place)
        except (ValueError, RecursionError, OverflowError) as error:
            yield Remark(place=place, reason=str(error))


def instant(value: object) -> datetime | None:
    """ISO 8601, in UTC where it names no zone; seconds since 1970 too. Raises InvalidInput for anything else."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(str(value))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"{str(value)[:40]!r} is no instant") from error


def number(value: object, otherwise: float) -> float:
    """Raises InvalidInput for what is no finite number."""
    try:
        found = otherwise if value is None else float(str(value))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InvalidInput(f"{str(value)[:40]!r} is no number")
    return found


def text_of(record: Mapping[str, Any], *names: str) -> str | None:
    """The text under the first of these names that has one."""
    found = next((record[name] for name in names if isinstance(record.get(name), str) and record[name].strip()), None)
    return found.strip() if found is not None else None


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """Raises InvalidInput."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} is a {type(value).__name__}, not an object")
    return value
