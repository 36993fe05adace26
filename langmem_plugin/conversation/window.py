"""The part of a conversation that a model is shown: whole turns, within a budget of tokens, which are estimated here.

Every tool call has its result.

The functions are pure; messages come newest last. Nothing here changes what is stored.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.conversation.media.inline_media import inline_of
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.logs import event_log

log = event_log(__name__)

CountTokens = Callable[[BaseMessage], int]

_KEPT = 2
_BLOCK = 5  # turns
_CHARACTERS = 4  # characters of a token, in most languages
_PICTURE = 1_600
"""The tokens of the largest picture that providers do not make smaller, so that a limit holds for any of them.

Anthropic takes up to 1,568 (docs.anthropic.com/en/docs/build-with-claude/vision), OpenAI up to 85 + 8 tiles of 170 =
1,445 (platform.openai.com/docs/guides/images-vision).
"""
_UNANSWERED = "This call did not finish: it was interrupted. Call it again if it is still wanted."


def window(
    messages: Sequence[BaseMessage],
    *,
    max_turns: int,
    max_tokens: int,
    count_tokens: CountTokens,
) -> list[BaseMessage]:
    """The newest whole turns that fit, with their calls paired.

    A turn is a person's message and all that follows until the next. The oldest turns go first, five or so at once: so
    the window begins at the same message for some turns, and a provider goes on from what it has read. When the last
    turn alone is too long its oldest steps (a call with its results) go in the same way, never the person's message;
    the last two messages always stay, and when even they are too long a WARNING is logged.
    """
    turns = _turns(paired(messages))
    costs = [sum(map(count_tokens, turn)) for turn in turns]
    first = _first_shown(costs, max_turns, max_tokens)
    kept = turns[first:]
    oversized = len(kept) == 1 and costs[first] > max_tokens
    if oversized:
        kept = [_shortened(kept[0], max_tokens, count_tokens)]
    shown = [message for turn in kept for message in turn]
    if len(shown) < _KEPT and first > 0:
        shown = _steps(turns[first - 1])[-1] + shown
    if oversized and sum(map(count_tokens, shown)) > max_tokens:
        log.warning("window.oversized", extra={"messages": len(shown), "max_tokens": max_tokens})
    return shown


def _first_shown(costs: Sequence[int], most: int, budget: int) -> int:
    """The place of the first part that is shown, among parts of these costs that came one after another.

    If the parts are too many or cost too much, the oldest go, so many that five more have room, but no more than half.
    The last two stay if they fit. The number that goes does not depend on the newest part, which may still grow.
    """
    first, held = 0, 0
    block = min(_BLOCK, max(most // 2, 1))
    for at, cost in enumerate(costs):
        held += cost
        before = at - first
        if before == 0 or (held <= budget and before < most):
            continue
        room = min(_BLOCK * (held - cost) // before, budget // 2)
        while first < at and (
            held > budget
            or at - first >= most
            or (first < at - 1 and (held - cost > budget - room or at - first > most - block))
        ):
            held -= costs[first]
            first += 1
    return first


def newest_steps(messages: Sequence[BaseMessage], most: int) -> list[BaseMessage]:
    """The newest messages, at most `most`; the newest call stays whole with its results, however many they are."""
    shown: list[BaseMessage] = []
    for step in reversed(_steps(paired(messages))):
        if shown and len(shown) + len(step) > most:
            break
        shown = step + shown
    return shown


def paired(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with each call followed by its results, as every provider demands.

    A call without a result gets one that says so (a crash, an interrupt answered by a new message); a result that came
    later moves up to its call. A result whose call is gone is left out; one that never had a call is shown as the
    assistant's own account of it.
    """
    results = _results(messages)
    of_calls = set(map(id, results.values()))
    shown: list[BaseMessage] = []
    for at, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if id(message) not in of_calls and message.tool_call_id == message.id:
                shown.append(_as_told(message))
            continue
        shown.append(message)
        if isinstance(message, AIMessage):
            shown += [results.get((at, call_id)) or _missing(call_id, name) for call_id, name in _calls(message)]
    return shown


def _as_told(message: ToolMessage) -> AIMessage:
    """The assistant's message in place of a result without a call: such a result names itself.

    The model never made a call for it, and a made-up one is refused if no tools are bound.
    """
    said = f"[Result of {message.name or 'a tool'}]\n{message.text}"
    return AIMessage(said, id=message.id, response_metadata=message.response_metadata)


def _results(messages: Sequence[BaseMessage]) -> dict[tuple[int, str], ToolMessage]:
    """The results by (place of the call, its id). Small models reuse an id: a result is the latest call's."""
    latest: dict[str, int] = {}
    results = {}
    for at, message in enumerate(messages):
        if isinstance(message, AIMessage):
            latest.update((call_id, at) for call_id, _ in _calls(message))
        elif isinstance(message, ToolMessage) and message.tool_call_id in latest:
            results[latest[message.tool_call_id], message.tool_call_id] = message
    return results


def _calls(message: AIMessage) -> Iterator[tuple[str, str]]:
    # Providers also get the calls that could not be parsed, and want a result for each.
    for call in (*message.tool_calls, *message.invalid_tool_calls):
        yield call["id"] or "", call["name"] or ""


def _missing(call_id: str, name: str) -> ToolMessage:
    return ToolMessage(_UNANSWERED, tool_call_id=call_id, name=name, status="error")


def _turns(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    turns: list[list[BaseMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _shortened(turn: list[BaseMessage], budget: int, count_tokens: CountTokens) -> list[BaseMessage]:
    """The person's message and the newest steps that fit; at least those with the last two messages."""
    head = turn[:1] if isinstance(turn[0], HumanMessage) else []
    steps = _steps(turn[len(head) :])
    costs = [sum(map(count_tokens, step)) for step in steps]
    first = _first_shown(costs, sys.maxsize, budget - sum(map(count_tokens, head)))
    while first > 0 and sum(map(len, steps[first:])) < _KEPT:
        first -= 1
    return head + [message for step in steps[first:] for message in step]


def _steps(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    """The messages in groups that must stay together: a message and the results of its calls."""
    steps: list[list[BaseMessage]] = []
    for message in messages:
        if steps and isinstance(message, ToolMessage):
            steps[-1].append(message)
        else:
            steps.append([message])
    return steps


def estimated_tokens(message: BaseMessage) -> int:
    """The estimated tokens of a message: a quarter of its characters, and 1,600 for each picture.

    Nothing is downloaded for it. The characters are those of its text and of its calls' arguments as JSON. A picture
    counts whether it is still in the message, given by its URL, or a line that stands for it.
    """
    characters = len(message.text)
    if isinstance(message, AIMessage):
        calls = (*message.tool_calls, *message.invalid_tool_calls)
        characters += sum(len(call["name"] or "") + len(_as_json(call["args"])) for call in calls)
    blocks = message.content if isinstance(message.content, list) else ()
    pictures = sum(_is_picture(block) for block in blocks if isinstance(block, dict))
    return characters // _CHARACTERS + pictures * _PICTURE


def _as_json(arguments: Any) -> str:
    if isinstance(arguments, str):  # of a call that could not be parsed
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str, skipkeys=True)
    except (ValueError, RecursionError):  # circular or nested too deeply: it can be neither stored nor sent
        return ""


def _is_picture(block: dict[Any, Any]) -> bool:
    inline = inline_of(block)
    if inline is not None:
        return inline.kind == "image" or (inline.mime_type or "").startswith("image/")
    return any(each.kind == "image" and (each.path or each.url) for each in references_in(block))
