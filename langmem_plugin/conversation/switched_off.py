"""The checkpointer of a memory that is switched off: graphs run, and nothing is kept of them, not even in memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)

from langmem_plugin.conversation.config_keys import without_trace
from langmem_plugin.conversation.saver import ConversationSaver, in_executor, while_open
from langmem_plugin.conversation.turns.turns import Arrival, Conversations, Opened, Turn


class SwitchedOffSaver(ConversationSaver):
    """Every read finds nothing, and every write is forgotten at once: a graph cannot wait for an answer."""

    def turn(
        self,
        thread_id: str,
        arrival: Arrival | None = None,  # noqa: ARG002
        opening: Conversations | None = None,  # noqa: ARG002
    ) -> Turn:
        """The turn of a run that leaves no trace; turns of one thread wait for nobody."""
        unremembered = nullcontext(Opened(without_trace(self.sessions.thread(thread_id))))
        return Turn(unremembered, unremembered)

    @while_open
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:  # noqa: ARG002
        return None

    @while_open
    def list(
        self,
        config: RunnableConfig | None,  # noqa: ARG002
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002, ARG002 - the contract's name
        before: RunnableConfig | None = None,  # noqa: ARG002
        limit: int | None = None,  # noqa: ARG002
    ) -> Iterator[CheckpointTuple]:
        return iter(())

    @while_open
    def get_delta_channel_history(
        self,
        *,
        config: RunnableConfig,  # noqa: ARG002
        channels: Sequence[str],  # noqa: ARG002
    ) -> Mapping[str, DeltaChannelHistory]:
        return {}

    @while_open
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,  # noqa: ARG002
        new_versions: ChannelVersions,  # noqa: ARG002
    ) -> RunnableConfig:
        return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}

    @while_open
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Nothing."""

    # The base class binds these to its own methods.
    aget_tuple = in_executor(get_tuple)
    aput = in_executor(put)
    aput_writes = in_executor(put_writes)
    aget_delta_channel_history = in_executor(get_delta_channel_history)
