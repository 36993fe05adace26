"""What this process may rely on in the sessions it writes to, so that a step need not ask the database again."""

import os
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from langmem_plugin import forks
from langmem_plugin.conversation.storage.checkpoint_format import Stored
from langmem_plugin.conversation.storage.message_cache import Conversation

_MOST_EXPECTED = 32
_MOST_SESSIONS = 1_024


@dataclass(frozen=True, slots=True)
class Standing:
    """True as long as the session's next row is `at`: whoever deletes or rewrites something in it moves that on."""

    at: int
    free: range = range(0)  # row numbers that are this process's to give; they stay its own whatever others do
    expected: tuple[int, ...] = ()  # rows written by tasks or read lately: likely the next list's new messages
    newest: tuple[str, Stored] | None = None  # the namespace and checkpoint this process stored last


class Standings:
    def __init__(self) -> None:
        self._standings: OrderedDict[Conversation, Standing] = OrderedDict()
        self._awaited: deque[tuple[Conversation, str, str]] = deque(maxlen=_MOST_EXPECTED)
        self._process = os.getpid()
        self._lock = forks.Lock()

    def of(self, session: Conversation, at: int) -> Standing:
        """Of the session whose next row is `at` now."""
        with self._lock:
            return self._of(session, at)

    def expect(self, session: Conversation, at: int, rows: Iterable[int]) -> None:
        """Notes rows that were read when the session's next row was `at`."""
        with self._lock:
            known = self._standings.get(session)
            if known is None or known.at <= at:
                before = self._of(session, at)
                self._keep(session, replace(before, expected=_latest(before.expected, rows)))

    def wrote(self, session: Conversation, since: int, standing: Standing) -> None:
        """Notes where a transaction left the session, its `expected` being what it added; it began at `since`."""
        with self._lock:
            before = self._of(session, since)
            self._keep(session, replace(standing, expected=_latest(before.expected, standing.expected)))

    def await_parent(self, session: Conversation, namespace: str, checkpoint_id: str) -> None:
        with self._lock:
            self._awaited.append((session, namespace, checkpoint_id))

    def was_awaited(self, session: Conversation, namespace: str, checkpoint_id: str) -> bool:
        """Whether a child of this checkpoint was stored here while the checkpoint itself was missing."""
        with self._lock:
            return (session, namespace, checkpoint_id) in self._awaited

    def forget(self, session: Conversation) -> None:
        with self._lock:
            self._standings.pop(session, None)

    def _of(self, session: Conversation, at: int) -> Standing:
        if os.getpid() != self._process:  # a fork has what its parent reserved, and so has its parent
            self._standings.clear()
            self._process = os.getpid()
        known = self._standings.get(session, Standing(at))
        return known if known.at == at else Standing(at, known.free)

    def _keep(self, session: Conversation, standing: Standing) -> None:
        self._standings[session] = standing
        self._standings.move_to_end(session)
        if len(self._standings) > _MOST_SESSIONS:
            self._standings.popitem(last=False)


def _latest(before: tuple[int, ...], more: Iterable[int]) -> tuple[int, ...]:
    return (*before, *more)[-_MOST_EXPECTED:]
