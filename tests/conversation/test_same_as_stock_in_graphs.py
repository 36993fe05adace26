"""Real graphs on the stock saver and on ours, side by side: what a graph leaves behind is the same."""

import asyncio
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from tests.cases import for_each
from tests.conversation.conftest import Scripted, exact, history, lossless, without_chance

pytestmark = pytest.mark.slow


@dataclass
class Talk:
    """One graph on one saver, run the same way throughout: sync or async, with one durability."""

    graph: Any
    durability: str
    in_async: bool
    config: Any = field(default_factory=lambda: {"configurable": {"thread_id": "side-by-side"}})

    def run(self, given: Any, config: Any = None) -> Any:
        config = config or self.config
        if self.in_async:
            return asyncio.run(self.graph.ainvoke(given, config, durability=self.durability))
        return self.graph.invoke(given, config, durability=self.durability)

    def say(self, text: str, name: str) -> Any:
        return self.run({"messages": [HumanMessage(text, id=name)]})

    def update(self, values: Any, config: Any = None, as_node: str | None = None) -> Any:
        if self.in_async:
            return asyncio.run(self.graph.aupdate_state(config or self.config, values, as_node))
        return self.graph.update_state(config or self.config, values, as_node)

    def states(self) -> list[Any]:
        return list(self.graph.get_state_history(self.config))

    def left(self) -> Any:
        """What anybody can see of the history: states, what would run next, tasks and their interrupts."""
        return [
            {
                "values": exact(state.values),
                "next": state.next,
                "metadata": exact(state.metadata),
                "tasks": [(task.name, task.error, exact(task.interrupts), exact(task.result)) for task in state.tasks],
                "parent": state.parent_config and state.parent_config["configurable"]["checkpoint_id"],
                "id": state.config["configurable"]["checkpoint_id"],
            }
            for state in self.states()
        ]


# Graphs


def echo(saver: Any) -> Any:
    """Answers without an id of its own, so that the graph names the message."""

    def answer(state: MessagesState) -> Any:
        return {
            "messages": AIMessage(
                f"{len(state['messages'])}: {state['messages'][-1].text}", id=f"a{len(state['messages'])}"
            )
        }

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


@tool(response_format="content_and_artifact")
def find(dish: str) -> tuple[str, dict[str, Any]]:
    """Finds recipes."""
    return f"1. {dish} soup", {"items": [(1, f"{dish} soup")] * 20, "dish": dish}


def call(name: str, **arguments: Any) -> Any:
    return {"name": "find", "args": arguments, "id": name, "type": "tool_call"}


def agent(saver: Any) -> Any:
    both = AIMessage("", tool_calls=[call("c1", dish="leek"), call("c2", dish="pea")])
    lines = [both, AIMessage("Two soups."), AIMessage("", tool_calls=[call("c3", dish="fig")]), AIMessage("Figs.")]
    return create_agent(Scripted(lines=lines), [find], checkpointer=saver)


def forgetful(saver: Any) -> Any:
    """Drops, clears, edits and reorders, as the person asks."""

    def obey(state: MessagesState) -> Any:
        said = state["messages"]
        match said[-1].text:
            case "drop":
                return {"messages": [RemoveMessage(id=said[0].id)]}
            case "clear":
                return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), AIMessage("Gone.", id="gone")]}
            case "edit":
                return {"messages": [HumanMessage("better", id=said[0].id)]}
            case "turn":
                return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *reversed(said)]}
            case "smudge":
                said[0].additional_kwargs["smudged"] = True
                said[0].content = f"{said[0].content}~"
                return {"messages": []}
        return {"messages": AIMessage("Yes.", id=f"yes-{len(said)}")}

    return StateGraph(MessagesState).add_node(obey).add_edge(START, "obey").compile(checkpointer=saver)


