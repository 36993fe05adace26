"""Where faults are played: a database, the processes that serve it, and the people who text them."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Self

from benchmarks.faults import worker
from benchmarks.faults.oracle import LONGEST_WAIT, Oracle, Text

_START_SECONDS = 120  # on a busy machine

# Imports take seconds: they are done once, in a process from which the others are forked and which opens no database.
_warm = multiprocessing.get_context("forkserver")
_warm.set_forkserver_preload([worker.__name__])
_cold = multiprocessing.get_context("spawn")


class Worker:
    """A process that answers texts, seen from outside."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.asked: list[Text] = []
        self.group: int | None = None  # of processes: itself and its children; known once it has opened the database

    def signal(self, number: signal.Signals) -> None:
        if self.group is not None:
            os.killpg(self.group, number)


class Stage:
    """Ends every process in the end, whatever it is doing."""

    def __init__(self, url: str, oracle: Oracle, chance: random.Random, *, few: bool = False) -> None:
        self.url = url
        self.oracle = oracle
        self.chance = chance
        self._few = few
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in [*self._workers]:
            each.signal(signal.SIGKILL)

    def times(self, usually: int, few: int = 1) -> int:
        """How often a fault is caused."""
        return min(usually, few) if self._few else usually

    def start(self, ahead: float | None = None, library: str | None = None, children: int = 0) -> list[Worker]:
        """A new process, and the children it makes when it is told to "fork".

        Its clock is `ahead` by so many seconds: for the whole process by libfaketime, where `library` says where that
        is, else for what the package asks.
        """
        pipes = [multiprocessing.Pipe() for _ in range(1 + children)]
        (_, its_end), *of_children = pipes
        of_library = {}
        if library and ahead is not None:
            of_library = {"LD_PRELOAD": library, "FAKETIME": f"{ahead:+}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            ahead = None
        context = _cold if of_library else _warm
        arguments = (its_end, self.url, ahead, [end for _, end in of_children])
        with _environment(of_library):
            context.Process(target=worker.run, args=arguments, daemon=True).start()
        for _, end in pipes:
            end.close()
        made = [Worker(pipe) for pipe, _ in pipes]
        self._workers += made
        return made

    def ready(self, *started: Worker) -> None:
        """Waits until they have opened the database."""
        until = time.monotonic() + _START_SECONDS
        for each in started:
            while each.group is None:
                assert each.pipe.poll(until - time.monotonic()), "a process did not start"
                assert self._hear(each), "a process ended at its start"

    def workers(self, count: int) -> list[Worker]:
        """So many processes that are ready."""
        made = [each for _ in range(count) for each in self.start()]
        self.ready(*made)
        return made

    def send(self, to: Worker, text: Text, how: str = "reply", *, in_turn: bool = True, excused: float = 0.0) -> Text:
        """`excused` are the seconds for which the turn before it goes on."""
        text.excused += excused
        to.asked.append(text)
        with suppress(BrokenPipeError):  # it has ended: nobody is answered
            to.pipe.send(worker.Asked(text.number, text.phone, text.said, text.facts, how, in_turn, text.message_id))
        return text

    def listen(self, until: float, texts: Iterable[Text] | None = None) -> None:
        """Takes answers until that instant of time.monotonic(), or until these texts have theirs."""
        while (left := until - time.monotonic()) > 0 and (texts is None or any(not text.ended for text in texts)):
            pipes = {each.pipe: each for each in self._workers if each.asked}
            for pipe in wait(list(pipes), left):
                self._hear(pipes[pipe])

    def keep_texting(
        self, people: list[tuple[Worker, str]], said: dict[str, Text], until: float, text: Callable[[str], Text]
    ) -> None:
        """Everybody texts again as soon as they are answered, until that instant; `said` holds the newest of each."""
        while time.monotonic() < until:
            for each, phone in people:
                if phone not in said or said[phone].ended:
                    said[phone] = self.send(each, text(phone))
            self.listen(min(until, time.monotonic() + 0.05))

    def wait(self, *texts: Text) -> bool:
        """Until they are answered, or will not be any more; whether all are."""
        self.listen(time.monotonic() + LONGEST_WAIT + 5 + max(text.excused for text in texts), texts)
        return all(text.ended for text in texts)

    def kill(self, one: Worker) -> None:
        """With SIGKILL; what it said before is heard."""
        one.signal(signal.SIGKILL)
        while one.group is not None and self._hear(one):
            pass
        for text in one.asked:
            text.killed = text.ended is None

    def _hear(self, one: Worker) -> bool:
        try:
            heard = one.pipe.recv()
        except (EOFError, OSError):  # it has ended, in the middle of a word or between two
            self._workers.remove(one)
            return False
        if isinstance(heard, int):
            one.group = heard
        else:
            self.oracle.heard(*heard)
        return True


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Of the processes started in the block."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
