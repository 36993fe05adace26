"""Whose run this is: the phone, from wherever LangGraph carries it."""

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph_sdk.auth.types import StudioUser

from langmem_plugin.conversation.config_keys import PHONE, SESSION
from langmem_plugin.errors import InvalidInput, NotAuthorized
from langmem_plugin.identifiers import is_group, masked, normalised, thread_key, usable


def owner_of_run(region: str | None, trusted_callers: Collection[str] = ()) -> str:
    """The key of the person the current run serves: see `owner_of`. Raises InvalidInput outside a run as well."""
    return owner_of(run_config(), region, trusted_callers)


def run_config() -> RunnableConfig:
    """The config of the current run. Raises InvalidInput outside of one."""
    try:
        return get_config()
    except RuntimeError as error:
        raise InvalidInput("outside a graph's run the person is not known: pass phone=") from error


def owner_of(config: RunnableConfig, region: str | None, trusted_callers: Collection[str] = ()) -> str:
    """Whom the server authenticated; elsewhere the run's context, configurable or metadata, and last its thread id.

    On a LangGraph server thread ids are UUIDs, and all but the authenticated user is the client's word. One of
    `trusted_callers` (a service that authenticates itself) and LangGraph Studio may say whom the run serves.
    Raises NotAuthorized where anybody else names another person than themselves, InvalidInput where nobody is named.
    """
    configurable = config.get("configurable") or {}
    caller = _authenticated(configurable)
    named = (
        _part(getattr(configurable.get("__pregel_runtime"), "context", None), "phone")
        or configurable.get(PHONE)
        or (config.get("metadata") or {}).get("phone")
    )
    if caller is None or caller in trusted_callers:
        return normalised(str(named), region) if named else _owner_by_thread(configurable, region)
    owner = thread_key(caller)  # no region: a user numbered 501234567 is not who has that phone
    # Ignoring the name instead would put everybody a service writes for into one memory: the service's own.
    if named and normalised(str(named), region) != owner:
        raise NotAuthorized(
            f"the run is authenticated as {masked(owner)} and names another person: leave the name out, or list the"
            " caller in the setting trusted_callers if it may speak for others"
        )
    return owner


def thread_of_run() -> str:
    """The current run's thread id as it was given; "" if it has none. Raises InvalidInput outside of a run."""
    return str((run_config().get("configurable") or {}).get("thread_id") or "")


def session_of_run() -> str | None:
    """The session that a turn pinned for the current run."""
    pinned: str | None = (run_config().get("configurable") or {}).get(SESSION)
    return pinned


def names_its_owner(thread: str) -> bool:
    """Whether a conversation's key is a person's or a group's, so that no run has to say whose it is."""
    return thread.startswith("+") or is_group(thread)


def owner_of_thread(thread: str) -> str | None:
    """Whose a conversation is when its runs named nobody; None for a server's thread, whose id says nothing, and for
    one that was stored under what can be nobody's key.
    """
    try:
        return None if _is_uuid(thread) else usable(thread)
    except InvalidInput:
        return None


def _authenticated(configurable: Mapping[str, Any]) -> str | None:
    """Who the server says is calling: its clients cannot set these keys. None for nobody, and for LangGraph Studio,
    whose users are the developers and say whose conversation they try.
    """
    server = getattr(configurable.get("__pregel_runtime"), "server_info", None)
    user = getattr(server, "user", None) or configurable.get("langgraph_auth_user")
    if isinstance(user, StudioUser) or _part(user, "kind") == "StudioUser":
        return None
    identity = configurable.get("langgraph_auth_user_id") or _part(user, "identity")
    return str(identity) if identity else None


def _owner_by_thread(configurable: Mapping[str, Any], region: str | None) -> str:
    thread = str(configurable.get("thread_id") or "")
    return thread_key(thread, region) if thread else normalised(thread)


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
