"""Make two people one, in one transaction and with a record of what moved, so that it can move back."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, insert, select, update

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_move
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.conversation_tables import incoming, turn
from langmem_plugin.database.encryption.encrypted_columns import bind_anew
from langmem_plugin.database.owners_and_erasures import person_of, was_erased
from langmem_plugin.database.people_tables import merge as table
from langmem_plugin.database.people_tables import person as settings_of_person
from langmem_plugin.database.people_tables import person_name
from langmem_plugin.database.personal_tables import clear
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import IdentifierKey, OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.write.memory_merge import OwnerMerge, Record
from langmem_plugin.people import consent_records, links

Check = Callable[[Connection], bool]


class Merging:
    """The merging of people; it holds the turns of both conversations meanwhile, so that no run is in the
    middle of one.
    """

    def __init__(
        self, database: Database, saver: ConversationSaver, service: MemoryService, now: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._saver = saver
        self._index = service.index
        self._memories = OwnerMerge(service.repository)
        self._now = now

    def merge(self, person: OwnerKey, other: OwnerKey, still: Check) -> bool:
        """Give `person` all that `other` has; False, and nothing is done, unless `still` holds."""
        with self.standing_still(person, other), self._unindexed(other) as connection:
            if not still(connection):
                return False
            now = self._now()
            moved = self.move_everything(connection, other, person)
            links.add(connection, person, other, now)
            merge_id = str(uuid.uuid4())
            row = {"person": person, "merge_id": merge_id, "other": other, "merged_at": now, "moved": moved}
            connection.execute(insert(table).values(row))
            record(connection, "person.merged", owner=person, subject=merge_id)
        return True

    def move(self, old: IdentifierKey, new: IdentifierKey) -> bool:
        """Make `new` the person who was `old`, and leave nothing under `old`; False where nothing was."""
        while True:
            with self._database.read() as connection:
                person, target = OwnerKey(person_of(connection, old)), OwnerKey(person_of(connection, new))
            with (
                self.standing_still(person, target, OwnerKey(old), OwnerKey(new)),
                self._unindexed(person, target) as connection,
            ):
                if (person_of(connection, old), person_of(connection, new)) != (person, target):
                    continue  # linked to somebody else meanwhile
                if person == old and not links.is_known(connection, person):
                    links.rename(connection, old, new)
                    return False
                self._moved(connection, old, new, person, target)
                record(connection, "person.moved", owner=person_of(connection, new))
            self._shred(OwnerKey(old))
            return True

    def _moved(
        self, connection: Connection, old: IdentifierKey, new: IdentifierKey, person: OwnerKey, target: OwnerKey
    ) -> None:
        links.remove(connection, old, person)
        if person == old:  # everything of theirs is stored under this key
            links.remove(connection, new, person)
            self.move_everything(connection, person, OwnerKey(new) if target == person else target)
        elif target != person:
            if links.is_known(connection, target):
                self.move_everything(connection, target, person)
            links.add(connection, person, target, self._now())
        links.rename(connection, old, new)
        connection.execute(delete(incoming).where(incoming.c.thread == old, incoming.c.reply.is_not(None)))
        # A message that waits for its turn under the old key is a stranger's by then.
        clear(connection, [old], but=(turn, incoming))

    def move_everything(self, connection: Connection, source: OwnerKey, target: OwnerKey) -> Record:
        """Move all that is stored under `source` to `target`; return what moved. Neither may have a turn meanwhile."""
        now = self._now()
        moved = self._conversations_moved(connection, source, target, now)
        moved |= self._memories.merge(connection, source, target, now)
        moved["identifiers"] = links.hand_over(connection, source, target)
        both = consent_records.consent_in(connection, target), consent_records.consent_in(connection, source)
        moved["settings"] = _row_moved(connection, settings_of_person, source, target)
        moved["name"] = _row_moved(connection, person_name, source, target)
        moved["consent"] = consent_records.join(connection, target, *both, now)
        handed = update(table).where(table.c.person == source).values(person=target).returning(table.c.merge_id)
        moved["merges"] = list(connection.execute(handed).scalars())
        return moved

    def take_back(self, person: OwnerKey, other: OwnerKey) -> bool:
        """Move back to `other` what came with it; False, and nothing is done, where that is not the person's now."""
        with self._database.read() as connection:
            found = merge_of(connection, person, other)
        if found is None:
            return False
        moved = found.moved.get("memories", ())
        with self.standing_still(person, other), self._unindexed(person, only=moved) as connection:
            again = merge_of(connection, person, other)
            if again is None or again.merge_id != found.merge_id:
                return False
            self._taken_back(connection, again.moved, person, other)
            connection.execute(delete(table).where(table.c.person == person, table.c.merge_id == found.merge_id))
            record(connection, "person.parted", owner=person, subject=found.merge_id)
        return True

    def _taken_back(self, connection: Connection, moved: Record, holder: OwnerKey, back_to: OwnerKey) -> None:
        now = self._now()
        links.remove(connection, back_to, holder)
        links.hand_over(connection, holder, back_to, moved["identifiers"])
        session_move.move_sessions(connection, self._saver.media, holder, back_to, now, only=moved["sessions"])
        if moved["archived"]:
            session_id, archived_at = moved["archived"]
            session_move.set_current(connection, session_id, datetime.fromisoformat(archived_at))
        session_move.move_claims(connection, holder, back_to, moved["threads"])
        session_move.move_incoming(connection, holder, back_to, moved["incoming"])
        if moved["question"]:
            session_move.move_question(connection, holder, back_to)
        self._memories.take_back(connection, moved, holder, back_to, now)
        consent_records.part(connection, holder, moved.get("consent"))
        for name, rows in (("settings", settings_of_person), ("name", person_name)):
            if moved.get(name):
                _row_moved(connection, rows, holder, back_to)
        for part in in_parts(moved["merges"]):
            theirs = update(table).where(table.c.person == holder, table.c.merge_id.in_(part))
            connection.execute(theirs.values(person=back_to))

    def _conversations_moved(
        self, connection: Connection, source: OwnerKey, target: OwnerKey, now: datetime
    ) -> dict[str, Any]:
        sessions, archived = session_move.move_sessions(connection, self._saver.media, source, target, now)
        return {
            "sessions": sessions,
            "archived": archived and [archived, now.isoformat()],
            "threads": session_move.move_claims(connection, source, target),
            "incoming": session_move.move_incoming(connection, source, target),
            "question": session_move.move_question(connection, source, target),
        }

    @contextmanager
    def _unindexed(self, *leaving: OwnerKey, only: Sequence[str] | None = None) -> Iterator[Connection]:
        """Begin a transaction as `links.alone`, in which these memories, or all, of these owners leave the index."""
        with ExitStack() as stack:
            if (index := self._index) is not None:
                for owner in sorted(set(leaving)):
                    without = index.erasing(owner) if only is None else index.removing(owner, only)
                    stack.enter_context(self._database.keeping(without))
            yield stack.enter_context(links.alone(self._database, patience=BULK_WORK))

    def _shred(self, owner: OwnerKey) -> None:
        """Delete the key of an identifier that is nobody's now: backups hold rows that only it can read."""
        with self._database.read() as connection:
            is_used = links.is_known(connection, owner) or was_erased(connection, owner)
        if not is_used:
            self._database.encryption.shred(owner)

    @contextmanager
    def standing_still(self, *threads: str) -> Iterator[None]:
        """Hold these conversations: none of them has a turn, begins or ends meanwhile. Raises TurnTimeout."""
        # Sorted, so that two merges hold them in the same order.
        with self._database.keeping(*(self._saver.stand_still(thread) for thread in sorted(set(threads)))):
            yield


def merge_of(connection: Connection, person: str, other: str) -> Row[Any] | None:
    """Return the record of the merge by which `other` came to the person."""
    merges = select(table).where(table.c.person == person, table.c.other == other)
    return connection.execute(merges.order_by(table.c.merged_at.desc()).limit(1)).first()


def _row_moved(connection: Connection, rows: Table, source: OwnerKey, target: OwnerKey) -> bool:
    """Move a person's only row of these, unless the other has one too."""
    there = rows.alias()
    known = select(there.c.person).where(there.c.person == target).exists()
    moved = update(rows).where(rows.c.person == source, ~known).values(person=target)
    if not connection.execute(moved).rowcount:
        return False
    bind_anew(connection, rows, (rows.c.person == target,), {"person": source})
    return True
