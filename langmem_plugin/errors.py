"""Every error that this package raises on purpose: one base class, and each named for what the caller can do next."""

import sys
from collections.abc import Sequence


class LangMemError(Exception):
    """The base of all errors raised here; its text says what to do."""


class InvalidInput(LangMemError, ValueError):
    """An argument cannot be used as it is; nothing was stored."""


class NotAuthorized(LangMemError):
    """A run names another person than the user whom its server authenticated; name nobody, or trust the caller."""


class ConfigurationError(LangMemError):
    """The settings contradict themselves or name something that is not there; fix them and start again."""


class DataDirectoryError(LangMemError):
    """The database's directory cannot be written; the process must not start."""

    def __init__(self, path: str) -> None:
        super().__init__(f"FATAL: Cannot access data directory. Check file permissions. ({path})")
        self.path = path


class StoreUnavailable(LangMemError):
    """The database cannot be reached or is locked; nothing was written, try again."""


class StorageFull(StoreUnavailable):
    """The disk is full, or the database is read-only; what is stored stays intact."""


class WriteConflict(StoreUnavailable):
    """Another writer changed what this write builds on; nothing was written, try again."""


class ErasedMeanwhile(WriteConflict):
    """The person was erased while this was being written; nothing was written, and what they say now is new."""


class ErasureIncomplete(StoreUnavailable):
    """The person's rows are gone, and traces may be left in files; run it again, or leave it to the next sweep."""


class UnknownErasure(LangMemError, LookupError):
    """The erasure does not exist, or can no longer be undone."""


class NotSerializable(LangMemError, TypeError):
    """A value in the graph's state cannot be stored; nothing of this step was written."""


class SessionExpired(LangMemError):
    """The conversation this run belongs to has ended, and the run brings no new message: send one."""


class TurnTimeout(LangMemError):
    """Another turn of this phone did not finish in the time allowed; try again."""


class TurnLost(LangMemError):
    """The run stood still for so long that another has taken its turn; run it again.

    Nothing of it was stored after that moment.
    """


class DamagedSession(LangMemError):
    """The stored rows of a session cannot be read; `langmem doctor --rebuild` makes the session anew from its
    messages.
    """


class TypeNotAllowed(DamagedSession):
    """A stored value holds a type that the checkpointer may not build; nothing is lost: allow the type and read it
    again.
    """

    def __init__(self, module: str, name: str) -> None:
        super().__init__(
            f"the state holds a {module}.{name}, a type that is not allowed to be built from what is stored: where the "
            "graph's state declares it, write checkpointer.allow_state_of(graph); else, if it is yours, "
            f'checkpointer.with_allowlist([("{module}", "{name}")]) or the setting allowed_types=["{module}.{name}"]'
        )
        self.module = module
        self.name = name


class DecryptionRefused(LangMemError):
    """A stored value is not what was encrypted for its place, or its key is missing; nothing was changed.

    `lacks_key` says that only the key is missing: once the key is back, the value can be read again.
    """

    def __init__(self, text: str, *, lacks_key: bool = False) -> None:
        super().__init__(text)
        self.lacks_key = lacks_key


class SessionRefused(DecryptionRefused, DamagedSession):
    """A value of a conversation is not what was encrypted for its place, or its key is missing; see Undecryptable. What
    only lacks its key is never rebuilt.
    """


class UnknownSession(LangMemError, LookupError):
    """The id names no session."""


class EmbeddingUnavailable(LangMemError):
    """The embedding model failed, retries included; what needs no embedding still works."""


class EmbeddingDimMismatchError(LangMemError, ValueError):
    """A vector has another dimension than the owner's memories; embed it with the same model as those."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"expected an embedding of {expected} dimensions, got {actual}: use one model")
        self.expected = expected
        self.actual = actual


class LinkedLately(LangMemError):
    """A channel was linked to the person by a code less than a day ago; unlink it, or wait."""


class TooManyRequests(LangMemError):
    """A caller asks more often than it may; wait for `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MemoryNotFound(LangMemError, LookupError):
    """The owner has no memory with this id (or it is already forgotten)."""


class DamagedMemory(LangMemError):
    """The stored row of a memory or an instruction is not what was written, or is in plain text and should be
    encrypted; restore it from a backup or forget it.
    """

    def __init__(self, row_ids: Sequence[str]) -> None:
        super().__init__(
            f"damaged in the database, or not what was encrypted there: {', '.join(row_ids)}; "
            "restore a backup, or forget and tell it anew"
        )
        self.row_ids = row_ids


class StaleMemory(LangMemError):
    """The memory changed since it was read; read it again and decide anew."""


class UnreadableImport(LangMemError, ValueError):
    """The document to be imported is not of the expected format; nothing was stored."""


class ModelUnavailable(LangMemError):
    """The chat model cannot be reached, or refused; the conversation is kept, try again."""


class TooManyInstructions(LangMemError):
    """The owner has as many standing instructions as there may be; remove one before adding another."""


class InstructionNotFound(LangMemError, LookupError):
    """The owner has no standing instruction with this id."""


class CategoryNotFound(LangMemError, LookupError):
    """The owner has no category with this id; list them for their ids."""


def client_errors(*named: tuple[str, str]) -> tuple[type[Exception], ...]:
    """Errors of other libraries, as (module, name), to be caught with ours.

    They are looked up only where the module is loaded: elsewhere they cannot occur, and nothing is imported for them.
    """
    return tuple(getattr(sys.modules[module], name) for module, name in named if module in sys.modules)
