"""LangGraph's BaseStore over people's memories: one fact, whatever door it came through."""

from langmem_plugin.store.memory_store import MemoryStore

__all__ = ["MemoryStore"]
