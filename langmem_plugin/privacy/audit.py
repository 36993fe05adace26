"""The audit log: one process at a time chains what was noted and writes it to files, so that it can be proven."""

import os
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from langmem_plugin.database import Database
from langmem_plugin.database.one_process import alone_or_not
from langmem_plugin.errors import StorageFull
from langmem_plugin.privacy import audit_entries
from langmem_plugin.privacy.audit_chain import Entry, Flaw, Mark, first_difference, flaw_of_chain, read_line
from langmem_plugin.privacy.audit_entries import KEPT_FOR
from langmem_plugin.settings import Settings

_LARGEST_BYTES = 10_000_000


class AuditFiles:
    """The files of the audit log: `file` is written to; `audit.2026-03-01.jsonl` and `audit.2026-03-01.2.jsonl` are
    older ones.

    Only their user may read them (600). One process at a time may write: the caller sees to it.
    """

    def __init__(self, file: Path, *, largest: int = _LARGEST_BYTES) -> None:
        self.file = file
        self._largest = largest
        name = re.escape(file.stem)
        self._older = re.compile(rf"{name}\.(\d{{4}}-\d\d-\d\d)(?:\.(\d+))?{re.escape(file.suffix)}")

    def append(self, entries: Sequence[Entry]) -> None:
        """Append the entries, on disk when it returns; a half line of a killed process is taken away first. Raises
        StorageFull.
        """
        if not entries:
            return
        try:
            self._rotate(entries[0].at)
            handle = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "r+b") as file:
                _cut_half_line(file.fileno())
                file.write("".join(f"{each.as_line()}\n" for each in entries).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageFull(f"the audit log {self.file} cannot be written ({error}): free space or fix it") from error

    def entries(self) -> Iterator[Entry | None]:
        """Yield the entries of all files, the oldest first; None for a line that is no entry."""
        for path in self._all():
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.endswith("\n"):  # a half line is not there yet
                        yield read_line(line)

    def last(self) -> Mark | None:
        """Return the position that the files reach; None if they hold nothing."""
        return next((found for path in reversed(self._all()) if (found := _last_of(path)) is not None), None)

    def prune(self, now: datetime, begin: Callable[[Mark], object] = lambda _: None) -> int:
        """Delete the files whose entries are all older than 90 days; return how many. `begin` is told first where the
        rest then begins.
        """
        gone = 0
        for path in self._all()[:-1]:
            if (found := self._older.fullmatch(path.name)) and _day(found[1]) + KEPT_FOR < now:
                if (last := _last_of(path)) is not None:
                    begin(last)
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def machine(self) -> str:
        """Return a random name for this machine's files, which is kept beside them."""
        beside = self.file.with_name(f"{self.file.name}.id")
        if not beside.exists():
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(uuid.uuid4().hex)
        return beside.read_text(encoding="utf-8")[:32]

    def _all(self) -> list[Path]:
        older = [
            (found[1], int(found[2] or 1), path)
            for path in (self.file.parent.iterdir() if self.file.parent.is_dir() else ())
            if (found := self._older.fullmatch(path.name))
        ]
        return [*(path for *_, path in sorted(older)), *([self.file] if self.file.exists() else [])]

    def _rotate(self, at: datetime) -> None:
        """Rename the file to an older one if it is of another day or too large."""
        if not self.file.exists():
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return
        with self.file.open(encoding="utf-8", errors="replace") as lines:
            first = read_line(next(lines, ""))
        day = (at if first is None else first.at).astimezone(UTC).date()
        if day == at.astimezone(UTC).date() and self.file.stat().st_size < self._largest:
            return
        many = 1
        while (older := self.file.with_name(_named(self.file, f"{day}{f'.{many}' if many > 1 else ''}"))).exists():
            many += 1
        self.file.rename(older)


def _last_of(path: Path) -> Mark | None:
    found = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = read_line(line) or found
    return None if found is None else Mark(found.position, found.hash)


def _named(file: Path, middle: str) -> str:
    return f"{file.stem}.{middle}{file.suffix}"


def _day(text: str) -> datetime:
    """Return the end of the day of an older file."""
    return datetime.fromisoformat(text).replace(hour=23, minute=59, tzinfo=UTC)


def _cut_half_line(handle: int) -> None:
    size = os.fstat(handle).st_size
    kept = size
    while kept and os.pread(handle, 1, kept - 1) != b"\n":
        kept -= 1
    if kept < size:
        os.ftruncate(handle, kept)


_AT_ONCE = 5_000
_BEGIN, _END = "files begin", "files end"


@dataclass(frozen=True)
class Proof:
    """The result of `verify`: `flaw` is the first entry that is not as it was written, None where all are.

    `busy` says that another process was chaining, so that the newest entries are not checked yet.
    """

    entries: int
    in_files: int
    flaw: Flaw | None = None
    busy: bool = False

    @property
    def holds(self) -> bool:
        return self.flaw is None


class AuditLog:
    """The audit log of one database; `files` takes its lines, None if there are none."""

    def __init__(self, database: Database, files: AuditFiles | None, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._files = files
        self._now = now
        self._here = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, now: Callable[[], datetime]) -> "AuditLog":
        file = log_file(settings, database)
        return cls(database, None if file is None else AuditFiles(file), now=now)

    def settle(self) -> int:
        """Chain what was noted, write it to the files and delete what is older than 90 days; return how many were
        chained.

        Does nothing while another process chains. Raises StoreUnavailable.
        """
        with self._alone() as alone:
            if not alone:
                return 0
            done = audit_entries.chain_waiting(self._database, self._now())
            self._write()
            audit_entries.prune(self._database, self._now())
            if self._files is not None:
                self._files.prune(self._now(), partial(self._set_mark, _BEGIN))
            return done

    def verify(self) -> Proof:
        """Chain what waits, and then check every entry, in the table and in the files."""
        with self._alone() as alone:
            if alone:
                audit_entries.chain_waiting(self._database, self._now())
            proof = self._proof(busy=not alone)
            if alone and proof.holds:
                self._write()
                proof = self._proof(busy=False)
        return proof

    def newest(self, limit: int) -> Sequence[Entry]:
        """Return the last entries, the newest last; those that are not chained yet have no position."""
        with self._database.read() as connection:
            return audit_entries.newest(connection, limit)

    def _proof(self, *, busy: bool) -> Proof:
        with self._database.read() as connection:
            begin, head = audit_entries.anchor(connection), audit_entries.head(connection)
            table = list(audit_entries.entries(connection, begin.position))
            of_files_begin, written = (audit_entries.mark_if_there(connection, self._name(of)) for of in (_BEGIN, _END))
        flaw, reached = flaw_of_chain(table, begin, "the table")
        if flaw is None and reached.position < head.position:
            flaw = Flaw(reached.position + 1, "removed", "the table")
        if flaw is None and reached.position > head.position:
            flaw = Flaw(head.position + 1, "inserted", "the table")
        if flaw is None and reached.hash != head.hash:
            flaw = Flaw(reached.position, "changed", "the table")
        lines = [] if self._files is None else list(self._files.entries())
        of_files, last = flaw_of_chain(lines, of_files_begin, "the files") if lines else (None, Mark())
        if of_files is None and self._files is not None and written is not None and last.position < written.position:
            of_files = Flaw(last.position + 1, "removed", "the files")
        different = first_difference(table, lines, begin.position, head.position)
        flaws = [each for each in (different, flaw, of_files) if each is not None]
        first = min(flaws, key=lambda each: each.position, default=None)
        return Proof(len(table), len(lines), _where(first, flaw, of_files), busy)

    def _write(self) -> None:
        """Write to the files from where they end; lines removed from their end stay missing, and are found."""
        if self._files is None:
            return
        with self._database.read() as connection:
            begin, written = (audit_entries.mark_if_there(connection, self._name(of)) for of in (_BEGIN, _END))
            last = self._files.last()
            # Lines unknown to the table may have been added by hand: only known ones are passed over.
            there = None if last is None or audit_entries.hash_at(connection, last.position) != last.hash else last
            at = max(
                written or Mark(), there or Mark(), audit_entries.anchor(connection), key=lambda each: each.position
            )
        if begin is None:
            first = next((each for each in self._files.entries() if each is not None), None)
            self._set_mark(_BEGIN, at if first is None else Mark(first.position - 1, first.previous))
        after = at.position
        while True:
            with self._database.read() as connection:
                more = list(audit_entries.entries(connection, after, _AT_ONCE))
            if not more:
                return
            self._files.append(more)
            after = more[-1].position
            self._set_mark(_END, Mark(after, more[-1].hash))

    def _set_mark(self, of: str, at: Mark) -> None:
        with self._database.write() as connection:
            audit_entries.set_mark(connection, self._name(of), at, self._now())

    def _name(self, of: str) -> str:
        """Return the name of a mark of these files: one for SQLite, one for each machine on a server."""
        machine = "" if self._files is None or self._database.is_sqlite else self._files.machine()
        return f"{of} {machine}".strip()

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        if not self._here.acquire(blocking=False):
            yield False
            return
        try:
            with alone_or_not(self._database, "audit") as alone:
                yield alone
        finally:
            self._here.release()


def log_file(settings: Settings, database: Database) -> Path | None:
    """Return the log's file from the setting; else beside a SQLite file and named after it, since several may lie in
    one folder.
    """
    if settings.audit_log is not None:
        return settings.audit_log
    return None if database.path is None else database.path.with_name(f"{database.path.stem}-audit.jsonl")


def _where(first: Flaw | None, of_table: Flaw | None, of_files: Flaw | None) -> Flaw | None:
    """Return where the first flaw is when table and files differ: in the one whose chain is broken there."""
    if first is None or first.where != "the table or the files":
        return first
    if of_table is not None and of_files is None:
        return Flaw(first.position, first.what, "the table")
    if of_files is not None and of_table is None:
        return Flaw(first.position, first.what, "the files")
    return first
