"""The way from an utterance and the messages before it to a resolution."""

import re
from collections.abc import Sequence
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
from langmem_plugin.references.dates_and_numbers import typed_atoms
from langmem_plugin.references.meant.conversation_ledger import pointing_part, settled_ledger
from langmem_plugin.references.meant.meaning_decision import Decision, Finding, decide
from langmem_plugin.references.meant.resolution_in_prompt import PreviousCall, Reference, Resolution
from langmem_plugin.references.said.utterance_words import Sentence, Word, sentences
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_ledger import Ledger, text_of
from langmem_plugin.references.shown.tool_data import plain
from langmem_plugin.text_sanitizing import one_line

_MAY_LIST = re.compile(r"\n|\d.*\d")  # the items of a list stand on lines, or under two numbers
_SHORT = 7  # words of what only makes sense with the call before it


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
    ledger, meant = settled_ledger(history, answered)
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


def previous_call(text: str, ledger: Ledger, decision: Decision) -> PreviousCall | None:
    """Return the last call if the utterance revises it: it asks the same of another thing, corrects a value, or changes
    what the reply still asks about. What was done or listed is changed by a call of its own.
    """
    if not ledger.calls or decision.unresolved:
        return None
    call, said, asked = ledger.calls[-1], sentences(text), ledger.reply.rstrip().endswith("?")
    changes = any(_asks_for_a_change(each, asked=asked) or _asks_of_another_time(each) for each in said)
    if not changes and (decision.findings or len(said) != 1 or not _corrects(said[0])):
        return None
    return PreviousCall(call.tool, plain(call.arguments))


def _corrects(sentence: Sentence) -> bool:
    first, *rest = sentence.words
    # "no llegamos a las 8" denies what it says itself
    denies = "denial" in first and (sentence.language.name == "en" or "break" in sentence.at(1))
    told = any(typed_atoms(word.text) or _tells_when(word) for word in rest)
    return (denies or first.any_of("correction", "rather")) and told and _is_short(sentence)


def _asks_for_a_change(sentence: Sentence, *, asked: bool) -> bool:
    for word in sentence.words:
        if "revise" in word or (asked and "change" in word):
            return True
        if not word.any_of("polite", "agree", "and", "break", "not"):
            break
    return any("instead" in each for each in sentence.words[-2:]) and _is_short(sentence)


def _asks_of_another_time(sentence: Sentence) -> bool:
    """Tell whether it is no more than "and next week?"."""
    first = sentence.words[0]
    joined = "and" in first or first.prefix in tuple(sentence.language.joins)
    return joined and all(_tells_when(each) or "the" in each for each in sentence.words["and" in first :] or [first])


def _tells_when(word: Word) -> bool:
    return word.any_of("weekday", "month", "when")


def _is_short(sentence: Sentence) -> bool:
    return sum(word.text[:1].isalnum() for word in sentence.words) <= _SHORT
