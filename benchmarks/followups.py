"""What the memory changes about follow-ups ("save number 2", "the other one"): the same texting with and without it.

    python -m benchmarks.followups --offline                                             # to try it: no server
    python -m benchmarks.followups --base-url http://127.0.0.1:8089/v1 --model local --only 10 --out results.json

The conversations of followups.jsonl are played by a model behind any server that speaks as OpenAI's does, through the
household assistant of graphs/: with the memory (graphs/family_assistant.py, by `PhoneMemory.reply`), and without: the
same tools, data and system text in a plain graph over an InMemorySaver. A line of the file is a conversation; a turn
is what is said, and either what is `given`, calls that are really made and a reply that a person may have been given,
the same in both, or the `kind` of the follow-up and what counts as right, `any` of several: `calls` that are needed,
or what the reply `says`.

A turn is right when the calls it needs were made and nothing else was written, nor tried to be. What was written is
compared in the household's data before and after the turn, so an earlier mistake counts once; reading more than is
needed costs tokens and seconds and is no mistake. A wrong write is one that took effect and was not meant.

New tokens are those of a prompt that the server had not kept from the call before: as llama.cpp says (`timings`) or
`usage` does, else estimated by the longest common prefix. The two ways are played one after the other, so start the
server anew and without a cache beside its slot (`--cache-ram 0`), or the second finds what the first has left. The key
is `OPENAI_API_KEY`, if the server wants one.
"""

import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field, PrivateAttr

from graphs import family_assistant
from graphs.household import Household
from graphs.tools import broken, household_tools
from langmem_plugin import PhoneMemory
from langmem_plugin.agent.models import model_failures
from langmem_plugin.cached_property import cached_property
from langmem_plugin.conversation.window import estimated_tokens
from langmem_plugin.errors import LangMemError
from langmem_plugin.offline.chat_model import OfflineChatModel

HOW_TO_GET_A_MODEL = """\
Give --base-url and --model of a server that speaks as OpenAI's does, or --offline to try this without any.
One on this machine, from llama.cpp, with any GGUF model that was trained to call tools:
    llama-server -m model.gguf --jinja -c 8192 -np 1 --cache-ram 0 --port 8089
    python -m benchmarks.followups --base-url http://127.0.0.1:8089/v1 --model local
"""
CONVERSATIONS = Path(__file__).with_suffix(".jsonl")
NOT_REFERRING = ("chat", "not yet", "plain")
"""Kinds of turns that point at nothing; "question" and "nothing there" point, and ask for no call."""
WEDNESDAY = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
MOST_STEPS = 16
MOST_TOKENS = 400  # of one answer
WRITING = ("save_recipe", "add_to_grocery_list", "push_grocery_list", "swap_meal", "move_budget")
WRITTEN = (
    "SELECT recipe_id FROM saved_recipes",
    "SELECT DISTINCT lower(item) FROM groceries",
    "SELECT items FROM orders",
    "SELECT date, lower(meal) FROM meals",
    "SELECT category, limit_cents FROM budget",
)

Row = dict[str, Any]
Call = tuple[str, Row]


@dataclass(frozen=True)
class Turn:
    """One turn as it was played, and its score; `new_tokens` has one number for each call of the model."""

    conversation: str
    said: str
    kind: str
    right: bool
    wrong_write: bool
    calls: list[Call]
    reply: str
    new_tokens: list[int]
    seconds: float
    failed: bool


