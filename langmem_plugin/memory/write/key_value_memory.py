"""Memories by name: one value per key, with results that an agent's tool can return as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from langmem_plugin.database.owners_and_erasures import erasures_seen, owner_key, refuse_erased
from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, StoreUnavailable
from langmem_plugin.facts import Classification, classify
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find.tokenizer import telling, words_of
from langmem_plugin.memory.keep.changes_and_checksums import begin_change
from langmem_plugin.memory.keep.memory_repository import NewMemory
from langmem_plugin.memory.memory_types import Memory, MemoryFields, plain
from langmem_plugin.memory.service import MemoryService

log = event_log(__name__)

Result = dict[str, Any]
_PREFERENCE = "preference"
_MOST_WORDS = 3  # words of a key


class KeyValueMemory:
    """The memories of one owner that have keys. They are ordinary memories: recall and search find them too.

    `evidence` says what a saved value comes from. Every verb returns a dictionary with `success`; a failure has
    `error`, a code, and `message`, a sentence.
    """

    def __init__(self, service: MemoryService, owner: str | int, *, evidence: MemoryFields | None = None) -> None:
        self._service = service
        self._evidence = evidence or {}
        self._owner = owner_key(service.database, owner)

    def save_memory(self, key: str, value: str) -> Result:
        """Store `value` under `key`, in place of what was there, which is kept as history.

        Errors: INVALID_KEY, EMPTY_DATA, DUPLICATE_DATA (the key holds this value already), SAVE_FAILED.
        """
        if not isinstance(key, str) or not key.strip():
            return _failure("INVALID_KEY", "Memory key must be a non-empty string")
        if not isinstance(value, str) or not value.strip():
            return _failure("EMPTY_DATA", "Key and value cannot be empty")
        key, value = key.strip(), value.strip()
        try:
            return self._save(key, value)
        except (StoreUnavailable, EmbeddingUnavailable, InvalidInput):
            log.warning("keyvalue.save_failed", exc_info=True)
            return _failure("SAVE_FAILED", "Failed to save memory")

    def load_memory(self, key: str | None = None) -> Result:
        """Return every entry, first stored first, or the one of `key`. Errors: LOAD_ERROR, KEY_NOT_FOUND."""
        try:
            entries = self._entries(key)
        except StoreUnavailable as error:
            return _unreadable(error) | {"memory": [], "count": 0}
        if key is not None and not entries:
            return _unknown(key) | {"memory": [], "count": 0}
        listed = [
            {
                "key": entry.key,
                "value": value_of(entry),
                "created_at": entry.created_at.isoformat(),
                "updated_at": entry.updated_at.isoformat(),
            }
            for entry in entries
        ]
        return {"success": True, "memory": listed, "count": len(listed)}

    def delete_memory(self, key: str) -> Result:
        """Delete the entry. Errors: INVALID_KEY, KEY_NOT_FOUND, SAVE_FAILED."""
        if not isinstance(key, str) or not key.strip():
            return _failure("INVALID_KEY", "Memory key must be a non-empty string")
        key = key.strip()
        service = self._service
        try:
            with service.database.write() as connection:
                now = service.now()
                held = service.repository.keyed(connection, self._owner, valid_at=now, key=key)
                if not held:
                    return _unknown(key)
                for entry in held:
                    service.repository.change(connection, self._owner, entry.id, {"status": "forgotten"}, now=now)
        except InvalidInput as error:
            return _failure("INVALID_KEY", str(error))
        except StoreUnavailable:
            log.warning("keyvalue.delete_failed", exc_info=True)
            return _failure("SAVE_FAILED", "Failed to save memory")
        return {
            "success": True,
            "message": "Memory deleted successfully",
            "key": key,
            "deleted_value": value_of(held[-1]),
        }

    def list_memory(self) -> Result:
        """Return the keys alone. Error: LOAD_ERROR."""
        try:
            keys = [entry.key for entry in self._entries()]
        except StoreUnavailable as error:
            return _unreadable(error) | {"keys": [], "count": 0}
        return {"success": True, "keys": keys, "count": len(keys)}

    def search_memory(self, query: str) -> Result:
        """Return the entries whose key or value contains `query`, whatever the case. Errors: EMPTY_DATA, LOAD_ERROR."""
        if not isinstance(query, str) or not query.strip():
            return _failure("EMPTY_DATA", "Search query cannot be empty")
        wanted = plain(query)
        try:
            entries = self._entries()
        except StoreUnavailable as error:
            return _unreadable(error) | {"results": [], "count": 0, "query": query}
        results = [
            {"key": entry.key, "value": value_of(entry)}
            for entry in entries
            if wanted in plain(entry.key or "") or wanted in plain(value_of(entry))
        ]
        return {"success": True, "results": results, "count": len(results), "query": query}

    @staticmethod
    def classify_memory(user_message: str) -> Result:
        """Tell by rules, without a model, if a message holds something to save, and under which key; nothing is saved.

        With `should_store` true it has `type`, `key` and `value`, ready for `save_memory`; `reason` says why, or why
        not. Error: EMPTY_DATA.
        """
        if not isinstance(user_message, str) or not user_message.strip():
            return _failure("EMPTY_DATA", "Message cannot be empty")
        found = classify(user_message)
        if not found.should_store:
            return {"success": True, "should_store": False, "reason": found.reason}
        return {
            "success": True,
            "should_store": True,
            "type": found.fact_type,
            "key": _key_of(found),
            "value": found.value,
            "reason": found.reason,
        }

    def _save(self, key: str, value: str) -> Result:
        service = self._service
        text, seen = as_text(key, value), erasures_seen(service.database)
        vector = service.embedder.texts([text])[0]
        with service.database.write() as connection:
            now = service.now()
            begin_change(connection, self._owner)  # two savers of one key wait in turn
            held = service.repository.keyed(connection, self._owner, valid_at=now, key=key)
            if held and plain(value_of(held[-1])) == plain(value):
                return _failure("DUPLICATE_DATA", f"Memory key '{key}' already holds this value")
            if held:
                service.reconciler.kept_as_history(connection, held[-1])
                changes = {"text": text, "said_at": now, **self._evidence}
                service.repository.change(connection, self._owner, held[-1].id, changes, now=now, vector=vector)
            else:
                new = NewMemory(text, vector, {"key": key, **self._evidence})
                service.repository.create_memory(connection, self._owner, new, now=now)
                service.retention.keep_within(connection, self._owner)
            refuse_erased(connection, self._owner, seen)
        return {
            "success": True,
            "message": "Memory saved successfully",
            "key": key,
            "value": value,
            "is_update": bool(held),
        }

    def _entries(self, key: str | None = None) -> list[Memory]:
        with self._service.database.read() as connection:
            now, wanted = self._service.now(), None if key is None else key.strip()
            return self._service.repository.keyed(connection, self._owner, valid_at=now, key=wanted)


def inject_memory_context(memory_list: Sequence[Mapping[str, Any]], max_entries: int = 10) -> str:
    """Return the entries of `load_memory` as a block for a prompt, one line each; "" when there are none."""
    lines = [f"- {_one_line(entry['key'])}: {_one_line(entry['value'])}" for entry in memory_list[:max_entries]]
    return "\n".join(["LONG-TERM MEMORY:", *lines]) if lines else ""


def _key_of(found: Classification) -> str | None:
    """Return the key: a preference is named by its words, else the next one would take its place."""
    if found.key != _PREFERENCE or not found.value:
        return found.key
    told = [word for word in words_of(found.value) if telling(word)]
    return "_".join([*(told or words_of(found.value))[:_MOST_WORDS], _PREFERENCE])


def as_text(key: str, value: str) -> str:
    """Return the text of a value as it is stored, so that a question about its key finds it."""
    return f"{_spoken(key)}: {value}"


def value_of(entry: Memory) -> str:
    """Return the value without the key it is stored behind; all of the text where someone has rewritten it."""
    return entry.text.removeprefix(as_text(entry.key or "", ""))


def _spoken(key: str) -> str:
    """Return a key such as `email_preference` as words, so that it is found by a question."""
    return " ".join(key.replace("_", " ").replace("-", " ").split())


def _one_line(value: object) -> str:
    # A value with line ends could otherwise add entries, or a heading, of its own.
    return " ".join(str(value).split())


def _failure(code: str, message: str) -> Result:
    return {"success": False, "error": code, "message": message}


def _unknown(key: str) -> Result:
    return _failure("KEY_NOT_FOUND", f"Memory key '{key.strip()}' does not exist")


def _unreadable(error: StoreUnavailable) -> Result:
    log.warning("keyvalue.load_failed", exc_info=error)
    return _failure(f"LOAD_ERROR: {error}", "An error occurred while loading memory")