class Order(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    asked: Annotated[list[str], operator.add]


def nested(own: bool) -> Callable[[Any], Any]:
    """A subgraph that asks the person, with its own memory or with its parent's."""

    def ask(state: Order) -> Any:
        answer = interrupt({"question": f"sure about {state['messages'][-1].text}?"})
        return {"asked": [answer], "messages": [AIMessage(f"You said {answer}.", id=f"s{len(state['messages'])}")]}

    def build(saver: Any) -> Any:
        inner = StateGraph(Order).add_node(ask).add_edge(START, "ask").compile(checkpointer=True if own else None)
        outer = StateGraph(Order).add_node("inner", inner).add_node("after", lambda _: {"asked": ["after"]})
        return outer.add_edge(START, "inner").add_edge("inner", "after").compile(checkpointer=saver)

    return build


def fan(saver: Any) -> Any:
    """Three tasks at once, two of which ask, each given a message by Send."""

    def spread(state: Order) -> Any:
        return [Send("work", {"messages": [AIMessage(word, id=f"w{n}")], "asked": []}) for n, word in enumerate("abc")]

    def work(state: Order) -> Any:
        word = state["messages"][0].text
        return {"asked": [word if word == "b" else interrupt(f"{word}?")], "messages": state["messages"]}

    graph = StateGraph(Order).add_node(work).add_conditional_edges(START, spread, ["work"])
    return graph.add_edge("work", END).compile(checkpointer=saver)


def stumbling(saver: Any) -> Any:
    """A step that fails until the person says please, beside one that does not."""

    def steady(state: Order) -> Any:
        return {
            "asked": ["steady"],
            "messages": [ToolMessage("kept", tool_call_id="t", id=f"k{len(state['messages'])}")],
        }

    def wobbly(state: Order) -> Any:
        if "please" not in state["asked"]:
            raise ValueError("not today")
        return {"asked": ["wobbly"]}

    graph = StateGraph(Order).add_node(steady).add_node(wobbly).add_edge(START, "steady").add_edge(START, "wobbly")
    return graph.compile(checkpointer=saver).with_config(max_concurrency=1)  # one after the other, by their names


def collect(before: list[Any], writes: list[Any]) -> list[Any]:
    return add_messages(before, [each for write in writes for each in (write if isinstance(write, list) else [write])])


class Delta(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(collect, snapshot_frequency=3)]


def delta(saver: Any) -> Any:
    def answer(state: Delta) -> Any:
        return {"messages": [AIMessage(f"to {state['messages'][-1].text}", id=f"d{len(state['messages'])}")]}

    return StateGraph(Delta).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


# What people do with them


def three_turns(talk: Talk) -> None:
    for number in range(3):
        talk.say(f"hello {number}", f"h{number}")


def every_order(talk: Talk) -> None:
    texts = ["one", "two", "edit", "smudge", "turn", "drop", "clear", "three"]
    if talk.durability == "async":
        texts.remove("smudge")  # what the background sees of a change in place is chance, on every saver
    for number, text in enumerate(texts):
        talk.say(text, f"h{number}")


def ask_and_answer(talk: Talk) -> None:
    for number in range(2):
        talk.say(f"soup {number}", f"h{number}")
        talk.run(Command(resume="yes"))


def answer_each(talk: Talk) -> None:
    waiting = talk.run({"messages": [], "asked": []})["__interrupt__"]
    by_question = {each.value: each.id for each in waiting}
    talk.run(Command(resume={by_question["c?"]: "second"}))
    talk.run(Command(resume={by_question["a?"]: "first"}))


def new_message_while_asked(talk: Talk) -> None:
    talk.say("soup", "h0")
    talk.say("stew instead", "h1")
    talk.run(Command(resume="fine"))


def fail_and_go_on(talk: Talk) -> None:
    with pytest.raises(ValueError, match="not today"):
        talk.say("go", "h0")
    with pytest.raises(ValueError, match="not today"):
        talk.run(None)
    talk.run({"asked": ["please"]})


def correct_by_hand(talk: Talk) -> None:
    talk.say("one", "h0")
    talk.update({"messages": [HumanMessage("by hand", id="u0")]})
    talk.update({"messages": [AIMessage("as the node", id="u1")]}, as_node="answer")
    talk.say("two", "h1")


def travel(talk: Talk) -> None:
    """Replays a checkpoint from the middle, forks one with a change, then goes on from the newest."""
    for number in range(3):
        talk.say(f"hello {number}", f"h{number}")
    states = talk.states()
    talk.run(None, states[len(states) // 2].config)
    fork = talk.update({"messages": [HumanMessage("another way", id="fork")]}, states[len(states) // 2].config)
    talk.run(None, fork)
    talk.say("onward", "h9")


TALKS = {
    "replies": (echo, three_turns),
    "an agent with parallel tools": (agent, three_turns),
    "removals and edits": (forgetful, every_order),
    "a subgraph that asks": (nested(own=False), ask_and_answer),
    "a subgraph with its own memory": (nested(own=True), ask_and_answer),
    "a message instead of an answer": (nested(own=False), new_message_while_asked),
    "parallel questions": (fan, answer_each),
    "a failed step": (stumbling, fail_and_go_on),
    "update_state": (echo, correct_by_hand),
    "time travel and forks": (echo, travel),
}


MANNERS = for_each(
    ("durability", "in_async"),
    [("sync", False), ("async", True), ("exit", False)],
    ids=["invoke", "ainvoke in the background", "invoke saving at the end"],
)


@pytest.mark.spec("C-2", "C-5")
@MANNERS
@for_each("name", TALKS)
def test_a_graph_leaves_the_same_history_behind(fresh, name, durability, in_async):
    build, happen = TALKS[name]
    stock, ours = (Talk(build(saver), durability, in_async) for saver in (lossless(), fresh()))
    happen(stock)
    happen(ours)

    restarted = Talk(build(fresh()), durability, in_async)
    assert without_chance(ours.left()) == without_chance(stock.left())
    assert without_chance(restarted.left()) == without_chance(stock.left())
    expected = without_chance(history(stock.graph.checkpointer, "side-by-side"))
    for saver in (ours.graph.checkpointer, restarted.graph.checkpointer):
        assert without_chance(history(saver, "side-by-side")) == expected


@pytest.mark.spec("C-2")
@MANNERS
@for_each("happen", [three_turns, travel])
def test_a_delta_channel_is_rebuilt_the_same(fresh, durability, in_async, happen):
    stock, ours = (Talk(delta(saver), durability, in_async) for saver in (lossless(), fresh()))
    happen(stock)
    happen(ours)

    for talk in (ours, Talk(delta(fresh()), durability, in_async)):
        assert without_chance(talk.left()) == without_chance(stock.left())
        for theirs, mine in zip(_chain(stock), _chain(talk), strict=True):
            assert without_chance(mine) == without_chance(theirs)


def _chain(talk: Talk) -> Iterator[Any]:
    for state in talk.states():
        found = talk.graph.checkpointer.get_delta_channel_history(config=state.config, channels=["messages"])
        yield {channel: exact(each) for channel, each in found.items()}
