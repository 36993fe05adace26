"""A copy of a database and its pictures, made while both are in use: it shows one moment, and is whole or absent."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.engine import Database
from langmem_plugin.database.prepared_statements import driver
from langmem_plugin.errors import ConfigurationError, InvalidInput, StorageFull, StoreUnavailable

_TRIES = 10  # in case pictures are deleted between the copy of the rows and their own
_IN_FOLDER = select(media.c.sha256).where(media.c.payload.is_(None)).distinct()


@dataclass(frozen=True)
class Backup:
    """A backup: its place, its content, and the names of pictures that are missing in the original too."""

    folder: Path
    database: Path
    pictures: int
    bytes: int
    missing: tuple[str, ...] = ()


def backup(database: Database, folder: Path, pictures: Path | None) -> Backup:
    """Copy into the new `folder` (700) the database and the files of `pictures` that its rows name (600).

    A SQLite file is copied by SQLite itself, PostgreSQL's by pg_dump. Neither keys nor a vector index are in it. Raises
    InvalidInput where the folder exists already, and ConfigurationError without a pg_dump.
    """
    if folder.exists():
        raise InvalidInput(f"{folder} is there already: name a new folder")
    if database.is_sqlite and database.path is None:
        raise InvalidInput("a database in memory has no file to copy")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    with told_of(folder, unfinished):
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            made, kept, missing = _copied(database, unfinished, pictures)
            _sync(unfinished)
            unfinished.rename(folder)
            _sync(folder.parent)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    return Backup(folder, folder / made, kept, size, missing)


def _copied(database: Database, into: Path, pictures: Path | None) -> tuple[str, int, tuple[str, ...]]:
    """Copy the rows first: the files that they name were on disk before them. Where a file was deleted since, the rows
    are outdated and are copied again.
    """
    target = None if pictures is None else into / pictures.name
    gone: set[str] = set()
    for _ in range(_TRIES):
        made = into / ("langmem.dump" if database.path is None else database.path.name)
        made.unlink(missing_ok=True)
        names = _dumped(database, made) if database.path is None else _snapshot(database, made)
        if pictures is None or target is None:
            return made.name, 0, ()
        missing = _copy_files(pictures, target, names)
        if missing <= gone:  # they were missing before these rows were read, too
            return made.name, len(names - missing), tuple(sorted(missing))
        gone |= missing
    raise StoreUnavailable("pictures are deleted faster than they can be copied: try again")


def _snapshot(database: Database, file: Path) -> set[str]:
    """Copy the whole SQLite database as it is at one moment; return the names of the files in the folder that its rows
    use.
    """
    os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    with database.engine.connect() as connection:  # VACUUM cannot run in a transaction; writers go on
        try:
            driver(connection).execute("VACUUM INTO ?", [str(file)])
        except sqlite3.Error as error:
            raise StorageFull(f"the copy cannot be written ({error}): free space there, and run it again") from error
    _sync(file)
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        found = copy.execute(str(_IN_FOLDER.compile(dialect=database.engine.dialect)))
        return {name for (name,) in found}


def _dumped(database: Database, file: Path) -> set[str]:
    """Copy the database by pg_dump, as it is at the moment that this transaction sees; return the same names."""
    program = shutil.which("pg_dump")
    if program is None:
        raise ConfigurationError(
            "PostgreSQL is copied by its own pg_dump, which is not here: install PostgreSQL's client programs, or run"
            " pg_dump on the server"
        )
    url = database.url.set(password=None)
    password = {} if database.url.password is None else {"PGPASSWORD": str(database.url.password)}
    os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    with database.read() as connection:
        if driver(connection).is_pooled:
            raise ConfigurationError(
                "pg_dump cannot copy through a connection pooler: name the server itself, by --database postgresql://…"
            )
        moment = driver(connection).execute("SELECT pg_export_snapshot(), current_schema()").fetchone()
        names = set(connection.execute(_IN_FOLDER).scalars())
        arguments = ["--format=custom", f"--snapshot={moment[0]}", f'--schema="{moment[1]}"', f"--file={file}"]
        done = subprocess.run(  # noqa: S603 - the server's own program, and no shell
            [program, *arguments, f"--dbname={url.render_as_string(hide_password=False)}"],
            env={**os.environ, **password},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise StoreUnavailable(f"pg_dump failed: {' '.join(done.stderr.split())[:500]}")
    return names


def _copy_files(source: Path, target: Path, names: Collection[str]) -> set[str]:
    """Copy the files that were not copied before, and remove copies that are no longer named. Return the names of those
    not found.
    """
    target.mkdir(mode=0o700, exist_ok=True)
    there = {each.name.partition(".")[0]: each.name for each in source.iterdir()} if source.is_dir() else {}
    copied = {each.name.partition(".")[0]: each for each in target.iterdir()}
    for name, file in copied.items():
        if name not in names:
            file.unlink()
    missing = {each for each in names if each not in copied and each not in there}
    for name in (each for each in names if each in there and each not in copied):
        try:
            with (source / there[name]).open("rb") as read:
                handle = os.open(target / there[name], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "wb") as written:
                    shutil.copyfileobj(read, written)
                    written.flush()
                    os.fsync(handle)
        except FileNotFoundError:
            missing.add(name)
    _sync(target)
    return missing


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def told_of(asked: Path, written: Path) -> Iterator[None]:
    """Make an error about the path `written`, beside the final place, name the path `asked` that the caller knows."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(written)):
            raise
        raise OSError(error.errno, error.strerror, str(asked)) from error
