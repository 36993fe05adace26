"""What can be set, from arguments or the environment (LANGMEM_…), with the defaults that most need."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, StringConstraints, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Role = Literal["client", "godfather"]


_FullName = Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)+$")]
_MAX_TOKENS: dict[Role, int] = {"client": 4_000, "godfather": 100_000}


class Settings(BaseSettings):
    """Every value may come from an environment variable of the same name with LANGMEM_ before it.

    `database` is `sqlite:///file.db`, `sqlite://` (in memory) or `postgresql://…`. `session_timeout` is the
    silence that ends a conversation (None: it never ends); one that waits for a person's answer lives for
    `interrupt_timeout`. One that silence ended hands the channels of `carry` on to the next. An ended one is kept for
    `archive_days` (None: for ever). A turn waits for the one before it for `turn_timeout` and for the
    database for `database_timeout`; then the person is answered without memory, or told to try again.
    On a server that authenticates its users a run serves the user who calls; only `trusted_callers`, the identities
    of services, may say by `context={"phone": …}` whom it serves instead.
    `media` is the folder that takes the pictures and files of messages, "beside" for one beside a SQLite file
    (dropped with another database), or "drop" to keep nothing of them but a reference.
    `max_tokens` bounds, by role, what of a conversation a model is shown; `window_turns` does for all.
    `recall_limit` and `recall_tokens` bound the memories and documents beside it, `min_similarity` what is recalled.
    `embedding_model` is "offline", "multilingual" or a name LangChain knows, such as "openai:text-embedding-3-small";
    a call of it is given up after `embedding_timeout`.
    `vector_index` is where owners of very many memories are searched: "chroma:FOLDER" or "pgvector"; None compares
    exactly, however many there are. `godfather_collection` names the collection that the account's owner has there
    from the start.
    `allowed_types` are the full names, such as "shop.recipes.Recipe", of a graph's own classes that its state holds:
    of what is stored nothing else is built but messages, documents and LangGraph's and Python's own types.
    `search_past_sessions` makes what ended sessions said searchable. Without `longterm` there are conversations and
    nothing else; without `enable_memory_system` nothing is remembered at all, and replies still work.
    """

    model_config = SettingsConfigDict(env_prefix="LANGMEM_", frozen=True, extra="forbid")

    enable_memory_system: bool = True
    longterm: bool = True
    database: str = "sqlite:///data/langmem.db"
    default_region: str | None = Field(default=None, pattern="^[A-Z]{2}$")
    godfather_phone: str | None = None
    trusted_callers: frozenset[str] = frozenset()
    session_timeout: timedelta | None = timedelta(minutes=30)
    interrupt_timeout: timedelta | None = timedelta(hours=24)
    turn_timeout: timedelta = timedelta(minutes=2)
    database_timeout: timedelta = timedelta(seconds=5)
    archive_days: int | None = Field(default=30, ge=0)
    carry: tuple[str, ...] = ()
    media: Path | Literal["beside", "drop"] = "beside"
    window_turns: PositiveInt = 20
    max_tokens: dict[Role, PositiveInt] = _MAX_TOKENS
    embedding_model: str = "offline"
    embedding_timeout: timedelta = timedelta(seconds=10)
    recall_limit: PositiveInt = 5
    recall_tokens: PositiveInt = 1_000
    min_similarity: float = Field(default=0.7, ge=0, le=1)
    vector_index: str | None = None
    godfather_collection: str | None = None
    allowed_types: tuple[_FullName, ...] = ()
    search_past_sessions: bool = True

    @field_validator("max_tokens", mode="before")
    @classmethod
    def _for_every_role(cls, said: Any) -> Any:
        return {**_MAX_TOKENS, **said} if isinstance(said, dict) else said

    @property
    def remembers(self) -> bool:
        """Whether there is a long-term memory."""
        return self.enable_memory_system and self.longterm
