"""Memories that wait for the person's word or are in doubt: asked about once, then confirmed or declined."""

from dataclasses import dataclass

from sqlalchemy import Connection

from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.errors import DamagedMemory, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.keep.usage_and_verdicts import Verdicts, count_verdicts, verdicts_of
from langmem_plugin.writing.consent import Consents

log = event_log(__name__)

_MOST_WAITING = 200


@dataclass(frozen=True)
class Unsure:
    """A memory to ask the person about: whether to remember it, or, in doubt, whether it is still so.

    `because` is what has changed, where that is known; `instead_of` what it takes the place of when it is confirmed.
    """

    memory: Memory
    in_doubt: bool = False
    because: Memory | None = None
    instead_of: tuple[Memory, ...] = ()

    @property
    def revision_asked(self) -> int:
        """Return the revision that the memory has once it is noted that it was asked about."""
        return self.memory.revision + 1


class Confirmations:
    """The waiting memories of everybody; `who` is any identifier of a person, `owner` the key that the
    memory is kept under.

    A verdict on what has changed since `revision` raises StaleMemory, on what is not there any more MemoryNotFound: of
    two that decide at once, one does.
    """

    def __init__(self, service: MemoryService, consents: Consents) -> None:
        self._service = service
        self._consents = consents

    def waiting(self, who: str | int) -> list[Memory]:
        """List the memories that wait, the first stored first: a memory keeps its number while others are added."""
        owner = owner_key(self._service.database, who)
        with self._service.database.read() as connection:
            return self._service.repository.page(
                connection,
                owner,
                statuses=("pending",),
                valid_at=self._service.now(),
                limit=_MOST_WAITING,
                oldest_first=True,
            )

    def confirm(self, who: str | int, memory_id: str, *, revision: int | None = None) -> Memory:
        """Remember the memory from now on like what the person said outright."""
        owner = owner_key(self._service.database, who)
        held = self._pending(owner, memory_id)
        made = self._service.update(owner, memory_id, revision=revision or held.revision, status="active")
        self._count(owner, Verdicts(confirmed=1))
        return made

    def decline(self, who: str | int, memory_id: str, *, revision: int | None = None) -> Memory:
        """Forget the memory that waits."""
        owner = owner_key(self._service.database, who)
        held = self._pending(owner, memory_id)
        gone = self._service.forget(owner, memory_id, revision=revision or held.revision)
        self._count(owner, Verdicts(declined=1))
        return gone

    def look(self, owner: OwnerKey, memory_id: str) -> Memory | None:
        """Return the memory as it is now, in whatever state."""
        with self._service.database.read() as connection:
            return self._service.repository.by_id(connection, owner, memory_id)

    def may_ask(self, connection: Connection, owner: OwnerKey) -> bool:
        """Tell whether there is a memory to confirm that the owner was never asked about."""
        return self._service.repository.has_unasked(connection, owner, now=self._service.now())

    def unsure(self, owner: OwnerKey) -> Unsure | None:
        """Return the next memory to ask about, each once; None for an owner who does not want to be remembered."""
        now = self._service.now()
        with self._service.database.read() as connection:
            found = self._service.repository.unasked(connection, owner, now=now)
        if not found or self._consents.of_owner(owner).extraction.allowed is False:
            return None
        memory = found[0]
        if memory.status == "pending":
            with self._service.database.read() as connection:
                instead_of = self._service.reconciler.would_replace(connection, memory)
            return Unsure(memory, instead_of=tuple(instead_of))
        return Unsure(memory, in_doubt=True, because=self._changed_ground(memory))

    def note_asked(self, connection: Connection, unsure: Unsure) -> None:
        """Note that a memory was asked about, in the transaction that makes the question the person's to answer.

        A memory that has changed meanwhile is left as it is.
        """
        service, memory = self._service, unsure.memory
        try:
            service.repository.change(
                connection,
                memory.owner,
                memory.id,
                {"asked_at": service.now()},
                now=service.now(),
                revision=memory.revision,
            )
        except (MemoryNotFound, StaleMemory, DamagedMemory):
            log.info("confirmation.changed", extra={"owner": masked(memory.owner)})
            return
        if not unsure.in_doubt:
            count_verdicts(connection, memory.owner, Verdicts(asked=1))

    def still_so(self, owner: OwnerKey, memory_id: str, *, revision: int) -> Memory:
        """Note that the memory is still so: nothing is in doubt about it any more."""
        return self._changed(owner, memory_id, {"doubted_at": None}, revision)

    def no_longer_so(self, owner: OwnerKey, memory_id: str, *, revision: int) -> Memory:
        """Note that the memory is no longer so: it held until its ground changed, and is kept as history."""
        held = self.look(owner, memory_id)
        over = held.doubted_at if held is not None and held.doubted_at is not None else self._service.now()
        return self._changed(owner, memory_id, {"status": "superseded", "valid_to": over}, revision)

    def verdicts(self, owner: OwnerKey | None = None) -> Verdicts:
        """Return how often one owner, or all, were asked, and what became of it."""
        with self._service.database.read() as connection:
            return verdicts_of(connection, owner)

    def approval_rate(self, who: str | int | None = None) -> float | None:
        """Return the part that was confirmed of what one person, or all, confirmed or declined; None while
        that is nothing.
        """
        return self.verdicts(None if who is None else owner_key(self._service.database, who)).approval_rate

    def _pending(self, owner: OwnerKey, memory_id: str) -> Memory:
        held = self.look(owner, memory_id)
        if held is None or held.status != "pending":
            raise MemoryNotFound(f"no memory {memory_id} waits for a word: confirmations lists those that do")
        return held

    def _changed(self, owner: OwnerKey, memory_id: str, changes: dict[str, object], revision: int) -> Memory:
        service = self._service
        with service.database.write() as connection:
            return service.repository.change(
                connection, owner, memory_id, changes, now=service.now(), revision=revision, statuses=("active",)
            )

    def _count(self, owner: OwnerKey, more: Verdicts) -> None:
        with self._service.database.write() as connection:
            count_verdicts(connection, owner, more)

    def _changed_ground(self, doubted: Memory) -> Memory | None:
        """Return the memory that was stored when the doubt arose, if it is only one."""
        if doubted.doubted_at is None:
            return None
        with self._service.database.read() as connection:
            found = self._service.repository.written_at(connection, doubted.owner, doubted.doubted_at)
        causes = [each for each in found if each.slot is not None and each.doubted_at is None and each.id != doubted.id]
        return causes[0] if len(causes) == 1 else None
