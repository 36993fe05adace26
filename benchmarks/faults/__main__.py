"""Causes faults while people text, and counts what became of every text.

    python -m benchmarks.faults                                   # SQLite, a file of its own for each kind
    python -m benchmarks.faults --url postgresql://…              # an empty database; with faults of the server
    python -m benchmarks.faults --only kills --kills 20
    python -m benchmarks.faults --quick                           # a few of each, as the tests do
    python -m benchmarks.faults --only soak --minutes 60          # all of it, and one process that stays
    python -m benchmarks.faults --only failover                   # two servers of its own, of which one is killed

One line for each kind of fault. A text is acknowledged when its person was answered as if nothing had happened, and
told when they were told that it was not kept or that they are to send it again. In the end a fresh memory reads all
that is stored: what was acknowledged must be there, whole, once and in order. A text is unanswered if neither an
answer nor a notice came within 25 seconds. Ends with status 1 if anything was lost, answered twice, shown to another
or unanswered; what it was is on stderr.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.faults import clocks, commands, forks, freezes, kills, locks, soak
from benchmarks.faults.oracle import Figures, Oracle
from benchmarks.faults.stage import Stage
from benchmarks.faults.worker import opened

_COLUMNS = (
    "tried",
    "acknowledged",
    "told",
    "lost",
    "answered twice",
    "shown to another",
    "unanswered",
    "slowest wait",
)
_SHOWN = 5  # of what is wrong, in words


def kinds(asked: argparse.Namespace) -> dict[str, Callable[[Stage], str]]:
    found: dict[str, Callable[[Stage], str]] = {
        "kills": partial(kills.play, kills=asked.kills),
        "commands": partial(commands.play, kills=asked.kills),
        "freezes": partial(freezes.play, freezes=asked.freezes),
        "clocks": partial(clocks.play, library=asked.libfaketime),
        "locks": locks.play,
        "forks": forks.play,
    }
    if asked.only == "soak":
        found["soak"] = partial(soak.play, minutes=asked.minutes)
    if asked.url and asked.url.startswith("postgres"):
        from benchmarks.faults import pooler, server

        found |= {"server": server.play, "pooler": pooler.play}
    return found


def played(kind: Callable[[Stage], str], url: str, oracle: Oracle, asked: argparse.Namespace) -> tuple[str, Figures]:
    with Stage(url, oracle, random.Random(asked.seed), few=asked.quick) as stage:
        name = kind(stage)
    with opened(url) as memory:
        oracle.compare(memory)
    return name, oracle.figures()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="an empty database; by default SQLite files that are removed afterwards")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--freezes", type=int, default=40)
    parser.add_argument(
        "--only",
        metavar="KIND",
        help="kills, commands, freezes, clocks, locks, forks, soak, failover or, on PostgreSQL, server, pooler",
    )
    parser.add_argument("--minutes", type=float, default=60, help="of the soak; default: %(default)s")
    parser.add_argument("--libfaketime", metavar="FILE", default=clocks.libfaketime(), help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="a few of each")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.only == "failover":
        from benchmarks.faults import failover

        with failover.two_servers() as (asked.url, fail_over):
            return shown({"failover": partial(failover.play, fail_over=fail_over)}, asked)
    chosen = {name: kind for name, kind in kinds(asked).items() if asked.only in (None, name)}
    if not chosen:
        parser.error(f"no such kind here: {asked.only}")
    if asked.url:
        with opened(asked.url) as memory:
            if memory.sessions.sessions(limit=1):
                parser.error("people have texted this database already: give an empty one")
    return shown(chosen, asked)


def shown(chosen: dict[str, Callable[[Stage], str]], asked: argparse.Namespace) -> int:
    oracle, wrong = Oracle(), 0
    print(f"{'':58}", *_COLUMNS, sep="  ")
    with tempfile.TemporaryDirectory() as folder:
        for short, kind in chosen.items():
            url = asked.url or f"sqlite:///{Path(folder) / short}.db"
            name, found = played(kind, url, oracle, asked)
            cells = [
                found.tried, found.acknowledged, found.told,
                *(len(each) for each in found.wrong), f"{found.slowest:.1f} s",
            ]  # fmt: skip
            columns = (f"{cell:>{len(column)}}" for cell, column in zip(cells, _COLUMNS, strict=True))
            print(f"{name:58}", *columns, sep="  ", flush=True)
            for each in (words for some in found.wrong for words in some[:_SHOWN]):
                print(f"    {each}", file=sys.stderr)
            wrong += sum(map(len, found.wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
