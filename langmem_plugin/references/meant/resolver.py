"""The way from messages to a resolution: new messages are read into the ledger, then the meaning is decided."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    ToolMessage,
    convert_to_messages,
)

from langmem_plugin.errors import InvalidInput
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.references.meant.meaning_decision import Decision, Finding, decide
from langmem_plugin.references.meant.resolution_in_prompt import PreviousCall, Reference, Resolution
from langmem_plugin.references.said.utterance_words import Sentence, forget_read, sentences
from langmem_plugin.references.shown.lists_in_tool_results import ResultList
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_ledger import Ledger, text_of
from langmem_plugin.references.shown.tool_data import packed, plain
from langmem_plugin.references.tokens import typed_atoms
from langmem_plugin.text_sanitizing import one_line


def resolve(utterance: str, messages: Sequence[MessageLikeRepresentation], *, quoted: str | None = None) -> Resolution:
    """Return the meaning of `utterance` in the conversation `messages` (newest last, without the utterance itself),
    which may be anything that LangChain takes for messages: dicts and tuples too.

    `quoted` is the id or the text of the message that the utterance answers, where it quotes one: places and "this"
    then mean what that message showed. The function is pure: the same arguments give the same answer, nothing is read
    or written elsewhere, and no message is changed. It returns no reference rather than a guess. Conversations read
    recently are kept in memory, so that the next turn reads only what is new; `clear_cache` drops them. Raises
    InvalidInput, a ValueError, for arguments in another order, and ValueError for what is no message.
    """
    if not isinstance(utterance, str) or isinstance(messages, str | None) or not isinstance(quoted, str | None):
        raise InvalidInput("resolve(text, messages): first what the person said, then the messages before it")
    ready = all(isinstance(each, BaseMessage) for each in messages)
    history = cast("Sequence[BaseMessage]", messages) if ready else convert_to_messages(messages)
    answered = quoted_place(quoted, history)
    ledger, meant = _settled(history, answered)
    utterance = pointing_part(utterance)
    decision = decide(utterance, ledger, ledger.shown_by(answered))
    if answered is None:
        meant.clear()
        meant[utterance] = decision.entries
    items = {id(entry): plain(entry.item) for entry in (*decision.entries, *decision.unclear)}
    return Resolution(
        references=tuple(_reference(finding, items) for finding in decision.findings),
        question=_ask(decision.unclear, decision.unresolved),
        candidates=tuple(items[id(entry)] for entry in decision.unclear),
        unresolved=tuple(decision.unresolved),
        previous_call=previous_call(utterance, ledger, decision),
        said=utterance,
        shown=tuple(entry.title for entry in ledger.shown_lists[-1].entries) if ledger.shown_lists else (),
    )


def shows_something(messages: Sequence[BaseMessage]) -> bool:
    """Look quickly: False if no tool was called and no reply can hold a list, so that nothing can be referred to."""
    return any(
        isinstance(each, ToolMessage)
        or (isinstance(each, AIMessage) and (each.tool_calls or _MAY_LIST.search(each.text)))
        for each in messages
    )


def quoted_place(quoted: str | None, messages: Sequence[BaseMessage]) -> int | None:
    """Return the place of the quoted message: by its id, else the newest whose text is, or holds, the quote."""
    if not quoted:
        return None
    by_id = (place for place, message in enumerate(messages) if message.id == quoted)
    if (found := next(by_id, None)) is not None:
        return found
    text = " ".join(quoted.split())
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], (AIMessage, HumanMessage)) and text in " ".join(
            text_of(messages[place]).split()
        ):
            return place
    return None


def _reference(finding: Finding, items: dict[int, dict[str, Any]]) -> Reference:
    listed = finding.listed
    return Reference(
        items=tuple(items[id(entry)] for entry in finding.entries),
        words=finding.words,
        reason=finding.reason,
        numbers=tuple(listed.number_of(entry) if listed else None for entry in finding.entries),
        part=finding.part,
        tool=listed.tool if listed else "",
        sort=finding.sort,
        kinds=frozenset[str]().union(*(entry.kind_words for entry in finding.entries)),
    )


def _ask(unclear: Sequence[ItemEntry], unresolved: Sequence[str]) -> str | None:
    """Return a question about several candidates, by number and name, or about words that fit nothing; else None."""
    if unresolved:
        words = " or ".join(f"“{one_line(each)}”" for each in unresolved)
        return f"Nothing that I have shown you is {words}. Which one do you mean?"
    if len(unclear) < 2:
        return None
    names = [f"{place}. {one_line(entry.title)[:60]}" for place, entry in enumerate(unclear[:6], 1)]
    more = f" … ({len(unclear)} in all)" if len(unclear) > 6 else ""
    return f"Which one do you mean: {', '.join(names[:-1])} or {names[-1]}{more}?"


_MAY_LIST = re.compile(r"\n|\d.*\d")  # the items of a list stand on lines, or under two numbers
_SHORT = 4  # words of an utterance that only makes sense with the call before it: "in tel aviv"
_CORRECTION = 7


def previous_call(text: str, ledger: Ledger, decision: Decision) -> PreviousCall | None:
    """Return the last call if the utterance revises it: it begins with a request for a change, corrects a value, or is
    only a value and no answer to a question.
    """
    if not ledger.calls or decision.unresolved:
        return None
    call, said = ledger.calls[-1], sentences(text)
    if not any(_asks_for_a_change(sentence) for sentence in said):
        if decision.findings or len(said) != 1:
            return None
        asked = ledger.reply.rstrip().endswith("?")
        if not (_corrects(said[0]) or (call.turn == ledger.turn and _is_value(said[0], asked=asked))):
            return None
    return PreviousCall(call.tool, plain(call.arguments))


def _corrects(sentence: Sentence) -> bool:
    first, *rest = sentence.words
    if len([word for word in rest if word.text[:1].isalnum()]) >= _CORRECTION or not _tells_a_value(sentence):
        return False
    # "no llegamos a las 8" denies what it says itself
    return "correction" in first or ("not" in first and (sentence.language.name == "en" or "break" in sentence.at(1)))


def _is_value(sentence: Sentence, *, asked: bool) -> bool:
    content = [word for word in sentence.words if word.text[:1].isalnum() and not word.any_of("polite", "agree")]
    if not 0 < len(content) <= _SHORT or any(
        word.any_of("object", "search", "question", "this", "marker") or ("it" in word and "the" not in word)
        for word in content
    ):
        return False
    if _tells_a_value(sentence):
        return not asked and all(word.kinds or typed_atoms(word.text) for word in content)
    return content[0].any_of("placing")


def _tells_a_value(sentence: Sentence) -> bool:
    return any(typed_atoms(word.text) or word.any_of("weekday", "month", "when") for word in sentence.words)


def _asks_for_a_change(sentence: Sentence) -> bool:
    for place, word in enumerate(sentence.words):
        opens = all(each.any_of("polite", "agree", "and", "break", "not") for each in sentence.words[:place])
        if word.any_of("revise") and opens:
            return True
        if word.any_of("instead") and sentence.at(place + 1).any_of("end", "break", "polite"):
            return True
        if not word.any_of("polite", "agree", "and", "break", "not"):
            return any(each.any_of("instead") for each in sentence.words[place:][-2:])
    return False


_KEPT_BYTES = 64_000_000
_MESSAGE_BYTES, _BYTES_PER_BYTE = 1_000, 12  # bytes kept for a message, and for each byte of its content
_AN_END = 2_000  # letters: reading them takes at most a tenth of a second
_EXCHANGES, _MORE = 20, 20
"""The exchanges of a long conversation that are read: the last 20 to 40. Their beginning moves by 20 at once, so that
what was read stays the beginning of what is read next.
"""

_Meant = dict[str, Sequence[ItemEntry]]
"""The references of the utterance that was last asked about with a ledger: the next step of a turn asks the same."""

_kept: LruCache[bytes, tuple[Ledger, _Meant]] = LruCache(_KEPT_BYTES)
"""The ledgers, by all that was said. Conversations can share them: all in them is their own, and results are copies."""


def ledger_of(messages: Sequence[BaseMessage]) -> Ledger:
    """Return the settled ledger of the last exchanges of a conversation."""
    return _settled(messages, None)[0]


def _settled(messages: Sequence[BaseMessage], quoted: int | None) -> tuple[Ledger, _Meant]:
    """Return the settled ledger of the last exchanges of a conversation, and of the exchange with the message at the
    place `quoted`. What was read before is continued, not read again.
    """
    places = _read_places(messages, quoted)
    keys, sizes = _prefixes(messages, places)
    ledger, meant, done = Ledger(), _Meant(), 0
    for count in range(len(keys), 0, -1):
        if (kept := _kept.get(keys[count - 1])) is not None:
            (ledger, meant), done = kept, count
            break
    if done < len(places) or not places:
        ledger = ledger.copy()
        for place in places[done:]:
            message, ledger.place = messages[place], place - 1
            if isinstance(message, HumanMessage):
                ledger.settle()
                said = pointing_part(text_of(message))
                ledger.hear(said, decide(said, ledger).entries if (known := meant.get(said)) is None else known)
            else:
                ledger.read(_own(message))
            meant = {}
        if places and len(keys) == len(places):
            if done:
                _kept.drop(keys[done - 1])
            _kept.put(keys[-1], (ledger, meant), sum(sizes))
    settled = ledger.copy()
    settled.settle()
    return settled, meant


def results_of(messages: Sequence[BaseMessage]) -> list[ResultList]:
    """Return all results that tools gave in a conversation, the oldest first."""
    ledger = Ledger()
    for message in messages:
        if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and message.tool_calls):
            ledger.read(_own(message))
    return ledger.result_lists


def _read_places(messages: Sequence[BaseMessage], quoted: int | None) -> Sequence[int]:
    """Return the places of the messages that are read."""
    begins = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    left_out = (len(begins) - _EXCHANGES) // _MORE * _MORE
    first = begins[left_out] if left_out > 0 else 0
    recent = range(first, len(messages))
    if quoted is None or quoted >= first:
        return recent
    begin = bisect_right(begins, quoted)
    exchange = range(begins[begin - 1] if begin else 0, begins[begin])
    return [*exchange, *recent]


def _prefixes(messages: Sequence[BaseMessage], places: Sequence[int]) -> tuple[list[bytes], list[int]]:
    """Return a key for what is read up to each message, and about how many bytes each adds to the ledger.

    They end before a message that holds something of an unknown kind: such messages could not be told apart.
    """
    keys, sizes, key = [], [], b""
    for place in places:
        content = _content(messages[place])
        if content is None:
            break
        key = sha256(key + place.to_bytes(8) + content).digest()
        keys.append(key)
        sizes.append(_MESSAGE_BYTES + _BYTES_PER_BYTE * len(content))
    return keys, sizes


def clear_cache() -> None:
    """Forget every conversation read so far; for erasing a person's data from memory."""
    _kept.clear()
    forget_read()


def pointing_part(utterance: str) -> str:
    """Return the part of an utterance to read: of a very long one only its ends, where people say what they want."""
    return utterance if len(utterance) <= 2 * _AN_END else f"{utterance[:_AN_END]}\n{utterance[-_AN_END:]}"


def _content(message: BaseMessage) -> bytes | None:
    """Return all of a message on which reading it depends; None if it cannot be told."""
    if isinstance(message, ToolMessage):
        parts = (message.name, message.tool_call_id, message.artifact, message.status)
        return packed(["tool", message.content, *parts])
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    if isinstance(message.content, str) and not calls:
        return f"{message.type}\0{message.content}".encode("utf-8", "surrogatepass")  # half an emoji too
    return packed([message.type, message.content, calls])


def _own(message: BaseMessage) -> BaseMessage:
    """Return a message whose data nobody else can change."""
    if isinstance(message, ToolMessage):
        data = {"content": plain(message.content), "artifact": plain(message.artifact)}
    elif isinstance(message, AIMessage):
        data = {"tool_calls": plain(message.tool_calls)}
    else:
        return message
    return message.model_copy(update=data)
