"""Memory for LangGraph agents that people text: conversations, references, long-term memory."""

from importlib import import_module
from typing import TYPE_CHECKING

from langmem_plugin.errors import (
    CategoryNotFound,
    ConfigurationError,
    DamagedSession,
    DataDirectoryError,
    EmbeddingDimMismatchError,
    EmbeddingUnavailable,
    ErasedMeanwhile,
    ErasureIncomplete,
    InvalidInput,
    LangMemError,
    MemoryNotFound,
    ModelUnavailable,
    NotAuthorized,
    NotSerializable,
    SessionExpired,
    StaleMemory,
    StorageFull,
    StoreUnavailable,
    TurnLost,
    TurnTimeout,
    TypeNotAllowed,
    UnknownErasure,
    UnknownSession,
)

if TYPE_CHECKING:
    from langmem_plugin.agent.memory_tools import KEY_VALUE_RULES
    from langmem_plugin.agent.messages import MemoryState
    from langmem_plugin.agent.middleware import MemoryMiddleware
    from langmem_plugin.agent.prompt_texts import Citation
    from langmem_plugin.agent.turn_report import ReportedState, TurnReport
    from langmem_plugin.conversation.saver import ConversationSaver
    from langmem_plugin.conversation.session_manager import SessionManager
    from langmem_plugin.conversation.sessions.session_rows import Silence
    from langmem_plugin.memory import Memory, MemoryService
    from langmem_plugin.memory.write.key_value import KeyValueMemory, inject_memory_context
    from langmem_plugin.plugin import PhoneMemory, memory_recall_node, memory_write_node
    from langmem_plugin.privacy.receipts import ErasureReceipt
    from langmem_plugin.references import resolve
    from langmem_plugin.settings import Settings

_ROOMS = {
    "Citation": "agent.prompt_texts",
    "ConversationSaver": "conversation.saver",
    "ErasureReceipt": "privacy.receipts",
    "KEY_VALUE_RULES": "agent.memory_tools",
    "KeyValueMemory": "memory.write.key_value",
    "Memory": "memory",
    "MemoryMiddleware": "agent.middleware",
    "MemoryService": "memory",
    "MemoryState": "agent.messages",
    "PhoneMemory": "plugin",
    "ReportedState": "agent.turn_report",
    "SessionManager": "conversation.session_manager",
    "Settings": "settings",
    "Silence": "conversation.sessions.session_rows",
    "TurnReport": "agent.turn_report",
    "inject_memory_context": "memory.write.key_value",
    "memory_recall_node": "plugin",
    "memory_write_node": "plugin",
    "resolve": "references",
}

__all__ = [
    "KEY_VALUE_RULES",
    "CategoryNotFound",
    "Citation",
    "ConfigurationError",
    "ConversationSaver",
    "DamagedSession",
    "DataDirectoryError",
    "EmbeddingDimMismatchError",
    "EmbeddingUnavailable",
    "ErasedMeanwhile",
    "ErasureIncomplete",
    "ErasureReceipt",
    "InvalidInput",
    "KeyValueMemory",
    "LangMemError",
    "Memory",
    "MemoryMiddleware",
    "MemoryNotFound",
    "MemoryService",
    "MemoryState",
    "ModelUnavailable",
    "NotAuthorized",
    "NotSerializable",
    "PhoneMemory",
    "ReportedState",
    "SessionExpired",
    "SessionManager",
    "Settings",
    "Silence",
    "StaleMemory",
    "StorageFull",
    "StoreUnavailable",
    "TurnLost",
    "TurnReport",
    "TurnTimeout",
    "TypeNotAllowed",
    "UnknownErasure",
    "UnknownSession",
    "inject_memory_context",
    "memory_recall_node",
    "memory_write_node",
    "resolve",
]


def __getattr__(name: str) -> object:
    """Load each part when it is first asked for, so that importing the package costs nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
