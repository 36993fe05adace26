"""What can be set, from arguments or the environment (LANGMEM_…), with the defaults that most need."""

import re
from datetime import timedelta
from ipaddress import ip_address
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
from langmem_plugin.operation_timing import Operation

Role = Literal["client", "godfather"]


SESSION_TIMEOUT, INTERRUPT_TIMEOUT = timedelta(minutes=30), timedelta(hours=24)
TURN_TIMEOUT = timedelta(minutes=2)
DATABASE_TIMEOUT, EMBEDDING_TIMEOUT = timedelta(seconds=5), timedelta(seconds=10)
ANSWER_WITHIN = timedelta(hours=12)
SWEEP_EVERY = timedelta(hours=1)
ERASE_AFTER = timedelta(days=30)
EXTRACT_AFTER = timedelta(minutes=2)
OWNER_LIMIT, INDEX_AFTER = 100_000, 50_000  # memories; measured by benchmarks/index.py
_MOST_DAYS = 100_000
_THRESHOLDS: dict[Operation, float] = {"inject": 50, "search": 200, "extract": 5_000, "store": 100}
_MAX_TOKENS: dict[Role, int] = {"client": 4_000, "godfather": 100_000}

_Duration = Annotated[timedelta, BeforeValidator(duration)]
_Silence = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(duration)]
_Tokens = Annotated[int, Field(gt=0, strict=True)]
_Milliseconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_TENANT = re.compile(r"[a-z][a-z0-9_]{0,30}")
_FullName = Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)+$")]


