"""The keys of a config that the checkpointer reads: our own in `configurable`, and those that LangGraph puts there."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

SESSION = "langmem_session"
"""The session to read or write, by its id; a turn pins its own."""

PHONE = "langmem_phone"
"""The person whose memory the run uses, where the thread id does not say it."""

AUTOMATED = "langmem_automated"
"""True where nobody wrote and the run leaves no trace: nothing is read for it and nothing stored."""

TURN = "langmem_turn"
"""The ticket of the turn, for every write of its run."""

FIRST_STATE = "langmem_first_state"
"""A list of the state that the turn's transaction has read of its session: the run that begins takes it out."""

MAY_WAIT = "langmem_may_wait"
"""The names of the nodes whose writes may wait, in the turn of a message: those that can be done again without harm."""

NOT_METADATA = (SESSION, PHONE, AUTOMATED, TURN, FIRST_STATE, MAY_WAIT, "langgraph_auth_user", "langgraph_auth_user_id")
"""The keys never copied into a checkpoint's metadata, which not every serializer encrypts. All others are a user's own.
"""


def session_id_of(config: RunnableConfig) -> str | None:
    session_id: str | None = config["configurable"].get(SESSION)
    return session_id


def ticket_of(config: RunnableConfig) -> int | None:
    """The ticket of the config's turn; None outside of turns."""
    ticket: int | None = (config.get("configurable") or {}).get(TURN)
    return ticket


def is_automated(config: RunnableConfig) -> bool:
    return bool(config["configurable"].get(AUTOMATED))


def without_trace(thread: str) -> RunnableConfig:
    """The config of a run of which nothing is read and nothing stored."""
    return {"configurable": {"thread_id": thread, AUTOMATED: True}, "metadata": traced_as("automated")}


def traced_as(name: str) -> dict[str, Any]:
    """A name for traces in place of the thread's key, which is a phone: else LangGraph copies that into each span."""
    return {"thread_id": name}


def namespace_of(config: RunnableConfig) -> str:
    """The subgraph a config belongs to; "" is the root graph."""
    return str(config["configurable"].get("checkpoint_ns", ""))


def may_wait(config: RunnableConfig) -> bool:
    """Tell whether what a step writes may wait for the next write of its turn."""
    return ticket_of(config) is not None and config["configurable"].get("__pregel_durability") != "sync"


def control_of(config: RunnableConfig) -> object | None:
    """The control object of the run this call belongs to; None outside runs (`get_state`, `update_state`)."""
    return getattr(config["configurable"].get("__pregel_runtime"), "control", None)


def starts_run(config: RunnableConfig) -> bool:
    """Tell whether this read is the first of a root run: the one moment at which a session may end."""
    configurable = config["configurable"]
    return (
        control_of(config) is not None
        and get_checkpoint_id(config) is None
        and not configurable.get("checkpoint_ns")
        and "__pregel_task_id" not in configurable
        and SESSION not in configurable
    )


def config_of(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    """The config of a checkpoint, with the same keys as the stock savers give it."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}
