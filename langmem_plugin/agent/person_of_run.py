"""The person of a run, wherever LangGraph carries them; their role, and the conversation that is answered."""

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph_sdk.auth.types import StudioUser

from langmem_plugin.agent.replying.incoming_message import sender_of
from langmem_plugin.conversation.config_keys import PHONE, ticket_of
from langmem_plugin.conversation.sessions import sessions_to_index
from langmem_plugin.database import Database
from langmem_plugin.errors import InvalidInput, NotAuthorized, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised, thread_key, usable
from langmem_plugin.identifiers.identifier import is_uuid
from langmem_plugin.logs import event_log
from langmem_plugin.people import People
from langmem_plugin.settings import Role, Settings

log = event_log(__name__)

_USER_IDS = ("user_id", "langgraph_user_id", "langgraph_auth_user_id")
_KNOWN = ("phone", *_USER_IDS)
_NEAR = 0.8
_LONGEST, _SHOWN = 40, 5  # letters of a key, and keys


def current_run() -> RunnableConfig | None:
    """Return the config of the current run; None outside of one."""
    try:
        return get_config()
    except RuntimeError:
        return None


def run_config() -> RunnableConfig:
    """Return the config of the current run. Raises InvalidInput outside of one."""
    if (config := current_run()) is None:
        raise InvalidInput("outside a graph's run the person is not known: pass phone=")
    return config


def owner_of(
    config: RunnableConfig,
    region: str | None,
    trusted_callers: Collection[str] = (),
    *,
    person_of: Callable[[str], OwnerKey] = OwnerKey,
) -> str:
    """Return the key of the person that the server authenticated; else of the one named by the run's context,
    configurable or metadata, or its thread.

    On a LangGraph server thread ids are UUIDs, and everything except the authenticated user is the client's word. One
    of `trusted_callers` (a service that authenticates itself) and LangGraph Studio may say whom the run serves. Raises
    NotAuthorized where any other caller names another person than themselves (`person_of` knows who is one), and
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
    owner = thread_key(caller)  # no region: the user 501234567 need not be the owner of that phone number
    # If the name were ignored, everybody a service writes for would share one memory: the service's own.
    if named not in {None, owner} and person_of(str(named)) != person_of(owner):
        raise NotAuthorized(
            f"the run is authenticated as {masked(owner)} and names another person: leave the name out, or list the"
            " caller in the setting trusted_callers if it may speak for others"
        )
    return owner


def thread_of_run() -> str:
    """Return the current run's thread id as it was given; "" if it has none. Raises InvalidInput outside of a run."""
    return str((run_config().get("configurable") or {}).get("thread_id") or "")


def names_its_owner(thread: str) -> bool:
    """Tell whether a conversation's key is a person's or a group's, so that no run has to say whose it is."""
    return thread.startswith("+") or is_group(thread)


def owner_of_thread(thread: str) -> str | None:
    """Return the owner of a conversation whose runs named nobody; None for a server's thread, whose id says nothing,
    and for a thread whose id can be nobody's key.
    """
    try:
        return None if is_uuid(thread) else usable(thread)
    except InvalidInput:
        return None


def _authenticated(configurable: Mapping[str, Any]) -> str | None:
    """Return the caller that the server names: its clients cannot set these keys. None for nobody, and for LangGraph
    Studio, whose users are the developers and say whose conversation they try.
    """
    server = getattr(configurable.get("__pregel_runtime"), "server_info", None)
    user = getattr(server, "user", None) or configurable.get("langgraph_auth_user")
    if isinstance(user, StudioUser) or _part(user, "kind") == "StudioUser":
        return None
    identity = configurable.get("langgraph_auth_user_id") or _part(user, "identity")
    return str(identity) if identity else None


def _named(config: RunnableConfig, context: Any, caller: str | None, region: str | None) -> str | None:
    """Return the key of the person a client names: by a phone, in whatever place, before an id of a user."""
    configurable = config.get("configurable") or {}
    phone = _part(context, "phone") or configurable.get(PHONE) or (config.get("metadata") or {}).get("phone")
    if phone:
        return normalised(str(phone), region)
    # In the configurable, the last of these names is the caller, which the server itself sets.
    ids = [*(_part(context, name) for name in _USER_IDS), *map(configurable.get, _USER_IDS[:-1])]
    user_id = next((each for each in ids if each and each != caller), None)
    return None if user_id is None else _user_key(str(user_id))


