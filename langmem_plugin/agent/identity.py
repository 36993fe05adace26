"""The owner of a run: the phone, from wherever LangGraph carries it."""

import uuid
from collections.abc import Callable, Collection, Mapping
from difflib import SequenceMatcher
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph_sdk.auth.types import StudioUser

from langmem_plugin.conversation.config_keys import PHONE, SESSION
from langmem_plugin.errors import InvalidInput, NotAuthorized
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised, thread_key, usable

_USER_IDS = ("user_id", "langgraph_user_id", "langgraph_auth_user_id")
_KNOWN = ("phone", *_USER_IDS)
_NEAR = 0.8
_LONGEST, _SHOWN = 40, 5  # letters of a key, and keys


def run_config() -> RunnableConfig:
    """The config of the current run. Raises InvalidInput outside of one."""
    try:
        return get_config()
    except RuntimeError as error:
        raise InvalidInput("outside a graph's run the person is not known: pass phone=") from error


def owner_of(
    config: RunnableConfig,
    region: str | None,
    trusted_callers: Collection[str] = (),
    *,
    person_of: Callable[[str], OwnerKey] = OwnerKey,
) -> str:
    """The person that the server authenticated; else named by the run's context, configurable or metadata, or its
    thread.

    On a LangGraph server thread ids are UUIDs, and all but the authenticated user is the client's word. One of
    `trusted_callers` (a service that authenticates itself) and LangGraph Studio may say whom the run serves.
    Raises NotAuthorized where anybody else names another person than themselves (`person_of` knows who is one), and
    InvalidInput where nobody is named, or a context seems to name somebody by a key that means nothing here.
    """
    configurable = config.get("configurable") or {}
    caller = _authenticated(configurable)
    context = getattr(configurable.get("__pregel_runtime"), "context", None)
    named = _named(config, context, caller, region)
    if caller is None or caller in trusted_callers:
        if named is None:
            _refuse_unknown_keys(context, str(configurable.get("thread_id") or ""))
        return _owner_by_thread(configurable, region) if named is None else named
    owner = thread_key(caller)  # no region: a user numbered 501234567 is not who has that phone
    # Ignoring the name instead would put everybody a service writes for into one memory: the service's own.
    if named not in {None, owner} and person_of(str(named)) != person_of(owner):
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
    """Tells whether a conversation's key is a person's or a group's, so that no run has to say whose it is."""
    return thread.startswith("+") or is_group(thread)


def owner_of_thread(thread: str) -> str | None:
    """The owner of a conversation whose runs named nobody; None for a server's thread, whose id says nothing, and for a
    thread whose id can be nobody's key.
    """
    try:
        return None if _is_uuid(thread) else usable(thread)
    except InvalidInput:
        return None


def _authenticated(configurable: Mapping[str, Any]) -> str | None:
    """The caller that the server names: its clients cannot set these keys. None for nobody, and for LangGraph Studio,
    whose users are the developers and say whose conversation they try.
    """
    server = getattr(configurable.get("__pregel_runtime"), "server_info", None)
    user = getattr(server, "user", None) or configurable.get("langgraph_auth_user")
    if isinstance(user, StudioUser) or _part(user, "kind") == "StudioUser":
        return None
    identity = configurable.get("langgraph_auth_user_id") or _part(user, "identity")
    return str(identity) if identity else None


def _named(config: RunnableConfig, context: Any, caller: str | None, region: str | None) -> str | None:
    """The key of the person a client names: by a phone, in whatever place, before an id of a user."""
    configurable = config.get("configurable") or {}
    phone = _part(context, "phone") or configurable.get(PHONE) or (config.get("metadata") or {}).get("phone")
    if phone:
        return normalised(str(phone), region)
    # In the configurable the server itself says under the last of these names who calls.
    ids = [*(_part(context, name) for name in _USER_IDS), *map(configurable.get, _USER_IDS[:-1])]
    user_id = next((each for each in ids if each and each != caller), None)
    return None if user_id is None else _user_key(str(user_id))


def _user_key(user_id: str) -> str:
    """The key of an application's user. Raises InvalidInput for a blank id, and as `usable` does."""
    return thread_key(user_id) if user_id.strip() else normalised(user_id)


def _refuse_unknown_keys(context: Any, thread: str) -> None:
    """Refuses unknown keys where nobody is named: a misspelt key must not lead to a memory of nobody's."""
    keys = [key for key in _keys(context) if key not in _KNOWN]
    near = [key for key in keys if _is_near(key)]
    if near or (isinstance(context, Mapping) and context and _is_uuid(thread)):
        found = ", ".join(ascii(key) for key in near or [str(each) for each in context][:_SHOWN])
        raise InvalidInput(
            f"the context names nobody by {found}: say whom the run serves by one of {', '.join(_KNOWN)}"
        )


def _keys(context: Any) -> list[str]:
    if isinstance(context, Mapping):
        return [str(key) for key in context]
    return [*getattr(context, "__dict__", {}), *getattr(type(context), "__slots__", ())]


def _is_near(key: str) -> bool:
    """Tells whether a key is one of ours except for one letter, its capitals or the signs between its words."""
    written = _plain(key[:_LONGEST])
    return any(
        abs(len(written) - len(ours)) <= 1 and SequenceMatcher(None, written, ours).ratio() >= _NEAR
        for ours in map(_plain, _KNOWN)
    )


def _plain(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


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
