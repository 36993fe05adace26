"""Lines that people text, in chats of our own writing, with the items that each means: only there to measure.

No rule was made from references_unseen.jsonl. A line of a file is a chat with several
lines said in it: {domain, lang, id, dialogue [{role, content}], results [{tool, turn, items [{_id, …}]}],
lines [{utterance, target [ids] or "none", kind, rejected [ids]}]}; or one of these lines with its chat. `turn` counts
the person's messages from 1.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.references import Resolution

Row = dict[str, Any]
UNSEEN = Path(__file__).with_name("references_unseen.jsonl")


@dataclass(frozen=True)
class Line:
    """`meant` and `rejected` are ids; `meant` is empty where nothing is."""

    utterance: str
    messages: list[BaseMessage]
    meant: frozenset[str]
    rejected: frozenset[str]
    kind: str
    domain: str
    lang: str


def read_lines(file: Path) -> Iterator[Line]:
    for text in file.read_text("utf-8").splitlines():
        row: Row = json.loads(text)
        messages = conversation(row)
        domain = row.get("domain") or row["id"].rsplit("-", 1)[0]
        for said in row.get("lines") or [row]:
            meant = frozenset() if said["target"] == "none" else frozenset(map(str, said["target"]))
            rejected = frozenset(map(str, said.get("rejected", ())))
            yield Line(said["utterance"], messages, meant, rejected, said["kind"], domain, row["lang"])


def conversation(row: Row) -> list[BaseMessage]:
    waiting: defaultdict[int, list[BaseMessage]] = defaultdict(list)
    for number, result in enumerate(row.get("results", ())):
        waiting[result["turn"]] += used(result["tool"], {}, result["items"], number)
    messages: list[BaseMessage] = []
    turn = 0
    for said in row["dialogue"]:
        if said["role"] == "user":
            turn += 1
            messages += [HumanMessage(said["content"]), *waiting.pop(turn, [])]
        else:
            messages.append(AIMessage(said["content"]))
    return messages + [message for turn in sorted(waiting) for message in waiting[turn]]


def used(tool: str, arguments: Row, result: object, number: int) -> list[BaseMessage]:
    """A call and its result."""
    call = f"call-{number}"
    return [
        AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": call}]),
        ToolMessage(json.dumps(result, ensure_ascii=False), tool_call_id=call, name=tool),
    ]


def ids(found: Resolution) -> frozenset[str]:
    return frozenset(str(item["_id"]) for item in found.items if "_id" in item)