def _zone_that_exists(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:  # names of folders and of no files are among them
        raise ValueError("there is no such time zone: a name such as Asia/Jerusalem is expected") from error
    return name


def _may_be_posted_to(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and parts.hostname and _is_this_machine(parts.hostname):
        return url
    raise ValueError("https://… is expected, or http:// on this machine: what is sent elsewhere must be encrypted")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Settings(BaseSettings):
    """Every value may come from an environment variable of the same name with LANGMEM_ before it.

    There, and in a file, a duration may be written as 45s, 30m, 24h or 7d, and None as "never". Raises
    ConfigurationError for a variable that cannot be used.

    `tenant` names one of several businesses that share these settings: its data lies in a schema, or a SQLite file,
    of its own. `database` is `sqlite:///file.db`, `sqlite://` (in memory) or `postgresql://…`; there,
    `database_schema` holds our tables, made if need be, instead of the one a connection finds itself in.
    With `keys`, the newest first (`langmem keys new`), private and sensitive memories are encrypted, or "everything"
    that a person says and is told, as `encrypt` has it. The keys of people, which these wrap, lie in `key_database`: by
    default a file beside a SQLite file, and PostgreSQL's own database; kept apart, an erasure reaches backups too.
    `session_timeout` is the silence that ends a conversation (None: it never ends); one that waits for a person's
    answer lives for `interrupt_timeout`. One that silence ended hands the channels of `carry` on to the next. An
    ended one is kept for `archive_days` (None: for ever). A turn waits for the one before it for `turn_timeout` and
    for the database for `database_timeout`; then the person is answered without memory, or told to try again.
    On a server that authenticates its users a run serves the user who calls; only `trusted_callers`, the identities
    of services, may say by `context={"phone": …}` whom it serves instead.
    `media` is the folder that takes the pictures and files of messages; "beside" is one beside a SQLite file, and the
    database itself for any other; "database" is always that; "drop" keeps nothing of them but a reference, and "leave"
    leaves the messages as they are.
    A picture given by its address is passed on to the model's provider where that is public http or https; with
    `picture_hosts` where its host is one of these, private or not.
    `max_tokens` bounds, by role, what of a conversation a model is shown; `window_turns` does for all.
    `recall_limit` and `recall_tokens` bound the memories and documents beside it, `min_similarity` what is recalled.
    Standing instructions take up to `instruction_tokens` of every prompt; what does not fit is left out, the lowest
    priority first. With `notice_instructions` those that a person gives in plain words, such as "never use emojis", are
    kept when they are said: switch it off where the graph has tools of its own for that.
    `embedding_model` is "offline", "multilingual" or a name LangChain knows, such as "openai:text-embedding-3-small";
    a call of it is given up after `embedding_timeout`.
    Above `owner_limit` memories a person's oldest are archived.
    `vector_index` is where those of more than `index_after` memories are searched: "chroma:FOLDER" (the extra
    `chroma`) or "pgvector"; None compares exactly, however many there are. `godfather_collection` names the collection
    that the account's owner has there from the start.
    `allowed_types` are the full names, such as "shop.recipes.Recipe", of a graph's own classes that its state holds:
    of what is stored nothing else is built but messages, documents and LangGraph's and Python's own types.
    Messages of one person that come within `burst` of each other are answered together (None: each by itself), and
    those sent longer ago than `answer_within` are kept but not answered. What is past its time is swept away in the
    background every `sweep_every` (None: by `langmem sweep` alone). `time_zone` and `language` are those of people of
    whom nothing else is known. In a group, what the account's owner told the assistant alone is recalled for a message
    of theirs only with `godfather_in_groups`. With `ask_when_unclear` a person whose words may point at several things
    shown, or at nothing, is asked before the model is called; else the model is told of it.
    What people say of themselves is taken into their memory in the background, once a conversation has been quiet for
    `extract_after`: by `extraction`, which is "rules", the name of a chat model that LangChain knows, or "off".
    Who asks to be erased is gone at once and for good after `erase_after`; until then it can be undone. What is done is
    noted, with ids and hashes and without contents, unless `audit` is off: in the database, and as lines of JSON in the
    file `audit_log` (None: beside a SQLite file, and nowhere for any other database).
    That needs each person's leave, which they give by /privacy; with `ask_for_consent` a reply asks for it once, at its
    end, when they state something about themselves. `search_past_sessions` makes what ended sessions said searchable.
    How long the memory's verbs take is counted unless `metrics` is off, for `performance` and for OpenTelemetry.
    Where one call in twenty of the last five minutes took longer than its `thresholds_ms`, or fewer than
    `least_success` of them succeeded, it is an alert: a line in the log and, with `alert_url` (https, or http on this
    machine), a POST of numbers in JSON.
    Without `longterm` there are conversations and nothing else; without `enable_memory_system` nothing is remembered at
    all, and replies still work.
    """

    model_config = SettingsConfigDict(env_prefix="LANGMEM_", frozen=True, extra="forbid")

    enable_memory_system: bool = True
    longterm: bool = True
    database: str = "sqlite:///data/langmem.db"
    database_schema: str | None = Field(default=None, pattern=r"^[a-z_][a-z0-9_]{0,56}$")
    keys: SecretStr | None = None
    encrypt: Literal["private", "everything"] = "private"
    key_database: str | None = None
    tenant: str | None = None
    default_region: str | None = Field(default=None, pattern="^[A-Z]{2}$")
    godfather_phone: str | None = None
    trusted_callers: frozenset[str] = frozenset()
    session_timeout: Annotated[_Silence | None, BeforeValidator(none_if_never)] = SESSION_TIMEOUT
    interrupt_timeout: Annotated[_Silence | None, BeforeValidator(none_if_never)] = INTERRUPT_TIMEOUT
    turn_timeout: _Duration = TURN_TIMEOUT
    database_timeout: _Duration = DATABASE_TIMEOUT
    archive_days: Annotated[int | None, BeforeValidator(none_if_never)] = Field(default=30, ge=0, le=_MOST_DAYS)
    carry: tuple[str, ...] = ()
    media: Literal["beside", "database", "drop", "leave"] | Path = "beside"
    window_turns: PositiveInt = 20
    max_tokens: dict[Role, _Tokens] = _MAX_TOKENS
    embedding_model: str = "offline"
    embedding_timeout: _Duration = EMBEDDING_TIMEOUT
    recall_limit: PositiveInt = 5
    recall_tokens: PositiveInt = 1_000
    instruction_tokens: PositiveInt = 1_000
    notice_instructions: bool = True
    min_similarity: float = Field(default=0.7, ge=0, le=1)
    owner_limit: PositiveInt = OWNER_LIMIT
    index_after: PositiveInt = INDEX_AFTER
    vector_index: str | None = None
    godfather_collection: str | None = None
    allowed_types: tuple[_FullName, ...] = ()
    search_past_sessions: bool = True
    extraction: Annotated[str, Field(min_length=1)] = "rules"
    extract_after: _Duration = EXTRACT_AFTER
    burst: Annotated[_Duration | None, BeforeValidator(none_if_never)] = None
    answer_within: _Duration = ANSWER_WITHIN
    sweep_every: Annotated[_Silence | None, BeforeValidator(none_if_never)] = SWEEP_EVERY
    time_zone: Annotated[str, AfterValidator(_zone_that_exists)] = "UTC"
    language: Literal["en", "he", "es"] = "en"
    erase_after: _Duration = ERASE_AFTER
    audit: bool = True
    audit_log: Path | None = None
    godfather_in_groups: bool = False
    ask_when_unclear: bool = True
    ask_for_consent: bool = False
    picture_hosts: frozenset[str] | None = None
    metrics: bool = True
    thresholds_ms: dict[Operation, _Milliseconds] = _THRESHOLDS
    least_success: float = Field(default=0.95, ge=0, le=1)
    alert_url: Annotated[str | None, AfterValidator(_may_be_posted_to)] = None

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            environment.refuse_wrong(error, values)
            raise
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
        return init_settings, environment.Variables(settings_cls)

    @field_validator("tenant")
    @classmethod
    def _names_a_tenant(cls, tenant: str | None) -> str | None:
        return tenant if tenant is None else checked_tenant(tenant)

    @field_validator("max_tokens", mode="before")
    @classmethod
    def _for_every_role(cls, bounds: Any) -> Any:
        return {**_MAX_TOKENS, **bounds} if isinstance(bounds, dict) else bounds

    @field_validator("thresholds_ms", mode="before")
    @classmethod
    def _for_every_operation(cls, thresholds: Any) -> Any:
        return {**_THRESHOLDS, **thresholds} if isinstance(thresholds, dict) else thresholds

    @model_validator(mode="after")
    def _index_can_be_used(self) -> Self:
        if self.vector_index is not None:
            check_index_is_reachable(self.owner_limit, self.index_after)
        return self

    @model_validator(mode="after")
    def _has_keys_to_encrypt(self) -> Self:
        if self.encrypt == "everything" and self.keys is None:
            raise ConfigurationError('encrypt="everything" needs keys: `langmem keys new` makes one for LANGMEM_KEYS')
        return self

    @property
    def remembers(self) -> bool:
        """Whether there is a long-term memory."""
        return self.enable_memory_system and self.longterm

    @property
    def extracts(self) -> bool:
        """Whether facts are taken from what people say."""
        return self.remembers and self.extraction != "off"

    @property
    def archived_for(self) -> timedelta | None:
        """How long an ended conversation is kept; None: for ever."""
        return None if self.archive_days is None else timedelta(days=self.archive_days)


def checked_tenant(name: str) -> str:
    """The name itself. Raises ConfigurationError for what cannot name a schema and a file, or names another's."""
    if not isinstance(name, str) or not _TENANT.fullmatch(name) or name == "index" or name.endswith("_index"):
        raise ConfigurationError(
            f"{name!r} cannot be a tenant: give 1 to 31 small letters, digits and underlines that begin with a letter "
            "and do not end in index"
        )
    return name


def check_index_is_reachable(owner_limit: int, index_after: int) -> None:
    """Raises ConfigurationError where no owner can have enough memories for the vector index."""
    if index_after >= owner_limit:
        raise ConfigurationError(
            f"the vector index would never be used: it is asked above {index_after} memories (index_after), and above "
            f"{owner_limit} (owner_limit) the oldest are archived: lower index_after, or raise owner_limit"
        )
