"""Processes stopped with SIGSTOP in the middle of a turn, which another process takes over, and continued."""

import signal
import time

from benchmarks.faults.oracle import Text
from benchmarks.faults.stage import Stage

_AT_ONCE = 10  # each takes the seconds after which a silent holder counts as gone
_THINKS = 0.5


def play(stage: Stage, freezes: int) -> str:
    freezes = stage.times(freezes, 2)
    *holders, taker = stage.workers(min(freezes, _AT_ONCE) + 1)
    for first in range(0, freezes, _AT_ONCE):
        phones = [stage.oracle.phone() for _ in holders[: freezes - first]]
        stage.wait(*[stage.send(taker, stage.oracle.chat(phone, undisturbed=True)) for phone in phones])
        begun = time.monotonic()
        pairs = zip(holders, phones, strict=False)
        held = [stage.send(holder, stage.oracle.chat(phone, _THINKS)) for holder, phone in pairs]
        moments = sorted((stage.chance.uniform(0.0, 1.5 * _THINKS), number) for number in range(len(phones)))
        taken: list[Text] = []
        for moment, number in moments:
            stage.listen(begun + moment)
            holders[number].signal(signal.SIGSTOP)
            taken.append(stage.send(taker, stage.oracle.chat(phones[number])))
        stage.wait(*taken)
        for moment, number in moments:
            held[number].excused += time.monotonic() - begun - moment
            holders[number].signal(signal.SIGCONT)
        stage.wait(*held)
        stage.wait(*[stage.send(taker, stage.oracle.chat(phone, undisturbed=True)) for phone in phones])
    return f"{freezes} freezes"
