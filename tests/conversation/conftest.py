"""What the conversation tests share: both engines, fresh savers, a scripted model, and a comparison that lets nothing pass."""

import dataclasses
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from typing import Any

import pytest
from hypothesis import Phase, settings
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Interrupt, Send
from pydantic import BaseModel

from langmem_plugin import ConversationSaver
from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.database import Database

settings.register_profile(
    "suite",
    max_examples=int(os.environ.get("LAW_EXAMPLES", "25")),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
settings.load_profile("suite")


@pytest.fixture
def database(database_url):
    with Database(database_url) as opened:
        yield opened


@pytest.fixture
def saver(database, clock):
    with ConversationSaver(database, now=clock) as opened:
        yield opened


class Scripted(BaseChatModel):
    """Says the next line of its script: the one after as many as the conversation holds already."""

    lines: Sequence[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Scripted":
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        said = sum(isinstance(message, AIMessage) for message in messages)
        line = self.lines[said % len(self.lines)]
        return ChatResult(generations=[ChatGeneration(message=line.model_copy(update={"id": f"ai-{said}"}))])


class _Lossless(StrictSerializer):
    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(repr(obj) if isinstance(obj, BaseException) else obj)  # what a task raised is a text


def lossless(*allowed: str) -> InMemorySaver:
    """The stock saver, with a serializer that gives back what it was given: its own makes lists of tuples."""
    return InMemorySaver(serde=_Lossless(allowed))


def exact(value: Any) -> Any:  # noqa: C901, PLR0911 - one case for each kind of value
    """A form in which two values are equal only if no reader could tell them apart: types count, 1 is not True."""
    match value:
        case BaseModel():
            fields = {**value.__dict__, **(value.__pydantic_extra__ or {})}
            return type(value).__name__, {name: exact(part) for name, part in fields.items()}
        case Send():
            return "Send", value.node, exact(value.arg)
        case Interrupt():
            return "Interrupt", exact(value.value), value.id
        case Enum():
            return type(value).__name__, value.name
        case dict():
            return type(value).__name__, {(type(key).__name__, key): exact(part) for key, part in value.items()}
        case list() | tuple():
            return type(value).__name__, [exact(part) for part in value]
        case set() | frozenset():
            return type(value).__name__, sorted(map(repr, map(exact, value)))
        case BaseException():
            return type(value).__name__, str(value)
    if dataclasses.is_dataclass(value):
        return type(value).__name__, {part.name: exact(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if hasattr(value, "tolist"):
        return type(value).__name__, str(value.dtype), exact(value.tolist())
    return type(value).__name__, repr(value)


def facts(found: CheckpointTuple) -> dict[str, Any]:
    """All that a checkpoint says, with versions cut to their number: the tail is random in the stock savers."""
    body: Any = found.checkpoint
    return {
        "id": body["id"],
        "namespace": found.config["configurable"].get("checkpoint_ns", ""),
        "parent": found.parent_config and found.parent_config["configurable"]["checkpoint_id"],
        "values": {name: exact(part) for name, part in body["channel_values"].items()},
        "versions": _numbers(body["channel_versions"]),
        "seen": {node: _numbers(versions) for node, versions in body["versions_seen"].items()},
        "updated": body.get("updated_channels"),
        "metadata": exact(found.metadata),
        "pending": [(task, channel, exact(part)) for task, channel, part in found.pending_writes or ()],
    }


def history(saver: BaseCheckpointSaver[Any], thread: str, namespace: str | None = None) -> list[dict[str, Any]]:
    """The facts of every checkpoint of a thread, namespace by namespace, each newest first."""
    configurable = {"thread_id": thread} | ({} if namespace is None else {"checkpoint_ns": namespace})
    found = [facts(each) for each in saver.list({"configurable": configurable})]
    grouped = defaultdict(list)
    for each in found:
        grouped[each["namespace"]].append(each)
    return [each for group in sorted(grouped.values(), key=lambda group: group[-1]["id"]) for each in group]


def _numbers(versions: dict[str, Any]) -> dict[str, int]:
    return {channel: int(str(version).split(".")[0]) for channel, version in versions.items()}


_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00")


def without_chance(value: Any) -> str:
    """The value's text with every random id named by the order of its first appearance, and no times."""
    names: dict[str, str] = {}
    text = _RANDOM.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), repr(_sorted(value)))
    return _TIME.sub("<time>", text)


def _sorted(value: Any) -> Any:
    """Entries by their keys, random ids aside: the order of a dict means nothing here."""
    match value:
        case dict():
            entries = [(key, _sorted(part)) for key, part in value.items()]
            return sorted(entries, key=lambda entry: _RANDOM.sub("", repr(entry[0])))
        case list() | tuple():
            return [_sorted(part) for part in value]
    return value


@pytest.fixture
def fresh(database, clock):
    """Makes savers that know nothing yet, as after a restart, on the database of the test."""
    opened: list[ConversationSaver] = []

    def make(**arguments: Any) -> ConversationSaver:
        opened.append(ConversationSaver(database, now=clock, **arguments))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
