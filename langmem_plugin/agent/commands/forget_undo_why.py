"""/forget, /undo and /why: a memory is found without doubt, and forgotten, taken back, or told with its origin."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from langchain_core.messages import AIMessage

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall, one_line, with_day, with_id
from langmem_plugin.agent.commands.memories_and_search import listed_as
from langmem_plugin.agent.replying.reply_texts import pattern_for
from langmem_plugin.errors import EmbeddingUnavailable, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.find.tokenizer import asked, terms
from langmem_plugin.memory.memory_types import bare
from langmem_plugin.references import resolve
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.writing.provenance import Why

log = event_log(__name__)

_LIKELY = 0.5  # similarity
_SURELY = 0.99995  # of the meaning: recall's 0.7 finds tea for "coffee", and nobody wants to be asked about that
_LONGEST_ANSWER, _MOST_WORDS = 40, 4  # letters, words
_PLAIN_NUMBER = re.compile(r"[\s#]*+(\d{1,3})[\s.!]*+")
_SHOWN, _LOOKED_AT = 5, 50
_MOST_EXPLAINED = 3
_ID = re.compile(r"\[?([0-9a-f]{8}[0-9a-f-]{0,28})\]?", re.IGNORECASE)
_SEVERAL = pattern_for("means_several", "[ .!]*(?:{})[ .!]*")
_UNDONE_WITHIN = timedelta(minutes=10)

_Same = Sequence[Memory]
"""The memories of one text: if only one of them were forgotten, the text would stay remembered."""


def forget(call: CommandCall) -> str:
    """Forget the memory with this id or this whole text. If the text is a number of the list, or words, ask first."""
    if not call.rest:
        return call.replies.forget_what
    surely = _named(call)
    if len(surely) == 1:
        _forget(call, [(each.id, each.revision) for each in surely[0]])
        return call.replies.forgotten.format(fact=surely[0][0].text)
    found = surely or _numbered(call) or _found(call)
    if not found:
        return call.replies.forget_unknown.format(words=one_line(call.rest))
    return _ask(call, found)


def undo(call: CommandCall) -> str:
    """Take back what was forgotten last, by whatever way, if that was just now."""
    service = call.service
    with service.database.read() as connection:
        forgotten = service.repository.forgotten_since(connection, call.owner, service.now() - _UNDONE_WITHIN)
    for newest in forgotten:
        same = [each for each in forgotten if bare(each.text) == bare(newest.text)]
        if [each for each in same if _restored(service, each)]:
            return call.replies.undone.format(fact=newest.text)
    return call.replies.nothing_to_undo


def chosen_to_forget(call: CommandCall, question: Mapping[str, Any]) -> str:
    """Reply to the person's answer to `question`; ask again if it chooses none or several."""
    choices: list[list[tuple[str, int]]] = question["choices"]
    number, yes = _number(call.rest, len(choices)), _verdict(call.rest)
    if yes is False:
        return call.replies.nothing_forgotten
    if number is not None and 1 <= number <= len(choices):
        chosen = choices[number - 1]
    elif yes and len(choices) == 1:
        chosen = choices[0]
    else:  # a number that is not there, or several
        call.parts.questions.ask(call.owner, "forget", {"choices": choices})
        return call.replies.forget_number.format(most=len(choices)) if len(choices) > 1 else call.replies.forget_one
    forgotten = _forget(call, chosen)
    return call.replies.forgotten.format(fact=forgotten) if forgotten is not None else call.replies.forget_changed


def is_remembered(service: MemoryService, owner: OwnerKey, wanted: str) -> bool:
    """Tell whether a memory has every word of the wish."""
    return bool(asked(wanted)) and bool(_by_words(service, owner, wanted))


def _restored(service: MemoryService, memory: Memory) -> bool:
    """Take a forgotten memory back. Return False if the same is remembered again, or something newer in its place."""
    with service.database.read() as connection:
        there = service.repository.same(connection, memory.owner, memory.text, now=service.now())
    if any(each.key == memory.key for each in there):
        return False
    try:
        service.restore(memory.owner, memory.id, unless_replaced=True)
    except MemoryNotFound:  # another process may have restored or erased it
        return False
    return True


def _named(call: CommandCall) -> list[_Same]:
    """Find memories by the beginning of an id, else by the whole text."""
    service, wanted = call.service, call.rest
    with service.database.read() as connection:
        if found := _ID.fullmatch(wanted):
            by_id = service.repository.by_prefix(connection, call.owner, found[1].lower(), now=service.now())
            if by_id:
                return _with_copies(call, by_id)
        exactly = service.repository.same(connection, call.owner, wanted, now=service.now())
    exactly += [each for each in _by_words(service, call.owner, wanted) if bare(each.text) == bare(wanted)]
    return _with_copies(call, exactly)


def _numbered(call: CommandCall) -> list[_Same]:
    number = _PLAIN_NUMBER.fullmatch(call.rest)
    listed = listed_as(call, int(number[1])) if number else None
    return [] if listed is None else _with_copies(call, [listed])


