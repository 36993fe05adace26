"""What a run writes beside its checkpoints: rows of other tables, and files."""

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from sqlalchemy import Connection

from langmem_plugin.conversation.config_keys import ticket_of
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage.shared_writes import SharedWrites
from langmem_plugin.conversation.storage.write_transactions import WriteTransactions
from langmem_plugin.conversation.turns.turns import Turns
from langmem_plugin.database import Database


class RunWrites:
    """As safe as the checkpoints: in the same transaction, or under the same conditions."""

    def __init__(
        self,
        database: Database,
        sessions: SessionStore,
        turns: Turns,
        shared: SharedWrites,
        transactions: WriteTransactions,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._turns = turns
        self._shared = shared
        self._transactions = transactions

    def write_along(self, config: RunnableConfig, work: Callable[[Connection, Session | None], None]) -> None:
        """Has the run's next write take this along in its transaction; where none comes it is written here.

        `work` is given the run's session, None for a run that this checkpointer does not store. Of a run outside of
        turns that ends in an error it may be lost.
        """
        if self._turns.runs_here(config) or (ticket_of(config) is None and self._sessions.stores(config)):
            self._shared.leave(config, lambda checkpoints: work(checkpoints.connection, checkpoints.session))
        else:
            with self._database.write(durable=False) as connection:
                work(connection, None)

    def keep_media(self, config: RunnableConfig, blocks: list[Any]) -> list[Any]:
        """Content blocks with references in place of their inline data, whose files belong to the config's session."""
        with self._transactions.open(config) as checkpoints:
            reduced = checkpoints.messages.reduced_content(blocks)
            checkpoints.messages.flush()
        return reduced