class Watched(BaseChatModel):
    """The model under test, and what it did; as long as there is a `script`, that answers in its place."""

    under_test: BaseChatModel
    timings: list[Row] = Field(default_factory=list)
    """What the server said of each answer."""
    script: list[AIMessage] = Field(default_factory=list)
    calls: list[Call] = Field(default_factory=list)
    new_tokens: list[int] = Field(default_factory=list)
    _tools: Sequence[BaseTool] = PrivateAttr(())
    _before: str = PrivateAttr("")

    @property
    def _llm_type(self) -> str:
        return "watched"

    def bind_tools(self, tools, **_):
        self._tools = tools
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: Sequence[BaseMessage]) -> BaseMessage:
        if self.script:
            return self.script.pop(0)
        reply = self.under_test.bind_tools(self._tools).invoke(messages)
        self.calls += [(call["name"], call["args"]) for call in reply.tool_calls]
        self.new_tokens.append(self._new(messages, reply))
        return reply

    def _new(self, messages: Sequence[BaseMessage], reply: AIMessage) -> int:
        prompt = "\n".join(f"{each.type} {each.text} {getattr(each, 'tool_calls', '')}" for each in messages)
        new, self._before = prompt[_in_common(prompt, self._before) :], prompt
        if self.timings and "prompt_n" in self.timings[-1]:
            return int(self.timings[-1]["prompt_n"])
        usage = reply.usage_metadata
        if usage and "cache_read" in usage.get("input_token_details", {}):
            return usage["input_tokens"] - usage["input_token_details"]["cache_read"]
        return estimated_tokens(HumanMessage(new))

    def forget(self) -> None:
        """Before a turn."""
        self.calls, self.new_tokens = [], []
        self.timings.clear()


def _in_common(text: str, other: str) -> int:
    return next(
        (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), min(len(text), len(other))
    )


