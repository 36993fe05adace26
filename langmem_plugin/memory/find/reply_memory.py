"""The memories and instructions that a reply needs, read at once and kept for its prompt."""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.languages.language import LANGUAGES
from langmem_plugin.languages.plain_text import LONGEST_KEPT
from langmem_plugin.lru import LruCache, cached_if_short
from langmem_plugin.memory.find.fact_ranking import LIKELY
from langmem_plugin.memory.find.recall import RELEVANT, Scope, asks_about, scopes_of, seen_by
from langmem_plugin.memory.find.tokenizer import telling, words_of
from langmem_plugin.memory.instructions.instructions import Instruction
from langmem_plugin.memory.keep.rows import OwnerStates, states_of
from langmem_plugin.memory.models import Found, Memory
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.operation_timing import timed
from langmem_plugin.settings import Role

_NAME = re.compile(r"(?<=[^.!?\s] )[A-ZÁÉÍÓÚÑ][a-záéíóúüñ]{2,}")  # not the first word of a sentence
_ROLES = {word: role for language in LANGUAGES for (word, *more), role in language.people.items() if not more}
_SHARED = 0.15  # the part of the words said, by their rarity
_HELD_BYTES = 8 * 2**20
_KEPT_TEXTS = 16_384
_BYTES_BESIDE = 2_000  # bytes of holding one memory or instruction besides its text

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

    @property
    def size(self) -> int:
        """Return the bytes held, roughly."""
        texts = [*(each.text for each in self.memories.values()), *(each.text for each in self.instructions)]
        return sum(map(sys.getsizeof, texts)) + (len(texts) + 1) * _BYTES_BESIDE


class ReplyMemory:
    """The reader of what a reply needs, for one person at a time and of all their scopes; serves any thread.

    It keeps what was read last for each person, and drops the least recently asked for first.
    """

    def __init__(self, service: MemoryService) -> None:
        self.operations = service.operations
        self._service = service
        self._held: LruCache[_Reader, _Held] = LruCache(_HELD_BYTES)

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
        so that `last_told` knows all the reply needs. Raises EmbeddingUnavailable or StoreUnavailable.
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

    def told(self, owner: OwnerKey, role: Role, memory_ids: Sequence[str], *, beside: OwnerKey | None = None) -> Told:
        """Return the content as the database has it now, without what was forgotten or is not for
        this person to see.
        """
        database, scopes, held = (
            self._service.database,
            scopes_of(owner, role, beside),
            self._held.get((owner, role, beside)),
        )
        owners = [scope.owner for scope in scopes]
        is_known = held is not None and held.memories.keys() >= set(memory_ids)
        if held is None or not is_known or held.states != database.select(partial(states_of, owners=owners)):
            with database.read() as connection:
                seen = seen_by(self._service, connection, scopes, memory_ids)
                held = self._read(connection, (owner, role, beside), states_of(connection, owners), seen)
        return self._told(held, memory_ids)

    def last_told(
        self, owner: OwnerKey, role: Role, memory_ids: Sequence[str], *, beside: OwnerKey | None = None
    ) -> Told | None:
        """Return the content as this process read it last, without asking the database; None if it does
        not hold all of it.
        """
        held = self._held.get((owner, role, beside))
        if held is None or not held.memories.keys() >= set(memory_ids):
            return None
        return self._told(held, memory_ids)

    def _read(self, connection: Connection, of: _Reader, states: OwnerStates, memories: Iterable[Memory]) -> _Held:
        before = self._held.get(of)
        if before is not None and before.states == states:
            instructions = before.instructions
        else:
            instructions = tuple(self._service.instructions.in_force(connection, of[0]))
        held = _Held(states, {each.id: each for each in memories}, instructions)
        self._held.put(of, held, held.size)
        return held

    def _told(self, held: _Held, memory_ids: Sequence[str]) -> Told:
        now = self._service.now()
        wanted = [held.memories[each] for each in dict.fromkeys(memory_ids) if each in held.memories]
        return Told(
            tuple(each for each in wanted if not each.has_expired(now)),
            tuple(each for each in held.instructions if each.is_in_force(now)),
        )


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
