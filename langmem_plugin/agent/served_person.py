"""Whom a call serves, in which role, and which conversation is being answered."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage

from langmem_plugin.agent.identity import owner_of, run_config, thread_of_run
from langmem_plugin.agent.incoming_message import sender_of
from langmem_plugin.conversation.config_keys import ticket_of
from langmem_plugin.identifiers import is_group, normalised
from langmem_plugin.people import People
from langmem_plugin.settings import Role, Settings


class ServedPerson:
    """`phone`, wherever it is taken, is for calls outside of a run; inside of one the run says whom it serves."""

    def __init__(self, settings: Settings, people: People) -> None:
        self._region = settings.default_region
        self._trusted_callers = settings.trusted_callers
        self._people = people
        self._in_groups = settings.godfather_in_groups
        phone = settings.godfather_phone
        self._godfather = phone and people.known_as(normalised(phone, self._region))

    def owner(self, phone: str | None = None) -> str:
        """The key of the person. Raises NotAuthorized or InvalidInput as `owner_of` does."""
        if phone is not None:
            return self._people.known_as(normalised(phone, self._region))
        config = run_config()
        key = owner_of(config, self._region, self._trusted_callers, person_of=self._people.known_as)
        # The thread of a turn is the person's key already.
        return key if ticket_of(config) is not None and key == thread_of_run() else self._people.known_as(key)

    def role(self, owner: str) -> Role:
        """`godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

    def thread(self, owner: str, phone: str | None = None) -> str:
        """The conversation that is being answered."""
        return (phone is None and thread_of_run()) or owner

    def beside(self, owner: str, messages: Sequence[BaseMessage]) -> str | None:
        """Whose memories are recalled beside the owner's: in a group, with the setting, the account's owner's own.

        Only for a message of theirs: not where anybody else is answered too.
        """
        if not self._in_groups or self._godfather is None or not is_group(owner):
            return None
        senders = {sender_of(each) for each in answered_now(messages)}
        if len(senders) != 1 or None in senders:
            return None
        return self._godfather if self._people.known_as(str(*senders)) == self._godfather else None


def answered_now(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """What people wrote since the assistant spoke last."""
    newest: list[HumanMessage] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            newest.append(message)
        elif newest:
            break
    return newest[::-1]