def served(base_url: str, name: str) -> Watched:
    """A model behind a server. Ends the program where there is none."""
    from langchain_openai import ChatOpenAI

    timings: list[Row] = []

    def note(response: httpx.Response) -> None:
        if response.read() and response.is_success and "json" in response.headers.get("content-type", ""):
            timings.append(response.json().get("timings") or {})

    client = httpx.Client(event_hooks={"response": [note]}, timeout=600)
    key = os.environ.get("OPENAI_API_KEY") or "none"
    try:
        client.get(f"{base_url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    except httpx.HTTPError as error:
        sys.exit(f"No server answers at {base_url}: {error}\n\n{HOW_TO_GET_A_MODEL}")
    options = {"temperature": 0, "max_tokens": MOST_TOKENS, "max_retries": 1}
    model = ChatOpenAI(model=name, base_url=base_url, api_key=key, http_client=client, **options)
    return Watched.model_construct(under_test=model, timings=timings)  # the list itself: validation makes a copy


def plain_assistant(model: BaseChatModel, household: Household, phone: str) -> Any:
    """The household assistant without the memory."""
    tools = household_tools(household, lambda: phone)
    thinking = model.bind_tools(tools)

    def agent(state: MessagesState) -> Row:
        return {"messages": thinking.invoke([SystemMessage(family_assistant.SYSTEM), *state["messages"]])}

    return (
        StateGraph(MessagesState)
        .add_node("agent", agent)
        .add_node("tools", ToolNode(tools, handle_tool_errors=broken))
        .add_edge(START, "agent")
        .add_conditional_edges("agent", tools_condition)
        .add_edge("tools", "agent")
        .compile(checkpointer=InMemorySaver())
    )


def replying(model: Watched, household: Household, phone: str, memory: PhoneMemory | None) -> Callable[[str], str]:
    """A function from a message to its reply, with the memory or without."""
    limit = {"recursion_limit": MOST_STEPS}
    if memory is not None:
        graph = family_assistant.build(memory, model, household).with_config(limit)
        return lambda said: str(memory.reply(graph, phone, said, raise_errors=True))
    plain = plain_assistant(model, household, phone)
    config = {"configurable": {"thread_id": phone}, **limit}
    return lambda said: plain.invoke({"messages": [HumanMessage(said)]}, config)["messages"][-1].text


def opened(file: Path) -> Household:
    household = Household(file, shop="", now=lambda: WEDNESDAY)
    for week in ("this week", "next week"):
        household.monday(week)  # else reading a week would write it
    return household


def play(conversation: Row, model: Watched, folder: Path, phone: str, memory: PhoneMemory | None) -> Iterator[Turn]:
    """Its turns but the given ones, in a household of its own in `folder`."""
    folder.mkdir()
    household = opened(folder / "household.db")
    reply_to = replying(model, household, phone, memory)
    for turn in conversation["turns"]:
        model.forget()
        if "given" in turn:
            model.script = script(turn, household, phone)
            reply_to(turn["say"])
            model.script = []
            continue
        score = Score(household, phone)
        begun, failed, reply = time.perf_counter(), False, ""
        try:
            reply = reply_to(turn["say"])
        except (GraphRecursionError, LangMemError, *model_failures()):
            failed = True
        seconds = time.perf_counter() - begun
        right, wrong_write = score.of(turn["any"], model.calls, reply)
        yield Turn(
            conversation=conversation["name"],
            said=turn["say"],
            kind=turn["kind"],
            right=right and not failed,
            wrong_write=wrong_write,
            calls=[*model.calls],
            reply=reply,
            new_tokens=[*model.new_tokens],
            seconds=seconds,
            failed=failed,
        )


def script(turn: Row, household: Household, phone: str) -> list[AIMessage]:
    """The calls of a given turn, and its reply: by default the numbered list of what the last call finds."""
    calls = [
        {"name": name, "args": arguments, "id": f"call-{time.monotonic_ns()}-{number}"}
        for number, (name, arguments) in enumerate(turn["given"])
    ]
    reply = turn.get("reply")
    if reply is None:
        name, arguments = turn["given"][-1]
        rows = tools_of(household, phone)[name].invoke(arguments)
        reply = "\n".join(f"{number}. {line_of(row)}" for number, row in enumerate(rows, 1))
    return [AIMessage("", tool_calls=calls), AIMessage(reply)]


def line_of(row: Row) -> str:
    """An item as a good reply names it."""
    match row:
        case {"title": title, "minutes": minutes, "cost_per_serving": cost}:
            return f"{title} ({minutes} min, ${cost:.2f} a serving)"
        case {"day": day, "meal": meal}:
            return f"{day}: {meal}"
        case {"day": day, "time": at, "title": title, "who": who}:
            return f"{day} {at} {title} ({who})"
        case {"category": category, "spent": spent, "limit": limit, "left": left}:
            return f"{category}: {spent:.2f} of {limit:.2f} spent, {left:.2f} left"
    return f"{row['amount']} {row['item']}".strip()


def tools_of(household: Household, phone: str) -> dict[str, BaseTool]:
    tools = household_tools(household, lambda: phone)
    return {tool.name: tool for tool in tools}


def written(file: Path) -> list[list[tuple[Any, ...]]]:
    """All that tools can change, without amounts and times."""
    with closing(sqlite3.connect(file)) as rows:
        return [sorted(map(tuple, rows.execute(query))) for query in WRITTEN]


class Score:
    """Made before a turn: what the turn was to do is tried on a copy of the household as it was then."""

    def __init__(self, household: Household, phone: str) -> None:
        self._household = household
        self._phone = phone
        self._before = household.path.with_name("before.db")
        shutil.copy(household.path, self._before)

    def of(self, expected: Sequence[Row], calls: Sequence[Call], reply: str) -> tuple[bool, bool]:
        """Whether the turn is right by any of what is expected, and whether it wrote what was not meant."""
        now = written(self._household.path)
        meant = [self._meant(each["calls"]) for each in expected]
        right = any(
            now == state
            and _writing(each["calls"]) == _writing(calls)
            and self._read(each["calls"], calls)
            and _says(each, reply)
            for each, state in zip(expected, meant, strict=True)
        )
        return right, now not in (written(self._before), *meant)

    def _meant(self, calls: Sequence[Call]) -> list[Any]:
        tried = self._before.with_name("tried.db")
        shutil.copy(self._before, tried)
        tools = tools_of(opened(tried), self._phone)
        for name, arguments in calls:
            if name in WRITING:
                tools[name].invoke(arguments)
        return written(tried)

    def _read(self, expected: Sequence[Call], made: Sequence[Call]) -> bool:
        done = [self._whole(*call) for call in made]
        return all(self._whole(*call) in done for call in expected if call[0] not in WRITING)

    def _whole(self, name: str, arguments: Row) -> tuple[str, Row]:
        """With the arguments left out, and without capitals."""
        given = {key: arguments.get(key, default) for key, default in self._defaults.get(name, {}).items()}
        return name, {key: value.casefold() if isinstance(value, str) else value for key, value in given.items()}

    @cached_property
    def _defaults(self) -> dict[str, Row]:
        tools = tools_of(self._household, self._phone)
        return {name: {key: of.get("default") for key, of in tool.args.items()} for name, tool in tools.items()}


def _writing(calls: Sequence[Call]) -> set[str]:
    return {name for name, _ in calls if name in WRITING}


def _says(expected: Row, reply: str) -> bool:
    return "says" not in expected or any(words in reply.casefold() for words in expected["says"])


def read(file: Path = CONVERSATIONS) -> list[Row]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def play_all(conversations: Sequence[Row], model: Watched, *, with_memory: bool) -> Iterator[Turn]:
    with (
        tempfile.TemporaryDirectory(prefix="langmem-followups-") as name,
        PhoneMemory(f"sqlite:///{name}/langmem.db", now=lambda: WEDNESDAY) if with_memory else nullcontext() as memory,
    ):
        # Neither way pays for the first reading of the system text and the tools.
        with suppress(GraphRecursionError):
            replying(model, opened(Path(name) / "greeting.db"), "+12025559999", memory)("hello")
        for number, conversation in enumerate(conversations):
            yield from play(conversation, model, Path(name) / str(number), f"+1202555{number:04}", memory)


def share(turns: Sequence[Turn]) -> float:
    return 100 * sum(turn.right for turn in turns) / len(turns) if turns else 0.0


def measures(turns: Sequence[Turn]) -> dict[str, float]:
    """What the table says of one way of playing."""
    referring = [turn for turn in turns if turn.kind not in NOT_REFERRING]
    return {
        "right, %": share(turns),
        "  that refer to something": share(referring),
        "  the others": share([turn for turn in turns if turn.kind in NOT_REFERRING]),
        "wrong writes": sum(turn.wrong_write for turn in turns),
        "turns that failed": sum(turn.failed for turn in turns),
        "model calls a turn": sum(len(turn.new_tokens) for turn in turns) / len(turns),
        "new prompt tokens a turn": sum(sum(turn.new_tokens) for turn in turns) / len(turns),
        "seconds a turn": sum(turn.seconds for turn in turns) / len(turns),
    }


def table(ways: dict[str, list[Turn]]) -> str:
    with_memory, without = (measures(turns) for turns in ways.values())
    lines = [f"{'':30}{'with':>10}{'without':>10}{'ratio':>8}"]
    for name, value in with_memory.items():
        ratio = f"{value / without[name]:.2f}" if without[name] else "-"
        lines.append(f"{name:30}{value:10.1f}{without[name]:10.1f}{ratio:>8}")
    lines.append("right by kind, %")
    for kind in sorted({turn.kind for turns in ways.values() for turn in turns}):
        of_kind = [[turn for turn in turns if turn.kind == kind] for turns in ways.values()]
        shares = "".join(f"{share(turns):10.0f}" for turns in of_kind)
        lines.append(f"  {kind:28}{shares}{len(of_kind[0]):6} turns")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=HOW_TO_GET_A_MODEL, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--base-url", help="of a server that speaks as OpenAI's does, such as http://127.0.0.1:8089/v1")
    parser.add_argument("--model", help="its name there")
    parser.add_argument("--offline", action="store_true", help="the offline model instead: to see how this works")
    parser.add_argument("--only", type=int, metavar="N", help="play the first N conversations")
    parser.add_argument("--out", type=Path, help="write every turn as JSON")
    options = parser.parse_args()
    if options.offline == bool(options.base_url and options.model):
        parser.error(HOW_TO_GET_A_MODEL)
    offline = options.offline
    model = Watched(under_test=OfflineChatModel()) if offline else served(options.base_url, options.model)
    conversations = read()[: options.only]
    ways: dict[str, list[Turn]] = {"with": [], "without": []}
    for way, turns in ways.items():
        for turn in play_all(conversations, model, with_memory=way == "with"):
            turns.append(turn)
            print(f"{way:8} {'right' if turn.right else 'wrong':6} {turn.seconds:6.1f} s  {turn.said}", flush=True)
            if options.out:
                options.out.write_text(
                    json.dumps(
                        {way: [asdict(each) for each in of] for way, of in ways.items()}, ensure_ascii=False, indent=1
                    )
                )
    print(f"\n{len(conversations)} conversations, {len(ways['with'])} turns each way\n{table(ways)}")


if __name__ == "__main__":
    main()
