"""The jobs in the database: which session waits to be taken into the memory, who works on it, and how far they are.

A job is claimed under a number that rises with every claim, and whatever is written for it is written under the
condition that its number is still that one, in the same transaction. So a process that stood still while another took
its job over writes nothing more. No clock ever decides that a process is gone: each holder of a claim counts up while
it works, and the others watch it with a stopwatch of their own, as turns do (conversation/turns/turn_queue.py).
"""

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, and_, bindparam, case, func, insert, or_, select, tuple_, update

from langmem_plugin import process_forks
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.turns.turn_queue import RENEW_SECONDS, Watch
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import session, thread_owner
from langmem_plugin.database.encryption.encrypted_columns import EXTRACTED_FACTS, EXTRACTION_ERROR
from langmem_plugin.database.memory_tables import extraction_job as table
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import inserts
from langmem_plugin.errors import SessionRefused, StoreUnavailable
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log

log = event_log(__name__)

MOST_ATTEMPTS = 5
_MOST_COUNTED = 10_000
_FIRST_PAUSE = timedelta(minutes=1)  # after the first failure, and twice as long after each further one
_LONGEST_ERROR = 300
_DAMAGED = "its row in the queue is damaged"
_ENDED = "every process that began with it ended in the middle"


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The extraction of one session; `taken` are the message rows that have been read."""

    state: Literal["pending", "completed", "failed"]
    taken: frozenset[int]
    facts: Sequence[Mapping[str, Any]]
    error: str | None


def of_session(connection: Connection, session: Session) -> JobRecord | None:
    """Return the record of a session; a job that is being worked on is shown as if it waited."""
    mine = select(table).where(table.c.thread == session.thread, table.c.session == session.number)
    row = connection.execute(mine).first()
    if row is None:
        return None
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.decrypted(connection, key, row.facts)
    error = EXTRACTION_ERROR.decrypted(connection, key, row.error)
    return JobRecord("pending" if row.state == "processing" else row.state, row.taken, facts, error)


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A session that is read no more until more is said in it, or until it is tried again."""

    session_id: str
    thread: str
    last_active: datetime
    attempts: int
    error: str


def failed(connection: Connection, *, limit: int = 50) -> list[FailedJob]:
    """Return the failed jobs, the last active first."""
    both = table.join(session, (table.c.thread == session.c.thread) & (table.c.session == session.c.number))
    columns = (table.c.thread, table.c.session, table.c.attempts, table.c.error)
    rows = (
        select(*columns, session.c.session_id, session.c.last_active)
        .select_from(both)
        .where(table.c.state == "failed")
        .order_by(session.c.last_active.desc())
        .limit(limit)
    )
    return [
        FailedJob(
            row.session_id,
            row.thread,
            row.last_active,
            row.attempts,
            EXTRACTION_ERROR.decrypted(connection, (row.thread, row.session), row.error) or "",
        )
        for row in connection.execute(rows)
    ]


def try_again(connection: Connection, session_id: str) -> bool:
    """Let a failed job wait like any other from now on; False where it has not failed, or not any more."""
    its = select(session.c.thread, session.c.number).where(session.c.session_id == session_id)
    values = {"state": "pending", "attempts": 0, "not_before": None}
    mine = tuple_(table.c.thread, table.c.session).in_(its)
    return connection.execute(update(table).where(mine, table.c.state == "failed").values(values)).rowcount > 0


def keep(connection: Connection, session: Session, record: JobRecord) -> None:
    """Store the record of a session that has none yet."""
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.encrypted(connection, key, list(record.facts))
    error = EXTRACTION_ERROR.encrypted(connection, key, record.error)
    values = {"state": record.state, "taken": record.taken, "facts": facts, "error": error}
    connection.execute(insert(table).values(thread=session.thread, session=session.number, **values))


State = Literal["pending", "processing", "completed", "failed"]


class ClaimLost(Exception):
    """The error of a job that another process has by now, or whose session is gone: nothing was written."""


