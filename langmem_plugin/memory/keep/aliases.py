"""Names that mean the same to one owner: "Dr. L" is Dr. Levi, k8s is Kubernetes. Learnt, or added."""

import json
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, Row, and_, delete, insert, or_, select, update

from langmem_plugin.database import Database
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.encryption.encrypted_columns import ALIAS, ALIAS_NAME
from langmem_plugin.database.erased_keys import erasures_seen, refuse_erased
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.memory_tables import name_alias as table
from langmem_plugin.database.owners import owner_key
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import AliasNotFound, DecryptionRefused, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.memory.find.question import Groups
from langmem_plugin.memory.find.tokenizer import STOP_WORDS, words_of
from langmem_plugin.memory.keep.rows import Damages, OwnerState, begin_change, states_of
from langmem_plugin.memory.models import Memory, plain, storable

_WORDS = json.loads(files(__package__).joinpath("alias_words.json").read_text("utf-8"))
"""The ways in which people say that a name is another's, in English, Hebrew and Spanish; a new way is a line there."""
_TITLES, _ARTICLES, _NOT_IN_NAMES, _BESIDE = (
    frozenset(_WORDS[each].split()) for each in ("titles", "articles", "no names", "beside")
)  # behind the last of these, a place or somebody else is named
_LONGEST_TEXT = 2_000
_REACH = 100  # letters beside a connector
_MOST = 5  # namings of one text
_MOST_SAID = 3  # words of a name
_SENTENCE = re.compile(r"(?<=[.!?;\n])" + _WORDS["no title before"] + r"\s++")
_TOKEN = re.compile(r"[^\s,()\"“”:;!?]++")
_GERSHAYIM = re.compile(r"(?<=[א-ת])\"(?=[א-ת])")

_ALIAS_FIRST, _NAME_FIRST, _CALLED, _EITHER = (
    re.compile("|".join(f"(?:{each})" for each in _WORDS[which]), re.IGNORECASE)
    for which in ("alias then name", "name then alias", "called", "one or the other")
)
_CALLS = re.compile(
    rf"(?:{_WORDS['calls']})(?P<name>[^\W\d_]{{3,30}}+) (?P<alias>[^\W\d_]{{2,30}}+)(?=\s*(?:[.,;!]|$))", re.IGNORECASE
)
_NUMERONYM = re.compile(r"([^\W\d_])(\d{1,2})([^\W\d_])")
_LEAST_LEFT_OUT = 3  # letters, of one word: "Dan" and "Dana" may be two people


@dataclass(frozen=True)
class Naming:
    """One naming: `alias` is said for `name`."""

    alias: str
    name: str


def namings(text: str, before: str = "") -> list[Naming]:
    """Return the namings in a text, in order, each once; none of a question. `before` is what was said before, for whom
    "him" and "her" mean.
    """
    found: dict[Naming, None] = {}
    last = before[-_LONGEST_TEXT:]
    for sentence in _SENTENCE.split(_GERSHAYIM.sub("״", text[:_LONGEST_TEXT])):
        if not sentence.rstrip().endswith(("?", "؟")):
            found |= dict.fromkeys(_in_sentence(sentence, last))
        last = sentence
    return list(found)[:_MOST]


def abbreviates(alias: str, name: str) -> bool:
    """Tell whether the alias is made of the name: "k8s" of Kubernetes, "Dr. L" of Dr. Levi, "DJ" of David Jones."""
    short, full = (" ".join(each.casefold().replace(".", " ").split()) for each in (alias, name))
    if short == full or not short or not full:
        return False
    parts, wanted = short.split(), full.split()
    if len(parts) == 1 and len(wanted) == 1:
        if (numbered := _NUMERONYM.fullmatch(short)) is not None:
            first, left_out, last = numbered.groups()
            return full[0] == first and full[-1] == last and len(full) == int(left_out) + 2
        return len(short) > 1 and full.startswith(short) and len(full) - len(short) >= _LEAST_LEFT_OUT
    if len(parts) == 1:
        return len(short) > 1 and short == "".join(word[0] for word in wanted)
    if len(parts) != len(wanted) or parts[0] != wanted[0]:
        return False
    shortened = [(part, word) for part, word in zip(parts[1:], wanted[1:], strict=True) if part != word]
    return bool(shortened) and all(word.startswith(part) and len(word) > len(part) for part, word in shortened)


