"""The environment variables LANGMEM_…: one-line reports of values that cannot be used, and of unknown names."""

import difflib
import json
import os
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource

from langmem_plugin.durations import EXPECTED
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log
from langmem_plugin.text_sanitizing import visible

log = event_log(__name__)

PREFIX = "LANGMEM_"
_OF_OTHER_PARTS = {"MODEL", "BASE_URL"}
"""Names without the prefix that are read where a chat model is made (agent/models.py)."""

_SECRET = ("database", "key_database", "keys", "vector_index", "trusted_callers", "godfather_phone")
"""Settings whose values are never shown: a URL may hold a password, and some of the others identify a person."""

_SHOWN = 60
_ALIKE = 0.5


class Variables(EnvSettingsSource):
    """The environment variables as pydantic-settings reads them; bad JSON is reported like every other bad value."""

    def prepare_field_value(self, field_name: str, field: FieldInfo, value: Any, value_is_complex: bool) -> Any:
        try:
            return super().prepare_field_value(field_name, field, value, value_is_complex)
        except ValueError as error:
            expected = '["a list"]' if "dict" not in str(field.annotation) else '{"an": "object"}'
            raise ConfigurationError(f"{_said(field_name)}: it is written as JSON, such as {expected}") from error


def are_set() -> set[str]:
    """Return the names of the variables that are set, in capitals: their case does not count."""
    return {name.upper() for name in os.environ if name.upper().startswith(PREFIX)}


def variable(setting: str) -> str:
    return f"{PREFIX}{setting.upper()}"


def refuse_wrong(error: ValidationError, given: Mapping[str, Any], settings: Collection[str]) -> NoReturn:
    """Raise ConfigurationError that says which variable, or which of the `given` values, cannot be used and why."""
    outside, wrong = are_set(), []
    for each in error.errors():
        setting = str(each["loc"][0]) if each["loc"] else ""
        if setting not in given and variable(setting) in outside:
            raise ConfigurationError(f"{_said(setting)}: {reason(each)}") from error
        if setting in settings:
            value = "…" if setting in _SECRET else repr(given.get(setting))[:_SHOWN]
            wrong.append(f"{setting}={value}: {reason(each)}")
        else:
            like = nearest(setting, settings)
            wrong.append(f"no setting is called {setting[:_SHOWN]}" + (f" (did you mean {like}?)" if like else ""))
    raise ConfigurationError("; ".join(wrong)) from error


def warn_of_unknown(settings: Collection[str]) -> None:
    """Log each variable with our prefix that nothing reads, with the one that was probably meant, or ""."""
    known = {name.upper() for name in settings} | _OF_OTHER_PARTS
    for name in sorted({each.removeprefix(PREFIX) for each in are_set()} - known):
        like = nearest(name, known)
        log.warning(
            "environment.unknown", extra={"variable": PREFIX + name[:_SHOWN], "nearest": like and PREFIX + like}
        )


def nearest(name: str, known: Collection[str]) -> str:
    """Return the most similar known name; "" if none is similar."""
    return next(iter(difflib.get_close_matches(name[:_SHOWN], known, 1, _ALIKE)), "")


def reason(error: ErrorDetails) -> str:
    """Return the reason of a pydantic error, as part of a sentence."""
    if error["type"].startswith("time_delta"):
        return f"{EXPECTED} is expected"
    said = error["msg"].removeprefix("Value error, ")
    return said[:1].lower() + said[1:]


def _said(setting: str) -> str:
    name = variable(setting)
    if setting in _SECRET:
        return f"{name} holds what cannot be used"
    [held, *_] = [value for each, value in os.environ.items() if each.upper() == name] or [""]
    return f"{name} holds {visible(json.dumps(held[:_SHOWN], ensure_ascii=False))}"
