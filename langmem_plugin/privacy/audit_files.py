"""The audit log as lines of JSON: one file that is written to, and those before it, for 90 days."""

import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from langmem_plugin.errors import StorageFull
from langmem_plugin.privacy.audit_chain import Entry, Mark, read_line
from langmem_plugin.privacy.audit_entries import KEPT_FOR

_LARGEST_BYTES = 10_000_000


class AuditFiles:
    """`file` is the one that is written to; `audit.2026-03-01.jsonl` and `audit.2026-03-01.2.jsonl` are older ones.

    Everybody but their user is kept from reading them (600). One process at a time writes: the caller sees to it.
    """

    def __init__(self, file: Path, *, largest: int = _LARGEST_BYTES) -> None:
        self.file = file
        self._largest = largest
        name = re.escape(file.stem)
        self._older = re.compile(rf"{name}\.(\d{{4}}-\d\d-\d\d)(?:\.(\d+))?{re.escape(file.suffix)}")

    def append(self, entries: Sequence[Entry]) -> None:
        """On disk when it returns; a line that a killed process left half is taken away first. Raises StorageFull."""
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
        """Of all files, the oldest first; None for a line that is no entry."""
        for path in self._all():
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if line.endswith("\n"):  # a half one is not there yet
                        yield read_line(line)

    def last(self) -> Mark | None:
        """How far they reach; None where there is nothing."""
        return next((found for path in reversed(self._all()) if (found := _last_of(path)) is not None), None)

    def prune(self, now: datetime, begin: Callable[[Mark], object] = lambda _: None) -> int:
        """Deletes those in which nothing is younger than 90 days; how many. `begin` is told before what is left then
        begins behind.
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
        """A name by chance that lies beside the files."""
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
        """The file of another day, or one that is large, becomes an older one."""
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
    """The end of that day."""
    return datetime.fromisoformat(text).replace(hour=23, minute=59, tzinfo=UTC)


def _cut_half_line(handle: int) -> None:
    size = os.fstat(handle).st_size
    kept = size
    while kept and os.pread(handle, 1, kept - 1) != b"\n":
        kept -= 1
    if kept < size:
        os.ftruncate(handle, kept)
