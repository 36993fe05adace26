"""Processes killed with SIGKILL at random moments in their turns. A fresh one then reads what is there."""

import itertools
import time

from benchmarks.faults.stage import Stage
from benchmarks.faults.worker import conversation, opened

_WAYS = [("reply", True), ("sync", True), ("sync", False), ("async", True), ("exit", True)]
_AT_ONCE = 32


def play(stage: Stage, kills: int) -> str:
    """Outside of turns all have one conversation; a killed turn keeps its place for seconds, so each has its own."""
    kills = stage.times(kills, len(_WAYS))
    outside = stage.oracle.phone()
    phones = [outside]
    for (how, in_turn), _ in zip(itertools.cycle(_WAYS), range(kills)):
        phone = stage.oracle.phone() if in_turn else outside
        phones += [phone] if in_turn else []
        [one] = stage.workers(1)
        until = time.monotonic() + stage.chance.uniform(0.0, 0.3)
        while time.monotonic() < until:
            text = stage.send(one, stage.oracle.chat(phone), how, in_turn=in_turn)
            stage.listen(until, [text])
        stage.kill(one)
        with opened(stage.url) as memory:
            stage.oracle.compare(memory, [phone])
            for _ in conversation(memory).get_state_history({"configurable": {"thread_id": phone}}, limit=20):
                pass  # every checkpoint of the last turns can be read
    [survivor] = stage.workers(1)
    for first in range(0, len(phones), _AT_ONCE):
        some = phones[first : first + _AT_ONCE]
        stage.wait(*[stage.send(survivor, stage.oracle.chat(phone, undisturbed=True)) for phone in some])
    return f"{kills} kills"
