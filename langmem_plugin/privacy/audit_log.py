"""The audit log: what was done, for 90 days, in a table and as lines of JSON in a file of each day."""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select, update

from langmem_plugin.database import Database
from langmem_plugin.database.operations_tables import audit as table
from langmem_plugin.errors import StorageFull
from langmem_plugin.settings import Settings

_KEPT_FOR = timedelta(days=90)
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """An action that was noted. `owner` and `content` are keyed hashes, in hexadecimal digits."""

    entry: int
    at: datetime
    actor: str
    action: str
    subject: str | None
    owner: str | None
    content: str | None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "at": self.at.isoformat()}


class AuditLog:
    """The audit log of one database; `file`, with the day in its name, takes its lines: None if there are none."""

    def __init__(self, database: Database, file: Path | None, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._file = file
        self._now = now

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, now: Callable[[], datetime]) -> "AuditLog":
        """Open the log in the file of the setting; else beside a SQLite file and named after it, since several may lie
        in one folder.
        """
        beside = None if database.path is None else database.path.with_name(f"{database.path.stem}-audit.jsonl")
        return cls(database, settings.audit_log or beside, now=now)

    def settle(self) -> int:
        """Write to the files what was noted, and delete what is older than 90 days; return how many were written.

        A sweep calls it, so one process at a time does; what one that is killed had written is written again. Raises
        StoreUnavailable.
        """
        written = 0
        while self._file is not None and (entries := self._waiting()):
            for day, of_day in groupby(entries, lambda each: each.at.date()):
                self._append(self._file_of(self._file, day), list(of_day))
            numbers = [each.entry for each in entries]
            with self._database.write() as connection:
                connection.execute(update(table).where(table.c.entry.in_(numbers)).values(written=True))
            written += len(entries)
        oldest = self._now() - _KEPT_FOR
        with self._database.write() as connection:
            connection.execute(delete(table).where(table.c.at < oldest))
        self._delete_files(oldest.date())
        return written

    def newest(self, limit: int) -> Sequence[Entry]:
        """Return the last entries, the newest last."""
        with self._database.read() as connection:
            rows = connection.execute(select(table).order_by(table.c.entry.desc()).limit(limit)).all()
        return [_entry(row) for row in reversed(rows)]

    def _waiting(self) -> list[Entry]:
        waiting = select(table).where(table.c.written.is_(False)).order_by(table.c.entry).limit(_AT_ONCE)
        with self._database.read() as connection:
            return [_entry(row) for row in connection.execute(waiting)]

    @staticmethod
    def _file_of(file: Path, day: date) -> Path:
        return file.with_name(f"{file.stem}.{day}{file.suffix}")

    @staticmethod
    def _append(file: Path, entries: Sequence[Entry]) -> None:
        """Append the entries, on disk when it returns, for their user alone to read. Raises StorageFull."""
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "rb+") as lines:
                end = lines.seek(0, os.SEEK_END)
                if end and os.pread(lines.fileno(), 1, end - 1) != b"\n":
                    lines.write(b"\n")  # behind the half line of a process that was killed
                lines.writelines(f"{json.dumps(each.as_dict())}\n".encode() for each in entries)
                lines.flush()
                os.fsync(lines.fileno())
        except OSError as error:
            raise StorageFull(f"the audit log {file} cannot be written ({error}): free space or fix it") from error

    def _delete_files(self, oldest: date) -> None:
        if self._file is None or not self._file.parent.is_dir():
            return
        of_a_day = re.compile(rf"{re.escape(self._file.stem)}\.(\d{{4}}-\d\d-\d\d){re.escape(self._file.suffix)}")
        for each in self._file.parent.iterdir():
            if (found := of_a_day.fullmatch(each.name)) and found[1] < oldest.isoformat():
                each.unlink(missing_ok=True)


def _entry(row: Any) -> Entry:
    owner, content = (None if each is None else bytes(each).hex() for each in (row.owner, row.content))
    return Entry(row.entry, row.at, row.actor, row.action, row.subject, owner, content)