@dataclass(frozen=True, slots=True)
class Job:
    """A session's job as it was when it was claimed. `facts` were read in its messages and are not stored yet; the
    message rows of `taken` have been read.
    """

    thread: str
    number: int
    session_id: str
    claim: int
    attempts: int
    taken: frozenset[int]
    facts: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A job that a process works on, and how often that process has said so."""

    thread: str
    number: int
    claim: int
    beats: int


class ExtractionJobs:
    """The jobs in one database; a session is due when it has ended or nobody has written in it for `quiet`."""

    def __init__(self, database: Database, *, quiet: timedelta, now: Callable[[], datetime]) -> None:
        self._database = database
        self._quiet = quiet
        self._now = now

    def mark(self, connection: Connection, thread: str, number: int) -> bool:
        """Mark the session in which something was said. Where it waits already nothing is written, and the
        answer is False.
        """
        return _MARK.run(connection, {"of_thread": thread, "of_session": number, "said_at": self._now()}) > 0

    def states(self, thread: str | None = None) -> dict[State, int]:
        """Count the jobs in each state, of one thread or of all; there are 10,000 or more where it says 10,000."""
        counts: dict[State, int] = {}
        with self._database.read() as connection:
            for state in get_args(State):
                these = [table.c.state == state, *([] if thread is None else [table.c.thread == thread])]
                found = select(table.c.state).where(*these).limit(_MOST_COUNTED).subquery()
                if many := connection.execute(select(func.count()).select_from(found)).scalar_one():
                    counts[state] = many
        return counts

    # Claiming

    def claim(self, person: str | None = None) -> Job | None:
        """Claim the job that has been due for longest; of a `person`, who is named, also one that is not
        due or has failed.

        Returns None where nothing waits. A job that ended every process that began with it is given up, and so is one
        whose session is refused: for a named person that raises SessionRefused.
        """
        wanted = self._due() if person is None else _of(person)
        while True:
            with self._database.read() as connection:  # read first: when no job is due, no writer has to wait
                first = _CLAIMABLE.where(*wanted).order_by(table.c.not_before).limit(1)
                if connection.execute(first).first() is None:
                    return None
            with self._database.write(durable=False) as connection:
                found = connection.execute(first.with_for_update(of=table, skip_locked=True)).first()
                if found is None:
                    return None
                attempts = 0 if person is not None else found.attempts
                is_whole = isinstance(attempts, int) and isinstance(found.claim, int)
                why, refused = _ENDED if is_whole else _DAMAGED, None
                try:
                    if is_whole and attempts < MOST_ATTEMPTS:
                        return _claimed(connection, found, attempts)
                except SessionRefused as error:  # its messages are not what was stored: no other job may wait for it
                    if person is not None:
                        raise
                    why, refused = str(error), error
                _fail(connection, found, why)
            extra = {"phone": masked(found.thread), "attempts": attempts}
            log.error("extraction.given_up", exc_info=refused, extra=extra)

    def _due(self) -> tuple[ColumnElement[bool], ...]:
        now = self._now()
        return (
            table.c.state == "pending",
            or_(table.c.not_before.is_(None), table.c.not_before <= now),
            or_(session.c.ended_at.is_not(None), session.c.last_active <= now - self._quiet),
        )

    # Under a claim

    def note(
        self,
        connection: Connection,
        job: Job,
        facts: Sequence[Mapping[str, Any]],
        taken: Collection[int] | None = None,
    ) -> None:
        """Note the facts that are still to be stored, and the messages that have been read. Raises ClaimLost."""
        values: dict[str, Any] = {"facts": list(facts)}
        if taken is not None:
            values["taken"] = taken
        self._write(connection, job, values)

    def confirm(self, connection: Connection, job: Job) -> None:
        """Make sure that the job is claimed still: until the transaction ends nobody else claims it. Raises
        ClaimLost if it is lost.
        """
        mine = select(table.c.claim).where(*_claim_of(job)).with_for_update()
        if connection.execute(mine).first() is None:
            raise ClaimLost

    def complete(self, job: Job) -> None:
        """End the job; it waits again if more was said meanwhile."""
        over = case((table.c.again, "pending"), else_="completed")
        self._end(job, {"state": over, "again": False, "attempts": 0, "error": None})

    def fail(self, job: Job, error: str) -> bool:
        """Note a failure: the job waits longer after each attempt, and after the last one until more is said;
        True for the last.
        """
        is_last = job.attempts >= MOST_ATTEMPTS
        pause = _FIRST_PAUSE * 2 ** (job.attempts - 1)
        values = {
            "state": case((table.c.again, "pending"), else_="failed" if is_last else "pending"),
            "attempts": case((table.c.again, 0), else_=job.attempts),
            "again": False,
            "not_before": self._now() + pause,
            "error": error[:_LONGEST_ERROR],
        }
        self._end(job, values)
        return is_last

    def let_go(self, job: Job) -> None:
        """Let go of the job, so that another process may take it at once: it was no attempt."""
        self._end(job, {"state": "pending", "again": False, "attempts": job.attempts - 1})

    def _end(self, job: Job, values: dict[str, Any]) -> None:
        with self._database.write(durable=False) as connection:
            self._write(connection, job, values)

    def _write(self, connection: Connection, job: Job, values: dict[str, Any]) -> None:
        stored = _encrypted(connection, (job.thread, job.number), values)
        if connection.execute(update(table).where(*_claim_of(job)).values(stored)).rowcount == 0:
            raise ClaimLost

    # The processes that work on jobs

    def held(self) -> list[Held]:
        with self._database.read() as connection:
            return _held(connection)

    def renew(self, own: Collection[Job]) -> list[Held]:
        """Note that these jobs are still worked on; return all that any process works on, read after the others could
        note theirs too.
        """
        with self._database.write(durable=False) as connection:
            for job in own:
                connection.execute(update(table).where(*_claim_of(job)).values(beats=table.c.beats + 1))
            return _held(connection)

    def release(self, gone: Collection[Held]) -> int:
        """Take jobs from processes that are gone, unless these have noted something since; return how many."""
        with self._database.write(durable=False) as connection:
            released = 0
            for each in gone:
                still = (*_claim_of(each), table.c.beats == each.beats)
                changes = {"state": "pending", "claim": each.claim + 1, "again": False}
                released += connection.execute(update(table).where(*still).values(changes)).rowcount
        return released


def _claimed(connection: Connection, found: Any, attempts: int) -> Job:
    facts = tuple(EXTRACTED_FACTS.decrypted(connection, (found.thread, found.session), found.facts))
    claim = found.claim + 1
    values = {"state": "processing", "again": False, "claim": claim, "attempts": attempts + 1}
    connection.execute(update(table).where(*_row(found.thread, found.session)).values(values))
    return Job(found.thread, found.session, found.session_id, claim, attempts + 1, found.taken, facts)


def _fail(connection: Connection, found: Any, why: str) -> None:
    key = found.thread, found.session
    numbers = {"claim": _whole(found.claim) + 1, "attempts": _whole(found.attempts)}
    values = _encrypted(connection, key, {"state": "failed", "error": why[:_LONGEST_ERROR], **numbers})
    connection.execute(update(table).where(*_row(*key)).values(values))


def _whole(stored: Any) -> int:
    """Read a number; 0 in a damaged row, so that whoever works on that row has lost its claim."""
    return stored if isinstance(stored, int) else 0


def _encrypted(connection: Connection, key: tuple[str, int], values: Mapping[str, Any]) -> dict[str, Any]:
    columns = {each.column.name: each for each in (EXTRACTED_FACTS, EXTRACTION_ERROR)}
    given = {name: each for name, each in columns.items() if name in values}
    return {**values, **{name: each.encrypted(connection, key, values[name]) for name, each in given.items()}}


def _of(person: str) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for the waiting jobs in a person's own conversations; those on a server are known by the
    owner noted for them.
    """
    theirs = select(thread_owner.c.thread).where(thread_owner.c.owner == person)
    mine = or_(table.c.thread == person, table.c.thread.in_(theirs))
    return (mine, table.c.state.in_(("pending", "failed")))


