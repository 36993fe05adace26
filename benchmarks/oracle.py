"""Plays the same conversations through every door, and lists where two recordings differ.

    python -m benchmarks.oracle record FOLDER [--conversations 312] [--seed 1]
    python -m benchmarks.oracle compare BEFORE AFTER [--show 20]
    python -m benchmarks.oracle opens DATABASE EXPORT

`record` texts offline with both household graphs, and calls the commands, tools, store, HTTP API, MCP server, command
line, export, import and erasure. What each gave is kept as JSON, one file a door, beside the database (`oracle.db`).
`opens` opens a database that another commit made, and compares its exports with those that were kept then. The clock is
virtual, ids and today's dates are replaced by their order, and only public names are called: it runs on any commit.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import os
import random
import re
import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tracers.context import register_configure_hook
from langgraph.graph import START, StateGraph
from sqlalchemy import event
from sqlalchemy.engine import Engine

for _name in [name for name in os.environ if name.startswith("LANGMEM_")]:
    del os.environ[_name]
# Nothing runs in the background, here and in the processes that are started; unknown names are ignored.
os.environ.update(
    LANGMEM_SWEEP_EVERY="never",
    LANGMEM_SEARCH_PAST_SESSIONS="false",
    LANGMEM_EXTRACT_AFTER="999d",
)
logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

from graphs import family_agent, family_assistant  # noqa: E402 - the environment is emptied first
from graphs.household import Household  # noqa: E402
from langmem_plugin import MemoryState, PhoneMemory  # noqa: E402
from langmem_plugin.errors import LangMemError  # noqa: E402

CALLS = json.loads(Path(__file__).with_name("oracle.json").read_text(encoding="utf-8"))
TABLE = CALLS["talk"]
BEGINNING = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday
COUNTS_MAY_DIFFER_BY = 0.03  # writes that come together share a transaction, as threads happen to meet

_ID = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9a-f]{64})(?![0-9a-f])|(?<=\[)[0-9a-f]{8}(?=\])"
)
_DAYS = [(datetime.now(UTC) + timedelta(days=days)).date().isoformat() for days in range(-40, 2)]
_TODAY = re.compile(rf"(?:{'|'.join(_DAYS)})(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_LONG_NUMBER = re.compile(r"(?<![\w.:-])\d+\.\d{4,}(?:e-?\d+)?(?![\w-])")
_SECRET = re.compile(r"\blm[a-z]*_[\w-]{16,}\b|/me/in/[\w-]+|\b[0-9A-Z]{4}-[0-9A-Z]{4}\b")


class Plain:
    """Replaces what is drawn at random or follows the real clock, by the order in which it appears."""

    def __init__(self):
        self._seen = {}

    def __call__(self, given):
        text = json.dumps(given, ensure_ascii=False, default=str, sort_keys=True)
        text = _ID.sub(lambda found: self._seen.setdefault(found[0], f"id{len(self._seen)}"), text)
        text = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.3f}", text)
        return json.loads(_SECRET.sub("secret", _TODAY.sub("today", text)))


class Prompts(BaseCallbackHandler):
    """Keeps what chat models are given."""

    run_inline = True

    def __init__(self):
        self.shown = []

    def on_chat_model_start(self, _serialized, messages, **_):
        [given] = messages
        lines = [
            (each.type, each.content, [(c["name"], c["args"]) for c in getattr(each, "tool_calls", ())])
            for each in given
        ]
        at = max((n for n, each in enumerate(given) if each.type == "human"), default=0)
        before = json.dumps(lines[1:at], ensure_ascii=False, default=str)
        self.shown.append({"system": lines[0], "earlier": before[-400:], "newest": lines[at:]})


_prompts = ContextVar("prompts", default=None)
register_configure_hook(_prompts, inheritable=True)
_statements = Counter()
event.listen(Engine, "before_cursor_execute", lambda *_: _statements.update(all=1))


class Recording:
    """What each door gave, by a name for each call."""

    def __init__(self):
        self.doors = {}

    def keep(self, door, name, given):
        self.doors.setdefault(door, {})[name] = given

    def call(self, door, name, verb, *given, plain=None, **named):
        try:
            gave = verb(*given, **named)
        except (LangMemError, ValueError, TypeError, KeyError) as error:
            gave = f"{type(error).__name__}: {error}"
        self.keep(door, name, (plain or Plain())(_data(gave)))
        return gave

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for door, calls in self.doors.items():
            text = json.dumps(calls, ensure_ascii=False, indent=1, sort_keys=True)
            (folder / f"{door}.json").write_text(text, encoding="utf-8")


def _data(given):
    """As JSON can hold it; an object of ours by its public fields."""
    if hasattr(given, "model_dump"):
        return _data(given.model_dump(mode="json"))
    if isinstance(given, dict):
        return {str(name): _data(value) for name, value in given.items()}
    if isinstance(given, list | tuple | set | frozenset):
        return [_data(each) for each in (sorted(given, key=str) if isinstance(given, set | frozenset) else given)]
    if isinstance(given, float):
        return round(given, 4)
    names = getattr(given, "__dataclass_fields__", None)
    if names is not None:
        return {name: _data(getattr(given, name)) for name in names if not name.startswith("_")}
    return given if isinstance(given, str | int | bool | None) else str(given)


class Played:
    """A memory on a virtual clock, both graphs over a household of its own for each person, and people to text it."""

    def __init__(self, folder, seed):
        self.folder, self.random, self.now = folder, random.Random(seed), BEGINNING
        self.database = f"sqlite:///{folder / 'oracle.db'}"
        self.memory = self.opened(self.database)
        self.template = folder / "household.db"
        self.household = Household(self.template, shop="", now=lambda: self.now.replace(tzinfo=None))
        self.graphs = {
            "assistant": family_assistant.build(self.memory, household=self.household),
            "agent": family_agent.build(self.memory, household=self.household),
        }
        self.people = []

    def opened(self, database):
        return PhoneMemory(database, now=lambda: self.now)

    def passes(self, **time_):
        self.now += timedelta(**time_)

    def at_home(self, number):
        """Begins with a household as it was at first, and with an empty outbox."""
        self.household.path = self.folder / f"household-{number}.db"
        self.household.outbox = self.household.path.with_suffix(".jsonl")
        shutil.copy(self.template, self.household.path)

    @contextmanager
    def away(self):
        try:
            yield
        finally:
            self.household.path.unlink(missing_ok=True)
            self.household.outbox.unlink(missing_ok=True)
            self.household.path, self.household.outbox = self.template, self.template.with_name("outbox.jsonl")

    def messages(self, language):
        """One conversation: a task with what is pointed at, facts, questions and commands, in a drawn order."""
        table, draw = TABLE[language], self.random
        kinds = draw.choice(
            [
                ("opening", "pointing", "pointing", "acting", "asking"),
                ("facts", "facts", "opening", "pointing", "asking"),
                ("commands", "commands", "facts", "commands", "asking"),
                ("opening", "commands", "pointing", "acting", "commands"),
            ]
        )
        return [draw.choice(table[kind]) for kind in kinds]

    def converse(self, recording, number):
        language, graph = ("en", "es", "he")[number % 3], ("assistant", "agent")[number // 3 % 2]
        who = f"+97250{1_000_000 + number}"
        self.people.append(who)
        self.at_home(number)
        plain = Plain()
        with self.away():
            texts = self.messages(language)
            if number % 4 == 0:
                texts = ["/privacy on", "/privacy sensitive on", *texts]
            for at, text in enumerate(texts):
                self.passes(seconds=40)
                prompts, before = Prompts(), _statements["all"]
                _prompts.set(prompts)
                delivery = {"message_id": f"m{number}.{at}"}
                if number % 11 == 5 and at == 1:
                    delivery["forwarded"] = True
                gave = self.memory.reply(self.graphs[graph], who, text, **delivery)
                _prompts.set(None)
                name = f"{number:03} {language} {at} {text}"
                recording.keep(f"reply_{graph}", name, plain(str(gave)))
                if prompts.shown:
                    recording.keep("prompts", name, plain(prompts.shown))
                recording.keep("statements", name, _statements["all"] - before)
            self.passes(hours=1)
            if number % 4 == 0:
                recording.call("extract", f"{number:03} {language}", self.memory.extract, who, plain=plain)
            if number % 5 == 0:
                self.memory.reply(self.graphs[graph], who, texts[-1], message_id=f"m{number}.late")


def play_commands(played, recording):
    plain = Plain()
    for language, table in TABLE.items():
        for at, text in enumerate(table["commands"]):
            played.passes(seconds=30)
            who = f"+97252222222{at % 3}"
            recording.call("commands", f"{language} {at} {text}", played.memory.command, who, text, plain=plain)


def play_service(played, recording):
    memory, who, plain = played.memory, "+972521111111", Plain()
    service = memory.service
    facts = [text for table in TABLE.values() for text in table["facts"]]
    held = []
    for text in facts:
        played.passes(seconds=30)
        before = _statements["all"]
        gave = recording.call("service", f"remember {text}", service.remember, who, text, plain=plain)
        recording.keep("statements", f"remember {text}", _statements["all"] - before)
        held.append(getattr(gave, "memory", gave))
    memory.index_past_sessions()
    for table in TABLE.values():
        for text in (*table["asking"], *table["opening"]):
            for verb in ("recall", "search"):
                recording.call("service", f"{verb} {text}", getattr(service, verb), who, text, plain=plain)
    for at, each in enumerate(held[:6]):
        if (memory_id := getattr(each, "id", None)) is not None:
            recording.call(
                "service", f"update {at}", service.update, who, memory_id, text=f"{each.text}, as I said", plain=plain
            )
            recording.call("service", f"forget {at}", service.forget, who, memory_id, plain=plain)
    recording.call("service", "list", service.list_memories, who, limit=200, plain=plain)
    recording.call(
        "service",
        "list all",
        service.list_memories,
        who,
        limit=200,
        statuses=["active", "forgotten", "superseded"],
        plain=plain,
    )
    recording.call("service", "instruct", memory.instructions.add, who, "Answer in one line", plain=plain)
    recording.call("service", "instructions", memory.instructions.list_instructions, who, plain=plain)
    recording.call("service", "consent", memory.consent.set, who, extraction=True, personal=True, plain=plain)
    recording.call("service", "sessions", memory.sessions.sessions, played.people[0], plain=plain)
    recording.call(
        "service",
        "key value",
        lambda: memory.key_value(who).classify_memory("my wifi password is hunter2"),
        plain=plain,
    )


def play_tools(played, recording):
    memory, plain = played.memory, Plain()
    for each in (*memory.tools(), *memory.key_value_tools()):
        for given in (
            {"text": "Leo plays chess"},
            {"query": "chess"},
            {"memory_id": "none"},
            {"key": "pet"},
            {"key": "pet", "value": "Rex"},
            {},
        ):
            if set(given) == set(each.args):
                recording.keep("tools", f"{each.name} {given}", plain(_called(memory, each, given)))


def play_store(played, recording):
    store, who, plain = played.memory.store, "+972521111111", Plain()
    facts = [text for table in TABLE.values() for text in table["facts"]]
    places = (("memories", who), ("prefs", "+972531111111"), ("app", "settings"))
    for place in places:
        for at in range(6):
            played.passes(seconds=5)
            value = {"text": f"{facts[at]} ({at})", "n": at, "tags": ["a", "b"][: at % 3]}
            recording.call("store", f"put {place} {at}", store.put, place, f"k{at}", value, plain=plain)
            recording.call("store", f"get {place} {at}", lambda p=place, a=at: store.get(p, f"k{a}").value, plain=plain)
        recording.call(
            "store",
            f"search {place}",
            lambda p=place: [(e.key, e.value) for e in store.search(p, query="dentist", limit=4)],
            plain=plain,
        )
        recording.call(
            "store",
            f"filter {place}",
            lambda p=place: [e.key for e in store.search(p, filter={"n": {"$gte": 3}})],
            plain=plain,
        )
        recording.call("store", f"delete {place}", store.delete, place, "k0", plain=plain)
    recording.call(
        "store", "namespaces", lambda: [e for e in store.list_namespaces(limit=500) if e in places], plain=plain
    )


def _called(memory, tool, given):
    """What a tool says to a model that calls it in a run."""

    def agent(state):
        if state["messages"][-1].type == "tool":
            return {"messages": AIMessage("done")}
        return {"messages": AIMessage("", tool_calls=[{"name": tool.name, "args": given, "id": "call"}])}

    graph = (
        StateGraph(MemoryState)
        .add_node("agent", agent)
        .add_node("tools", memory.tool_node([tool]))
        .add_edge(START, "agent")
        .add_conditional_edges(
            "agent",
            lambda s: "tools" if getattr(s["messages"][-1], "tool_calls", None) else "__end__",
            ["tools", "__end__"],
        )
        .add_edge("tools", "agent")
        .compile(checkpointer=memory.saver)
    )
    with memory.turn("+972541111111") as config:
        messages = graph.invoke({"messages": [HumanMessage(f"please: {given}")]}, config)["messages"]
    return [each.content for each in messages if each.type == "tool"][-1:]


def play_command_line(played, recording):
    """The command, in this process; returns the tokens that it printed for the API: an operator's and a person's."""
    from typer.testing import CliRunner

    from langmem_plugin.cli import app

    where = ["--database", played.database]
    who, other = played.people[0], played.people[3]
    plain, runner = Plain(), CliRunner()

    def run(*words, stdin=""):
        ended = runner.invoke(app, [*words, *where], input=stdin)
        return {"code": ended.exit_code, "out": ended.stdout}

    calls = [shlex.split(line.format(who=who, other=other)) for line in CALLS["command_line"]]
    for words in calls:
        recording.keep("command_line", " ".join(words), plain(run(*words)))
    found = []
    for words in (["token", "new", "--operator"], ["token", "new", played.people[6]]):
        ended = run(*words)
        found.append(max(ended["out"].split(), key=len, default=""))
        recording.keep("command_line", " ".join(words), {"code": ended["code"]})
    return found


def play_api(played, recording, operator, person):
    from fastapi.testclient import TestClient

    who, plain = played.people[9], Plain()
    fact = {"fact": "My bicycle is blue", "tags": ["things"], "confidence": 0.9}
    with TestClient(played.memory.app(graph=played.graphs["assistant"])) as client:

        def ask(name, method, path, token=operator, **given):
            headers = {
                "authorization": f"Bearer {token}",
                **({"Langmem-Phone": who} if token == operator else {}),
                **given.pop("headers", {}),
            }
            answer = client.request(method, path, headers=headers, **given)
            body = answer.json() if "json" in answer.headers.get("content-type", "") else answer.text[:4_000]
            recording.keep("api", name, plain({"status": answer.status_code, "body": _ordered(body)}))
            return body if isinstance(body, dict) else {}

        for token, name in ((operator, "operator"), (person, "person"), ("wrong", "wrong")):
            for path in CALLS["api"]:
                ask(f"{name} GET {path}", "GET", f"/api/{path}", token)
        made = ask("add", "POST", "/api/memory", json=fact)
        memory_id = ((made.get("data") or {}).get("memory") or {}).get("id", "none")
        ask("read", "GET", f"/api/memory/{memory_id}")
        ask("change", "PATCH", f"/api/memory/{memory_id}", json={"fact": "My bicycle is green"})
        ask("history", "GET", f"/api/memory/{memory_id}/history")
        ask("search", "GET", "/api/memory/search?q=bicycle")
        ask("delete", "DELETE", f"/api/memory/{memory_id}")
        ask("wrong field", "POST", "/api/memory", json={"fakt": "x"})
        ask("instruct", "POST", "/api/instructions", json={"text": "Answer briefly"})
        ask("instruct rightly", "POST", "/api/instructions", json={"instruction": "Answer briefly"})
        ask("category", "POST", "/api/memory/categories", json={"name": "Things"})
        ask("consent", "PATCH", "/api/consent", json={"extraction": True})
        ask("chat", "POST", "/api/chat", json={"message": "find me a chicken dinner", "message_id": "api1"})
        ask("export", "GET", "/api/memory/export")
        ask("described", "GET", "/api/openapi.json")
        ask("erase", "POST", "/api/erasure", json={})


def play_mcp(played, recording):
    """The server as an assistant starts it: a process, over its standard streams."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    plain, who = Plain(), played.people[12]
    starting = [
        "-c",
        "from langmem_plugin.cli import app; app()",
        *("mcp", "--phone", who, "--database", played.database),
    ]

    async def talk():
        async with Client(
            stdio_client(StdioServerParameters(command=sys.executable, args=starting, env=dict(os.environ)))
        ) as client:
            tools = await client.list_tools()
            recording.keep("mcp", "tools", plain([_data(each) for each in tools.tools]))
            listed = {each.name for each in tools.tools}
            fact_id = "none"
            for name, described in CALLS["mcp"]:
                given = {**described, "fact_id": fact_id} if "fact_id" in described else described
                if name not in listed and name != "nonsense":
                    continue
                try:
                    result = await client.call_tool(name, given)
                except Exception as error:  # noqa: BLE001 - the kind of refusal is what is kept
                    recording.keep("mcp", f"{name} {sorted(given)}", plain(str(error)))
                    continue
                text = "".join(getattr(each, "text", "") for each in result.content)
                recording.keep("mcp", f"{name} {sorted(given)} {given.get('text')}", plain(text))
                if name == "remember_fact" and (found := re.search(r'"(?:fact_)?id": ?"([^"]+)"', text)):
                    fact_id = found[1]

    asyncio.run(talk())


