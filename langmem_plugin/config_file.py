"""Settings of a JSON file: the places its keys have there, and what a file that is broken means."""

import json
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log
from langmem_plugin.settings import Settings

log = event_log(__name__)

_MISSING = object()
_ANOTHER_DEFAULT: dict[str, Any] = {"enable_memory_system": False, "session_timeout": timedelta(hours=24)}
"""Where a file's defaults are not those of Settings."""

_MOST_HOURS = 1_000_000


def settings_of(path: str | Path) -> Settings:
    """Of a file with `feature_flags`, `godfather_phone` and `memory`, and under `langmem` any setting by its name.

    The environment wins over the file. What the file does not say has the file's own defaults: the memory is off
    and a session ends after 24 hours. So it is, with an ERROR, for a file that cannot be read; a single value that
    cannot be used is an ERROR too and has its default. Raises ConfigurationError for what the environment says
    wrong, and for values that contradict each other.
    """
    content = _read(path)
    values: dict[str, Any] = {}
    for name, (place, meaning) in _PLACES.items():
        found = _at(content, place)
        if found is _MISSING:
            if name in ("enable_memory_system", "godfather_phone"):
                log.warning("config.missing", extra={"path": str(path), "field": ".".join(place)})
            continue
        try:
            values[name] = meaning(found)
        except (TypeError, ValueError):
            log.error("config.value_ignored", extra={"path": str(path), "field": ".".join(place)})  # noqa: TRY400
    ours = _at(content, ("langmem",))
    values |= ours if isinstance(ours, dict) else {}
    outside = {name.upper() for name in os.environ}
    chosen = _ANOTHER_DEFAULT | values
    return _settings({name: each for name, each in chosen.items() if f"LANGMEM_{name.upper()}" not in outside}, path)


def _read(path: str | Path) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.error("config.unreadable", extra={"path": str(path), "reason": str(error)})  # noqa: TRY400 - all is said
        return {}
    if not isinstance(content, dict):
        log.error("config.unreadable", extra={"path": str(path), "reason": "not an object"})
        return {}
    return content


def _settings(values: dict[str, Any], path: str | Path) -> Settings:
    try:
        return Settings(**values)
    except ValidationError as error:
        wrong = {str(each["loc"][0]) for each in error.errors() if each["loc"]} & values.keys()
        if not wrong:
            raise ConfigurationError(f"a LANGMEM_ environment variable cannot be used: {error}") from error
    for name in sorted(wrong):
        log.error("config.value_ignored", extra={"path": str(path), "field": name})
    usable = {name: each for name, each in values.items() if name not in wrong}
    return _settings({name: _ANOTHER_DEFAULT[name] for name in wrong & _ANOTHER_DEFAULT.keys()} | usable, path)


def _at(content: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        if not isinstance(content, dict) or name not in content:
            return _MISSING
        content = content[name]
    return content


def _as_it_is(value: Any) -> Any:
    return value


def _hours(value: Any) -> timedelta:
    if isinstance(value, bool) or not 0 < value <= _MOST_HOURS:
        raise ValueError("no number of hours")
    return timedelta(hours=value)


def _database_in(folder: str) -> str:
    return f"sqlite:///{Path(folder) / 'langmem.db'}"


def _index_in(folder: str) -> str:
    return f"chroma:{Path(folder)}"


_PLACES: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "enable_memory_system": (("feature_flags", "enable_memory_system"), _as_it_is),
    "godfather_phone": (("godfather_phone",), _as_it_is),
    "database": (("memory", "session", "storage_dir"), _database_in),
    "max_tokens": (("memory", "session", "max_tokens_by_role"), _as_it_is),
    "session_timeout": (("memory", "session", "session_timeout_hours"), _hours),
    "longterm": (("memory", "longterm", "enabled"), _as_it_is),
    "embedding_model": (("memory", "longterm", "embedding_model"), _as_it_is),
    "vector_index": (("memory", "longterm", "storage_dir"), _index_in),
    "godfather_collection": (("memory", "longterm", "collection_name"), _as_it_is),
    "recall_limit": (("memory", "longterm", "top_k_results"), _as_it_is),
    "min_similarity": (("memory", "longterm", "min_similarity"), _as_it_is),
}
