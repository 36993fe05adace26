"""Turns of people: if an identifier was linked to another person while it waited, it goes on in that person's
conversation.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.turns.turns import Arrival, Conversations, Opened, Turn
from langmem_plugin.database.owners import person_of


class _Moved(Exception):
    """The identifier is another person's by now; no session was opened."""

    def __init__(self, person: str) -> None:
        super().__init__(person)
        self.person = person


class _OfPerson:
    """A wrapper that opens a conversation only if it is the identifier's person's, checked in the transaction that
    opens it.
    """

    def __init__(self, conversations: Conversations, identifier: str) -> None:
        self._conversations = conversations
        self._identifier = identifier

    def prepare(self, thread: str) -> None:
        self._conversations.prepare(thread)

    def open(self, connection: Connection, thread: str, ticket: int) -> Opened:
        person = person_of(connection, self._identifier)
        if person != thread:
            raise _Moved(person)
        return self._conversations.open(connection, thread, ticket)


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
            turn, opening = None, _OfPerson(self._saver.sessions, identifier)
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, opening)
                    config = held.enter_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.person
            yield Opened(config, turn.awaits_answer)

    @asynccontextmanager
    async def _ahold(self, identifier: str, person: str, arrival: Arrival | None) -> AsyncIterator[Opened]:
        async with AsyncExitStack() as held:
            turn, opening = None, _OfPerson(self._saver.sessions, identifier)
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, opening)
                    config = await held.enter_async_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.person
            yield Opened(config, turn.awaits_answer)