def play_leaving(played, recording):
    """Exports of everybody, one person's in another database, and erasures with their receipts."""
    exports = exported(played.memory, played.people)
    for who, document in exports.items():
        recording.keep("exports", who, Plain()(document))
    other = f"sqlite:///{played.folder / 'other.db'}"
    with played.opened(other) as memory:
        for who in played.people[:12]:
            plain = Plain()
            recording.call("imports", f"report {who}", memory.import_person, exports[who], plain=plain)
            recording.keep("imports", who, plain(_export(memory, who)))
    for at, who in enumerate(played.people[-24:]):
        plain = Plain()
        recording.call("erasures", f"{who} erase", played.memory.erase, who, now=at % 2 == 0, plain=plain)
        recording.call("erasures", f"{who} held", played.memory.service.list_memories, who, plain=plain)
        if at % 2:
            recording.call("erasures", f"{who} restore", played.memory.restore_erased, who, plain=plain)
            recording.keep("erasures", f"{who} export", plain(_export(played.memory, who)))


def exported(memory, people):
    return {who: _export(memory, who) for who in people}


def _export(memory, who):
    return _ordered(json.loads(memory.export(who).to_json()))


def _ordered(document):
    """An export with its uses by time and kind: those of one moment stand in the order of their random ids."""
    if isinstance(document, dict) and "uses" in document:
        document["uses"] = sorted(document["uses"], key=lambda each: (each.get("at", ""), each.get("kind", "")))
    return document


