"""Settings from a JSON file, whose form is described here; a value that cannot be used is reported and left out."""

from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, create_model
from pydantic_core import from_json, to_json

from langmem_plugin import environment
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log
from langmem_plugin.settings import Settings

log = event_log(__name__)

_MOST_HOURS = 1_000_000
_SHOWN = 100


class UnreadableFile(ConfigurationError):
    """A configuration file does not exist, or holds no JSON object."""


def _filled(name: str) -> str:
    if not name.strip() or "\0" in name:
        raise ValueError("it is blank, or holds a NUL: write it, or leave it out")
    return name


_Filled = Annotated[str, AfterValidator(_filled)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)  # "false" is no false


class _Flags(_Section):
    enable_memory_system: bool = False


class _Session(_Section):
    storage_dir: _Filled | None = None
    max_tokens_by_role: Annotated[dict[str, int], Settings.model_fields["max_tokens"].rebuild_annotation()] = {}
    session_timeout_hours: Annotated[float, Field(gt=0, le=_MOST_HOURS)] = 24


class _Longterm(_Section):
    enabled: bool = True
    storage_dir: _Filled | None = None
    collection_name: _Filled | None = None
    embedding_model: str | None = None
    top_k_results: PositiveInt | None = None
    min_similarity: Annotated[float, Field(ge=0, le=1)] | None = None


class _Memory(_Section):
    session: _Session = _Session()
    longterm: _Longterm = _Longterm()


_Own: Any = create_model(
    "_Own",
    __base__=_Section,
    **{name: (field.rebuild_annotation(), None) for name, field in Settings.model_fields.items()},  # type: ignore[call-overload] # by name
)


class _File(_Section):
    feature_flags: _Flags = _Flags()
    godfather_phone: _Filled | None = None
    memory: _Memory = _Memory()
    langmem: _Own = _Own()


def settings_of(path: str | Path) -> Settings:
    """Return the settings of a file with `feature_flags`, `godfather_phone` and `memory`; under `langmem` it may hold
    any setting by its name.

    The environment wins over the file. What the file does not say has the file's own defaults: the memory is off and a
    session ends after 24 hours. A file that cannot be read has these defaults too, and is an ERROR in the log. A single
    value that cannot be used, or an unknown key, is an ERROR too, and the rest is used. Raises ConfigurationError for
    errors in the environment, and for values that contradict each other.
    """
    try:
        settings, problems = examined(path)
    except UnreadableFile as error:
        log.error("config.unreadable", extra={"path": str(path), "reason": str(error)})  # noqa: TRY400 - all is said
        return _settings(_File())
    for key, reason in problems.items():
        log.error("config.value_ignored", extra={"path": str(path), "field": key, "reason": reason})
    return settings


def examined(path: str | Path) -> tuple[Settings, dict[str, str]]:
    """Return the settings in force, and by the full path of its key why a value of the file was left out.

    Raises UnreadableFile, and ConfigurationError as `settings_of` does.
    """
    try:
        content = from_json(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"the file {str(path)[:_SHOWN]} cannot be read ({error}): write it as JSON") from error
    if not isinstance(content, dict):
        raise UnreadableFile(f"the file {str(path)[:_SHOWN]} holds no JSON object")
    problems: dict[str, str] = {}
    while True:
        try:
            return _settings(_File.model_validate_json(to_json(content))), problems
        except ValidationError as error:
            wrong = {_place(content, each["loc"]): environment.reason(each) for each in error.errors()}
        for place in sorted(wrong, key=len, reverse=True):
            problems[".".join(place)[:_SHOWN]] = wrong[place]
            *sections, name = place
            del reduce(dict.__getitem__, sections, content)[name]


def _place(content: Any, named: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return where the value, or the one that it is a part of, stands in the file."""
    place = []
    for name in named:
        if not isinstance(content, dict) or name not in content:
            break
        place.append(str(name))
        content = content[name]
    return tuple(place)


def _settings(file: _File) -> Settings:
    session, longterm = file.memory.session, file.memory.longterm
    index, collection = longterm.storage_dir, longterm.collection_name
    values = {
        "enable_memory_system": file.feature_flags.enable_memory_system,
        "godfather_phone": file.godfather_phone,
        "database": session.storage_dir and f"sqlite:///{Path(session.storage_dir) / 'langmem.db'}",
        "max_tokens": session.max_tokens_by_role,
        "session_timeout": timedelta(hours=session.session_timeout_hours),
        "longterm": longterm.enabled,
        "vector_index": index and f"chroma:{Path(index)}{f'#{collection.strip()}' if collection else ''}",
        "embedding_model": longterm.embedding_model,
        "recall_limit": longterm.top_k_results,
        "min_similarity": longterm.min_similarity,
    }
    said = {name: value for name, value in values.items() if value is not None}
    said |= {name: getattr(file.langmem, name) for name in file.langmem.model_fields_set}
    outside = environment.are_set()
    return Settings(**{name: value for name, value in said.items() if environment.variable(name) not in outside})
