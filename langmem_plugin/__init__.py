"""Memory for LangGraph agents that people text: conversations, references, long-term memory."""

from importlib import import_module
from typing import TYPE_CHECKING

from langmem_plugin.errors import *  # noqa: F403 - each of them is public

if TYPE_CHECKING:
    from langmem_plugin.agent.citations import Citation as Citation
    from langmem_plugin.agent.graph_state import MemoryState as MemoryState
    from langmem_plugin.agent.memory_tools import KEY_VALUE_RULES as KEY_VALUE_RULES
    from langmem_plugin.agent.middleware import MemoryMiddleware as MemoryMiddleware
    from langmem_plugin.agent.turn_report import ReportedState as ReportedState
    from langmem_plugin.agent.turn_report import TurnReport as TurnReport
    from langmem_plugin.conversation.saver import ConversationSaver as ConversationSaver
    from langmem_plugin.conversation.session_manager import SessionManager as SessionManager
    from langmem_plugin.conversation.sessions.session_timeout import Silence as Silence
    from langmem_plugin.memory import Memory as Memory
    from langmem_plugin.memory import MemoryService as MemoryService
    from langmem_plugin.memory.write.key_value_memory import KeyValueMemory as KeyValueMemory
    from langmem_plugin.memory.write.key_value_memory import inject_memory_context as inject_memory_context
    from langmem_plugin.plugin import PhoneMemory as PhoneMemory
    from langmem_plugin.plugin import memory_recall_node as memory_recall_node
    from langmem_plugin.plugin import memory_write_node as memory_write_node
    from langmem_plugin.privacy.erasure_receipts import ErasureReceipt as ErasureReceipt
    from langmem_plugin.references import resolve as resolve
    from langmem_plugin.settings import Settings as Settings

_ROOMS = {
    "Citation": "agent.citations",
    "ConversationSaver": "conversation.saver",
    "ErasureReceipt": "privacy.erasure_receipts",
    "KEY_VALUE_RULES": "agent.memory_tools",
    "KeyValueMemory": "memory.write.key_value_memory",
    "Memory": "memory",
    "MemoryMiddleware": "agent.middleware",
    "MemoryService": "memory",
    "MemoryState": "agent.graph_state",
    "PhoneMemory": "plugin",
    "ReportedState": "agent.turn_report",
    "SessionManager": "conversation.session_manager",
    "Settings": "settings",
    "Silence": "conversation.sessions.session_timeout",
    "TurnReport": "agent.turn_report",
    "inject_memory_context": "memory.write.key_value_memory",
    "memory_recall_node": "plugin",
    "memory_write_node": "plugin",
    "resolve": "references",
}


def __getattr__(name: str) -> object:
    """Load each part when it is first asked for, so that importing the package costs nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_ROOMS]