def record(folder, conversations, seed):
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="oracle-") as place:
        recording, played = Recording(), Played(Path(place), seed)
        for number in range(conversations):
            played.converse(recording, number)
        play_commands(played, recording)
        play_service(played, recording)
        play_tools(played, recording)
        play_store(played, recording)
        operator, person = play_command_line(played, recording)
        play_api(played, recording, operator, person)
        play_mcp(played, recording)
        kept = played.people[:24]
        documents = exported(played.memory, kept)
        played.memory.close()
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(place) / "oracle.db", folder / "oracle.db")
        (folder / "oracle.db.export.json").write_text(
            json.dumps(documents, ensure_ascii=False, sort_keys=True), encoding="utf-8"
        )
        played.memory = played.opened(played.database)
        play_leaving(played, recording)
        played.memory.close()
        recording.write(folder)
    calls = sum(len(each) for each in recording.doors.values())
    took = time.monotonic() - began
    print(f"{conversations} conversations, {calls} records at {len(recording.doors)} doors in {took:.0f} s: {folder}")


def compare(before, after, show):
    """Prints each door's differences; returns how many there are."""
    total = 0
    for door in sorted(
        {path.stem for folder in (before, after) for path in folder.glob("*.json")} - {"oracle.db.export"}
    ):
        was, now = _read(before / f"{door}.json"), _read(after / f"{door}.json")
        if door == "statements":
            total += _compare_counts(was, now)
            continue
        differing = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
        total += len(differing)
        print(f"{door}: {len(differing)} of {len({*was, *now})} differ")
        for name in differing[:show]:
            print(f"  {name}")
            for path, one, other in _differences(was.get(name), now.get(name), "")[:3]:
                print(f"    {path or '/'}\n      - {_short(one)}\n      + {_short(other)}")
    return total


