"""How often references are understood, how often something is claimed where nothing is meant, and how long it takes.

    python -m benchmarks.references                          # our own lines: see benchmarks/reference_lines.py
    python -m benchmarks.references --data FOLDER            # and the rows of a folder: see below
    python -m benchmarks.references --data FOLDER --show talk    # and the lines of one set that are not right

The rows of FOLDER are not part of this project. They are made from public dialogues: Schema-Guided Dialogue and
SMCalFlow (CC BY-SA 4.0), MultiWOZ, tau-bench, ToolTalk and RealMem (MIT). One JSON object a line:

  refs_*: dialogue [{role, content}], results [{tool, turn, items [{_id, …}], shown_order, n_total}],
      utterance, target [ids] or "none", kind, and rejects for kind "negation"
  texting_*: the same as our own lines
  talk_*: dialogue, utterance, target [how items begin] or "none", kind: ordinary talk with an assistant
  realmem_corpora_*: items [{at, speaker, text}] of whole sessions, in which hardly anything is picked
  followup_*: dialogue, utterance, label ("revise" when it changes the call before it)
"""

import argparse
import gc
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks import reference_lines
from benchmarks.reference_lines import UNSEEN, Line, ids, read_lines, used
from langmem_plugin.references import Resolution, clear_cache, resolve

Row = dict[str, Any]
TALK = Path(__file__).parents[1] / "tests" / "references" / "ordinary_talk.jsonl"
PLACES = frozenset(("number", "range", "ordinal", "last", "all_except"))


