"""Processes killed in the middle of a chat command, which then is delivered again, as channels do.

Beside each person another one says the same to a memory that nobody kills: both are to be told and to have the same.
"""

from benchmarks.faults.oracle import Held
from benchmarks.faults.stage import Stage
from benchmarks.faults.worker import conversation, opened

_LONGEST = 0.15  # seconds that a command takes
_SCRIPT = (
    "/remember My code is {}",
    "/remember I like green tea",
    "/remember I like black tea",
    "/forget tea",
    "1",
    "/undo",
    "/instructions be brief",
    "/instructions never use emojis",
    "/instructions delete 1",
    "/instructions",
    "/memories",
    "/privacy on",
    "/forget green tea",
    "/undo",
    "/privacy erase",
    "yes",
    "/memories",
)


def play(stage: Stage, kills: int) -> str:
    kills = stage.times(kills, 3)
    [survivor] = stage.workers(1)
    with opened("sqlite://") as undisturbed:
        graph = conversation(undisturbed)
        for kill in range(kills):
            phone = stage.oracle.phone()
            script = [said.format(f"n{stage.oracle.next_number}") for said in _SCRIPT]
            for number, said in enumerate(script[: kill % len(script) + 2]):
                expected = undisturbed.reply(graph, phone, said)
                first = stage.oracle.command(phone, said, expected)
                if number == kill % len(script):
                    [one] = stage.workers(1)
                    stage.send(one, first)
                    stage.listen(first.begun + stage.chance.uniform(0.0, _LONGEST), [first])
                    stage.kill(one)
                    first = stage.send(survivor, stage.oracle.command(phone, said, expected, again=first))
                else:
                    stage.send(survivor, first)
                stage.wait(first)
            stage.oracle.hold(phone, Held.of(undisturbed, phone))
    return f"{kills} kills in commands"
