"""People who text, remember and ask while the database is held for some seconds, whoever holds it."""

import time
from contextlib import AbstractContextManager

from benchmarks.faults.stage import Stage, Worker

_PEOPLE = 4  # of each process


def text_while(stage: Stage, workers: list[Worker], held: AbstractContextManager[None], seconds: float) -> None:
    """Of each process one person's turn ends meanwhile, and two begin; then everybody goes on.

    One is thought about until it is over, and texts again, to another process.
    """
    people = [(each, [stage.oracle.phone() for _ in range(_PEOPLE)]) for each in workers]
    everybody = [(each, phone) for each, phones in people for phone in phones]
    stage.wait(*[stage.send(each, stage.oracle.remember(phone)) for each, phone in everybody])
    said = [stage.send(each, stage.oracle.chat(phones[0], thinks=1)) for each, phones in people]
    said += [stage.send(each, stage.oracle.chat(phones[1], thinks=seconds + 1)) for each, phones in people]
    stage.listen(time.monotonic() + 0.5)
    with held:
        until = time.monotonic() + seconds
        said += [stage.send(each, stage.oracle.chat(phone)) for each, phones in people for phone in phones[2:]]
        said += [stage.send(each, stage.oracle.remember(phones[2])) for each, phones in people]
        said += [stage.send(each, stage.oracle.memories(phones[3])) for each, phones in people]
        for (_, phones), (other, _) in zip(people, reversed(people), strict=True):
            said.append(stage.send(other, stage.oracle.chat(phones[1]), excused=seconds + 1))
        stage.listen(until)
    stage.wait(*said)
    stage.wait(*[stage.send(each, stage.oracle.chat(phone, undisturbed=True)) for each, phone in everybody])