def _in_sentence(sentence: str, before: str) -> Iterator[Naming]:
    for first, second in _beside(_ALIAS_FIRST, sentence):
        yield Naming(first, second)
    for first, second in _beside(_NAME_FIRST, sentence):
        yield Naming(second, first)
    for first, second in _beside(_CALLED, sentence, _only_name(before)):
        yield Naming(second, first)
    for match in _CALLS.finditer(sentence):
        if _is_name(match["name"]) and _is_name(match["alias"]):
            yield Naming(match["alias"], match["name"])
    for first, second in _beside(_EITHER, sentence):
        if abbreviates(first, second):
            yield Naming(first, second)
        elif abbreviates(second, first):
            yield Naming(second, first)


def _beside(connector: re.Pattern[str], sentence: str, instead: str = "") -> Iterator[tuple[str, str]]:
    """Give the names before and behind the connector; `instead` where none stands before it."""
    for match in connector.finditer(sentence):
        first = _name_before(sentence[max(match.start() - _REACH, 0) : match.start()]) or instead
        second = _name_after(sentence[match.end() : match.end() + _REACH])
        if first and second:
            yield first, second


def _name_before(text: str) -> str:
    """Return the name that ends the text, but for a comma or a parenthesis."""
    text = text.rstrip(' ,(:–-"“”\t')
    cut = max((text.rfind(each) for each in ',(:;"“”'), default=-1)
    return _last_run(_TOKEN.findall(text[cut + 1 :]))


def _name_after(text: str) -> str:
    text = text.lstrip(' ,(:–-"“”\t')
    ends = [at for each in ',();:!?"“”\n' if (at := text.find(each)) >= 0]
    run: list[str] = []
    tokens = _TOKEN.findall(text[: min(ends)] if ends else text)[: _MOST_SAID + 2]
    for word in tokens[1:] if tokens and tokens[0].casefold() in _ARTICLES else tokens:
        if not _is_name(word) or len(run) == _MOST_SAID:
            break
        run.append(word)
        if word.endswith(".") and not _is_title(word) and len(word) > 2:  # noqa: PLR2004 - the sentence ends; "L." does not
            break
    if run and _is_hebrew(run[0]):
        run = run[:2]
    return _trimmed(run)


def _last_run(tokens: list[str]) -> str:
    run: list[str] = []
    for word in reversed(tokens):
        if not _is_name(word) or len(run) == _MOST_SAID:
            break
        run.insert(0, word)
    if run and _is_hebrew(run[-1]):
        run = run[-2:] if _is_title(run[-2] if len(run) > 1 else "") else run[-1:]
    return _trimmed(run)


def _trimmed(run: list[str]) -> str:
    return " ".join(run).strip(" '’").removesuffix(".") if run and not all(map(_is_title, run)) else ""


def _only_name(text: str) -> str:
    """Return the one name that a sentence has in Latin letters; none where there are several, or none
    that can be told.
    """
    runs: list[list[str]] = [[]]
    is_beside = False  # a place, or somebody beside the one who is meant
    tokens = _TOKEN.findall(text)
    for place, word in enumerate(tokens):
        begins = place == 0 and not _is_title(word) and len(tokens) > 1 and tokens[1][0].isupper()  # "Met Daniel"
        is_part = word[0].isupper() and not begins and word.strip(".").casefold() not in _NOT_IN_NAMES
        is_beside = is_part and (is_beside or (place > 0 and tokens[place - 1].casefold() in _BESIDE))
        if is_part and not is_beside:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    names = list(dict.fromkeys(_trimmed(run[:_MOST_SAID]) for run in runs if run))
    return names[0] if len(names) == 1 else ""


def _is_name(word: str) -> bool:
    """Tell whether the word has a capital or a digit, or is Hebrew, which has no capitals, and is none that begins or
    joins sentences.
    """
    bare = word.strip("'’.").casefold()
    if not bare or bare in _NOT_IN_NAMES:
        return False
    return _is_hebrew(word) or word[0].isupper() or (any(each.isdigit() for each in word) and not word.isdigit())


