"""Whose run this is: the phone, from wherever LangGraph carries it."""

import uuid
from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from langmem_plugin.errors import InvalidInput
from langmem_plugin.phones import is_group, normalised


def owner_of_run(region: str | None) -> str:
    """The key of the person the current run serves. Raises InvalidInput outside a run, or where none is named."""
    return owner_of(run_config(), region)


def run_config() -> RunnableConfig:
    """The config of the current run. Raises InvalidInput outside of one."""
    try:
        return get_config()
    except RuntimeError as error:
        raise InvalidInput("outside a graph's run the person is not known: pass phone=") from error


def owner_of(config: RunnableConfig, region: str | None) -> str:
    """The run's context, else its authenticated user, configurable, metadata, and last the thread id itself.

    On a LangGraph server thread ids are UUIDs and the phone comes by `context={"phone": …}`.
    """
    configurable = config.get("configurable") or {}
    named = (
        _phone_in(getattr(configurable.get("__pregel_runtime"), "context", None))
        or configurable.get("langgraph_auth_user_id")
        or configurable.get("phone")
        or (config.get("metadata") or {}).get("phone")
    )
    if named:
        return normalised(str(named), region)
    thread = str(configurable.get("thread_id") or "")
    return thread if _is_uuid(thread) else normalised(thread, region)


def thread_of_run() -> str:
    """The current run's thread id as it was given; "" if it has none. Raises InvalidInput outside of a run."""
    return str((run_config().get("configurable") or {}).get("thread_id") or "")


def session_of_run() -> str | None:
    """The session that a turn pinned for the current run."""
    pinned: str | None = (run_config().get("configurable") or {}).get("session_id")
    return pinned


def names_its_owner(thread: str) -> bool:
    """Whether a conversation's key is a person's or a group's, so that no run has to say whose it is."""
    return thread.startswith("+") or is_group(thread)


def owner_of_thread(thread: str) -> str | None:
    """Whose a conversation is when its runs named nobody; None for a server's thread, whose id says nothing."""
    return None if _is_uuid(thread) else thread


def _phone_in(context: Any) -> str | None:
    return context.get("phone") if isinstance(context, Mapping) else getattr(context, "phone", None)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
