"""Turns of people: who waited while their identifier was linked to somebody goes on in that person's conversation."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.turns.turns import Arrival, Conversations, Opened, Turn
from langmem_plugin.people import links


class _Moved(Exception):
    """The identifier is another person's by now; no session was opened."""

    def __init__(self, person: str) -> None:
        super().__init__(person)
        self.person = person


class _OfPerson:
    """Opens a conversation only under the key of a person, asked in the transaction that opens it."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    def look(self, thread: str) -> Session | None:
        return self._conversations.look(thread)

    def open(self, connection: Connection, thread: str, ticket: int, seen: Session | None) -> Opened:
        person = links.person_of(connection, thread)
        if person != thread:
            raise _Moved(person)
        return self._conversations.open(connection, thread, ticket, seen)


class PersonTurns:
    def __init__(self, saver: ConversationSaver) -> None:
        self._saver = saver
        self._opening = _OfPerson(saver.sessions)

    def turn(self, key: str, arrival: Arrival | None = None) -> Turn:
        """Of the person or group with this identifier; see ConversationSaver.turn."""
        return Turn(self._hold(key, arrival), self._ahold(key, arrival))

    @contextmanager
    def _hold(self, key: str, arrival: Arrival | None) -> Iterator[Opened]:
        with ExitStack() as held:
            turn, person = None, key  # whose it is is asked where it is opened
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, self._opening)
                    config = held.enter_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.person
            yield Opened(config, turn.awaits_answer)

    @asynccontextmanager
    async def _ahold(self, key: str, arrival: Arrival | None) -> AsyncIterator[Opened]:
        async with AsyncExitStack() as held:
            turn, person = None, key
            while turn is None:
                try:
                    turn = self._saver.turn(person, arrival, self._opening)
                    config = await held.enter_async_context(turn)
                except _Moved as moved:
                    turn, person = None, moved.person
            yield Opened(config, turn.awaits_answer)