def _user_key(user_id: str) -> str:
    """Return the key of an application's user. Raises InvalidInput for a blank id, and as `usable` does."""
    return thread_key(user_id) if user_id.strip() else normalised(user_id)


def _refuse_unknown_keys(context: Any, thread: str) -> None:
    """Refuse unknown keys where nobody is named: a misspelt key must not lead to a memory of nobody's."""
    given = context if isinstance(context, Mapping) else getattr(context, "__dict__", {})
    ours = [_plain(each) for each in _KNOWN]
    near = [key for key in map(str, given) if key not in _KNOWN and get_close_matches(_plain(key), ours, 1, _NEAR)]
    if near or (isinstance(context, Mapping) and context and is_uuid(thread)):
        found = ", ".join(ascii(key) for key in near or [str(each) for each in context][:_SHOWN])
        raise InvalidInput(
            f"the context names nobody by {found}: say whom the run serves by one of {', '.join(_KNOWN)}"
        )


def _plain(key: str) -> str:
    return "".join(filter(str.isalnum, key[:_LONGEST].lower()))


def _owner_by_thread(configurable: Mapping[str, Any], region: str | None) -> str:
    thread = str(configurable.get("thread_id") or "")
    return thread_key(thread, region) if thread else normalised(thread)


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


class ServedPerson:
    """The person a call serves. A `phone` argument is for calls outside of a run; inside of one the run tells the
    person.
    """

    def __init__(self, settings: Settings, people: People, database: Database) -> None:
        self._database = database
        self._region = settings.default_region
        self._trusted_callers = settings.trusted_callers
        self._people = people
        self._in_groups = settings.godfather_in_groups
        phone = settings.godfather_phone
        self._godfather = None if not phone else people.known_as(normalised(phone, self._region))

    def owner(self, phone: str | None = None) -> OwnerKey:
        """Return the key of the person. Raises NotAuthorized or InvalidInput as `owner_of` does."""
        if phone is not None:
            return self._people.known_as(normalised(phone, self._region))
        config = run_config()
        key = owner_of(config, self._region, self._trusted_callers, person_of=self._people.known_as)
        if key == thread_of_run() and owner_of_thread(key) is None:
            self._refuse_if_it_was_somebodys(key)
        # The thread of a turn already is the person's key.
        if ticket_of(config) is not None and key == thread_of_run():
            return OwnerKey(key)
        return self._people.known_as(key)

    def _refuse_if_it_was_somebodys(self, thread: str) -> None:
        """Refuse a run that names nobody if earlier runs of its thread served a person. Such a run has a memory of its
        thread's alone, and a caller who left the name out would look in vain for the person's.
        """
        try:
            with self._database.read() as connection:
                noted = sessions_to_index.owner_noted(connection, thread)
        except StoreUnavailable:
            log.warning("owner.not_read", exc_info=True)
            return
        if noted != thread:
            whose = "several" if noted is None else masked(noted)
            raise InvalidInput(
                f"earlier runs of this conversation served {whose}, and this one names nobody: say whom it serves,"
                ' for instance by context={"phone": …}, or begin another thread'
            )

    def role(self, owner: OwnerKey) -> Role:
        """Return the role: `godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

    def beside(self, owner: OwnerKey, messages: Sequence[BaseMessage]) -> OwnerKey | None:
        """Return the other person whose memories are recalled too: in a group, if the setting says so, the account's
        owner.

        Return nobody unless the message is theirs, and if anybody else is answered too.
        """
        if not self._in_groups or self._godfather is None or not is_group(owner):
            return None
        senders = {sender_of(each) for each in answered_now(messages)}
        if len(senders) != 1 or None in senders:
            return None
        return self._godfather if self._people.known_as(str(*senders)) == self._godfather else None


def answered_now(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """Return the messages that people wrote since the assistant spoke last."""
    newest: list[HumanMessage] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            newest.append(message)
        elif newest:
            break
    return newest[::-1]
