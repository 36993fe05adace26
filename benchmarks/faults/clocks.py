"""Processes whose clocks differ, are set back between two starts, or are far ahead when they are killed."""

from pathlib import Path

from benchmarks.faults.stage import Stage

_ROUNDS = 10
_HOUR = 3_600.0


def libfaketime() -> str | None:
    """Where Debian's package `faketime` puts the library that gives one process another time."""
    return next(map(str, Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)


def play(stage: Stage, library: str | None) -> str:
    workers = [each for ahead in (None, 90, 0.2, -2 * _HOUR) for each in stage.start(ahead, library)]
    stage.ready(*workers)
    by_turns, killed = stage.oracle.phone(), stage.oracle.phone()
    for _ in range(stage.times(_ROUNDS)):
        for each in workers:
            stage.wait(stage.send(each, stage.oracle.chat(by_turns, undisturbed=True)))

    for ahead in (None, -2 * _HOUR, -_HOUR / 3, 3 * _HOUR, None):
        [one] = stage.start(ahead, library)
        stage.ready(one)
        stage.wait(stage.send(one, stage.oracle.chat(by_turns, undisturbed=True)))
        stage.kill(one)

    [far_ahead] = stage.start(2 * _HOUR, library)
    stage.ready(far_ahead)
    stage.wait(stage.send(far_ahead, stage.oracle.chat(killed, undisturbed=True)))
    slow = stage.send(far_ahead, stage.oracle.chat(killed, thinks=30))
    stage.listen(slow.begun + 1)
    stage.kill(far_ahead)
    for _ in range(2):
        stage.wait(stage.send(workers[0], stage.oracle.chat(killed, undisturbed=True)))
    return f"skewed clocks, by {'libfaketime' if library else 'patched time sources'}"
