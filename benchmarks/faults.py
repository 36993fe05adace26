"""Kills a process in the middle of turns, again and again, and checks after each kill that nothing is lost.

    python -m benchmarks.faults                      # SQLite, 200 kills, on a file of its own
    python -m benchmarks.faults --kills 20 --url postgresql://…

A parent that has imported everything forks a child, which says one thing after the other to a real graph and
acknowledges each turn when it is over. The child is killed at a random moment. Another child then opens the
database and checks: every acknowledged turn is there, whole and in order; nothing is there twice; the
database's own check finds no fault; and the next turn works.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import ConversationSaver

PHONE = {"configurable": {"thread_id": "+972501234567"}}


def chat(saver):
    """Three steps: a call, its result, a reply."""

    def call(state: MessagesState):
        wanted = {"name": "find", "args": {"what": state["messages"][-1].text}, "id": f"c{len(state['messages'])}"}
        return {"messages": AIMessage("", tool_calls=[wanted])}

    def find(state: MessagesState):
        found = [{"number": number, "title": f"Soup {number}", "url": f"https://food/{number}"} for number in range(5)]
        return {"messages": ToolMessage(json.dumps(found), tool_call_id=state["messages"][-1].tool_calls[0]["id"])}

    def reply(_: MessagesState):
        return {"messages": AIMessage("Here are five.")}

    graph = StateGraph(MessagesState).add_sequence([call, find, reply]).add_edge(START, "call")
    return graph.compile(checkpointer=saver)


def talk(url: str, first: int, acknowledge: int, durability: str) -> None:
    """Turn after turn, until killed."""
    graph = chat(ConversationSaver(url))
    os.write(acknowledge, b"ready\n")
    for number in range(first, first + 10_000):
        graph.invoke({"messages": [HumanMessage(str(number))]}, PHONE, durability=durability)
        os.write(acknowledge, b"%d\n" % number)


def check(url: str, acknowledged: list[int], durability: str) -> dict[str, float]:
    """Raises AssertionError if anything is lost. How long opening took and the next turn, in seconds."""
    began = time.perf_counter()
    with ConversationSaver(url) as saver:
        opened = time.perf_counter()
        graph = chat(saver)
        messages = graph.get_state(PHONE).values.get("messages", [])
        said = [int(message.text) for message in messages if isinstance(message, HumanMessage)]
        assert set(acknowledged) <= set(said), f"lost {sorted(set(acknowledged) - set(said))}"
        assert said == sorted(set(said)), f"twice or out of order: {said}"
        at = {message.text: place for place, message in enumerate(messages) if isinstance(message, HumanMessage)}
        for number in acknowledged:
            kinds = [type(each) for each in messages[at[str(number)] :][:4]]
            assert kinds == [HumanMessage, AIMessage, ToolMessage, AIMessage], f"turn {number} is not whole: {kinds}"
        for _ in graph.get_state_history(PHONE, limit=20):
            pass  # every checkpoint of the last turns can be read
        if saver.database.is_sqlite:
            with saver.database.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
                assert connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None
        started = time.perf_counter()
        number = max(said, default=-1) + 1
        after = graph.invoke({"messages": [HumanMessage(str(number))]}, PHONE, durability=durability)
        assert after["messages"][-1].text == "Here are five."
        return {"open": opened - began, "turn": time.perf_counter() - started, "next": number + 1}


def in_child(function, *arguments) -> tuple[int, int]:
    """Forks; (process id, the end of a pipe from which its answer is read)."""
    read, write = os.pipe()
    if pid := os.fork():
        os.close(write)
        return pid, read
    try:
        os.close(read)
        if answer := function(*arguments[:2], write, *arguments[2:]) if function is talk else function(*arguments):
            os.write(write, json.dumps(answer).encode())
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the parent is told, whatever it is
        os.write(write, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)


def run(url: str, kills: int, seed: int, durability: str) -> dict[str, float]:
    chance = random.Random(seed)
    acknowledged: list[int] = []
    following, slowest_open, slowest_turn, within_turn = 0, 0.0, 0.0, 0
    for _ in range(kills):
        pid, pipe = in_child(talk, url, following, durability)
        heard = b""
        while b"ready" not in heard:
            part = os.read(pipe, 4096)
            assert part, f"the child ended: {heard!r}"
            heard += part
        time.sleep(chance.uniform(0.0, 0.2))
        os.kill(pid, signal.SIGKILL)
        while part := os.read(pipe, 65536):
            heard += part
        os.waitpid(pid, 0)
        os.close(pipe)
        acknowledged += [int(line) for line in heard.split(b"\n")[1:-1]]
        pid, pipe = in_child(check, url, acknowledged[-50:], durability)
        answer = b""
        while part := os.read(pipe, 65536):
            answer += part
        os.waitpid(pid, 0)
        os.close(pipe)
        found = json.loads(answer)
        if "error" in found:
            raise SystemExit(found["error"])
        within_turn += found["next"] - 1 > (acknowledged[-1] + 1 if acknowledged else 0)
        following = int(found["next"])
        slowest_open, slowest_turn = max(slowest_open, found["open"]), max(slowest_turn, found["turn"])
    return {
        "kills": kills,
        "turns acknowledged": len(acknowledged),
        "turns lost": 0,
        "kills that left a part of a turn": within_turn,
        "slowest opening, ms": round(slowest_open * 1000, 1),
        "slowest next turn, ms": round(slowest_turn * 1000, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--url", help="an empty database; by default a SQLite file that is removed afterwards")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--durability", choices=["sync", "async", "exit"], default="sync")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = asked.url or f"sqlite:///{Path(folder) / 'faults.db'}"
        began = time.perf_counter()
        table = run(url, asked.kills, asked.seed, asked.durability)
        table["seconds"] = round(time.perf_counter() - began, 1)
    for name, figure in table.items():
        print(f"{name:34} {figure:>8}")


if __name__ == "__main__":
    sys.exit(main())
