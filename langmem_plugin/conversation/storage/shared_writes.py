"""Writes of one run that come within milliseconds of each other share a transaction.

A step of a graph writes several times: what its tasks wrote, then the checkpoint. Each call returns only when its part
is stored, but for what is left to the run's next write.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig

from langmem_plugin import process_forks
from langmem_plugin.conversation.config_keys import control_of, ticket_of
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.errors import StoreUnavailable, TurnLost, UnknownSession, WriteConflict

_COMPANY_SECONDS = 0.005
"""How long a task's writes wait for the checkpoint that nearly always follows them at once."""

Work = Callable[[SessionCheckpoints], Any]


class OpensForWriting(Protocol):
    """Opens the session of a run for writing."""

    def __call__(self, config: RunnableConfig, *, durable: bool) -> AbstractContextManager[SessionCheckpoints]: ...


@dataclass(eq=False, slots=True)
class _Part:
    """Nobody waits for the `outcome` of what was `left`: whoever writes it fails with it."""

    config: RunnableConfig
    work: Work
    left: bool = False
    outcome: Future[None] = field(default_factory=Future)


class SharedWrites:
    """Gathers by turn, outside of turns by run: what is gathered goes to one session."""

    def __init__(self, transaction: OpensForWriting) -> None:
        self._transaction = transaction
        self._begin_with_none()
        process_forks.register(after_in_child=self._begin_with_none)

    def _begin_with_none(self) -> None:
        """Also in a forked child: what waits in the parent is written there."""
        self._waiting: dict[Hashable, list[_Part]] = {}
        self._lock = threading.Lock()

    def now(self, config: RunnableConfig, work: Work, *, durable: bool = True) -> None:
        """Writes it together with what waits of its run, which goes before it."""
        part = _Part(config, work)
        self._write([*self._take(config), part], durable=durable)
        part.outcome.result()

    def soon(self, config: RunnableConfig, work: Work) -> None:
        """Lets the run's next write take it along, or writes it if none comes; returns when it is written."""
        if gathered_by(config) is None:
            return self.now(config, work, durable=False)
        part = self._add(_Part(config, work))
        try:
            part.outcome.result(_COMPANY_SECONDS)
        except TimeoutError:
            self._write(self._take(config), durable=False)
            part.outcome.result()  # if it was not there any more, somebody is writing it

    def leave(self, config: RunnableConfig, work: Work) -> None:
        """Returns at once: the run's next write takes it along, or `settle` writes it."""
        self._add(_Part(config, work, left=True))

    def settle(self, config: RunnableConfig) -> None:
        """Writes what is still left of the config's turn."""
        self._write(self._take(config), durable=True)

    def _add(self, part: _Part) -> _Part:
        with self._lock:
            self._waiting.setdefault(gathered_by(part.config), []).append(part)
        return part

    def _take(self, config: RunnableConfig) -> list[_Part]:
        with self._lock:
            return self._waiting.pop(gathered_by(config), [])

    def _write(self, parts: list[_Part], *, durable: bool) -> None:
        if not parts:
            return
        together = self._attempt(parts, durable=durable)
        # What no transaction can do fails for all; otherwise one part is to blame, and the others are written.
        hopeless = together is None or len(parts) == 1 or isinstance(together, _HOPELESS)
        errors = [together if hopeless else self._attempt([part], durable=durable) for part in parts]
        for part, error in zip(parts, errors, strict=True):
            if error is None:
                part.outcome.set_result(None)
            else:
                part.outcome.set_exception(error)
        for part in parts:
            if part.left:
                part.outcome.result()

    def _attempt(self, parts: list[_Part], *, durable: bool, again: bool = True) -> BaseException | None:
        try:
            with self._transaction(parts[-1].config, durable=durable) as checkpoints:
                for part in parts:
                    part.work(checkpoints)
        except WriteConflict as error:
            # A number reserved here was another's: it is forgotten by now, and the next one is free.
            return self._attempt(parts, durable=durable, again=False) if again else error
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for its part
            return error
        return None


def gathered_by(config: RunnableConfig) -> Hashable | None:
    """The turn's ticket or the run's control object; None for a call from outside of both."""
    ticket, control = ticket_of(config), control_of(config)
    return ("turn", ticket) if ticket is not None else control and id(control)


_HOPELESS = (StoreUnavailable, TurnLost, UnknownSession)
