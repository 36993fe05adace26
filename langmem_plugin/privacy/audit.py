"""The audit log: what was noted is chained and written to files by one process at a time, and can be proven."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from langmem_plugin.database import Database
from langmem_plugin.database.audit_trail import Action, record
from langmem_plugin.database.one_process import alone_or_not
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.privacy import audit_entries
from langmem_plugin.privacy.audit_chain import Entry, Flaw, Mark, first_difference, flaw_of_chain
from langmem_plugin.privacy.audit_files import AuditFiles
from langmem_plugin.settings import Settings

_AT_ONCE = 5_000
_BEGIN, _END = "files begin", "files end"


@dataclass(frozen=True)
class Proof:
    """What `verify` found: `flaw` is the first entry that is not as it was written, None where all are.

    `busy`: another process was chaining, so that what was noted last is not in it yet.
    """

    entries: int
    in_files: int
    flaw: Flaw | None = None
    busy: bool = False

    @property
    def holds(self) -> bool:
        return self.flaw is None


class AuditLog:
    """Of one database; `files` is where its lines go, None for nowhere."""

    def __init__(self, database: Database, files: AuditFiles | None, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._files = files
        self._now = now
        self._here = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, now: Callable[[], datetime]) -> "AuditLog":
        file = log_file(settings, database)
        return cls(database, None if file is None else AuditFiles(file), now=now)

    def note(self, action: Action, *, owner: OwnerKey | None = None, subject: str | None = None) -> None:
        """For what writes nothing else, such as an operator who reads."""
        with self._database.write() as connection:
            record(connection, action, owner=owner, subject=subject)

    def settle(self) -> int:
        """Chains what was noted, writes it to the files and deletes what is older than 90 days; how many were chained.

        Nothing where another process is at it. Raises StoreUnavailable.
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
        """Chains what waits, and then looks at every entry, in the table and in the files."""
        with self._alone() as alone:
            if alone:
                audit_entries.chain_waiting(self._database, self._now())
            proof = self._proof(busy=not alone)
            if alone and proof.holds:
                self._write()
                proof = self._proof(busy=False)
        return proof

    def newest(self, limit: int) -> Sequence[Entry]:
        """The last ones, the newest last; those that are not chained yet have no position."""
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
        """To the files, from where they end; what was taken from their end stays missing, and is found."""
        if self._files is None:
            return
        with self._database.read() as connection:
            begin, written = (audit_entries.mark_if_there(connection, self._name(of)) for of in (_BEGIN, _END))
            last = self._files.last()
            # Lines that nobody has noted may have been added by hand: only what the table knows is passed over.
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
        """Of these files, whatever the machine is called; of a server each machine has its own."""
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
    """As the setting says; beside a SQLite file named after it, since several may lie in one folder."""
    if settings.audit_log is not None:
        return settings.audit_log
    return None if database.path is None else database.path.with_name(f"{database.path.stem}-audit.jsonl")


def _where(first: Flaw | None, of_table: Flaw | None, of_files: Flaw | None) -> Flaw | None:
    """A difference says not yet which of the two is wrong: the one whose chain is broken there."""
    if first is None or first.where != "the table or the files":
        return first
    if of_table is not None and of_files is None:
        return Flaw(first.position, first.what, "the table")
    if of_files is not None and of_table is None:
        return Flaw(first.position, first.what, "the files")
    return first
