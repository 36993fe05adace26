"""Names that mean the same to one owner: "Dr. L" is Dr. Levi, k8s is Kubernetes. Learnt, or added."""

import sys
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.erased_keys import erasures_seen, refuse_erased
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import AliasNotFound, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.lru import LruCache
from langmem_plugin.memory import alias_rows
from langmem_plugin.memory.alias_rows import Alias, Source
from langmem_plugin.memory.alias_statements import Naming, namings
from langmem_plugin.memory.damaged_rows import Damages
from langmem_plugin.memory.models import Memory, plain, storable
from langmem_plugin.memory.owner_changes import OwnerState, begin_change, states_of
from langmem_plugin.memory.repository import MemoryRepository
from langmem_plugin.memory.search.stop_words import STOP_WORDS
from langmem_plugin.memory.search.tokenizer import words_of
from langmem_plugin.memory.search.wordings import Groups

MOST_ALIASES = 200  # of one owner, those that were removed with them
_LONGEST, _MOST_WORDS = 60, 5
_CACHE_BYTES, _BYTES_BESIDE = 4 * 2**20, 300
_NO_NAMES = frozenset().union(*(STOP_WORDS[language] for language in ("english", "spanish", "hebrew")))


_Ending = tuple[Alias, datetime | None]


class NameAliases:
    """Of every owner, in one database.

    What was learnt from a memory counts while that memory holds: not while it waits, and not once it was corrected or
    forgotten. What was learnt from a message goes when something is forgotten that has the name or the alias in it.
    """

    def __init__(
        self, database: Database, repository: MemoryRepository, damages: Damages, *, now: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._repository = repository
        self._damages = damages
        self._now = now
        self._held: LruCache[OwnerKey, tuple[OwnerState, list[_Ending]]] = LruCache(_CACHE_BYTES)

    def add(self, owner: str | int, alias: str, name: str) -> Alias:
        """By hand; one that is there already, or was removed, is in force (again).

        Raises InvalidInput for names that are none or are the same, and where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        made = self._made(owner, Naming(alias, name), "hand", None)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = alias_rows.read(connection, owner, self._damages)
            if (same := _same(there, made)) is not None:
                if not same.active or same.source != "hand":
                    same = replace(same, active=True, source="hand", learnt_from=None)
                    alias_rows.rewrite(connection, same)
                    record(connection, "alias.added", owner=owner, subject=same.id)
                return same
            if len(there) >= MOST_ALIASES:
                raise InvalidInput(f"there are {MOST_ALIASES} aliases already: remove one before adding another")
            alias_rows.keep(connection, [made])
            record(connection, "alias.added", owner=owner, subject=made.id)
        return made

    def list_aliases(self, owner: str | int, *, include_removed: bool = False) -> list[Alias]:
        """Those that count now, the first learnt first."""
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            if include_removed:
                return alias_rows.read(connection, owner, self._damages)
            return _counting(alias_rows.with_ends(connection, owner, self._damages), self._now())

    def remove(self, owner: str | int, alias_id: str) -> Alias:
        """It counts no more, and is not learnt again from the same words. Raises AliasNotFound."""
        owner = owner_key(self._database, owner)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = alias_rows.read(connection, owner, self._damages)
            found = next((each for each in there if each.id == alias_id), None)
            if found is None:
                raise AliasNotFound(f"there is no alias {alias_id}: list them for their ids")
            removed = replace(found, active=False)
            alias_rows.rewrite(connection, removed)
            record(connection, "alias.removed", owner=owner, subject=alias_id)
        return removed

    def learn(self, owner: str | int, text: str, *, message_id: str, before: str = "") -> list[Alias]:
        """What a message of the person says of names; `before` is what they said before it, for "him" and "her"."""
        owner = owner_key(self._database, owner)
        if not namings(text, before):
            return []
        seen = erasures_seen(self._database)
        with self._database.write() as connection:
            learnt = self._learn(connection, owner, namings(text, before), "message", message_id)
            refuse_erased(connection, owner, seen)
        return learnt

    def learn_from(self, connection: Connection, made: Memory) -> list[Alias]:
        """The same of a memory that is stored in this transaction."""
        said = [naming for each in _told(made) for naming in namings(each)]
        return self._learn(connection, made.owner, said, "memory", made.id) if said else []

    def groups(self, owner: str | int) -> Groups:
        """What a question is asked with."""
        owner = owner_key(self._database, owner)
        return self.groups_of([owner])[owner]

    def groups_of(self, owners: Sequence[OwnerKey]) -> dict[str, Groups]:
        """The same of several owners, in one read; read anew only after something of the owner has changed."""
        states = self._database.select(lambda connection: states_of(connection, owners))
        known = {owner: self._held.get(owner) for owner in states}
        changed = [owner for owner, state in states.items() if (held := known[owner]) is None or held[0] != state]
        if changed:
            with self._database.read() as connection:
                states = states_of(connection, states)
                known |= {owner: self._read(connection, owner, states[owner]) for owner in changed if owner in states}
        now = self._now()
        return {owner: _grouped(_counting(held[1] if (held := known.get(owner)) else (), now)) for owner in owners}

    def _read(self, connection: Connection, owner: OwnerKey, state: OwnerState) -> tuple[OwnerState, list[_Ending]]:
        rows = alias_rows.with_ends(connection, owner, self._damages)
        size = sum(sys.getsizeof(each.alias) + sys.getsizeof(each.name) for each, _ in rows)
        self._held.put(owner, (state, rows), size + (len(rows) + 1) * _BYTES_BESIDE)
        return state, rows

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Alias]:
        """Also those that were removed or do not count now, the first learnt first."""
        return alias_rows.read(connection, owner, self._damages)

    def take_in(self, owner: str | int, alias: Alias) -> bool:
        """Stores one of another database as it is; False where the owner has it, or the same, already, or has
        corrected or forgotten since what it was learnt from.

        Raises InvalidInput for names that are none, and where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        _checked(Naming(alias.alias, alias.name))
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = alias_rows.read(connection, owner, self._damages)
            if any(each.id == alias.id for each in there) or _same(there, alias) is not None:
                return False
            if self._is_over(connection, owner, alias):
                return False
            if len(there) >= MOST_ALIASES:
                raise InvalidInput(f"there are {MOST_ALIASES} aliases already")
            alias_rows.keep(connection, [replace(alias, owner=owner)])
            return True

    def _is_over(self, connection: Connection, owner: OwnerKey, alias: Alias) -> bool:
        """Whether the owner has corrected or forgotten since what it was learnt from."""
        if alias.source == "memory" and alias.learnt_from is not None:
            told = self._repository.by_id(connection, owner, alias.learnt_from)
            return told is not None and not any(all(alias_rows.names_in(each, alias)) for each in _told(told))
        if alias.source == "message":
            forgotten = self._repository.forgotten_since(connection, owner, alias.created_at, most=None)
            return any(any(alias_rows.names_in(each.text, alias)) for each in forgotten)
        return False

    def _learn(
        self, connection: Connection, owner: OwnerKey, said: Iterable[Naming], source: Source, learnt_from: str
    ) -> list[Alias]:
        begin_change(connection, owner)
        there = alias_rows.read(connection, owner, self._damages)
        learnt: list[Alias] = []
        for naming in said:
            try:
                made = self._made(owner, naming, source, learnt_from)
            except InvalidInput:  # it only looked like one
                continue
            if _same([*there, *learnt], made) is None and len(there) + len(learnt) < MOST_ALIASES:
                learnt.append(made)
        alias_rows.keep(connection, learnt)
        return learnt

    def _made(self, owner: OwnerKey, naming: Naming, source: Source, learnt_from: str | None) -> Alias:
        alias, name = _checked(naming)
        return Alias(str(uuid.uuid4()), owner, alias, name, self._now(), learnt_from, source)


def _told(made: Memory) -> list[str]:
    """The texts of a memory in which a name may be told."""
    return [made.text, *([made.quote] if made.quote else ())]


def _checked(naming: Naming) -> tuple[str, str]:
    """Raises InvalidInput."""
    alias, name = (" ".join(storable(each).split()) for each in (naming.alias, naming.name))
    for each in (alias, name):
        words = words_of(each)
        if not words or all(word in _NO_NAMES for word in words):
            raise InvalidInput(f"{each!r} is no name: an alias and a name have words that tell whom they mean")
        if len(each) > _LONGEST or len(words) > _MOST_WORDS:
            raise InvalidInput(f"a name has at most {_LONGEST} characters and {_MOST_WORDS} words")
    if words_of(alias) == words_of(name):
        raise InvalidInput(f"{alias!r} and {name!r} are the same name already")
    return alias, name


def _same(there: Iterable[Alias], made: Alias) -> Alias | None:
    def names(each: Alias) -> tuple[str, str]:
        return plain(each.alias), plain(each.name)

    return next((each for each in there if names(each) == names(made)), None)


def _counting(held: Iterable[tuple[Alias, datetime | None]], now: datetime) -> list[Alias]:
    return [each for each, ends in held if ends is None or ends > now]


def _grouped(aliases: Iterable[Alias]) -> Groups:
    groups: dict[str, dict[str, str]] = {}
    for each in aliases:
        group = groups.setdefault(plain(each.name), {plain(each.name): each.name})
        group.setdefault(plain(each.alias), each.alias)
    return tuple(tuple(group.values()) for group in groups.values())