def read(folder: Path, name: str) -> list[Row]:
    lines = [line for path in sorted(folder.glob(f"{name}_*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def as_message(turn: Row) -> BaseMessage:
    return HumanMessage(turn["content"]) if turn["role"] == "user" else AIMessage(turn["content"])


def conversation(row: Row) -> list[BaseMessage]:
    """The row as messages. Results older than the dialogue's excerpt get a reply that names what was shown of them."""
    dialogue = row["dialogue"]
    first = int(row["id"].rsplit("-", 1)[1]) - len(dialogue)
    waiting: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)
    for number, result in enumerate(row["results"]):
        waiting[max(result["turn"], -1)].append((number, result))
    messages: list[BaseMessage] = []
    for turn in sorted(turn for turn in waiting if turn < first):
        for number, result in waiting.pop(turn):
            messages += used(result["tool"], {}, result["items"], number)
            if len(result["shown_order"]) < result["n_total"]:
                shown = [result["items"][place] for place in result["shown_order"] if place < len(result["items"])]
                messages.append(AIMessage("I found " + ", ".join(map(named, shown)) + "."))
            messages.append(HumanMessage("ok"))
    for place, turn in enumerate(dialogue, first):
        if turn["role"] != "user":
            for number, result in waiting.pop(place, []):
                messages += used(result["tool"], {}, result["items"], number)
        messages.append(as_message(turn))
    for turn in sorted(waiting):
        for number, result in waiting[turn]:
            messages += used(result["tool"], {}, result["items"], number)
    return messages


def named(item: Row) -> str:
    values = {key: value for key, value in item.items() if key != "_id"}
    return str(
        next(
            (value for key, value in values.items() if "name" in key or key == "title"),
            " ".join(map(str, values.values())),
        )
    )


@dataclass
class Tally:
    """Of one set: the right and all of each kind, of claims, of each sort of claim, and of lines that mean nothing."""

    name: str
    kinds: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    sorts: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    claims: list[bool] = field(default_factory=list)
    claimed_of_none: list[bool] = field(default_factory=list)
    rejected: int = 0
    asked: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, kind: str, found: Resolution, *, good: bool, none: bool, rejected: bool, line: str) -> None:
        self.kinds[kind].append(good)
        self.asked += found.question is not None
        self.rejected += rejected
        if found.references:
            self.claims.append(good)
            self.sorts[found.references[0].sort].append(good)
        if none:
            self.claimed_of_none.append(bool(found.references))
        if not good:
            claimed = "; ".join(f"{each.words!r} ({each.sort}) = {str(each.items)[:120]}" for each in found.references)
            self.wrong.append(f"  {kind:14} {line[:160]!r}\n{'':17}{claimed or 'nothing'}")

    def report(self) -> str:
        every = [good for kind in self.kinds.values() for good in kind]
        picks = [good for kind, of in self.kinds.items() if "none" not in kind for good in of]
        places = [good for kind, of in self.kinds.items() if kind in PLACES for good in of]
        return (
            f"{self.name:11} {share(every)} right; picks {share(picks)}, of them number to all-but {share(places)}, "
            f"names {share(self.kinds.get('name', []))}; claims right {share(self.claims)}; "
            f"an item where none is meant {share(self.claimed_of_none)}; "
            f"rejected but picked {self.rejected}; asked {self.asked}\n"
            f"{'':12}{counts(self.kinds)}\n{'':12}claims: {counts(self.sorts)}"
        )


def measure_refs(rows: Iterable[Row]) -> Tally:
    tally = Tally("refs")
    for row in rows:
        found = resolve(row["utterance"], conversation(row))
        meant = {str(item.get("_id")) for item in found.items}
        target = set() if row["target"] == "none" else set(row["target"])
        turned_down = bool(meant & set(row.get("rejects", [])))
        good = not turned_down and meant <= target if row["kind"] == "negation" else meant == target
        kind = row["cue"] if row.get("cue") == "name" else row["kind"]
        none = row["target"] == "none"
        tally.add(kind, found, good=good, none=none, rejected=turned_down, line=row["utterance"])
    return tally


def measure_lines(lines: Iterable[Line], name: str) -> Tally:
    tally = Tally(name)
    for line in lines:
        found = resolve(line.utterance, line.messages)
        good = ids(found) == line.meant
        turned_down = bool(ids(found) & line.rejected)
        tally.add(line.kind, found, good=good, none=not line.meant, rejected=turned_down, line=line.utterance)
    return tally


def measure_talk(rows: Iterable[Row], name: str) -> Tally:
    """Rows as they are, or chats with several `lines`; an item is right that begins as the target says."""
    tally = Tally(name)
    for row in rows:
        messages = reference_lines.conversation(row)
        for line in row.get("lines") or [row]:
            found = resolve(line["utterance"], messages)
            wanted = [] if line["target"] == "none" else line["target"]
            told = [str(item.get("text") or item) for item in found.items]
            good = len(told) == len(wanted) and all(any(holds(text, each) for text in told) for each in wanted)
            turned_down = any(holds(text, each) for text in told for each in line.get("rejected", ()))
            tally.add(line["kind"], found, good=good, none=not wanted, rejected=turned_down, line=line["utterance"])
    return tally


def holds(text: str, target: str) -> bool:
    plain = "".join(letter for letter in text.casefold() if letter.isalnum())
    return "".join(letter for letter in target.casefold() if letter.isalnum()) in plain


def sessions(folder: Path) -> Iterator[tuple[str, list[BaseMessage]]]:
    """Each message of a person in whole sessions with an assistant, and what was said before it."""
    for corpus in read(folder, "realmem_corpora"):
        for _, items in groupby(corpus["items"], key=lambda item: item["at"]):
            before: list[BaseMessage] = []
            for item in items:
                if item["speaker"] == "user":
                    yield item["text"], list(before)
                before.append(HumanMessage(item["text"]) if item["speaker"] == "user" else AIMessage(item["text"]))


def measure_sessions(folder: Path, *, show: bool) -> str:
    every = claimed = asked = 0
    for said, before in sessions(folder):
        found = resolve(said, before)
        every += 1
        claimed += bool(found.references)
        asked += found.question is not None
        if show and found.references:
            told = "; ".join(f"{each.words!r} ({each.sort}) = {str(each.items)[:160]}" for each in found.references)
            print(f"  {said[:300]!r}\n      {told}")
    return f"sessions    something claimed in {claimed} of {every} messages, a question in {asked}"


def measure_revisions(rows: Sequence[Row]) -> str:
    call = [HumanMessage("hello"), *used("call_before", {}, [], 0)]
    told: Counter[tuple[bool, bool]] = Counter()
    for row in rows:
        found = resolve(row["utterance"], [*call, *map(as_message, row["dialogue"])]).previous_call is not None
        told[row["label"] == "revise", found] += 1
    of_revising, of_found = told[True, True] + told[True, False], told[True, True] + told[False, True]
    return (
        f"revisions   found {told[True, True]} of {of_revising}; of those found {told[True, True]} of {of_found} revise"
    )


def counts(of: dict[str, list[bool]]) -> str:
    return ", ".join(f"{name} {sum(good)}/{len(good)}" for name, good in sorted(of.items()))


def share(of: Sequence[bool]) -> str:
    return f"{100 * sum(of) / max(len(of), 1):.1f} % of {len(of)}"


WORDS = ("chicken", "beef", "tofu", "lemon", "garlic", "stew", "curry", "soup", "salad", "rice", "pasta", "basil")
UTTERANCES = (
    "number 7",
    "the last two",
    "the cheapest one",
    "the ginger one",
    "save it",
    "what's the weather",
    "all but the first",
    "thanks",
    "tell me more about the quickest",
    "something else",
    "is there anything with basil",
    "book a table for 2 at 7",
    "השני",
    "el más barato",
)


def measure_time(results: int = 50, items: int = 20) -> tuple[list[float], list[float]]:
    """Milliseconds per utterance on a conversation read before, and per turn as it grows by one result at a time."""
    chance = random.Random(0)
    messages: list[BaseMessage] = []
    growing = []
    clear_cache()
    gc.collect()
    gc.freeze()  # what was measured before is not looked through again and again
    for number in range(results):
        found = [
            {
                "id": f"r{number}-{place}",
                "title": " ".join(chance.sample(WORDS, 3)).title() + f" {number * items + place}",
                "minutes": chance.randint(10, 90),
                "price": f"${chance.randint(5, 40)}",
                "tags": chance.sample(WORDS, 3),
            }
            for place in range(items)
        ]
        shown = "\n".join(f"{place}. {item['title']}" for place, item in enumerate(found, 1))
        messages += [
            HumanMessage("find recipes"),
            *used("search_recipes", {}, {"results": found}, number),
            AIMessage(f"Here:\n{shown}"),
        ]
        growing.append(timed(lambda messages=tuple(messages): resolve("number 3", messages)))
    warm = [
        timed(lambda utterance=utterance: resolve(utterance, messages)) for _ in range(20) for utterance in UTTERANCES
    ]
    return sorted(warm), sorted(growing)


def measure_long_answers(answers: int = 10, letters: int = 4_000) -> list[float]:
    """Milliseconds per utterance after long answers with lists of many kinds, read before."""
    chance = random.Random(1)
    messages: list[BaseMessage] = []
    for _ in range(answers):
        text = ""
        while len(text) < letters:
            text += f"\n\n## {chance.choice(WORDS).title()} for beginners\n\n" + "\n".join(
                f"{chance.choice(['-', f'{place}.'])} **{' '.join(chance.sample(WORDS, 2)).title()}** – "
                + " ".join(chance.choices(WORDS, k=12))
                for place in range(1, 6)
            )
        messages += [HumanMessage("tell me about cooking"), AIMessage(text)]
    resolve("hello", messages)
    return sorted(
        timed(lambda utterance=utterance: resolve(utterance, messages)) for _ in range(20) for utterance in UTTERANCES
    )


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of the processor: what else runs on the machine does not count."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the .jsonl files")
    parser.add_argument("--show", default="", help="a set, of which the lines that are not right are listed")
    asked = parser.parse_args()
    tallies = [
        measure_lines(read_lines(UNSEEN), "unseen"),
        measure_talk(map(json.loads, TALK.read_text("utf-8").splitlines()), "own-talk"),
    ]
    if asked.data is None or not any(asked.data.glob("refs_*.jsonl")):
        print("No data: give --data a folder with refs_*.jsonl and the like (see --help). Our own lines and time only.")
    else:
        tallies += [measure_lines(read_lines(file), "texting") for file in sorted(asked.data.glob("texting_*.jsonl"))]
        tallies += [measure_talk(read(asked.data, "talk"), "talk"), measure_refs(read(asked.data, "refs"))]
    for tally in tallies:
        print(tally.report())
        if tally.name == asked.show:
            print("\n".join(tally.wrong))
    if asked.data is not None:
        print(measure_sessions(asked.data, show=asked.show == "sessions"))
        print(measure_revisions(read(asked.data, "followup")))
    warm, growing = measure_time()
    for name, taken in (
        ("an utterance, 50 results x 20 items", warm),
        ("a turn with a new result, 50 results x 20 items", growing),
        ("an utterance after 10 answers of 4 kB", measure_long_answers()),
    ):
        half, most = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
        print(f"{name}: p50 {half:.1f} ms, p95 {most:.1f} ms (target 2)")


if __name__ == "__main__":
    sys.exit(main())
