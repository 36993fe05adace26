"""/export: what is known of the person, and who can give them all of it."""

from collections.abc import Callable
from dataclasses import asdict

from langmem_plugin.agent.commands.memory_list import MemoryList
from langmem_plugin.agent.replies import Replies
from langmem_plugin.portability.exporter import Holdings


class Exporting:
    """A reply is text, so the document itself (`PhoneMemory.export`) is for whoever runs the service to hand over."""

    def __init__(self, holdings: Callable[[str], Holdings], memories: MemoryList) -> None:
        self._holdings = holdings
        self._memories = memories

    def answer(self, owner: str, _rest: str, replies: Replies) -> str:
        held = self._holdings(owner)
        told = [replies.export_holds.format(**asdict(held)), self._memories.listed(owner, "", replies)]
        return "\n".join([*told, replies.export_ask])
