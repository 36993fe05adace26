"""Settings from a JSON file: where each setting stands in the file, and how errors in the file are treated."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

from pydantic import ValidationError

from langmem_plugin import environment
from langmem_plugin.durations import none_if_never
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log
from langmem_plugin.settings import Settings

log = event_log(__name__)

_ANOTHER_DEFAULT: dict[str, Any] = {"enable_memory_system": False, "session_timeout": timedelta(hours=24)}
"""The defaults of a configuration file where they differ from those of Settings."""

_EXPECTED_THERE = ("feature_flags.enable_memory_system", "godfather_phone")
_MOST_HOURS = 1_000_000
_SHOWN = 100


class UnreadableFile(ConfigurationError):
    """A configuration file does not exist, or holds no JSON object."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one key, named by its full path; `event` is its name in the log."""

    event: str
    key: str
    reason: str
    nearest: str = ""

    @property
    def is_error(self) -> bool:
        return self.event != "config.missing"

    def __str__(self) -> str:
        like = f" (did you mean {self.nearest}?)" if self.nearest else ""
        return f"{self.key}: {self.reason}{like}"


@dataclass(slots=True)
class _Found:
    """The content of a file: values by the names of Settings, the key that each came from, and the problems found."""

    values: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def take(self, name: str, key: str, value: Any) -> None:
        if (kind := _wrong_kind(name, value)) is not None:
            self.ignore(key, f"{kind} is expected")
        else:
            self.values[name] = value
            self.keys[name] = key

    def ignore(self, key: str, reason: str) -> None:
        self.problems.append(Problem("config.value_ignored", key[:_SHOWN], reason))


_Take = Callable[[_Found, str, Any], None]
"""Take over the value of a key as the setting `name`."""


def settings_of(path: str | Path) -> Settings:
    """Return the settings of a file with `feature_flags`, `godfather_phone` and `memory`; under `langmem` it may hold
    any setting by its name.

    The environment wins over the file. What the file does not say has the file's own defaults: the memory is off and a
    session ends after 24 hours. A file that cannot be read has these defaults too, and is an ERROR in the log. A single
    value that cannot be used, or an unknown key, is an ERROR too, and the rest is used. Raises ConfigurationError for
    errors in the environment, and for values that contradict each other.
    """
    try:
        settings, problems, _ = examined(path)
    except UnreadableFile as error:
        log.error("config.unreadable", extra={"path": str(path), "reason": str(error)})  # noqa: TRY400 - all is said
        return _settings(_Found())
    for problem in problems:
        extra = {"path": str(path), "field": problem.key}
        if problem.is_error:
            extra["reason"] = problem.reason
        if problem.nearest:
            extra["nearest"] = problem.nearest
        (log.error if problem.is_error else log.warning)(problem.event, extra=extra)
    return settings


def examined(path: str | Path) -> tuple[Settings, list[Problem], dict[str, str]]:
    """Return the settings in force, every problem of the file, and by the setting's name the key that each value comes
    from. Raises UnreadableFile, and ConfigurationError as `settings_of` does.
    """
    found = _Found()
    content = _read(path)
    _look_through(content, _KNOWN, "", found)
    found.problems += [
        Problem("config.missing", key, "the file does not say it")
        for key in _EXPECTED_THERE
        if not _says(content, key.split("."))
    ]
    settings = _settings(found)
    return settings, found.problems, {name: found.keys[name] for name in found.values}


def _read(path: str | Path) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableFile(f"the file {str(path)[:_SHOWN]} cannot be read ({error}): write it as JSON") from error
    if not isinstance(content, dict):
        raise UnreadableFile(f"the file {str(path)[:_SHOWN]} holds no JSON object")
    return content


def _look_through(content: Mapping[str, Any], known: Mapping[str, Any], above: str, found: _Found) -> None:
    # In our order, not the file's, so that the section `langmem` wins.
    for name in sorted(content, key=[*known, *content].index):
        key, value, place = above + name, content[name], known.get(name)
        if place is None:
            like = environment.nearest(name, known)
            told = "nobody knows this key"
            found.problems.append(Problem("config.unknown_key", key[:_SHOWN], told, like and above + like))
        elif not isinstance(place, dict):
            place(found, key, value)
        elif isinstance(value, dict):
            _look_through(value, place, f"{key}.", found)
        else:
            found.problems.append(Problem("config.section_ignored", key, "an object is expected: {…}"))


