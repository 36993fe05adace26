"""People who text for as long as asked, while processes are killed, frozen, started with other clocks and out of disk.

One process serves from the first to the last: once warm its open files stay what they are, and its memory grows by no
more than its caches may hold.
"""

import itertools
import os
import signal
import time
from pathlib import Path

from benchmarks.faults.oracle import Text
from benchmarks.faults.stage import Stage, Worker

_PEOPLE = 24
_AT_ONCE = 6
_HALF_AN_HOUR = 1_860.0
_FROZEN = 3.0
_CACHES = 256_000_000  # bytes that the caches of a process hold at most: messages, checkpoints, ledgers, facts
_PAGE = os.sysconf("SC_PAGE_SIZE")


def play(stage: Stage, minutes: float) -> str:
    """Each round people text, and one thing happens; a new process is half an hour ahead of the one before it."""
    [steady] = stage.workers(1)
    [other] = stage.workers(1)
    phones = [stage.oracle.phone() for _ in range(_PEOPLE)]
    happens = itertools.cycle(("nothing", "kill", "freeze", "full disk", "clock"))
    begun, hours, warm, rounds = time.monotonic(), 0.0, None, 0
    while (gone := time.monotonic() - begun) < minutes * 60:
        some = stage.chance.sample(phones, _AT_ONCE)
        if warm is None and gone > minutes * 60 / 4:
            warm = _size(steady)
        match next(happens):
            case "kill":
                _text(stage, other, some, wait=False)
                stage.listen(time.monotonic() + stage.chance.uniform(0.0, 0.5))
                stage.kill(other)
                [other] = stage.workers(1)
            case "clock":
                stage.kill(other)
                hours += _HALF_AN_HOUR / 3_600
                [other] = stage.start(ahead=hours * 3_600)
                stage.ready(other)
            case "freeze":
                said = _text(stage, other, some, wait=False)
                other.signal(signal.SIGSTOP)
                stage.listen(time.monotonic() + _FROZEN)
                other.signal(signal.SIGCONT)
                for each in said:
                    each.excused += _FROZEN
                stage.wait(*said)
            case "full disk":
                other.pipe.send("full")
                _text(stage, other, some)
                other.pipe.send("room")
        _text(stage, stage.chance.choice((steady, other)), some)
        rounds += 1
    stage.wait(*[stage.send(steady, stage.oracle.chat(phone, undisturbed=True)) for phone in phones])
    memory, files = _size(steady)
    before, files_before = warm or (memory, files)
    assert memory <= before + _CACHES, f"one process grew from {before / 1e6:.0f} to {memory / 1e6:.0f} MB"
    assert files <= files_before + _AT_ONCE, f"one process has {files} files open, {files_before} before"
    return f"{minutes:g} minutes, {rounds} rounds, {hours:.0f} h of clocks; {before / 1e6:.0f} -> {memory / 1e6:.0f} MB"


def _text(stage: Stage, to: Worker, phones: list[str], *, wait: bool = True) -> list[Text]:
    """A message or a fact of each."""
    kinds = (stage.oracle.chat, stage.oracle.remember)
    said = [stage.send(to, stage.chance.choice(kinds)(phone)) for phone in phones]
    if wait:
        stage.wait(*said)
    return said


def _size(one: Worker) -> tuple[int, int]:
    """Bytes of memory, and open files."""
    process = Path("/proc") / str(one.group)
    resident = int((process / "statm").read_text().split()[1]) * _PAGE
    return resident, len(list((process / "fd").iterdir()))
