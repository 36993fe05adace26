"""From messages to a resolution: what is new is read into the ledger, then it is decided what the utterance means."""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages

from langmem_plugin.errors import InvalidInput
from langmem_plugin.foreign_text import one_line
from langmem_plugin.references.meant.by_choice import Closeness
from langmem_plugin.references.meant.decision import decide
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.ledger_cache import ledger_of, pointing_part
from langmem_plugin.references.meant.model_choice import Chooser, by_model, choose
from langmem_plugin.references.meant.resolution import Reference, Resolution
from langmem_plugin.references.meant.revised_call import previous_call
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.plain_data import plain


def resolve(
    utterance: str,
    messages: Sequence[MessageLikeRepresentation],
    *,
    closeness: Closeness | None = None,
    model: BaseChatModel | Chooser | None = None,
) -> Resolution:
    """What `utterance` points at in the conversation `messages` (newest last, without the utterance itself), which may
    be anything that LangChain takes for messages: dicts and tuples too.

    Without a model pure: same arguments, same answer; nothing is read or written elsewhere and no message is changed.
    Says none rather than guess, and asks (`question`) when several items are equally meant. Conversations read
    recently are kept in memory so that the next turn reads only what is new; `clear_cache` drops them.

    `closeness(text, texts)`, if given, helps to understand an indirect answer to "do you mean A or B?" ("the sad
    one"); it is called then and at no other time. `model`, if given, is asked once, shortly, where rules found
    something without being sure. Raises InvalidInput, a ValueError,
    for arguments in another order, and ValueError for what is no message.
    """
    if not isinstance(utterance, str) or isinstance(messages, str):
        raise InvalidInput("resolve(text, messages): first what the person said, then the messages before it")
    ready = all(isinstance(each, BaseMessage) for each in messages)
    history = cast("Sequence[BaseMessage]", messages) if ready else convert_to_messages(messages)
    ledger = ledger_of(history)
    utterance = pointing_part(utterance)
    decision = decide(utterance, ledger, closeness)
    if model is not None:
        chooser = partial(choose, model) if isinstance(model, BaseChatModel) else model
        decision = by_model(decision, utterance, ledger, chooser)
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


def _reference(finding: Finding, items: dict[int, dict[str, Any]]) -> Reference:
    listed = finding.listed
    number_of: dict[int, int | None] = {}
    if listed is not None and (listed.numbered or len(listed.entries) > 1):
        for place, (entry, shown) in enumerate(zip(listed.entries, listed.labels, strict=True), 1):
            number_of[id(entry)] = shown if listed.numbered else place
    return Reference(
        items=tuple(items[id(entry)] for entry in finding.entries),
        words=finding.words,
        reason=finding.reason,
        confidence=finding.confidence,
        numbers=tuple(number_of.get(id(entry)) for entry in finding.entries),
        part=finding.part,
        tool=listed.tool if listed else "",
        sort=finding.sort,
        kinds=frozenset().union(*(entry.kind_words for entry in finding.entries)) if finding.entries else frozenset(),
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
