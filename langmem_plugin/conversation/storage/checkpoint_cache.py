"""Checkpoints decoded lately. The stored bytes are compared at every use, so nothing stale is ever served."""

from langmem_plugin.conversation.storage.checkpoint_format import InlineValue, StoredCheckpoint
from langmem_plugin.lru import LruCache

_LIMIT_BYTES = 8_000_000
_ENTRY_BYTES = 8_000  # what a decoded checkpoint takes besides

Place = tuple[str, int, str, str]
"""Thread, session, namespace and checkpoint id: without the thread two phones' checkpoints could be one."""


class CheckpointCache:
    """Of all sessions; the least recently used go."""

    def __init__(self) -> None:
        self._entries: LruCache[Place, tuple[bytes, StoredCheckpoint]] = LruCache(_LIMIT_BYTES)

    def get(self, place: Place, payload: bytes) -> StoredCheckpoint | None:
        held, stored = self._entries.get(place) or (None, None)
        return stored if held == payload else None

    def put(self, place: Place, payload: bytes, stored: StoredCheckpoint) -> None:
        inline = sum(len(value.typed[1]) for value in stored.channels.values() if isinstance(value, InlineValue))
        self._entries.put(place, (payload, stored), _ENTRY_BYTES + 4 * len(payload) + inline)
