"""The law of the checkpointer: whatever was put reads back, at every checkpoint, exactly as from InMemorySaver.

These differences are meant, and everything else is compared: the tail of a version (random in the stock savers);
without a `checkpoint_ns`, a list that is newest first over all namespaces; and a message edited into one that Python calls equal (1 into True, (1, 2) into a
named tuple of the same) stays as it was first.
"""

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Send
from pydantic import BaseModel
from sqlalchemy import select

from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.database.conversation_tables import message as message_table
from tests.cases import for_each
from tests.conversation.conftest import facts, history, lossless

THREAD, AGAIN = itertools.count(), itertools.count()


class Dish(BaseModel):
    name: str
    minutes: float


@dataclass
class Price:
    amount: float
    currency: str = "EUR"


class Spot(NamedTuple):
    aisle: int
    shelf: int


def short(name: str, strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy under a name: nested ones would be spelled out over many pages, which takes minutes."""

    @st.composite
    def drawn(draw: st.DrawFn, _name: str) -> Any:
        return draw(strategy)

    return drawn(name)


def _message(kind: type[BaseMessage], content: Any, **rest: Any) -> BaseMessage:
    return kind(content, **rest)


# Messages

texts = st.sampled_from(["", "hi", "number 2", "Ünïcode שלום 🍕", "x" * 700])
ids = st.sampled_from([None, None, "a", "b", "c", "d"])
scalars = st.sampled_from([0, True, 2, -0.5, None, "1", "", b"1", 2**63, float("inf")])  # no two of them are equal
plain = short(
    "plain",
    st.recursive(
        scalars, lambda part: st.lists(part, max_size=2) | st.dictionaries(st.sampled_from("kl"), part, max_size=2)
    ),
)
artifacts = short(
    "artifacts",
    st.one_of(
        plain,
        st.tuples(scalars, scalars),
        st.builds(Price, st.sampled_from([1, 1.5])),
        st.builds(Dish, name=texts, minutes=st.sampled_from([1, 2.5])),
        st.builds(Spot, st.integers(7, 8), st.just(9)),
        st.just(np.array([[1.0, 2.0]])),
        st.just(float("nan")),
        st.frozensets(st.integers(0, 2), max_size=2),
    ),
)
contents = short(
    "contents",
    (
        texts
        | st.lists(
            texts | st.fixed_dictionaries({"type": st.just("text"), "text": texts, "rank": scalars}),
            min_size=1,
            max_size=2,
        )
    ),
)
calls = short(
    "calls",
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.just("find"),
                "args": st.dictionaries(st.sampled_from("pq"), plain, max_size=2),
                "id": st.just("t"),
            }
        ),
        max_size=2,
    ),
)
messages = short(
    "messages",
    st.one_of(
        st.builds(partial(_message, HumanMessage), contents, id=ids, name=st.sampled_from([None, "mom"])),
        st.builds(
            partial(_message, AIMessage),
            contents,
            id=ids,
            tool_calls=calls,
            response_metadata=st.just({}) | st.just({"n": 1}),
        ),
        st.builds(
            partial(_message, ToolMessage),
            contents,
            id=ids,
            tool_call_id=st.just("t"),
            artifact=artifacts,
        ),
        st.builds(
            partial(_message, SystemMessage),
            contents,
            id=ids,
            additional_kwargs=st.dictionaries(st.just("k"), plain, max_size=1),
        ),
    ),
)

# What happens to a list of messages, and other values around messages


def _edited(found: list[BaseMessage], at: int, new: BaseMessage) -> list[BaseMessage]:
    at %= max(len(found), 1)
    old = found[at : at + 1]
    return [*found[:at], *(new.model_copy(update={"id": each.id}) for each in old), *found[at + 1 :]]


@dataclass
class Change:
    """A name for the report of a failing example, and what becomes of the list."""

    name: str
    at: int
    new: list[BaseMessage]

    def __call__(self, before: Any) -> list[BaseMessage]:
        before = list(before) if isinstance(before, list) else []
        at = self.at % max(len(before), 1)
        return {
            "append": before + self.new,
            "replace": self.new,
            "insert": [*before[:at], *self.new, *before[at:]],
            "remove": before[:at] + before[at + 1 :],
            "reverse": before[::-1],
            "twice": [*before, *before[at : at + 2]],
            "edit": _edited(before, at, self.new[0]) if self.new else before,
            "name": [each if each.id else each.model_copy(update={"id": f"n{self.at}"}) for each in before],
            "unname": [each.model_copy(update={"id": None}) for each in before],
        }[self.name]


names = ["append", "append", "append", "replace", "insert", "remove", "reverse", "twice", "edit", "name", "unname"]
changes = short("changes", st.builds(Change, st.sampled_from(names), st.integers(0, 5), st.lists(messages, max_size=3)))
values = short(
    "values",
    st.one_of(
        plain,
        artifacts,
        messages,
        messages.map(lambda one: {"last": one, "n": 1}),
        st.lists(messages, max_size=2).map(lambda some: {"deep": [{"list": some}, 7]}),
        st.tuples(messages, scalars),
        st.builds(Spot, messages, scalars),
        st.lists(messages, max_size=2).map(lambda some: [Send("tools", {"messages": some}), "x"]),
        st.lists(
            messages | st.sampled_from(["a", REMOVE_ALL_MESSAGES]).map(lambda gone: RemoveMessage(id=gone)), max_size=3
        ),
        st.just("big" * 400),
        st.just({"big": ["text"] * 300}),
    ),
)


# Steps on both savers


@dataclass
class Put:
    parent: int
    namespace: str
    change: Change | None
    value: Any
    gone: bool
    quiet: bool  # leaves every channel as it was


@dataclass
class PutWrites:
    parent: int
    task: str
    path: str
    writes: list[tuple[str, Any]]


@dataclass
class ChangeInPlace:
    parent: int
    how: int
    told: bool  # whether the channel gets a new version


@dataclass
class PutAgain:
    parent: int
    change: Change


class Restart:
    def __repr__(self) -> str:
        return "Restart()"


parents = st.integers(0, 3)  # how many checkpoints back: mostly the newest
channels = st.sampled_from(["messages", "messages", "notes", "__interrupt__", "__resume__", "__error__"])
steps = short(
    "steps",
    st.one_of(
        st.builds(Put, parents, st.just(""), changes, values, st.booleans(), st.just(False)),
        st.builds(
            Put, parents, st.sampled_from(["", "sub:1", "sub:1|deep:2"]), changes, values, st.booleans(), st.booleans()
        ),
        st.builds(
            PutWrites,
            parents,
            st.sampled_from(["t1", "t2"]),
            st.sampled_from(["", "~1", "~0"]),
            st.lists(st.tuples(channels, values | st.lists(messages, min_size=1, max_size=2)), max_size=3),
        ),
        st.builds(ChangeInPlace, parents, st.integers(0, 7), st.booleans()),
        st.builds(PutAgain, parents, changes),
        st.builds(Restart),
    ),
)


class Both:
    """The same calls on the stock saver and on ours, as a graph makes them."""

    def __init__(self, fresh) -> None:
        allowed = [f"{__name__}.{own.__name__}" for own in (Dish, Price, Spot)]
        self.fresh = partial(fresh, serde=StrictSerializer(allowed))
        self.stock, self.ours = lossless(*allowed), self.fresh()
        self.thread = f"law-{next(THREAD)}"
        self.made: list[tuple[str, str]] = []  # (namespace, checkpoint id), oldest first

    def take(self, step: Any) -> None:
        match step:
            case Restart():
                self.ours = self.fresh()
            case Put():
                parent = self.known(step.parent, step.namespace)
                if step.quiet:
                    self.put(step.namespace, parent, [{}, {}], gone=())
                else:
                    news = [self.news(saver, parent, step) for saver in (self.stock, self.ours)]
                    self.put(step.namespace, parent, news, gone=("notes",) if step.gone else ())
            case PutWrites(parent=back) if (known := self.known(back, None)) is not None:
                for saver in (self.stock, self.ours):
                    saver.put_writes(self.config(*known), step.writes, step.task, step.path)
            case ChangeInPlace(parent=back) if (known := self.known(back, None)) is not None:
                news = [_changed_in_place(self.read(saver, known), step.how) for saver in (self.stock, self.ours)]
                self.put(known[0], known, news if step.told else [{}, {}], gone=(), held=news)
            case PutAgain(parent=back) if (known := self.known(back, None)) is not None:
                self.put_again(known, step.change)

    def known(self, back: int, namespace: str | None) -> tuple[str, str] | None:
        here = [each for each in self.made if namespace is None or each[0] == namespace]
        return here[-1 - back % len(here)] if here else None

    def news(self, saver: Any, parent: tuple[str, str] | None, step: Put) -> dict[str, Any]:
        before = self.read(saver, parent)["channel_values"] if parent else {}
        new = {} if step.gone else {"notes": step.value}
        return new | ({"messages": step.change(before.get("messages"))} if step.change else {})

    def read(self, saver: Any, known: tuple[str, str] | None) -> Any:
        return saver.get_tuple(self.config(*known)).checkpoint if known else empty_checkpoint()

    def put(
        self,
        namespace: str,
        parent: tuple[str, str] | None,
        news: list[dict[str, Any]],
        gone: tuple[str, ...],
        held: list[dict[str, Any]] | None = None,
    ) -> None:
        made = f"1f{len(self.made):06x}-0000-6000-8000-000000000000"
        for saver, new, old in zip((self.stock, self.ours), news, held or [{}, {}], strict=True):
            before = self.read(saver, parent)
            body = {**empty_checkpoint(), **before, "id": made, "ts": f"{len(self.made)}"}
            body["channel_values"] = {
                name: part for name, part in {**before["channel_values"], **old, **new}.items() if name not in gone
            }
            changed = {
                name: saver.get_next_version(before["channel_versions"].get(name), None) for name in (*new, *gone)
            }
            # As a graph does: in the very dicts it was given.
            body["versions_seen"].setdefault("agent", {}).update(before["channel_versions"])
            body["channel_versions"].update(changed)
            body["updated_channels"] = sorted(changed)
            metadata: Any = {"source": "loop", "step": len(self.made), "parents": {}, "run_id": "r"}
            saver.put(self.config(namespace, parent and parent[1]), body, metadata, changed)
        self.made.append((namespace, made))

    def put_again(self, known: tuple[str, str], change: Change) -> None:
        """The same checkpoint once more with another list, as an interrupted put that is repeated."""
        for saver in (self.stock, self.ours):
            found = saver.get_tuple(self.config(*known))
            body = found.checkpoint
            body["channel_values"]["messages"] = change(body["channel_values"].get("messages"))
            # The stock saver finds values by version, so that no version may be used twice.
            version = f"{saver.get_next_version(body['channel_versions'].get('messages'), None)}{next(AGAIN)}"
            body["channel_versions"] = {**body["channel_versions"], "messages": version}
            parent = found.parent_config and found.parent_config["configurable"]["checkpoint_id"]
            new_versions = {"messages": body["channel_versions"]["messages"]}
            saver.put(self.config(known[0], parent), body, found.metadata, new_versions)

    def config(self, namespace: str, checkpoint_id: str | None) -> Any:
        configurable = {"thread_id": self.thread, "checkpoint_ns": namespace}
        return {"configurable": configurable | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}

    def compare(self) -> None:
        expected = history(self.stock, self.thread)
        assert history(self.ours, self.thread) == expected
        assert history(self.fresh(), self.thread) == expected
        restarted = self.fresh()
        for known in reversed(self.made):
            stock, ours = (facts(saver.get_tuple(self.config(*known))) for saver in (self.stock, restarted))
            assert ours == stock
        for namespace in {namespace for namespace, _ in self.made}:
            stock, ours = (facts(each.get_tuple(self.config(namespace, None))) for each in (self.stock, self.ours))
            assert ours == stock


def _changed_in_place(found: Any, how: int) -> dict[str, Any]:
    """Changes the messages that were handed out, as a careless node does."""
    held = found["channel_values"].get("messages")
    for message in held if isinstance(held, list) else ():
        if not isinstance(message, BaseMessage):
            continue
        match how:
            case 0:
                message.content = f"{message.content}!"
            case 1:
                message.additional_kwargs["seen"] = True
            case 2:
                message.additional_kwargs["seen"] = "twice"
            case 3 if isinstance(message, ToolMessage) and isinstance(message.artifact, dict | list):
                message.artifact = [message.artifact, message.artifact]
            case 4 if isinstance(message, AIMessage) and message.tool_calls:
                message.tool_calls[0]["args"]["p"] = [3.0]
            case 5 if isinstance(message.content, list):
                message.content.append("more")
            case 7:
                message.mood = "good"  # a field of the node's own
    return {"messages": held} if held is not None else {}


def say(*said: BaseMessage) -> Put:
    return Put(0, "", Change("append", 0, list(said)), None, gone=False, quiet=False)


def edit(new: BaseMessage, at: int = 0) -> Put:
    return Put(0, "", Change("edit", at, [new]), None, gone=False, quiet=False)


@pytest.mark.slow
@pytest.mark.spec("C-2", "C-5")
@given(taken=st.lists(steps, min_size=1, max_size=14))
@example(
    taken=[
        say(HumanMessage("same"), HumanMessage("same")),
        Put(0, "", Change("name", 1, []), None, gone=False, quiet=False),
    ]
)
@example(taken=[say(HumanMessage("one", id="a"), AIMessage("two", id="b")), ChangeInPlace(0, 7, told=True), say()])
def test_every_checkpoint_reads_back_as_from_the_stock_saver(fresh, taken):
    both = Both(fresh)
    for step in taken:
        both.take(step)
    if both.made:
        both.compare()


@pytest.mark.spec("C-2")
@for_each(
    "artifact",
    [{"rows": [1, 2]}, (1, Price(2)), Dish(name="soup", minutes=1), np.array([1.0, 2.0]), float("nan")],
    ids=["a dict", "a tuple", "a model", "an array", "not a number"],
)
def test_a_message_is_stored_once_whatever_it_carries(fresh, artifact):
    both = Both(fresh)
    result = ToolMessage("found", tool_call_id="t", id="a", artifact=artifact)
    for number in range(6):
        both.take(say(result if number == 0 else HumanMessage(f"{number}", id=f"h{number}")))
        both.take(Restart() if number == 3 else ChangeInPlace(0, 6, told=True))
    both.compare()
    with both.ours.database.read() as connection:
        rows = connection.execute(select(message_table.c.row).where(message_table.c.thread == both.thread)).all()
    assert len(rows) == 6
