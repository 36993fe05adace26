"""Turns of people: if an identifier was linked to another person while it waited, it goes on in that person's
conversation.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial

from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.turns.turn_queue import Arrival, Opened, Turn
from langmem_plugin.database.owners_and_erasures import person_of


class _Moved(Exception):
    """The identifier is by now this person's; no session was opened."""


class PersonTurns:
    def __init__(self, saver: ConversationSaver) -> None:
        self._saver = saver

    def turn(self, identifier: str, arrival: Arrival | None = None, *, person: str | None = None) -> Turn:
        """Return the turn of the person or group with this identifier; `person` is their probable key. See
        ConversationSaver.turn.
        """
        first = person or identifier
        return Turn(self._hold(identifier, first, arrival), self._ahold(identifier, first, arrival))

    @contextmanager
    def _hold(self, identifier: str, person: str, arrival: Arrival | None) -> Iterator[Opened]:
        with ExitStack() as held:
            turn, opening = None, partial(self._open, identifier)
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, opening)
                    config = held.enter_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.args[0]
            yield Opened(config, turn.awaits_answer)

    @asynccontextmanager
    async def _ahold(self, identifier: str, person: str, arrival: Arrival | None) -> AsyncIterator[Opened]:
        async with AsyncExitStack() as held:
            turn, opening = None, partial(self._open, identifier)
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, opening)
                    config = await held.enter_async_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.args[0]
            yield Opened(config, turn.awaits_answer)

    def _open(self, identifier: str, connection: Connection, thread: str, ticket: int) -> Opened:
        """Open a conversation only if it is the identifier's person's, checked in the transaction that opens it."""
        if (person := person_of(connection, identifier)) != thread:
            raise _Moved(person)
        return self._saver.sessions.open(connection, thread, ticket)
