"""/forget and /undo: what is meant is found surely and shown before it is forgotten, and can be taken back."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from langchain_core.messages import AIMessage

from langmem_plugin.agent.commands.lines import one_line, with_id
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import EmbeddingUnavailable, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.find.tokenizer import asked, terms
from langmem_plugin.memory.models import bare
from langmem_plugin.references import resolve
from langmem_plugin.references.said.yes_or_no import agrees

log = event_log(__name__)

_LIKELY = 0.5  # similarity
_SURELY = 0.99995  # of the meaning: recall's 0.7 finds tea for "coffee", and nobody wants to be asked about that
_LONGEST_ANSWER, _MOST_WORDS = 40, 4  # letters, words
_PLAIN_NUMBER = re.compile(r"[\s#]*+(\d{1,3})[\s.!]*+")
_SHOWN, _LOOKED_AT = 5, 50
_ID = re.compile(r"\[?([0-9a-f]{8}[0-9a-f-]{0,28})\]?", re.IGNORECASE)
_UNDONE_WITHIN = timedelta(minutes=10)

_Same = Sequence[Memory]
"""Memories of one text: forgetting one of them would leave the text remembered."""


class Forgetting:
    def __init__(
        self,
        service: MemoryService,
        questions: OpenQuestions,
        numbered: Callable[[OwnerKey, int], Memory | None],
    ) -> None:
        """`numbered` gives what stands under a number of the list that the person sees."""
        self._service = service
        self._questions = questions
        self._listed = numbered

    def forget(self, owner: OwnerKey, wanted: str, replies: Replies) -> str:
        """Forgets what an id or the whole text names; of what a number of the list or words find, asks first."""
        if not wanted:
            return replies.forget_what
        surely = self._named(owner, wanted)
        if len(surely) == 1:
            self._forget(owner, [(each.id, each.revision) for each in surely[0]])
            return replies.forgotten.format(fact=surely[0][0].text)
        found = surely or self._numbered(owner, wanted) or self._found(owner, wanted)
        if not found:
            return replies.forget_unknown.format(words=one_line(wanted))
        return self._ask(owner, found, replies)

    def knows(self, owner: OwnerKey, wanted: str) -> bool:
        """Tells whether a memory has every word of the wish."""
        return bool(asked(wanted)) and bool(self._by_words(owner, wanted))

    def answered(self, owner: OwnerKey, text: str, question: Mapping[str, Any], replies: Replies) -> str | None:
        """The reply to what a person said to `question`; None if that is no answer to it."""
        choices: list[list[tuple[str, int]]] = question["choices"]
        number, yes = _number(text, len(choices)), _verdict(text)
        if yes is False:
            return replies.nothing_forgotten
        if number is not None and 1 <= number <= len(choices):
            chosen = choices[number - 1]
        elif yes and len(choices) == 1:
            chosen = choices[0]
        elif number is not None or yes:
            self._questions.ask(owner, "forget", {"choices": choices})
            return replies.forget_number.format(most=len(choices))
        else:
            return None
        forgotten = self._forget(owner, chosen)
        return replies.forgotten.format(fact=forgotten) if forgotten is not None else replies.forget_changed

    def undo(self, owner: OwnerKey, replies: Replies) -> str:
        """Takes back what was forgotten last, by whatever way, if that was just now."""
        service = self._service
        with service.database.read() as connection:
            forgotten = service.repository.forgotten_since(connection, owner, service.now() - _UNDONE_WITHIN)
        for newest in forgotten:
            restored = [each for each in forgotten if bare(each.text) == bare(newest.text) and self._restore(each)]
            if restored:
                return replies.undone.format(fact=newest.text)
        return replies.nothing_to_undo

    def _restore(self, memory: Memory) -> bool:
        """Takes a forgotten memory back; False if the same is remembered again, or something newer in its place."""
        service = self._service
        with service.database.read() as connection:
            there = service.repository.same(connection, memory.owner, memory.text, now=service.now())
        if any(each.key == memory.key for each in there):
            return False
        try:
            service.take_back(memory.owner, memory.id)
        except MemoryNotFound:  # also where another process has, meanwhile
            return False
        return True

    def _named(self, owner: OwnerKey, wanted: str) -> list[_Same]:
        """Finds memories by the beginning of an id, else by the whole text."""
        service = self._service
        with service.database.read() as connection:
            if found := _ID.fullmatch(wanted):
                by_id = service.repository.by_prefix(connection, owner, found[1].lower(), now=service.now())
                if by_id:
                    return self._with_copies(owner, by_id)
            exactly = service.repository.same(connection, owner, wanted, now=service.now())
        exactly += [each for each in self._by_words(owner, wanted) if bare(each.text) == bare(wanted)]
        return self._with_copies(owner, exactly)

    def _numbered(self, owner: OwnerKey, wanted: str) -> list[_Same]:
        number = _PLAIN_NUMBER.fullmatch(wanted)
        listed = self._listed(owner, int(number[1])) if number else None
        return [] if listed is None else self._with_copies(owner, [listed])

    def _found(self, owner: OwnerKey, wanted: str) -> list[_Same]:
        """Finds memories by whole words, all of which must occur, else by meaning."""
        if not asked(wanted):  # nothing but "the" and "a"
            return []
        if found := self._by_words(owner, wanted):
            return self._with_copies(owner, found)
        try:
            hits = self._service.search(owner, wanted, limit=_LOOKED_AT, min_relevance=_LIKELY)
        except EmbeddingUnavailable:
            log.warning("search.by_words", exc_info=True, extra={"owner": masked(owner)})
            return []
        meant = [each.memory for each in hits if each.signals.get("semantic", 0.0) >= _SURELY]
        return self._with_copies(owner, meant)

    def _by_words(self, owner: OwnerKey, wanted: str) -> list[Memory]:
        """Those that have every word of it, in any of its forms."""
        hits = self._service.search(owner, wanted, mode="text", limit=_LOOKED_AT, min_relevance=_LIKELY)
        words = [set(forms) for forms in asked(wanted)]
        return [hit.memory for hit in hits if all(forms & set(terms(hit.memory.text)) for forms in words)]

    def _with_copies(self, owner: OwnerKey, found: Sequence[Memory]) -> list[_Same]:
        """Each text once, with every memory of it; the ones that wait for confirmation too."""
        service = self._service
        groups: dict[str, dict[str, Memory]] = {}
        for each in found:
            groups.setdefault(bare(each.text), {})[each.id] = each
        with service.database.read() as connection:
            for same in groups.values():
                text = next(iter(same.values())).text
                same.update(
                    (each.id, each) for each in service.repository.same(connection, owner, text, now=service.now())
                )
        return [list(same.values()) for same in groups.values()]

    def _ask(self, owner: OwnerKey, found: Sequence[_Same], replies: Replies) -> str:
        shown = found[:_SHOWN]
        choices = [[(each.id, each.revision) for each in same] for same in shown]
        self._questions.ask(owner, "forget", {"choices": choices})
        if len(found) == 1:
            return replies.forget_this.format(fact=one_line(found[0][0].text))
        lines = [f"{number}. {with_id(same[0], same[0].text)}" for number, same in enumerate(shown, 1)]
        more = [replies.forget_more] if len(found) > _SHOWN else []
        return "\n".join([replies.forget_which, *lines, *more])

    def _forget(self, owner: OwnerKey, chosen: Sequence[tuple[str, int]]) -> str | None:
        """The text of what was forgotten; None if nothing is as it was shown (any more)."""
        text = None
        for memory_id, revision in chosen:
            try:
                text = self._service.forget(owner, memory_id, revision=revision).text
            except (MemoryNotFound, StaleMemory):
                log.info("forget.changed", extra={"owner": masked(owner)})
        return text


def is_answer(text: str) -> bool:
    """Tells whether a text may be the answer to a question of this kind."""
    return _verdict(text) is not None or _number(text, _SHOWN) is not None


def _verdict(text: str) -> bool | None:
    """Reads a text that is a yes or a no and nothing else; None for any other."""
    found = agrees(text) if len(text) <= _LONGEST_ANSWER else None
    return found.yes if found is not None and not found.rest else None


def _number(text: str, many: int) -> int | None:
    """The place in a list of so many that it names, as "2" or "the last one"; maybe one that is not there."""
    if len(text) > _LONGEST_ANSWER or len(text.split()) > _MOST_WORDS:
        return None
    if found := _PLAIN_NUMBER.fullmatch(text):
        return int(found[1])
    listed = AIMessage("\n".join(f"{number}. {number}" for number in range(1, many + 1)))
    for reference in resolve(text, [listed]).references:
        if reference.sort in ("number", "ordinal", "last") and len(reference.numbers) == 1:
            return reference.numbers[0]
    return None
