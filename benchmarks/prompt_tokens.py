"""How many tokens of each model call are new to a provider that keeps what it has read; ratios in the end.

    python -m benchmarks.prompt_tokens                # a table for each conversation
    python -m benchmarks.prompt_tokens --every-turn   # and a line for each turn

Scripted conversations go through a compiled graph with recall, tools, standing instructions and a window that fills. A
token is four characters of what is sent: roles, texts, calls and their arguments; the tools' descriptions, which no
layout changes, are left out. New is what follows the longest beginning that a call shares with the call before it.

At each call the same state is laid out in four ways:
  late      what the plugin sends: what changes stands at the end of the newest message, the window moves in blocks
  system    the same, but all that is known stands in the system text
  moving    as `system`, with a window that drops one turn as soon as it is full
  bare      the graph without memory: the system text and the whole history
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.conversation.quoted_and_own_words import without_context
from langmem_plugin.conversation.window import estimated_tokens, paired

PHONE = "+972501234567"
CHARACTERS = 4
SYSTEM = (
    "You are Mom Bot, the assistant of one family. Be kind and brief. Answer in the language of the message. Use the "
    "tools for recipes, the calendar and the shopping list, and never make up what a tool could tell. Ask when it is "
    "not clear what is meant. Numbers of a list are those that you wrote last. "
) * 3
FACTS = (
    "Leo is allergic to peanuts and must not eat anything that may hold traces of them",
    "The family eats fish on Fridays, and nobody likes trout",
    "Anna's birthday is on 4 May and she wishes for a green bicycle",
    "The dentist is Dr. Cohen in Herzl Street 12, always before school",
    "The boiler is a Vaillant and is serviced in October by Mr. Levi",
    "Grandma comes for dinner every Tuesday and eats without salt",
    "The dog Biscuit must not have onions or chocolate",
    "The holiday in the mountains begins on 12 August, by train",
)
SAID = (
    "find a fish dinner for Friday",
    "save the second one",
    "what must Leo not eat?",
    "find a soup for grandma",
    "number 3",
    "when is Anna's birthday?",
    "thanks! and what does the dog not eat?",
    "find something for Tuesday without salt",
    "the first one please",
    "who is the dentist?",
)
Layouts = dict[str, Callable[[Any], list[BaseMessage]]]


@tool
def find_recipes(query: str) -> list[dict[str, Any]]:
    """Finds recipes."""
    return [
        {
            "recipe_id": f"r-{len(query)}{number}",
            "title": f"{query.title()} number {number}",
            "minutes": 20 + number,
            "ingredients": ["600 g of the main thing", "2 lemons", "olive oil", "salt and pepper"][: 2 + number % 3],
        }
        for number in range(1, 6)
    ]


class Scripted(BaseChatModel):
    """Calls the tool when asked to find something, then lists what it found; says one sentence to all else."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], stop=None, run_manager=None, **_: Any) -> ChatResult:
        last = messages[-1]
        said = without_context(last)[0].text
        if isinstance(last, ToolMessage):
            titles = [each["title"] for each in json.loads(last.text)]
            reply = AIMessage("Here they are:\n" + "\n".join(f"{at}. {title}" for at, title in enumerate(titles, 1)))
        elif "find " in said:
            query = said.split("find ", 1)[1]
            call = {"name": "find_recipes", "args": {"query": query}, "id": f"call{len(messages)}"}
            reply = AIMessage("", tool_calls=[call])
        else:
            reply = AIMessage("That is done, and I have told the family calendar about it as you like it [Memory: 1].")
        return ChatResult(generations=[ChatGeneration(message=reply)])


@dataclass(frozen=True)
class Call:
    turn: int
    tokens: dict[str, int]
    new: dict[str, int]


def layouts(memory: PhoneMemory) -> Layouts:
    def late(state: Any) -> list[BaseMessage]:
        return memory.prompt(state, SYSTEM)

    def in_system(state: Any) -> list[BaseMessage]:
        system, *shown = late(state)
        parted = [without_context(message) for message in shown]
        known = [block for _, block in parted if block]
        return [SystemMessage("\n\n".join([system.text, *known])), *(message for message, _ in parted)]

    def moving(state: Any) -> list[BaseMessage]:
        bounds = memory.settings
        return [in_system(state)[0], *newest(state["messages"], bounds.window_turns, bounds.max_tokens["client"])]

    def bare(state: Any) -> list[BaseMessage]:
        return [SystemMessage(SYSTEM), *state["messages"]]

    return {"late": late, "system": in_system, "moving": moving, "bare": bare}


