"""Erase a person: first held apart, so that it can be undone, and later deleted for good, with proof.

The rows are taken out of the tables unchanged and held apart. So no query can find, list or answer from them, and a
restore brings back exactly what was there, byte for byte.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from langmem_plugin.conversation.media.media_store import Media, remove_unreferenced
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_recording import keyed_hash, record
from langmem_plugin.database.conversation_tables import incoming, turn
from langmem_plugin.database.encryption.encryption import FRESH_SECONDS
from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.database.operations_tables import erasure, held_file, held_row
from langmem_plugin.database.operations_tables import erasure as table
from langmem_plugin.database.owners_and_erasures import note_erased, person_of
from langmem_plugin.database.people_tables import identifier as identifier_table
from langmem_plugin.database.personal_tables import clear, personal_tables
from langmem_plugin.errors import ErasureIncomplete, StoreUnavailable, UnknownErasure
from langmem_plugin.identifiers import OwnerKey, ScopeKey, masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep.changes_and_checksums import begin_change
from langmem_plugin.people import People, links
from langmem_plugin.privacy import erasure_hold
from langmem_plugin.privacy.erasure_receipts import ErasureReceipt, held_for, receipt_of, row_of

log = event_log(__name__)

_UNDONE_NO_MORE = "this erasure cannot be undone any more, or was undone already"
_EMPTY: dict[str, list[str]] = {"files": [], "collections": [], "remains": []}


class Traces:
    def __init__(self, database: Database, folder: Media, index: VectorIndex | None) -> None:
        self._database = database
        self._folder = folder
        self._index = index

    @contextmanager
    def unindexed(self, owners: Iterable[OwnerKey]) -> Iterator[list[str]]:
        """Delete the owners' collections; inside the block, their rows leave the database.

        Gives the names of those that another process has open: that process has to delete them.
        """
        left: list[str] = []
        with ExitStack() as held:
            for owner in owners:
                names = [] if self._index is None else self._index.named(owner)
                if self._index is None or not names:
                    continue
                held.close()  # the lock is one for all owners: only the last one's is kept
                try:
                    held.enter_context(self._index.erasing(owner))
                except StoreUnavailable:
                    log.warning("erasure.index_later", exc_info=True)
                    left += names
            yield left

    def collections_left(self, names: Sequence[str]) -> list[str]:
        """Delete these collections; return the names of those that cannot be deleted here and now."""
        if self._index is None:
            return list(names)
        return [each for each in names if not self._index.drop_named(each)]

    def files_left(self, digests: Sequence[str]) -> list[str]:
        """Delete the files that nothing else refers to; return those that could not be deleted."""
        try:
            remove_unreferenced(self._database, self._folder, digests)
        except StoreUnavailable:
            log.warning("erasure.file_left", exc_info=True)
            return list(digests)
        return []

    def scrub(self) -> list[str]:
        """Erase the bytes of deleted rows; return in words what may remain. Raises ErasureIncomplete."""
        tables = [table.name for table, _ in personal_tables()]
        remains = self._database.scrub([*tables, held_row.name, held_file.name, erasure.name])
        self._database.encryption.scrub()
        return remains


class Erasure:
    """The erasures of one database. `erase_after` is how long one can be undone. Methods that wait for turns may raise
    TurnTimeout.
    """

    def __init__(
        self,
        database: Database,
        saver: ConversationSaver,
        service: MemoryService,
        people: People,
        *,
        erase_after: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._service = service
        self._people = people
        self._erase_after = erase_after
        self._now = now
        self._traces = Traces(database, saver.media, service.index)

    def erase(self, who: str | int, *, now: bool = False) -> ErasureReceipt:
        """Erase a person: nothing of theirs is found, answered from or listed any more, in any process; with `now` it
        is gone for good.

        A turn of theirs that runs is waited for; a later write of it is refused. Without `now`, `restore` undoes it
        until the receipt's `due_at`. With `now` nothing can be undone from the first transaction on, and where the
        process is killed the next sweep goes on. Somebody who was erased before and has nothing new keeps that receipt.
        Raises ErasureIncomplete where rows are gone and a reader keeps traces in a file: do it again.
        """
        identifier = normalised(who, self._database.region)
        with self._database.read() as connection:
            before = [row.erasure_id for row in held_for(connection, keyed_hash(connection, identifier).hex())]
        taken = self._taken_out(identifier, before, now=now)
        if now:
            self.finish([*before, *([taken] if taken else [])])
        return self.receipt(taken or before[0])

    def restore(self, who_or_id: str | int) -> ErasureReceipt:
        """Restore everything, together with what they have said and told since, by an identifier or a receipt's id.

        Raises UnknownErasure where there is nothing that can be undone.
        """
        with self._database.read() as connection:
            held = self._held(connection, who_or_id)
        key, identifiers = OwnerKey(held.who[0]), self._identifiers_of(held)
        while True:
            with self._database.read() as connection:
                threads = {*identifiers, *(person_of(connection, each) for each in identifiers)}
            with ExitStack() as stack:
                stack.enter_context(self._people.merging.standing_still(*threads))
                stack.enter_context(self._database.keeping(self._traces.unindexed(identifiers)))
                connection = stack.enter_context(links.alone(self._database, patience=BULK_WORK))
                again = row_of(connection, held.erasure_id, lock=True)
                if not self._can_be_undone(again):
                    raise UnknownErasure(_UNDONE_NO_MORE)
                if not threads >= {person_of(connection, each) for each in identifiers}:
                    continue  # linked to somebody else meanwhile
                self._put_back(connection, held.erasure_id, key, identifiers)
                done = {"state": "restored", "done_at": self._now(), "who": None, "left": _EMPTY}
                connection.execute(update(table).where(table.c.erasure_id == held.erasure_id).values(done))
                record(connection, "erasure.restored", owner=key, subject=held.erasure_id)
            break
        self._forget_cached(threads)
        log.info("person.restored", extra={"phone": masked(key)})
        return self.receipt(held.erasure_id)

    def receipt(self, erasure_id: str) -> ErasureReceipt:
        """Return the receipt with this id. Raises UnknownErasure."""
        with self._database.read() as connection:
            return receipt_of(row_of(connection, erasure_id))

    def would_be_due(self) -> datetime:
        """Return the instant until which an erasure made now could be undone."""
        return self._now() + self._erase_after

    def can_restore(self, who: str | int) -> ErasureReceipt | None:
        """Return the person's newest erasure that can be undone."""
        with self._database.read() as connection:
            found = held_for(connection, keyed_hash(connection, normalised(who, self._database.region)).hex())
        return next((receipt_of(row) for row in found if self._can_be_undone(row)), None)

    def under_way(self) -> list[ErasureReceipt]:
        """Return the erasures that can still be undone, the last asked first."""
        held = select(table).where(table.c.state == "held").order_by(table.c.number.desc())
        with self._database.read() as connection:
            return [receipt_of(row) for row in connection.execute(held) if self._can_be_undone(row)]

    def due_done(self) -> Iterator[int]:
        """Erase for good what is due, and go on with what was left unfinished; return how many are done."""
        with self._database.read() as connection:
            due = (table.c.state == "held") & (table.c.due_at <= self._now()) | (table.c.state == "erased")
            ids = connection.execute(select(table.c.erasure_id).where(due).order_by(table.c.number)).scalars().all()
        if not ids:
            return
        try:
            self.finish(ids)
        except (ErasureIncomplete, StoreUnavailable):
            log.warning("erasure.incomplete", exc_info=True)
            yield 0
        else:
            yield len(ids)

    def finish(self, erasure_ids: Sequence[str]) -> None:
        """Delete for good: held rows, keys, files, collections and what deleted rows leave in the database's files."""
        for each in erasure_ids:
            self._delete_held(each)
        unfinished = [each for each in erasure_ids if not self._traces_deleted(each)]
        remains = self._traces.scrub()
        now = self._now()
        with self._database.write() as connection:
            for each in erasure_ids:
                left = dict(row_of(connection, each, lock=True).left)
                left["remains"] = [*remains, *left.get("kept_keys", ())]
                verified = each not in unfinished and not erasure_hold.is_held(connection, each)
                values: dict[str, Any] = {"left": left}
                if verified:
                    values |= {"state": "done", "done_at": now, "verified": True}
                    record(connection, "erasure.done", subject=each)
                connection.execute(update(table).where(table.c.erasure_id == each).values(values))
        if unfinished:
            raise ErasureIncomplete(
                "all rows are deleted, and a vector index or a file could not be: the process that has it open does it"
                " at its next sweep, or run it again when it has ended"
            )

    def _taken_out(self, identifier: str, before: Sequence[str], *, now: bool) -> str | None:
        """Hold a person's rows; return the erasure's id. None if there was nothing (new) since the erasures `before`,
        which with `now` become due.
        """
        while True:
            with self._database.read() as connection:
                person = person_of(connection, identifier)
                known = links.identifiers_of(connection, person)
                keys = erasure_hold.keys_of(connection, known)
            with (
                self._people.merging.standing_still(*keys),
                self._database.keeping(self._traces.unindexed(keys)) as (left,),
                links.alone(self._database, patience=BULK_WORK) as connection,
            ):
                _wait_for_writers(connection, keys)
                again = links.identifiers_of(connection, person_of(connection, identifier))
                if again != known or erasure_hold.keys_of(connection, again) != keys:
                    continue  # linked to somebody else meanwhile
                erasure_id, asked_at = str(uuid.uuid4()), self._now()
                if now:
                    is_held = (table.c.erasure_id.in_(before), table.c.state == "held")
                    connection.execute(update(table).where(*is_held).values(due_at=asked_at))
                counts = erasure_hold.take_out(connection, erasure_id, keys)
                if not counts and before:
                    return None
                receipt = {
                    "erasure_id": erasure_id,
                    "counts": counts,
                    "left": {**_EMPTY, "collections": left},
                    "asked_at": asked_at,
                    "due_at": asked_at if now else asked_at + self._erase_after,
                }
                self._note(connection, keys, known, receipt)
            self._forget_cached(keys)
            log.info("person.erased", extra={"phone": masked(person)})
            return erasure_id

    def _note(
        self,
        connection: Connection,
        keys: Sequence[str],
        identifiers: Sequence[str],
        receipt: dict[str, Any],
    ) -> None:
        row = {
            **receipt,
            "state": "held",
            "hashes": [keyed_hash(connection, each).hex() for each in identifiers],
            "verified": False,
            "who": [*identifiers, *(each for each in keys if each not in identifiers)],
        }
        number = connection.execute(insert(table).values(row).returning(table.c.number)).scalar_one()
        note_erased(connection, keys, number)
        record(connection, "erasure.asked", owner=identifiers[0], subject=receipt["erasure_id"])

    def _put_back(
        self, connection: Connection, erasure_id: str, key: OwnerKey, identifiers: Sequence[OwnerKey]
    ) -> None:
        """Put aside what is there by now, and join what comes back."""
        merging = self._people.merging
        aside = ScopeKey.named(f"aside {uuid.uuid4()}")
        is_new = False
        for each in identifiers:
            if person_of(connection, each) == each and links.is_known(connection, each):
                merging.move_everything(connection, each, aside)
                is_new = True
            clear(connection, [each], but=(turn, identifier_table, incoming))  # messages that wait for their turn go on
        erasure_hold.put_back(connection, erasure_id)
        person = person_of(connection, key)
        if person != key:  # they were linked to another person meanwhile, who now has everything
            merging.move_everything(connection, key, person)
        if is_new:
            merging.move_everything(connection, aside, person)
            clear(connection, [aside])
            self._database.encryption.shred(aside)

    def _delete_held(self, erasure_id: str) -> None:
        """Delete the held rows, and the keys that can read copies of them; from here on nothing can be undone."""
        with self._database.read() as connection:
            row = row_of(connection, erasure_id)
        if row.state != "held":
            return
        unused = self._shredded(row.who or ())
        with self._database.write(patience=BULK_WORK) as connection:
            if row_of(connection, erasure_id, lock=True).state != "held":
                return
            digests = erasure_hold.drop(connection, erasure_id)
            erasure_hold.delete_older(connection, row.who or (), row.asked_at)
            kept = [each for each in row.who or () if each not in unused]
            left = dict(row.left) | {"files": digests}
            if kept and self._database.encryption.store_id is not None:
                left["kept_keys"] = ["backups, to whoever has the keys: the person has begun anew under the same one"]
            values = {"state": "erased", "who": None, "left": left}
            connection.execute(update(table).where(table.c.erasure_id == erasure_id).values(values))

    def _shredded(self, keys: Sequence[str]) -> list[str]:
        """Delete the keys of those people who have nothing new; return who they are. None of them has a turn
        meanwhile.
        """
        if self._database.encryption.store_id is None:
            return list(keys)
        with self._people.merging.standing_still(*keys):
            with self._database.read() as connection:
                unused = [each for each in keys if not erasure_hold.left_of(connection, [each])]
            shredded = [self._database.encryption.shred(each) for each in unused]
            if any(shredded):
                time.sleep(FRESH_SECONDS)  # another process may use the deleted key for so long
        return unused

    def _traces_deleted(self, erasure_id: str) -> bool:
        with self._database.read() as connection:
            left = dict(row_of(connection, erasure_id).left)
        left["files"] = self._traces.files_left(left.get("files", ()))
        left["collections"] = self._traces.collections_left(left.get("collections", ()))
        with self._database.write() as connection:
            connection.execute(update(table).where(table.c.erasure_id == erasure_id).values(left=left))
        return not left["files"] and not left["collections"]

    def _held(self, connection: Connection, who_or_id: str | int) -> Any:
        if isinstance(who_or_id, str):
            row = connection.execute(select(table).where(table.c.erasure_id == who_or_id.strip())).first()
            if row is not None and self._can_be_undone(row):
                return row
            if row is not None:
                raise UnknownErasure(_UNDONE_NO_MORE)
        found = held_for(connection, keyed_hash(connection, normalised(who_or_id, self._database.region)).hex())
        for row in found:
            if self._can_be_undone(row):
                return row
        raise UnknownErasure("nothing of them is held: they were not erased, or it cannot be undone any more")

    def _can_be_undone(self, row: Any) -> bool:
        """Tell whether the erasure can be undone. One that is due cannot: a process that was killed in the middle may
        have been asked to delete it at once.
        """
        return bool(row.state == "held" and row.who and row.due_at > self._now())

    @staticmethod
    def _identifiers_of(row: Any) -> Sequence[OwnerKey]:
        """Return the keys without those of conversations on a server."""
        return [OwnerKey(each) for each in (row.who or ())[: len(row.hashes)]]

    def _forget_cached(self, keys: Iterable[OwnerKey]) -> None:
        for each in keys:
            self._service.history.corpora.forget(each)
            self._service.facts.corpora.forget(each)


def _wait_for_writers(connection: Connection, keys: Sequence[OwnerKey]) -> None:
    """Wait for those who write for these people now; later writers wait: see owners_and_erasures.py."""
    for each in sorted(keys):
        session_rows.one_at_a_time(connection, each)
        session_rows.all_of(connection, each, lock=True)
        begin_change(connection, each)
    # Rows of people of whom there was nothing but this change number.
    nothing = (memory_owner.c.owner.in_(keys), memory_owner.c.change == 1)
    connection.execute(delete(memory_owner).where(*nothing))
