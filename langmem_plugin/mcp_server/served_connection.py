"""The person that a connection serves: fixed when it was made, never changed by what is said over it."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.settings import Role


class ServedConnection:
    """`identifier` says whose connection the present call came over; links and merges are followed at each call.

    Raises ConfigurationError where the memory is switched off: there is nothing to serve.
    """

    def __init__(self, memory: PhoneMemory, identifier: Callable[[], str]) -> None:
        if not memory.settings.remembers:
            raise ConfigurationError("the memory is switched off: switch it on (enable_memory_system), or serve none")
        self.memory = memory
        self._identifier = identifier
        self._served = ServedPerson(memory.settings, memory.people, memory.database)

    def owner(self) -> OwnerKey:
        """The key of the person. Raises StoreUnavailable."""
        return self.memory.people.resolve(self._identifier())

    def role(self, owner: OwnerKey) -> Role:
        return self._served.role(owner)

    def time_zone(self, owner: OwnerKey) -> ZoneInfo:
        return self.memory.people.time_zone(owner)
