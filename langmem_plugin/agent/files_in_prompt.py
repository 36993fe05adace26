"""Files of the memory that deepagents holds in its state since a conversation began, as they are now."""

from collections.abc import Mapping
from typing import Any

from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.store.memory_edits import lines_of
from langmem_plugin.store.memory_lines import files_of, is_of_memory

log = event_log(__name__)

_HELD = "memory_contents"  # deepagents' own: what `memory=[…]` names, read once


class FilesInPrompt:
    """What was forgotten or corrected since is then in no prompt any more; the state is not changed."""

    def __init__(self, service: MemoryService, person: ServedPerson) -> None:
        self._service = service
        self._person = person

    def current(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        held = state.get(_HELD) or {}
        ours = [path for path, text in held.items() if is_of_memory(text)]
        if not ours:
            return state
        try:
            files = files_of(*lines_of(self._service, self._person.owner()))
        except StoreUnavailable:
            log.warning("files.skipped", exc_info=True)
            files = {}
        now = {path: next((file.text for name, file in files.items() if path.endswith(name)), "") for path in ours}
        return {**state, _HELD: {**held, **now}}
