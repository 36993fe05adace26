"""From messages to a resolution: what is new is read into the ledger, then it is decided what the utterance means."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    convert_to_messages,
)

from langmem_plugin.errors import InvalidInput
from langmem_plugin.foreign_text import one_line
from langmem_plugin.references.meant.decision import Finding, decide
from langmem_plugin.references.meant.ledger_cache import ledger_of, pointing_part
from langmem_plugin.references.meant.resolution import Reference, Resolution
from langmem_plugin.references.meant.revised_call import previous_call
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import text_of
from langmem_plugin.references.shown.plain_data import plain


def resolve(utterance: str, messages: Sequence[MessageLikeRepresentation], *, quoted: str | None = None) -> Resolution:
    """Returns what `utterance` points at in the conversation `messages` (newest last, without the utterance itself), which
    may be anything that LangChain takes for messages: dicts and tuples too.

    `quoted` is the id or the text of the message of the conversation that the utterance answers, where it quotes one:
    places and "this" are then of what that message showed. Pure: same arguments, same answer; nothing is read or written
    elsewhere and no message is changed. It says none rather than guess. Conversations read recently are kept in memory
    so that the next turn reads only what is new; `clear_cache` drops them. Raises InvalidInput, a
    ValueError, for arguments in another order, and ValueError for what is no message.
    """
    if not isinstance(utterance, str) or isinstance(messages, str):
        raise InvalidInput("resolve(text, messages): first what the person said, then the messages before it")
    ready = all(isinstance(each, BaseMessage) for each in messages)
    history = cast("Sequence[BaseMessage]", messages) if ready else convert_to_messages(messages)
    answered = quoted_place(quoted, history)
    ledger = ledger_of(history, answered)
    utterance = pointing_part(utterance)
    decision = decide(utterance, ledger, ledger.shown_by(answered))
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


def quoted_place(quoted: str | None, messages: Sequence[BaseMessage]) -> int | None:
    """Where the quoted message stands: by its id, else the newest whose text is, or holds, what is quoted."""
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
    """A question that names several candidates by number and name, or the words that fit nothing; None for neither."""
    if unresolved:
        words = " or ".join(f"“{one_line(each)}”" for each in unresolved)
        return f"Nothing that I have shown you is {words}. Which one do you mean?"
    if len(unclear) < 2:
        return None
    names = [f"{place}. {one_line(entry.title)[:60]}" for place, entry in enumerate(unclear[:6], 1)]
    more = f" … ({len(unclear)} in all)" if len(unclear) > 6 else ""
    return f"Which one do you mean: {', '.join(names[:-1])} or {names[-1]}{more}?"