def newest(messages: Sequence[BaseMessage], most: int, budget: int) -> list[BaseMessage]:
    """The newest whole turns that fit."""
    turns: list[list[BaseMessage]] = []
    for message in paired(messages):
        if isinstance(message, HumanMessage):
            turns.append([])
        turns[-1].append(message)
    kept: list[BaseMessage] = []
    for turn in reversed(turns[-most:]):
        budget -= sum(map(estimated_tokens, turn))
        if kept and budget < 0:
            break
        kept = turn + kept
    return kept


def sent(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(
        json.dumps(
            [each.type, each.content, [[call["name"], call["args"]] for call in getattr(each, "tool_calls", [])]],
            ensure_ascii=False,
        )
        for each in messages
    )


def shared_length(one: str, other: str) -> int:
    differ = (at for at, (letter, another) in enumerate(zip(one, other, strict=False)) if letter != another)
    return next(differ, min(len(one), len(other)))


def played(turns: int, said: Sequence[str], settings: Settings) -> list[Call]:
    calls: list[Call] = []
    before: dict[str, str] = {}
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with (
        tempfile.TemporaryDirectory() as folder,
        PhoneMemory(f"sqlite:///{folder}/tokens.db", settings=settings, now=lambda: now) as memory,
    ):
        for fact in FACTS:
            memory.service.remember(PHONE, fact)
        memory.instructions.add(PHONE, "Answer in one or two sentences", priority=5)
        memory.instructions.add(PHONE, "Always give times in 24 hours", priority=3)
        memory.instructions.add(PHONE, "Warn of peanuts", priority=9, condition='message contains "dinner"')
        ways, model = layouts(memory), Scripted()

        def agent(state: MemoryState) -> dict[str, Any]:
            turn = sum(isinstance(message, HumanMessage) for message in state["messages"])
            texts = {name: sent(way(state)) for name, way in ways.items()}
            shared = {name: shared_length(text, before.get(name, "")) for name, text in texts.items()}
            calls.append(
                Call(
                    turn,
                    {name: len(text) // CHARACTERS for name, text in texts.items()},
                    {name: (len(text) - shared[name]) // CHARACTERS for name, text in texts.items()},
                )
            )
            before.update(texts)
            return {"messages": model.invoke(ways["late"](state))}

        graph = (
            StateGraph(MemoryState)
            .add_node("recall", memory.recall_node())
            .add_node("agent", agent)
            .add_node("tools", ToolNode([find_recipes]))
            .add_node("write", memory.write_node())
            .add_edge(START, "recall")
            .add_edge("recall", "agent")
            .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
            .add_edge("tools", "agent")
            .compile(checkpointer=memory.saver)
        )
        for number in range(turns):
            memory.reply(graph, PHONE, said[number % len(said)], raise_errors=True)
    return calls


def report(name: str, calls: Sequence[Call], *, every_turn: bool) -> None:
    names = list(calls[0].tokens)
    turns = [list(of_turn) for _, of_turn in groupby(calls, key=lambda call: call.turn)]
    print(f"\n## {name}: {len(turns)} turns, {len(calls)} calls\n")
    if every_turn:
        print("| turn | calls | " + " | ".join(f"{each}: all, new" for each in names) + " |")
        print("|---" * (len(names) + 2) + "|")
        for number, of_turn in enumerate(turns, 1):
            cells = [
                f"{sum(c.tokens[each] for c in of_turn):,}, {sum(c.new[each] for c in of_turn):,}" for each in names
            ]
            print(f"| {number} | {len(of_turn)} | " + " | ".join(cells) + " |")
        print()
    print("| layout | tokens a turn | new a turn | new a turn, last half | new, of `late` |\n|---|---|---|---|---|")
    late = sum(call.new["late"] for call in calls)
    half = turns[len(turns) // 2 :]
    for each in names:
        new = sum(call.new[each] for call in calls)
        last = sum(call.new[each] for of_turn in half for call in of_turn) / len(half)
        tokens = sum(call.tokens[each] for call in calls) / len(turns)
        print(f"| {each} | {tokens:,.0f} | {new / len(turns):,.0f} | {last:,.0f} | {new / late:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--every-turn", action="store_true")
    every_turn = parser.parse_args().every_turn
    quiet = Settings(search_past_sessions=False, sweep_every=None)
    talk = [text for text in SAID if "find" not in text]
    roomy = quiet.model_copy(update={"max_tokens": {"client": 100_000, "godfather": 100_000}})
    for name, turns, said, settings in (
        ("tools and talk, a window of 4,000 tokens", 40, SAID, quiet),
        ("talk alone, a window of 20 turns", 40, talk, roomy),
        ("tools and talk, before any window is full", 15, SAID, roomy),
    ):
        report(name, played(turns, said, settings), every_turn=every_turn)


if __name__ == "__main__":
    main()
