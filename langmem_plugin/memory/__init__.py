"""Long-term memory: stored once, found by meaning and by words, ranked, changed and forgotten."""

from langmem_plugin.memory.memory_types import Filter, Found, Memory
from langmem_plugin.memory.service import MemoryService

__all__ = ["Filter", "Found", "Memory", "MemoryService"]
