"""The person that a call serves, their role, and the conversation that is answered."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage

from langmem_plugin.agent.identity import owner_of, owner_of_thread, run_config, thread_of_run
from langmem_plugin.agent.replying.incoming_message import sender_of
from langmem_plugin.conversation.config_keys import ticket_of
from langmem_plugin.conversation.sessions import searchable_sessions
from langmem_plugin.database import Database
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.people import People
from langmem_plugin.settings import Role, Settings

log = event_log(__name__)


class ServedPerson:
    """`phone`, wherever it is taken, is for calls outside of a run; inside of one the run says whom it serves."""

    def __init__(self, settings: Settings, people: People, database: Database) -> None:
        self._database = database
        self._region = settings.default_region
        self._trusted_callers = settings.trusted_callers
        self._people = people
        self._in_groups = settings.godfather_in_groups
        phone = settings.godfather_phone
        self._godfather = None if not phone else people.known_as(normalised(phone, self._region))

    def owner(self, phone: str | None = None) -> OwnerKey:
        """The key of the person. Raises NotAuthorized or InvalidInput as `owner_of` does."""
        if phone is not None:
            return self._people.known_as(normalised(phone, self._region))
        config = run_config()
        key = owner_of(config, self._region, self._trusted_callers, person_of=self._people.known_as)
        if key == thread_of_run() and owner_of_thread(key) is None:
            self._refuse_if_it_was_somebodys(key)
        # The thread of a turn is the person's key already.
        if ticket_of(config) is not None and key == thread_of_run():
            return OwnerKey(key)
        return self._people.known_as(key)

    def _refuse_if_it_was_somebodys(self, thread: str) -> None:
        """A run that names nobody has a memory of its thread's alone: where earlier runs of it served a person, whoever
        left the name out would look for theirs in vain.
        """
        try:
            with self._database.read() as connection:
                noted = searchable_sessions.owner_noted(connection, thread)
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
        """`godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

    def thread(self, owner: OwnerKey, phone: str | None = None) -> str:
        """The conversation that is being answered."""
        return (phone is None and thread_of_run()) or owner

    def beside(self, owner: OwnerKey, messages: Sequence[BaseMessage]) -> OwnerKey | None:
        """The other person whose memories are recalled too: in a group, if the setting says so, the account's owner.

        Only for a message of theirs: not where anybody else is answered too.
        """
        if not self._in_groups or self._godfather is None or not is_group(owner):
            return None
        senders = {sender_of(each) for each in answered_now(messages)}
        if len(senders) != 1 or None in senders:
            return None
        return self._godfather if self._people.known_as(str(*senders)) == self._godfather else None


def answered_now(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """The messages that people wrote since the assistant spoke last."""
    newest: list[HumanMessage] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            newest.append(message)
        elif newest:
            break
    return newest[::-1]
