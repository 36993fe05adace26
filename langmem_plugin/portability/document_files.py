"""A person's document on a disk: a file of JSON, a zip or a folder of tables; it is written whole or not at all."""

import functools
import io
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar

from langmem_plugin.asked_paths import told_of
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.csv_tables import DOCUMENT, bytes_name, read_tables, write_tables
from langmem_plugin.portability.exporter import Exporter
from langmem_plugin.portability.person_export import FORMAT
from langmem_plugin.portability.sources.plain_values import LARGEST_UNPACKED, refuse_vast

_Read = TypeVar("_Read")

# What reading a zip raises whose bytes somebody has changed.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)
_BEGINNING = 2_000  # characters of a file of JSON in which it says what it is


def recognises(path: Path) -> bool:
    """Whether this is a person's document."""
    if path.is_dir():
        return (path / DOCUMENT).is_file()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as held:
            return DOCUMENT in held.namelist()
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return json.dumps(FORMAT) in file.read(_BEGINNING)


def read(path: Path, *, largest: int = LARGEST_UNPACKED) -> dict[str, Any]:
    """As DocumentImporter takes it. Raises UnreadableImport, also for what would become too large, or a zip of more
    than `largest` bytes unpacked, and of a file that is not there what the system says.
    """
    if path.is_dir():
        return read_tables(functools.partial(_table_in, path), functools.partial(_bytes_in, path))
    if zipfile.is_zipfile(path):
        return _read_zip(path, largest)
    refuse_vast(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableImport(f"{path.name} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UnreadableImport(f"{path.name} is no person's document: it is no object")
    return found


def _read_zip(path: Path, largest: int) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as held:
            _refuse_larger(held, largest)
            return read_tables(functools.partial(_table_of, held), functools.partial(_bytes_of, held))
    except UnreadableImport:
        raise
    except _DAMAGED as error:
        raise UnreadableImport(f"the zip is damaged: {error}") from error


def _refuse_larger(held: zipfile.ZipFile, largest: int) -> None:
    """What a zip says of itself is also what is read of it at most."""
    if sum(each.file_size for each in held.infolist()) > largest:
        raise UnreadableImport(f"the zip holds more than {largest:,} bytes: bring it in as JSON, in parts")


def write_json(exporter: Exporter, person: str, path: Path) -> None:
    """A file for nobody else to read. Raises InvalidInput where something is there already."""
    with _whole(path) as part:
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8") as file:
            exporter.write(person, file)


def write_csv(exporter: Exporter, person: str, path: Path) -> None:
    """A zip where the path ends in .zip, else a folder. Raises as `write_json`."""
    with _whole(path) as part:
        if path.suffix != ".zip":
            part.mkdir(mode=0o700)
            write_tables(exporter.parts(person), part)
            return
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
            write_tables(exporter.parts(person), Path(folder))
            part.touch(mode=0o600)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as made:
                for file in sorted(Path(folder).rglob("*")):
                    if file.is_file():
                        made.write(file, file.relative_to(folder).as_posix())


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A place beside it, which takes its name when all is written."""
    if path.exists():
        raise InvalidInput(f"{path} is there already: name a new file, or delete it first")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}: name one that is there")
    part = path.with_name(f".{path.name}.part")
    try:
        with told_of(path, part):
            _remove(part)
            yield part
            part.rename(path)
    finally:
        with suppress(OSError):  # what was wrong is told already
            _remove(part)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _table_in(folder: Path, name: str) -> TextIO | None:
    file = folder / name
    return file.open(encoding="utf-8-sig", newline="") if file.is_file() else None


def _bytes_in(folder: Path, digest: str) -> bytes | None:
    file = folder / bytes_name(Path(digest).name)
    return file.read_bytes() if file.is_file() else None


def _table_of(held: zipfile.ZipFile, name: str) -> TextIO | None:
    return _opened(held, name, lambda file: io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))


def _bytes_of(held: zipfile.ZipFile, digest: str) -> bytes | None:
    return _opened(held, bytes_name(digest), lambda file: file.read())


def _opened(held: zipfile.ZipFile, name: str, read_it: Callable[[IO[bytes]], _Read]) -> _Read | None:
    try:
        return read_it(held.open(name))
    except KeyError:
        return None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # with a password, or packed otherwise
        raise UnreadableImport(f"{name} in the zip cannot be read: {error}") from error