def _held(connection: Connection) -> list[Held]:
    columns = (table.c.thread, table.c.session, table.c.claim, table.c.beats)
    return [Held(*row) for row in connection.execute(select(*columns).where(table.c.state == "processing"))]


def _claim_of(job: Job | Held) -> tuple[ColumnElement[bool], ...]:
    return (*_row(job.thread, job.number), table.c.claim == job.claim, table.c.state == "processing")


def _row(thread: str, number: int) -> tuple[ColumnElement[bool], ...]:
    return table.c.thread == thread, table.c.session == number


_CLAIMABLE = select(
    table.c.thread,
    table.c.session,
    session.c.session_id,
    table.c.claim,
    table.c.attempts,
    table.c.taken,
    table.c.facts,
).join(session, and_(session.c.thread == table.c.thread, session.c.number == table.c.session))

_new = {
    "thread": bindparam("of_thread"),
    "session": bindparam("of_session"),
    "state": "pending",
    "again": False,
    "claim": 0,
    "beats": 0,
    "attempts": 0,
    "taken": frozenset(),
    "facts": [],
    "not_before": bindparam("said_at"),
}
_is_worked_on = table.c.state == "processing"
_changes: dict[str, Any] = {
    # The process that works on it keeps it, and leaves it waiting in the end.
    "state": case((_is_worked_on, "processing"), else_="pending"),
    "again": case((_is_worked_on, True), else_=False),
    "attempts": case((_is_worked_on, table.c.attempts), else_=0),
    "not_before": bindparam("said_at"),
}
_MARK = Prepared(
    inserts(
        table,
        lambda insert: insert.values(_new).on_conflict_do_update(
            index_elements=[table.c.thread, table.c.session],
            set_=_changes,
            where=or_(table.c.state == "completed", table.c.state == "failed", and_(_is_worked_on, ~table.c.again)),
        ),
    )
)


