"""Writes checkpoints and what tasks wrote on top of them, each in the session of its run."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.types import RESUME
from langgraph.constants import START
from langgraph.types import Command

from langmem_plugin.conversation.config_keys import NOT_METADATA, config_of, namespace_of, stores_each_step, ticket_of
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.conversation.storage.shared_writes import SharedWrites


class CheckpointWriter:
    """All of its writes are shared: those of one run that come together are one transaction."""

    def __init__(self, sessions: SessionStore, shared: SharedWrites) -> None:
        self._sessions = sessions
        self._shared = shared

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The config of what is stored. Raises SessionExpired for an answer to a question of a session that is over."""
        namespace, parent_id = namespace_of(config), get_checkpoint_id(config)
        begins = metadata.get("source") == "input"
        if begins and _is_answer(checkpoint["channel_values"].get(START)):
            self._sessions.refuse_late_answer(config)
        facts = {
            key: fact for key, fact in get_checkpoint_metadata(config, metadata).items() if key not in NOT_METADATA
        }

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.save(namespace, checkpoint, facts, new_versions, parent_id)

        if begins and ticket_of(config) is not None and not stores_each_step(config):
            self._shared.leave(config, save)  # the first step's checkpoint follows before anybody's code runs
        else:
            self._shared.now(config, save)
        return config_of(self._sessions.thread_of(config), namespace, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        """Special writes (an interrupt, an error) are on disk when this returns. Raises SessionExpired as `put`."""
        if any(channel == RESUME for channel, _ in writes):
            self._sessions.refuse_late_answer(config)
        namespace, checkpoint_id = namespace_of(config), config["configurable"]["checkpoint_id"]

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.pending.save(namespace, checkpoint_id, task_id, task_path, writes)

        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            self._shared.now(config, save)
        else:
            self._shared.soon(config, save)


def _is_answer(given: Any) -> bool:
    return isinstance(given, Command) and given.resume is not None
