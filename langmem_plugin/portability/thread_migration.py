"""Take over the threads of LangGraph's stock savers with their whole state, so that each conversation can go on.

A thread becomes one session. It is recognised by the ids of its checkpoints, which do not change: a thread that exists
already is not stored twice, and one that has grown since is stored anew in its place.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, delete, update

from langmem_plugin.conversation.config_keys import NOT_METADATA
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Client, Session
from langmem_plugin.conversation.storage.checkpoint_rows import SessionCheckpoints
from langmem_plugin.database import BULK_WORK
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.database.owners_and_erasures import is_erased
from langmem_plugin.errors import InvalidInput, LangMemError, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.portability.import_ownership import note_import
from langmem_plugin.portability.imported_records import ERASED, ImportReport, Remark
from langmem_plugin.portability.sources.langgraph_saver import UNREADABLE, StockCheckpoint, StockThreads, why


@dataclass(frozen=True, slots=True)
class _Thread:
    thread_id: str
    key: str
    is_last: bool
    """Tell whether no other thread of the same person was written to later: it is the one that may go on."""


class ThreadMigration:
    """The migration of threads. `phone_of` maps a thread id to its owner; an id that is not in it is a phone, or stays
    as it is.

    The last thread of each person stays their current conversation until silence ends it, counted from its last step.
    The others are archived as of now, so they are kept as long as a conversation that ends today.
    """

    def __init__(
        self,
        saver: ConversationSaver,
        *,
        phone_of: Mapping[str, str] | None = None,
        person_of: Callable[[str], OwnerKey] = OwnerKey,
    ) -> None:
        self._saver = saver
        self._phone_of = phone_of or {}
        self._person_of = person_of

    def run(self, source: StockThreads) -> ImportReport:
        """Migrate each thread in one transaction: if this is killed, the next run goes on with the unfinished thread.

        Raises StoreUnavailable; all threads before are kept.
        """
        report = ImportReport()
        for each in self._threads(source, report):
            try:
                self._take(each, source, report)
            except StoreUnavailable:
                raise
            except LangMemError as error:
                report.skip(f"thread {each.thread_id!r}", str(error))
        note_import(self._saver, None)
        return report

    def _threads(self, source: StockThreads, report: ImportReport) -> Sequence[_Thread]:
        keys: dict[str, str] = {}
        for thread_id in source.ids():
            if not isinstance(thread_id, str):
                report.skip(f"thread {thread_id!r:.100}", "its id is no text")
                continue
            try:
                key = self._person_of(self._saver.sessions.thread(self._phone_of.get(thread_id, thread_id)))
            except InvalidInput as error:
                report.skip(f"thread {thread_id!r}", str(error))
                continue
            with self._saver.database.read() as connection:
                erased = is_erased(connection, key)
            if erased:
                report.skip(f"thread {thread_id!r}", ERASED)
            else:
                keys[thread_id] = key
        last = {key: thread_id for thread_id, key in keys.items()}
        return [_Thread(thread_id, key, last[key] == thread_id) for thread_id, key in keys.items()]

    def _take(self, thread: _Thread, source: StockThreads, report: ImportReport) -> None:
        ids = source.checkpoint_ids(thread.thread_id)
        with self._saver.stand_still(thread.key):
            with self._saver.database.read() as connection:
                is_known = session_rows.newest(connection, thread.key) is not None
                named = (each for each in ids if is_known and all(isinstance(part, str) for part in each))
                found = (session_rows.with_checkpoint(connection, thread.key, *each) for each in named)
                there = next(filter(None, found), None)
                before = None if there is None else self._saver.checkpoints.of(connection, there)
                held = set() if before is None else set(before.ids(None, None))
                many = 0 if before is None else len(before.listed())
            report.there_already["session"] += there is not None
            if ids[-1] in held:
                return
            if not held <= set(ids):
                report.skip(f"thread {thread.thread_id!r}", "it has gone on here since it was migrated: it stays so")
                return
            checkpoints = source.checkpoints(thread.thread_id, ids)
            self._store(thread, checkpoints, report, there=there, held=held, many=many)

    def _store(
        self,
        thread: _Thread,
        checkpoints: Iterator[StockCheckpoint | Remark],
        report: ImportReport,
        *,
        there: Session | None,
        held: set[tuple[str, str]],
        many: int,
    ) -> None:
        """Store the thread as a session, in place of the one that it was before it had grown, which `held` these
        checkpoints and `many` messages; that one stays where not all of it can be read at the source any more.
        """
        with self._saver.database.write(patience=BULK_WORK) as connection, connection.begin_nested() as replacing:
            if there is not None:
                connection.execute(delete(session_table).where(session_table.c.session_id == there.session_id))
            session, newest, missing = None, None, set(held)
            for each in checkpoints:
                if isinstance(each, Remark):
                    report.skipped.append(each)
                    continue
                session = session or self._placed(connection, thread, each.at, there)
                if (stored := self._stored(connection, session, each, report)) is not None:
                    stored.messages.publish()  # before it is on disk: nobody else has a session of this number
                    session = replace(session, next_row=stored.messages.next_row)
                    newest = each if not each.namespace or newest is None else newest
                    missing.discard((each.namespace, each.checkpoint["id"]))
            if session is None or newest is None or missing:
                replacing.rollback()
            else:
                self._finish(connection, session, thread, newest)
                new = len(self._saver.checkpoints.of(connection, session).listed()) - many
                report.stored.update({"session": int(there is None), "message": max(0, new)})
        if missing:
            report.skip(f"thread {thread.thread_id!r}", "not all that is here can be read there any more: it stays so")

    def _placed(self, connection: Connection, thread: _Thread, at: datetime, there: Session | None) -> Session:
        """Insert a session of that time, archived until it is known whether it may go on: two cannot be current."""
        session_rows.one_at_a_time(connection, thread.key)
        number = session_rows.free_number(at, session_rows.all_of(connection, thread.key, lock=True))
        session_id = str(uuid.uuid4()) if there is None else there.session_id
        placed = Session(thread.key, number, session_id, at, at, self._saver.sessions.now(), 1)
        session_rows.insert(connection, placed, Client())
        return placed

    def _stored(
        self, connection: Connection, session: Session, each: StockCheckpoint, report: ImportReport
    ) -> SessionCheckpoints | None:
        """Return the session's checkpoints with that step added; None, and a line in the report, if it cannot be
        stored.
        """
        opened = self._saver.checkpoints.of(connection, session, each.at)
        facts = {key: fact for key, fact in each.metadata.items() if key not in NOT_METADATA}
        try:
            with connection.begin_nested():
                opened.save(each.namespace, each.checkpoint, facts, {}, each.parent_id)
                for task_id, writes in each.writes.items():
                    opened.save_writes(each.namespace, each.checkpoint["id"], task_id, "", writes)
        except StoreUnavailable:
            raise
        except UNREADABLE as error:
            opened.messages.forget()
            report.skip(each.place, why(error))
            return None
        return opened

    def _finish(self, connection: Connection, session: Session, thread: _Thread, newest: StockCheckpoint) -> None:
        now = self._saver.sessions.now()
        current = [each for each in session_rows.all_of(connection, thread.key) if each.ended_at is None]
        goes_on = thread.is_last and all(each.last_active <= newest.at for each in current)
        if goes_on:
            session_rows.end(connection, thread.key, now)
        connection.execute(
            update(session_table)
            .where(session_table.c.session_id == session.session_id)
            .values(
                next_row=session.next_row,
                last_active=newest.at,
                ended_at=None if goes_on else now,
            )
        )