def _is_hebrew(word: str) -> bool:
    return "\u0590" <= word[0] <= "\u05ff"


def _is_title(word: str) -> bool:
    return word.rstrip(".").casefold() in _TITLES


if TYPE_CHECKING:  # the repository imports this, to delete aliases with their memory
    from langmem_plugin.memory.keep.repository import MemoryRepository

log = event_log(__name__)

Source = Literal["hand", "memory", "message"]


@dataclass(frozen=True)
class Alias:
    """One alias of an owner. `learnt_from` is the id of the memory or the message, as `source` says. Not
    `active`: it was removed.
    """

    id: str
    owner: OwnerKey
    alias: str
    name: str
    created_at: datetime
    learnt_from: str | None = None
    source: Source = "hand"
    active: bool = True


def keep(connection: Connection, aliases: Sequence[Alias]) -> None:
    """Store the aliases; the owners have a row of their own already."""
    if aliases:
        connection.execute(insert(table), [_values(connection, each) for each in aliases])


def move(
    connection: Connection,
    source: OwnerKey,
    target: OwnerKey,
    memories: Mapping[str, str],
    *,
    only: Sequence[str] | None = None,
) -> dict[str, str]:
    """Move aliases from one owner to another, encrypted anew; return their new ids by the old.

    `memories` are the new ids of those that moved too. What cannot be decrypted moves as it is.
    """
    rows = connection.execute(select(table).where(table.c.owner == source)).all()
    rows = [row for row in rows if only is None or row.alias_id in set(only)]
    taken = set(connection.execute(select(table.c.alias_id).where(table.c.owner == target)).scalars())
    moved = {row.alias_id: str(uuid.uuid4()) if row.alias_id in taken else row.alias_id for row in rows}
    for row in rows:
        new = moved[row.alias_id]
        learnt_from = memories.get(row.learnt_from, row.learnt_from) if row.source == "memory" else row.learnt_from
        values = {"owner": target, "alias_id": new, "learnt_from": learnt_from}
        try:
            made = _as_alias(connection, row)
        except DecryptionRefused:
            log.warning("alias.moved_unread")
        else:
            anew = _values(connection, replace(made, id=new, owner=target))
            values |= {"alias": anew["alias"], "name": anew["name"]}
        here = and_(table.c.owner == source, table.c.alias_id == row.alias_id)
        connection.execute(update(table).where(here).values(values))
    return moved