class ClaimKeeper:
    """The watcher of claims; its thread runs while any process works on a job. `released` is called when a job was
    taken from a process that is gone.
    """

    def __init__(self, jobs: ExtractionJobs) -> None:
        self._jobs = jobs
        self.released: Callable[[], None] = lambda: None
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start anew, also in a forked child: the claims are the parent's."""
        self._own: dict[tuple[str, int, int], Job] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._stopped.set).atexit = False

    @contextlib.contextmanager
    def holding(self, job: Job) -> Iterator[None]:
        key = (job.thread, job.number, job.claim)
        with self._lock:
            self._own[key] = job
        self._keep_watch()
        try:
            yield
        finally:
            with self._lock:
                self._own.pop(key, None)

    def watch(self) -> None:
        """Look after the jobs of other processes, if there are any."""
        if self._jobs.held():
            self._keep_watch()

    def close(self) -> None:
        self._stopped.set()

    def _keep_watch(self) -> None:
        with self._lock:
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=_run, args=(weakref.ref(self), self._stopped), name="langmem-extraction-claims", daemon=True
            )
            self._thread.start()

    def look(self, watch: Watch) -> bool:
        """Do one round; tell whether any process works on a job."""
        with self._lock:
            own = list(self._own.values())
        held = self._jobs.renew(own)
        mine = {(job.thread, job.number, job.claim) for job in own}
        others = {_named(each): each for each in held if (each.thread, each.number, each.claim) not in mine}
        gone = watch.gone({name: each.beats for name, each in others.items()}, time.monotonic())
        if gone and self._jobs.release([others[name] for name, _ in gone]):
            log.warning("extraction.taken_over", extra={"jobs": len(gone)})
            self.released()
        with self._lock:
            if not held and not self._own:
                self._thread = None
                return False
        return True


def _named(held: Held) -> tuple[str, int]:
    return f"{held.thread}\n{held.number}", held.claim


def _run(found: "weakref.ref[ClaimKeeper]", stopped: threading.Event) -> None:
    """Watch until stopped; while it waits it holds no reference, so that the keeper can be freed."""
    watch = Watch()
    while (keeper := found()) is not None:
        with contextlib.suppress(StoreUnavailable):  # the database may be there in the next round
            if not keeper.look(watch):
                return
        del keeper
        if stopped.wait(RENEW_SECONDS):
            return
