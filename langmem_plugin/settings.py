"""The settings, from arguments or the environment (LANGMEM_…), with the defaults that most need."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PositiveInt,
    SecretStr,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from langmem_plugin import environment
from langmem_plugin.durations import duration, none_if_never
from langmem_plugin.errors import ConfigurationError

Role = Literal["client", "godfather"]


SESSION_TIMEOUT, INTERRUPT_TIMEOUT = timedelta(minutes=30), timedelta(hours=24)
TURN_TIMEOUT = timedelta(minutes=2)
DATABASE_TIMEOUT, EMBEDDING_TIMEOUT = timedelta(seconds=5), timedelta(seconds=10)
SWEEP_EVERY = timedelta(hours=1)
ERASE_AFTER = timedelta(days=30)
EXTRACT_AFTER = timedelta(minutes=2)
QUESTION_OPEN_FOR = timedelta(days=1)
OWNER_LIMIT, INDEX_AFTER = 100_000, 50_000  # memories; measured by benchmarks/index.py
_MOST_DAYS = 100_000
_MAX_TOKENS: dict[Role, int] = {"client": 4_000, "godfather": 100_000}

_Duration = Annotated[timedelta, Field(strict=False), BeforeValidator(duration)]
_Silence = Annotated[timedelta, Field(strict=False, gt=timedelta(0)), BeforeValidator(duration)]
_Tokens = Annotated[int, Field(gt=0, strict=True)]
_TENANT = re.compile(r"[a-z][a-z0-9_]{0,30}")
_FullName = Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)+$")]


def _zone_that_exists(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:  # a name may be that of a folder, or of no file
        raise ValueError("there is no such time zone: a name such as Asia/Jerusalem is expected") from error
    return name


def _web_address(address: str) -> str:
    """Drop a slash at the end."""
    parts = urlsplit(address.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("an address that a browser opens is expected, such as https://bot.example/memory")
    return address.strip().rstrip("/")


class Settings(BaseSettings):
    """The settings; every value may come from an environment variable of the same name with LANGMEM_ before it.

    There, and in a file, a duration may be written as 45s, 30m, 24h or 7d, and None as "never". Raises
    ConfigurationError for a value that cannot be used. The text below each setting describes it.
    """

    model_config = SettingsConfigDict(env_prefix="LANGMEM_", frozen=True, extra="forbid", use_attribute_docstrings=True)

    enable_memory_system: bool = True
    """Tells whether anything is remembered at all; without it replies still work."""
    longterm: bool = True
    """Tells whether facts are remembered beyond a conversation; without it there are conversations and nothing else."""
    database: str = "sqlite:///data/langmem.db"
    """`sqlite:///file.db`, `sqlite://` (in memory) or `postgresql://…`; with `?schema=NAME` our tables lie in that
    schema of PostgreSQL, made if need be, instead of the one a connection finds itself in.
    """
    keys: SecretStr | None = None
    """Master keys, the newest first (`langmem keys new` makes one), with which all that a person says and is told is
    encrypted. Without them it lies in the open for whoever reads the database's files.
    """
    key_database: str | None = None
    """Where people's keys lie, which the master keys wrap: by default a file beside a SQLite file, and PostgreSQL's own
    database; kept apart, an erasure reaches backups too.
    """
    tenant: str | None = None
    """One of several businesses that share these settings: its data lies in a schema, or a SQLite file, of its own."""
    default_region: str | None = Field(default=None, pattern="^[A-Z]{2}$")
    """The country, such as IL, of phone numbers that are written without one."""
    godfather_phone: str | None = None
    """The phone of the account's owner, whose role is "godfather"; everybody else's is "client"."""
    trusted_callers: frozenset[str] = frozenset()
    """Services that authenticate themselves and may say by `context={"phone": …}` whom a run serves; on a server that
    authenticates its users every other run serves the user who calls.
    """
    session_timeout: Annotated[_Silence | None, BeforeValidator(none_if_never)] = SESSION_TIMEOUT
    """The silence that ends a conversation (None: it never ends)."""
    interrupt_timeout: Annotated[_Silence | None, BeforeValidator(none_if_never)] = INTERRUPT_TIMEOUT
    """The silence that ends a conversation which waits for a person's answer (None: it never ends)."""
    turn_timeout: _Duration = TURN_TIMEOUT
    """How long a turn waits for the one before it; then the person is told to try again."""
    archive_days: Annotated[int | None, BeforeValidator(none_if_never)] = Field(default=30, ge=0, le=_MOST_DAYS)
    """For how many days a conversation that has ended is kept (None: for ever)."""
    media: Literal["beside", "database", "drop"] | Path = "beside"
    """The folder that takes pictures and files of messages; "beside" is one beside a SQLite file, and the database for
    any other; "database" is always that, "drop" keeps but a reference.
    """
    window_turns: PositiveInt = 20
    """How many turns of a conversation a model is shown."""
    max_tokens: dict[Role, _Tokens] = _MAX_TOKENS
    """The part of a conversation that a model is shown at most, in tokens, by the person's role."""
    embedding_model: str = "offline"
    """"offline", "multilingual" or a name LangChain knows, such as "openai:text-embedding-3-small"."""
    recall_tokens: PositiveInt = 650
    """How many tokens of a prompt memories and documents may take: what is about the talk, then what is nearest of the
    rest.
    """
    recall_limit: PositiveInt | None = None
    """How many memories a model is shown at most (None: as many as `recall_tokens` holds)."""
    min_similarity: float | None = Field(default=None, ge=0, le=1)
    """How near to the talk a memory has to be to be shown at all, from 0 to 1 (None: the tokens alone decide; private
    and sensitive ones have to be at 0.7).
    """
    owner_limit: PositiveInt = OWNER_LIMIT
    """Of more memories than this a person's oldest are archived."""
    index_after: PositiveInt = INDEX_AFTER
    """Of more memories than this a person's are searched by the vector index, if there is one."""
    vector_index: str | None = None
    """"chroma:FOLDER" (the extra `chroma`) or "pgvector"; None compares exactly, however many memories there are. With
    "#NAME" behind the folder the account's owner has a collection of this name from the start.
    """
    allowed_types: tuple[_FullName, ...] = ()
    """Full names, such as "shop.recipes.Recipe", of classes that no graph's state declares: of what is stored nothing
    else is built but what the states declare and Python's, LangChain's and LangGraph's own types.
    """
    search_past_sessions: bool = True
    """Tells whether what conversations said that have ended can be searched."""
    extraction: Annotated[str, Field(min_length=1)] = "auto"
    """The reader that takes facts, in the background, from what people say of themselves: "auto" is the chat model that
    LANGMEM_MODEL names, else "rules"; or the name of a chat model that LangChain knows, or "off". It needs each
    person's leave, which they give by /privacy.
    """
    extract_after: _Duration = EXTRACT_AFTER
    """How long a conversation has been quiet before facts are taken from it."""
    burst: Annotated[_Duration | None, BeforeValidator(none_if_never)] = None
    """Messages of one person within so long of each other are answered together (None: each by itself)."""
    sweep_every: Annotated[_Silence | None, BeforeValidator(none_if_never)] = SWEEP_EVERY
    """How often what is past its time is swept away in the background (None: by `langmem expire` alone)."""
    time_zone: Annotated[str, AfterValidator(_zone_that_exists)] = "UTC"
    """The time zone of people whose own is not known."""
    language: Literal["en", "he", "es"] = "en"
    """The language of people whose own is not known."""
    audit_log: Path | None = None
    """The file that takes the notes of what was done, as lines of JSON, with the day in its name (None: beside a SQLite
    file, and nowhere for any other database).
    """
    godfather_in_groups: bool = False
    """Tells whether what the account's owner told the assistant alone is recalled for a message of theirs in
    a group.
    """
    ask_for_consent: bool = False
    """Tells whether a reply asks once, at its end, for the leave to remember, when a person states something about
    themselves; and later once for sensitive facts, when they state one.
    """
    page_address: Annotated[str, AfterValidator(_web_address)] | None = None
    """Where people reach the web application (`memory.app()`), such as "https://bot.example/memory": with it
    /privacy and /memories end with a link to the person's own page.
    """

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            environment.refuse_wrong(error, values, type(self).model_fields)
        environment.warn_of_unknown(type(self).model_fields)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - ours instead
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # Where no variable is set, looking for each setting among them would be a sixth of an opening.
        return (init_settings, *([environment.Variables(settings_cls)] if environment.are_set() else ()))

    @field_validator("tenant")
    @classmethod
    def _names_a_tenant(cls, tenant: str | None) -> str | None:
        return tenant if tenant is None else checked_tenant(tenant)

    @field_validator("max_tokens", mode="before")
    @classmethod
    def _for_every_role(cls, bounds: Any) -> Any:
        return {**_MAX_TOKENS, **bounds} if isinstance(bounds, dict) else bounds

    @model_validator(mode="after")
    def _index_can_be_used(self) -> Self:
        if self.vector_index is not None:
            check_index_is_reachable(self.owner_limit, self.index_after)
        return self

    @property
    def remembers(self) -> bool:
        """Tell whether there is a long-term memory."""
        return self.enable_memory_system and self.longterm

    @property
    def extracts(self) -> bool:
        """Tell whether facts are taken from what people say."""
        return self.remembers and self.extraction != "off"

    @property
    def archived_for(self) -> timedelta | None:
        """Return how long an ended conversation is kept; None: for ever."""
        return None if self.archive_days is None else timedelta(days=self.archive_days)


def checked_tenant(name: str) -> str:
    """Return the name. Raises ConfigurationError for one that cannot name a schema and a file, or that names
    another's.
    """
    if not isinstance(name, str) or not _TENANT.fullmatch(name) or name == "index" or name.endswith("_index"):
        raise ConfigurationError(
            f"{name!r} cannot be a tenant: give 1 to 31 small letters, digits and underlines that begin with a letter "
            "and do not end in index"
        )
    return name


def check_index_is_reachable(owner_limit: int, index_after: int) -> None:
    """Raise ConfigurationError where no owner can have enough memories for the vector index."""
    if index_after >= owner_limit:
        raise ConfigurationError(
            f"the vector index would never be used: it is asked above {index_after} memories (index_after), and above "
            f"{owner_limit} (owner_limit) the oldest are archived: lower index_after, or raise owner_limit"
        )