def _found(call: CommandCall) -> list[_Same]:
    """Find memories by whole words, all of which must occur, else by meaning."""
    if not asked(call.rest):  # the text is only words such as "the" and "a"
        return []
    if found := _by_words(call.service, call.owner, call.rest):
        return _with_copies(call, found)
    try:
        hits = call.service.search(call.owner, call.rest, limit=_LOOKED_AT, min_relevance=_LIKELY)
    except EmbeddingUnavailable:
        log.warning("search.by_words", exc_info=True, extra={"owner": masked(call.owner)})
        return []
    return _with_copies(call, [each.memory for each in hits if each.signals.get("semantic", 0.0) >= _SURELY])


def _by_words(service: MemoryService, owner: OwnerKey, wanted: str) -> list[Memory]:
    """Return the memories that have every word of the wish, in any of its forms."""
    hits = service.search(owner, wanted, mode="text", limit=_LOOKED_AT, min_relevance=_LIKELY)
    words = [set(forms) for forms in asked(wanted)]
    return [hit.memory for hit in hits if all(forms & set(terms(hit.memory.text)) for forms in words)]


def _with_copies(call: CommandCall, found: Sequence[Memory]) -> list[_Same]:
    """Return each text once, with every memory of it, also those that wait for confirmation."""
    service, groups = call.service, dict[str, dict[str, Memory]]()
    for each in found:
        groups.setdefault(bare(each.text), {})[each.id] = each
    with service.database.read() as connection:
        for same in groups.values():
            text = next(iter(same.values())).text
            copies = service.repository.same(connection, call.owner, text, now=service.now())
            same.update((each.id, each) for each in copies)
    return [list(same.values()) for same in groups.values()]


def _ask(call: CommandCall, found: Sequence[_Same]) -> str:
    shown = found[:_SHOWN]
    choices = [[(each.id, each.revision) for each in same] for same in shown]
    call.parts.questions.ask(call.owner, "forget", {"choices": choices})
    if len(found) == 1:
        return call.replies.forget_this.format(fact=one_line(found[0][0].text))
    zone = call.zone
    lines = [f"{number}. {with_id(same[0], with_day(same[0], zone))}" for number, same in enumerate(shown, 1)]
    more = [call.replies.forget_more] if len(found) > _SHOWN else []
    return "\n".join([call.replies.forget_which, *lines, *more])


def _forget(call: CommandCall, chosen: Sequence[tuple[str, int]]) -> str | None:
    """Return the text of what was forgotten; None if nothing is as it was shown (any more)."""
    text = None
    for memory_id, revision in chosen:
        try:
            text = call.service.forget(call.owner, memory_id, revision=revision).text
        except (MemoryNotFound, StaleMemory):
            log.info("forget.changed", extra={"owner": masked(call.owner)})
    return text


def is_choice(text: str) -> bool:
    """Tell whether a text may be the answer to a question of this kind."""
    return _verdict(text) is not None or _number(text, _SHOWN) is not None or bool(_SEVERAL.fullmatch(text))


def _verdict(text: str) -> bool | None:
    """Read a text that is a yes or a no and nothing else; None for any other text."""
    found = agrees(text) if len(text) <= _LONGEST_ANSWER else None
    return found.yes if found is not None and not found.rest else None


def _number(text: str, many: int) -> int | None:
    """Return the place in a list of `many` that a text names, as "2" or "the last one"; it may lie outside."""
    if len(text) > _LONGEST_ANSWER or len(text.split()) > _MOST_WORDS:
        return None
    if found := _PLAIN_NUMBER.fullmatch(text):
        return int(found[1])
    listed = AIMessage("\n".join(f"{number}. {number}" for number in range(1, many + 1)))
    for reference in resolve(text, [listed]).references:
        if reference.sort in ("number", "ordinal", "last") and len(reference.numbers) == 1:
            return reference.numbers[0]
    return None


def why(call: CommandCall) -> str:
    """Explain the memories meant by an id, a whole text, a number of /memories, or words."""
    if not call.rest:
        return call.replies.why_what
    found = [same[0] for same in (_named(call) or _numbered(call) or _found(call))[:_MOST_EXPLAINED]]
    if not found:
        return call.replies.forget_unknown.format(words=one_line(call.rest))
    explained = [call.parts.provenance.explained(each) for each in found]
    call.service.note_viewed(call.owner, [each.id for each in found])
    return "\n\n".join("\n- ".join(_lines(each, call)) for each in explained)


def _lines(found: Why, call: CommandCall) -> list[str]:
    held, zone, replies = found.memory, call.zone, call.replies
    told = _date(found.told_at, zone)
    if found.quote is not None:
        origin = replies.why_said.format(date=told, quote=one_line(found.quote))
    else:
        origin = replies.why_sources[held.source_type].format(date=told)
    before = [
        replies.why_instead_of.format(old=one_line(each.text), date=_date(each.over_at or each.updated_at, zone))
        for each in found.instead_of
    ]
    waits = [replies.why_pending] if held.status == "pending" else []
    return [with_id(held, one_line(held.text)), origin, *before, *waits]


def _date(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"