def _settings(found: _Found) -> Settings:
    """Build the settings; drop the values that cannot be used, each with a problem noted."""
    outside = environment.are_set()
    values = _ANOTHER_DEFAULT | found.values
    try:
        return Settings(**{name: value for name, value in values.items() if environment.variable(name) not in outside})
    except ConfigurationError as error:
        details = error.__cause__.errors() if isinstance(error.__cause__, ValidationError) else []
        wrong = {str(each["loc"][0]): environment.reason(each) for each in details if each["loc"]}
        wrong = {name: reason for name, reason in wrong.items() if name in found.values}
        if not wrong:
            raise
        for name, reason in wrong.items():
            del found.values[name]  # the file's default takes its place, and is never wrong
            found.ignore(found.keys[name], reason)
        return _settings(found)


def _says(content: Any, place: list[str]) -> bool:
    for name in place:
        if not isinstance(content, dict):
            return True  # a section that is ignored: this was reported already
        if name not in content:
            return False
        content = content[name]
    return True


def _wrong_kind(name: str, value: Any) -> str | None:
    """Return what is expected instead where pydantic would accept a value of another type, such as "false"
    for a bool.
    """
    kinds = _kinds(Settings.model_fields[name].annotation)
    if value is None:
        return None if NoneType in kinds else "a value"
    if bool in kinds:
        return None if isinstance(value, bool) else "true or false"
    if kinds & {int, float}:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_word = NoneType in kinds and none_if_never(value) is None
        return None if is_number or is_word else "a number"
    if timedelta in kinds:
        return "a duration" if isinstance(value, bool) else None
    return None


def _kinds(annotation: Any) -> set[type]:
    """Return the types that a value may be of; the types of a container's items are not among them."""
    if isinstance(annotation, type):
        return {annotation}
    container = get_origin(annotation)
    if isinstance(container, type) and container not in (Annotated, UnionType):
        return {container}
    return set().union(*(_kinds(each) for each in get_args(annotation)))


def _as(name: str) -> _Take:
    """Return a function that takes a key's value as the setting of this name."""
    return lambda found, key, value: found.take(name, key, value)


def _folder(name: str, prefix: str, file: str = "") -> _Take:
    """Return a function that takes a key's value, a folder, as the setting of this name."""

    def take(found: _Found, key: str, value: Any) -> None:
        if isinstance(value, str) and value.strip() and "\0" not in value:
            found.take(name, key, f"{prefix}{Path(value) / file}")
        else:
            found.ignore(key, "the name of a folder is expected")

    return take


def _hours(found: _Found, key: str, value: Any) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST_HOURS:
        found.take("session_timeout", key, timedelta(hours=value))
    else:
        found.ignore(key, "a number of hours above 0 is expected")


def _phone(found: _Found, key: str, value: Any) -> None:
    if isinstance(value, str) and not value.strip():
        found.ignore(key, "it is blank: nobody is the godfather")
    else:
        found.take("godfather_phone", key, value)


def _collection(found: _Found, key: str, value: Any) -> None:
    """Add the name of the account owner's collection to `vector_index`, whose key stands before this one."""
    index = found.values.get("vector_index")
    if not isinstance(value, str) or not value.strip():
        found.ignore(key, "a name is expected")
    elif index is not None:
        found.values["vector_index"] = f"{index}#{value.strip()}"


def _limits(found: _Found, key: str, value: Any) -> None:
    """Take the limits of the roles; where one is wrong the other is kept as it was given."""
    if not isinstance(value, dict):
        found.ignore(key, "an object is expected: {…}")
        return
    used = {}
    for role, limit in value.items():
        if role not in _ROLES:
            like = environment.nearest(role, _ROLES)
            told = "nobody knows this key"
            problem = Problem("config.unknown_key", f"{key}.{role}"[:_SHOWN], told, like and f"{key}.{like}")
            found.problems.append(problem)
        elif isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
            found.ignore(f"{key}.{role}", "a whole number above 0 is expected")
        else:
            used[role] = limit
    found.take("max_tokens", key, used)


_ROLES = ("client", "godfather")


_KNOWN: dict[str, Any] = {
    "feature_flags": {"enable_memory_system": _as("enable_memory_system")},
    "godfather_phone": _phone,
    "memory": {
        "session": {
            "storage_dir": _folder("database", "sqlite:///", "langmem.db"),
            "max_tokens_by_role": _limits,
            "session_timeout_hours": _hours,
        },
        "longterm": {
            "enabled": _as("longterm"),
            "storage_dir": _folder("vector_index", "chroma:"),
            "collection_name": _collection,
            "embedding_model": _as("embedding_model"),
            "top_k_results": _as("recall_limit"),
            "min_similarity": _as("min_similarity"),
        },
    },
    "langmem": {name: _as(name) for name in Settings.model_fields} | {"max_tokens": _limits, "godfather_phone": _phone},
}
"""Every known key: a section, or the function that takes the key's value."""
