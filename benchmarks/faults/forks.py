"""A process that constructs the memory, uses it and then forks, as a preloading server does; all serve people."""

import time

from benchmarks.faults.stage import Stage

_CHILDREN = 4
_READS, _ROUNDS = 40, 10


def play(stage: Stage) -> str:
    """First nothing runs while it forks, then replies of the parent do."""
    for busy in (False, True):
        parent, *children = stage.start(children=_CHILDREN)
        stage.ready(parent)
        people = [(each, stage.oracle.phone()) for each in (parent, *children)]
        of_parent = people[0][1]
        stage.wait(*[stage.send(parent, stage.oracle.remember(phone)) for _, phone in people])
        stage.wait(*[stage.send(parent, stage.oracle.chat(phone)) for _, phone in people])
        running = [stage.send(parent, stage.oracle.chat(of_parent, thinks=0.2)) for _ in range(5 * busy)]
        parent.pipe.send("fork")
        for _ in range(stage.times(_READS, 4)):
            said = [stage.send(each, stage.oracle.memories(phone)) for each, phone in people]
            stage.listen(time.monotonic() + 0.05, said)  # a connection of two processes gives one the other's answer
        for _ in range(stage.times(_ROUNDS)):
            said = [stage.send(each, stage.oracle.chat(phone, undisturbed=True)) for each, phone in people]
            said += [stage.send(each, stage.oracle.remember(phone)) for each, phone in people]
            said += [stage.send(each, stage.oracle.memories(phone)) for each, phone in people]
            if not stage.wait(*said, *running):
                break  # whoever hangs would be waited for again
    return f"{2 * _CHILDREN} forks"
