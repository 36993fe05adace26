"""What a run writes beside its checkpoints: rows of other tables, and files."""

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from sqlalchemy import Connection

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage.shared_writes import SharedWrites
from langmem_plugin.conversation.storage.write_transactions import WriteTransactions
from langmem_plugin.conversation.turns.turns import Turns


class RunWrites:
    """As safe as the checkpoints: in the same transaction, or under the same conditions."""

    def __init__(self, turns: Turns, shared: SharedWrites, transactions: WriteTransactions) -> None:
        self._turns = turns
        self._shared = shared
        self._transactions = transactions

    def write_along(self, config: RunnableConfig, work: Callable[[Connection, Session], None]) -> None:
        """In a turn, has the run's next write take this along in its transaction; elsewhere it is written here.

        `work` is given the run's session, which is there by then.
        """
        if self._turns.runs_here(config):
            self._shared.leave(config, lambda checkpoints: work(checkpoints.connection, checkpoints.session))
        else:
            with self._transactions.open(config, durable=False) as checkpoints:
                work(checkpoints.connection, checkpoints.session)

    def keep_media(self, config: RunnableConfig, blocks: list[Any]) -> list[Any]:
        """Content blocks with references in place of their inline data, whose files belong to the config's session."""
        with self._transactions.open(config) as checkpoints:
            reduced = checkpoints.messages.reduced_content(blocks)
            checkpoints.messages.flush()
        return reduced
