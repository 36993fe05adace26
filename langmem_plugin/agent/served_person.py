"""Whom a call serves, in which role, and which conversation is being answered."""

from langmem_plugin.agent.identity import owner_of_run, thread_of_run
from langmem_plugin.identifiers import normalised
from langmem_plugin.settings import Role, Settings


class ServedPerson:
    """`phone`, wherever it is taken, is for calls outside of a run; inside of one the run says whom it serves."""

    def __init__(self, settings: Settings) -> None:
        self._region = settings.default_region
        self._trusted_callers = settings.trusted_callers
        self._godfather = settings.godfather_phone and normalised(settings.godfather_phone, self._region)

    def owner(self, phone: str | None = None) -> str:
        """The key of the person. Raises NotAuthorized or InvalidInput as `owner_of_run` does."""
        return (
            normalised(phone, self._region) if phone is not None else owner_of_run(self._region, self._trusted_callers)
        )

    def role(self, owner: str) -> Role:
        """`godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

    def thread(self, owner: str, phone: str | None = None) -> str:
        """The conversation that is being answered."""
        return (phone is None and thread_of_run()) or owner