def drop_learnt_from(connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> None:
    """Drop the aliases learnt from memories that are deleted for good, or say something else now."""
    for part in in_parts(memory_ids):
        here = (table.c.owner == owner, table.c.source == "memory", table.c.learnt_from.in_(part))
        connection.execute(delete(table).where(*here))


def drop_said_in(connection: Connection, owner: OwnerKey, forgotten: str) -> None:
    """Drop the aliases learnt from messages about things that the person wants forgotten."""
    rows = connection.execute(select(table).where(table.c.owner == owner, table.c.source == "message")).all()
    for row in rows:
        try:
            made = _as_alias(connection, row)
        except DecryptionRefused:
            continue
        if any(names_in(forgotten, made)):
            connection.execute(delete(table).where(table.c.owner == owner, table.c.alias_id == row.alias_id))


def names_in(text: str, each: Alias) -> tuple[bool, bool]:
    """Tell whether the alias stands in the text, and whether the name does."""
    words = words_of(text)
    return _holds(words, words_of(each.alias)), _holds(words, words_of(each.name))


def _values(connection: Connection, each: Alias) -> dict[str, Any]:
    key = (each.owner, each.id)
    return {
        "owner": each.owner,
        "alias_id": each.id,
        "alias": ALIAS.encrypted(connection, key, each.alias),
        "name": ALIAS_NAME.encrypted(connection, key, each.name),
        "learnt_from": each.learnt_from,
        "source": each.source,
        "created_at": each.created_at,
        "active": each.active,
    }


def read(connection: Connection, owner: OwnerKey, damages: Damages) -> list[Alias]:
    """Return all aliases of the owner, the first learnt first; what cannot be decrypted is reported and left out."""
    return [each for each, _ in with_ends(connection, owner, damages, any_state=True)]


def with_ends(
    connection: Connection, owner: OwnerKey, damages: Damages, *, any_state: bool = False
) -> list[tuple[Alias, datetime | None]]:
    """Return the aliases that count, each with the time when the memory that it was learnt from expires."""
    of_memory = table.c.source == "memory"
    behind = and_(memory.c.owner == table.c.owner, memory.c.memory_id == table.c.learnt_from, of_memory)
    wanted = select(table, memory.c.expires_at).outerjoin(memory, behind).where(table.c.owner == owner)
    if not any_state:
        # An archived memory still holds: it was only told long ago.
        holds = or_(table.c.source != "memory", memory.c.status.in_(("active", "archived")))
        wanted = wanted.where(table.c.active, holds)
    found = []
    for row in connection.execute(wanted.order_by(table.c.created_at, table.c.alias_id)):
        try:
            found.append((_as_alias(connection, row), row.expires_at))
        except DecryptionRefused:
            damages.report("alias", owner, row.alias_id)
    return found


def rewrite(connection: Connection, each: Alias) -> None:
    here = (table.c.owner == each.owner, table.c.alias_id == each.id)
    connection.execute(update(table).where(*here).values(_values(connection, each)))


def _as_alias(connection: Connection, row: Row[Any]) -> Alias:
    """Read an alias. Raises DecryptionRefused."""
    key = (row.owner, row.alias_id)
    return Alias(
        id=row.alias_id,
        owner=row.owner,
        alias=ALIAS.decrypted(connection, key, row.alias),
        name=ALIAS_NAME.decrypted(connection, key, row.name),
        created_at=row.created_at,
        learnt_from=row.learnt_from,
        source=row.source,
        active=row.active,
    )


def _holds(words: Sequence[str], name: Sequence[str]) -> bool:
    size = len(name)
    return size > 0 and any(list(words[at : at + size]) == list(name) for at in range(len(words) - size + 1))


MOST_ALIASES = 200  # aliases of one owner, removed ones included
_LONGEST, _MOST_WORDS = 60, 5
_CACHE_BYTES, _BYTES_BESIDE = 4 * 2**20, 300
_NO_NAMES = frozenset().union(*(STOP_WORDS[language] for language in ("english", "spanish", "hebrew")))


_Ending = tuple[Alias, datetime | None]


class NameAliases:
    """The aliases of every owner, in one database.

    An alias that was learnt from a memory counts while that memory holds: not while it waits, and not once it
    was corrected or forgotten. An alias from a message goes when something is forgotten that has the name or
    the alias in it.
    """

    def __init__(
        self, database: Database, repository: "MemoryRepository", damages: Damages, *, now: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._repository = repository
        self._damages = damages
        self._now = now
        self._held: LruCache[OwnerKey, tuple[OwnerState, list[_Ending]]] = LruCache(_CACHE_BYTES)

    def add(self, owner: str | int, alias: str, name: str) -> Alias:
        """Add an alias by hand; one that is there already, or was removed, is in force (again).

        Raises InvalidInput for names that are none or are the same, and where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        made = self._made(owner, Naming(alias, name), "hand", None)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = read(connection, owner, self._damages)
            if (same := _same(there, made)) is not None:
                if not same.active or same.source != "hand":
                    same = replace(same, active=True, source="hand", learnt_from=None)
                    rewrite(connection, same)
                    record(connection, "alias.added", owner=owner, subject=same.id)
                return same
            if len(there) >= MOST_ALIASES:
                raise InvalidInput(f"there are {MOST_ALIASES} aliases already: remove one before adding another")
            keep(connection, [made])
            record(connection, "alias.added", owner=owner, subject=made.id)
        return made

    def list_aliases(self, owner: str | int, *, include_removed: bool = False) -> list[Alias]:
        """Return the aliases that count now, the first learnt first."""
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            if include_removed:
                return read(connection, owner, self._damages)
            return _counting(with_ends(connection, owner, self._damages), self._now())

    def remove(self, owner: str | int, alias_id: str) -> Alias:
        """Remove an alias: it counts no more, and is not learnt again from the same words. Raises AliasNotFound."""
        owner = owner_key(self._database, owner)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = read(connection, owner, self._damages)
            found = next((each for each in there if each.id == alias_id), None)
            if found is None:
                raise AliasNotFound(f"there is no alias {alias_id}: list them for their ids")
            removed = replace(found, active=False)
            rewrite(connection, removed)
            record(connection, "alias.removed", owner=owner, subject=alias_id)
        return removed

    def learn(self, owner: str | int, text: str, *, message_id: str, before: str = "") -> list[Alias]:
        """Learn names that a person's message explains; `before` is their message before it, for "him" and "her"."""
        owner = owner_key(self._database, owner)
        if not namings(text, before):
            return []
        seen = erasures_seen(self._database)
        with self._database.write() as connection:
            learnt = self._learn(connection, owner, namings(text, before), "message", message_id)
            refuse_erased(connection, owner, seen)
        return learnt

    def learn_from(self, connection: Connection, made: Memory) -> list[Alias]:
        """Learn names that a memory explains, which is stored in this transaction."""
        said = [naming for each in _told(made) for naming in namings(each)]
        return self._learn(connection, made.owner, said, "memory", made.id) if said else []

    def groups(self, owner: str | int) -> Groups:
        """Return the groups of names that a question is asked with."""
        owner = owner_key(self._database, owner)
        return self.groups_of([owner])[owner]

    def groups_of(self, owners: Sequence[OwnerKey]) -> dict[str, Groups]:
        """Return the groups of several owners, in one read; read anew only after something of the owner has changed."""
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
        rows = with_ends(connection, owner, self._damages)
        size = sum(sys.getsizeof(each.alias) + sys.getsizeof(each.name) for each, _ in rows)
        self._held.put(owner, (state, rows), size + (len(rows) + 1) * _BYTES_BESIDE)
        return state, rows

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Alias]:
        """Return all aliases, the first learnt first, also those that were removed or do not count now."""
        return read(connection, owner, self._damages)

    def take_in(self, owner: str | int, alias: Alias) -> bool:
        """Store an alias of another database as it is; False where the owner does not need it.

        That is where the owner has it or the same already, or has corrected or forgotten since what it was learnt from.
        Raises InvalidInput for names that are none, and where the owner has 200.
        """
        owner = owner_key(self._database, owner)
        _checked(Naming(alias.alias, alias.name))
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = read(connection, owner, self._damages)
            if any(each.id == alias.id for each in there) or _same(there, alias) is not None:
                return False
            if self._is_over(connection, owner, alias):
                return False
            if len(there) >= MOST_ALIASES:
                raise InvalidInput(f"there are {MOST_ALIASES} aliases already")
            keep(connection, [replace(alias, owner=owner)])
            return True

    def _is_over(self, connection: Connection, owner: OwnerKey, alias: Alias) -> bool:
        """Tell whether the owner has corrected or forgotten the source of the alias since."""
        if alias.source == "memory" and alias.learnt_from is not None:
            told = self._repository.by_id(connection, owner, alias.learnt_from)
            return told is not None and not any(all(names_in(each, alias)) for each in _told(told))
        if alias.source == "message":
            forgotten = self._repository.forgotten_since(connection, owner, alias.created_at, most=None)
            return any(any(names_in(each.text, alias)) for each in forgotten)
        return False

    def _learn(
        self, connection: Connection, owner: OwnerKey, said: Iterable[Naming], source: Source, learnt_from: str
    ) -> list[Alias]:
        begin_change(connection, owner)
        there = read(connection, owner, self._damages)
        learnt: list[Alias] = []
        for naming in said:
            try:
                made = self._made(owner, naming, source, learnt_from)
            except InvalidInput:  # it only seemed to be one
                continue
            if _same([*there, *learnt], made) is None and len(there) + len(learnt) < MOST_ALIASES:
                learnt.append(made)
        keep(connection, learnt)
        return learnt

    def _made(self, owner: OwnerKey, naming: Naming, source: Source, learnt_from: str | None) -> Alias:
        alias, name = _checked(naming)
        return Alias(str(uuid.uuid4()), owner, alias, name, self._now(), learnt_from, source)


def _told(made: Memory) -> list[str]:
    """Return the texts of a memory in which a name may be told."""
    return [made.text, *([made.quote] if made.quote else ())]


def _checked(naming: Naming) -> tuple[str, str]:
    """Return the checked alias and name. Raises InvalidInput."""
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