def _compare_counts(was, now):
    both = sorted({*was} & {*now})
    one, other = sum(was[name] for name in both), sum(now[name] for name in both)
    differs = abs(one - other) > COUNTS_MAY_DIFFER_BY * max(one, 1)
    print(f"statements: {one} before, {other} after in {len(both)} calls{': DIFFERS' if differs else ''}")
    return int(differs)


def _differences(one, other, path):
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            found
            for name in sorted({*one, *other})
            for found in _differences(one.get(name), other.get(name), f"{path}/{name}")
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for at, pair in enumerate(zip(one, other, strict=True))
            for found in _differences(*pair, f"{path}/{at}")
        ]
    return [] if one == other else [(path, one, other)]


def _short(given):
    text = json.dumps(given, ensure_ascii=False)
    return (
        text
        if len(text) <= 300
        else f"{text[:260]}… ({len(text)} characters, {hashlib.sha256(text.encode()).hexdigest()[:8]})"
    )


def _read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def opens(database, export):
    """How many people of a database that another commit made are exported otherwise than they were then."""
    was = _read(export)
    with tempfile.TemporaryDirectory() as place:
        copied = Path(place) / "copied.db"
        shutil.copy(database, copied)
        with PhoneMemory(f"sqlite:///{copied}", now=lambda: BEGINNING + timedelta(days=60)) as memory:
            now = exported(memory, was)
    found = [(who, each) for who in was for each in _differences(was[who], now[who], "") if each[0] != "/exported_at"]
    print(f"{len(was)} people, {len(found)} differences")
    for who, (path, one, other) in found[:20]:
        print(f"  {who} {path}\n    - {_short(one)}\n    + {_short(other)}")
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorded = verbs.add_parser("record")
    recorded.add_argument("folder", type=Path)
    recorded.add_argument("--conversations", type=int, default=312)
    recorded.add_argument("--seed", type=int, default=1)
    compared = verbs.add_parser("compare")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    compared.add_argument("--show", type=int, default=20)
    opened = verbs.add_parser("opens")
    opened.add_argument("database", type=Path)
    opened.add_argument("export", type=Path)
    options = parser.parse_args()
    match options.verb:
        case "record":
            record(options.folder, options.conversations, options.seed)
            return 0
        case "compare":
            return int(compare(options.before, options.after, options.show) > 0)
        case _:
            return int(opens(options.database, options.export) > 0)


if __name__ == "__main__":
    sys.exit(main())
