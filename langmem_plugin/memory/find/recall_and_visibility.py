"""Recall of the memories that a reply needs, by a talk's last two messages; which scopes of a person are seen by whom.

What was read for a reply is kept for its prompt.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.identifiers import OwnerKey, ScopeKey
from langmem_plugin.languages.language_words import LANGUAGES
from langmem_plugin.languages.text_normalization import LONGEST_KEPT
from langmem_plugin.lru_cache import LruCache, cached_if_short
from langmem_plugin.memory.find.fact_ranking import LIKELY, Query
from langmem_plugin.memory.find.fact_search import Ask
from langmem_plugin.memory.find.tokenizer import telling, words_of
from langmem_plugin.memory.instructions.standing_instructions import Instruction
from langmem_plugin.memory.keep.changes_and_checksums import OwnerStates, states_of
from langmem_plugin.memory.memory_types import EVERYTHING, Filter, Found, Memory, Mode, storable
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.settings import Role
from langmem_plugin.telemetry import timed

SHARED = ScopeKey.named("shared")
FOR_CLIENTS = "for clients"  # the tag that shares a memory of that scope with clients
RELEVANT = 0.7
"""The certainty, from 0 to 1, at which a memory is recalled for a talk."""
_BEFORE = 0.7  # the weight of what answers the message before the last
_NAME = re.compile(r"(?<=[^.!?\s] )[A-ZÁÉÍÓÚÑ][a-záéíóúüñ]{2,}")  # not the first word of a sentence
_SHARED = 0.15  # the part of the words said, by their rarity
_MOST_HELD, _BYTES_BESIDE = 8 * 2**20, 2_000  # bytes, and those of a memory or an instruction beside its text
_KEPT_TEXTS = 16_384


@dataclass(frozen=True)
class Scope:
    """One owner whose memories may be read, and which of them."""

    owner: OwnerKey
    where: Filter = EVERYTHING


def scopes_of(owner: OwnerKey, role: Role, beside: OwnerKey | None = None) -> tuple[Scope, ...]:
    """Return the scopes of a person: the godfather sees all that is shared, a client only what is tagged for clients.

    Nobody sees another person's. `beside` is whose memories are shown beside the owner's: in a group, those of the
    godfather who asks there.
    """
    shared = EVERYTHING if role == "godfather" else Filter(tags=[FOR_CLIENTS])
    own = (Scope(owner),) if beside is None else (Scope(owner), Scope(beside))
    return (*own, Scope(SHARED, shared))


def seen_by(
    service: MemoryService, connection: Connection, scopes: Sequence[Scope], memory_ids: Sequence[str]
) -> list[Memory]:
    """Return the memories with these ids that may be seen in these scopes, in the order of the ids;
    expired ones too.
    """
    found: dict[str, Memory] = {}
    for scope in scopes:
        missing = [each for each in memory_ids if each not in found]
        there = service.repository.by_ids(connection, scope.owner, missing) if missing else []
        wanted = set(scope.where.tags)
        found |= {each.id: each for each in there if each.status == "active" and wanted <= set(each.tags)}
    return [found[each] for each in dict.fromkeys(memory_ids) if each in found]


def share(service: MemoryService, text: str, *, with_clients: bool = False) -> Memory:
    """Store `text` in the shared scope; clients see it only when told so."""
    return service.remember(SHARED, text, tags=[FOR_CLIENTS] if with_clients else [])


def asks_about(
    service: MemoryService, scopes: Sequence[Scope], messages: Sequence[str], *, limit: int, min_similarity: float
) -> list[Ask]:
    """Build the embedded questions of a talk: only one read is left to do. Raises EmbeddingUnavailable.

    `messages` are the person's messages, oldest first. The last one is asked, and the one before it a little less,
    since "and for her brother?" means little alone. So what is recalled follows the talk to a new subject and does not
    drop the old one at once.
    """
    last_first = [storable(text) for text in reversed(messages) if text.strip()]
    asks = []
    for text, weight in zip(last_first, (1.0, _BEFORE), strict=False):
        query = Query.of(service.embedder, text, "hybrid", limit=limit, min_relevance=min_similarity, now=service.now())
        asks += [
            service.facts.ask(scope.owner, replace(query, where=scope.where, apart=True), weight=weight)
            for scope in scopes
        ]
    return asks


def search_for(
    service: MemoryService,
    owner: OwnerKey,
    role: Role,
    query: str,
    *,
    mode: Mode = "hybrid",
    limit: int = 10,
    min_relevance: float = 0.5,
    where: Filter = EVERYTHING,
) -> list[Found]:
    """Return the answers to one query, in every scope of the person, best first."""
    if not query.strip():
        return []
    asks = []
    for scope in scopes_of(owner, role):
        narrowed = replace(where, tags=(*where.tags, *scope.where.tags))
        asks.append(service.ask(scope.owner, query, mode, limit=limit, min_relevance=min_relevance, where=narrowed))
    with service.database.read() as connection:
        return service.facts.best_of(connection, asks, limit)


_ROLES = {word: role for language in LANGUAGES for (word, *more), role in language.people.items() if not more}

_Reader = tuple[OwnerKey, Role, OwnerKey | None]


@dataclass(frozen=True)
class Told:
    """The content for a prompt: memories in the order asked for, and the instructions in force, the first one wins.

    How often an instruction was used may be older than the rest.
    """

    memories: tuple[Memory, ...]
    instructions: tuple[Instruction, ...]


NOTHING_TOLD = Told((), ())


@dataclass(frozen=True)
class _Held:
    states: OwnerStates
    memories: dict[str, Memory]
    instructions: tuple[Instruction, ...]


class ReplyMemory:
    """The reader of what a reply needs, for one person at a time and of all their scopes; serves any thread.

    It keeps what was read last for each person, and drops the least recently asked for first.
    """

    def __init__(self, service: MemoryService) -> None:
        self.operations = service.operations
        self._service = service
        self._held: LruCache[_Reader, _Held] = LruCache(_MOST_HELD)

    @timed("inject")
    def recall(
        self,
        owner: OwnerKey,
        role: Role,
        messages: Sequence[str],
        *,
        limit: int = 50,
        min_similarity: float | None = None,
        beside: OwnerKey | None = None,
        by_one: Sequence[str] = (),
    ) -> list[tuple[Memory, float]]:
        """Recall memories that bear on a talk and their similarity, best first, each once.

        Then, with 0, the nearest of the rest, and what was used or told lately where nothing is asked.

        `messages` are the person's messages, oldest first: see `asks_about`. With `min_similarity` nothing below it is
        given; without, nothing private or sensitive that does not bear on the talk. The memories of `beside` are asked
        only with what they said themselves, `by_one`, and only for what bears on it. The instructions are read with it,
        so that `told` knows all the reply needs. Raises EmbeddingUnavailable or StoreUnavailable.
        """
        service, bound = self._service, RELEVANT if min_similarity is None else min_similarity
        least = 0.0 if min_similarity is None else min_similarity
        messages = [text for text in messages if telling(text)]
        for text in messages[-1:]:
            service.embedder.look_at_language(text)
        asks = asks_about(service, scopes_of(owner, role), messages, limit=limit, min_similarity=least)
        if beside is not None:
            asks += asks_about(service, [Scope(beside)], by_one, limit=limit, min_similarity=bound)
        scopes = scopes_of(owner, role, beside)
        with service.database.read() as connection:
            states = states_of(connection, [scope.owner for scope in scopes])
            found = service.facts.best_of(connection, asks, 2 * limit, states)
            reminded = [(each.memory, each.similarity) for each in found if each.similarity >= bound]
            if min_similarity is None:
                spoken = words_of(" ".join(messages[-1:]))
                said = _people_in(spoken, spoken)
                rest = [each.memory for each in found if each.similarity < bound and _may_fill(each, said)]
                if not asks:
                    lately = service.facts.foremost(connection, owner, limit)
                    rest = [each for each in lately if not _is_guarded(each)]
                reminded += [(each, 0.0) for each in rest]
            reminded = reminded[:limit]
            self._read(connection, (owner, role, beside), states, [each for each, _ in reminded])
        return reminded

    def told(
        self,
        owner: OwnerKey,
        role: Role,
        memory_ids: Sequence[str],
        *,
        beside: OwnerKey | None = None,
        as_last: bool = False,
    ) -> Told:
        """Return the content as the database has it now, without what was forgotten or is not for this person to see;
        `as_last`, as this process read it last, if it holds all of it.
        """
        database, scopes, reader = self._service.database, scopes_of(owner, role, beside), (owner, role, beside)
        owners = [scope.owner for scope in scopes]
        held = self._held.get(reader)
        if (
            held is None
            or not held.memories.keys() >= set(memory_ids)
            or not (as_last or held.states == database.select(partial(states_of, owners=owners)))
        ):
            with database.read() as connection:
                seen = seen_by(self._service, connection, scopes, memory_ids)
                held = self._read(connection, reader, states_of(connection, owners), seen)
        now = self._service.now()
        wanted = [held.memories[each] for each in dict.fromkeys(memory_ids) if each in held.memories]
        return Told(
            tuple(each for each in wanted if not each.has_expired(now)),
            tuple(each for each in held.instructions if each.is_in_force(now)),
        )

    def _read(self, connection: Connection, of: _Reader, states: OwnerStates, memories: Iterable[Memory]) -> _Held:
        before = self._held.get(of)
        if before is not None and before.states == states:
            instructions = before.instructions
        else:
            instructions = tuple(self._service.instructions.in_force(connection, of[0]))
        held = _Held(states, {each.id: each for each in memories}, instructions)
        texts = ["", *(each.text for each in held.memories.values()), *(each.text for each in instructions)]
        self._held.put(of, held, sum(_BYTES_BESIDE + 4 * len(text) for text in texts))
        return held


def _may_fill(found: Found, said: set[str]) -> bool:
    """Tell whether a memory may be shown where these people are `said`.

    A private or sensitive one is shown only where it is as likely about the talk as not, has some of the words in it,
    is of somebody in it, or is to be known where such a thing is talked of.
    """
    text = found.memory.text
    return (
        not _is_guarded(found.memory)
        or found.similarity >= LIKELY
        or found.signals.get("text", 0.0) >= _SHARED
        or found.signals.get("occasion", 0.0) > 0
        or not said.isdisjoint(_people_in(words_of(text), map(str.casefold, _NAME.findall(text))))
    )


def _people_in(spoken: Iterable[str], names: Iterable[str]) -> set[str]:
    """Return the names, and the roles in which these words speak of people: a mother, a son."""
    return {*names, *(_ROLES[word] for word in spoken if word in _ROLES)}


def _is_guarded(memory: Memory) -> bool:
    return memory.private or _is_sensitive(memory.text)


# This is asked for every line of every reply, and costs as much as all of the ranking.
_is_sensitive = cached_if_short(_KEPT_TEXTS, LONGEST_KEPT)(is_sensitive)
