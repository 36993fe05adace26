"""/export: what is known of the person, and who can give them all of it."""

from collections.abc import Callable
from dataclasses import asdict

from langmem_plugin.agent.commands.memory_list import MemoryList
from langmem_plugin.agent.replies import Replies
from langmem_plugin.identifiers import OwnerKey, is_group
from langmem_plugin.people import People
from langmem_plugin.portability.exporter import Holdings


class Exporting:
    """A reply is text, so the document itself (`PhoneMemory.export`) is for whoever runs the service to hand over."""

    def __init__(self, holdings: Callable[[OwnerKey], Holdings], memories: MemoryList, people: People) -> None:
        self._holdings = holdings
        self._memories = memories
        self._people = people

    def answer(self, owner: OwnerKey, _rest: str, replies: Replies) -> str:
        if not is_group(owner):
            self._people.refuse_newly_linked(owner)
        held = self._holdings(owner)
        told = [replies.export_holds.format(**asdict(held)), self._memories.listed(owner, "", replies)]
        return "\n".join([*told, replies.export_ask])
