"""Reads checkpoints as LangGraph asks for them: one, a list of them, or what delta channels are rebuilt from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory, get_checkpoint_id

from langmem_plugin.conversation.config_keys import config_of, namespace_of, starts_run
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.checkpoint_format import StoredCheckpoint
from langmem_plugin.conversation.storage.checkpoint_store import CheckpointStore
from langmem_plugin.conversation.storage.session_checkpoints import CARRIED, SessionCheckpoints
from langmem_plugin.database import Database
from langmem_plugin.errors import DamagedSession


class CheckpointReader:
    """Each read sees one consistent view of the database."""

    def __init__(self, database: Database, sessions: SessionStore, checkpoints: CheckpointStore) -> None:
        self._database = database
        self._sessions = sessions
        self._checkpoints = checkpoints

    def get(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The config's checkpoint, or the newest; for a run that begins, what a fresh session begins with."""
        with self._database.read() as connection:
            session = self._sessions.find(connection, config)
            over = self._sessions.is_over(connection, session, config)
            if session is None:
                return None
            if not over:
                try:
                    checkpoints, namespace = self._checkpoints.of(connection, session), namespace_of(config)
                    stored = checkpoints.load(namespace, get_checkpoint_id(config))
                    return None if stored is None else _tuple(checkpoints, namespace, stored)
                except DamagedSession as error:
                    if not starts_run(config):
                        raise
                    # A damaged conversation must not silence its person: it is archived, to be looked at.
                    self._checkpoints.reports.report(session.session_id, "what a run begins with", error)
        fresh = self._sessions.begin_anew(config, over=session)
        return None if fresh is None else self.get(config)

    def list(
        self,
        config: RunnableConfig | None,
        wanted: Mapping[str, Any] | None,
        before: RunnableConfig | None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first; of all threads without a config. `wanted` is what their metadata must hold."""
        if config is not None:
            yield from self._of_session(config, wanted, before)
            return
        for thread in self._sessions.threads():
            yield from self._of_session({"configurable": {"thread_id": thread}}, wanted, before)

    def delta_history(self, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """The history that each delta channel is rebuilt from. Reads the chain of parents once."""
        with self._database.read() as connection:
            session = self._sessions.find(connection, config) if channels else None
            if session is None:
                return {channel: {"writes": []} for channel in channels}
            checkpoints = self._checkpoints.of(connection, session)
            return checkpoints.delta_history(namespace_of(config), get_checkpoint_id(config), channels)

    def _of_session(
        self, config: RunnableConfig, wanted: Mapping[str, Any] | None, before: RunnableConfig | None
    ) -> Iterator[CheckpointTuple]:
        namespace, only = config["configurable"].get("checkpoint_ns"), get_checkpoint_id(config)
        with self._database.read() as connection:
            session = self._sessions.find(connection, config)
            if session is None:
                return
            checkpoints = self._checkpoints.of(connection, session)
            ids = checkpoints.ids(namespace, get_checkpoint_id(before) if before else None)
        # No transaction stays open while the caller looks at what it was given.
        for of_namespace, checkpoint_id in ids:
            if only is None or checkpoint_id == only:
                with self._database.read() as connection:
                    checkpoints = self._checkpoints.of(connection, session)
                    try:
                        stored = checkpoints.load(of_namespace, checkpoint_id)
                    except DamagedSession as error:
                        if only is not None:
                            raise
                        self._checkpoints.reports.note(session.session_id, f"checkpoint {checkpoint_id}", error)
                        continue
                    if stored is None or not _matches(codec.load(checkpoints.serde, stored.metadata), wanted):
                        continue
                    found = _tuple(checkpoints, of_namespace, stored)
                yield found


def _tuple(checkpoints: SessionCheckpoints, namespace: str, stored: StoredCheckpoint) -> CheckpointTuple:
    thread = checkpoints.session.thread
    values = checkpoints.channel_values(stored)
    body: Any = {**stored.body, "id": stored.checkpoint_id, "channel_values": values}
    body.pop(CARRIED, None)
    return CheckpointTuple(
        config=config_of(thread, namespace, stored.checkpoint_id),
        checkpoint=body,
        metadata=codec.load(checkpoints.serde, stored.metadata),
        parent_config=config_of(thread, namespace, stored.parent_id) if stored.parent_id else None,
        pending_writes=checkpoints.pending.load(namespace, stored.checkpoint_id),
    )


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return not wanted or all(metadata.get(key) == part for key, part in wanted.items())
