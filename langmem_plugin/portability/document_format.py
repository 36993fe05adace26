"""The document of one person's data: what each record holds.

Its published JSON Schema is person_export.schema.json, which a test compares with these classes and can write anew.
"""

from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from langmem_plugin.memory.instructions.standing_instructions import InstructionContent
from langmem_plugin.memory.keep.usage_and_verdicts import Access
from langmem_plugin.memory.memory_types import MemoryContent

FORMAT: Final = "langmem-plugin person"
FORMAT_VERSION: Final = 1

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_LONGEST = 1_000  # that an index holds
_MOST = 2**31 - 1  # that a column holds
Count = Annotated[int, Field(ge=0, le=_MOST)]


def _fits(name: str) -> str:
    if "\x00" in name or len(name.encode()) > _LONGEST:
        raise ValueError(f"a name has at most {_LONGEST} bytes, and no NUL")
    return name


Name = Annotated[str, Field(min_length=1, max_length=_LONGEST), AfterValidator(_fits)]


class Record(BaseModel):
    """A record in which a field that this version does not know is a mistake: nothing is lost unnoticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)  # a spreadsheet makes numbers


class Identifier(Record):
    """One more identifier of the person."""

    identifier: Name
    linked_at: AwareDatetime


class Settings(Record):
    """Null is not set."""

    time_zone: str | None = None
    language: Literal["en", "he", "es"] | None = None
    name: str | None = None
    """The one that an operator gave them."""


class Permission(Record):
    """Null was never asked; `since` when it holds."""

    allowed: bool | None = None
    since: AwareDatetime | None = None


class Consent(Record):
    """The permissions to remember without being told to."""

    extraction: Permission = Permission()
    personal: Permission = Permission()
    sensitive: Permission = Permission()


class Message(Record):
    """`role`, `text` and `said_at` are for readers; `message` is all of it in LangChain's form, which is read back."""

    message_id: str | None = None
    role: str
    text: str
    said_at: AwareDatetime
    stored_at: AwareDatetime
    tokens: Count
    message: dict[str, Any]


class Extraction(Record):
    """How far the session has been read for facts: the messages that were, counted from 1, and facts not stored yet."""

    state: Literal["pending", "completed", "failed"]
    read: list[int]
    facts: list[dict[str, Any]]
    error: str | None = None


class Session(Record):
    """`conversation` is null in the person's own; `ended_at` is null while the session goes on."""

    session_id: Name
    conversation: Name | None = None
    created_at: AwareDatetime
    last_active: AwareDatetime
    ended_at: AwareDatetime | None = None
    client_name: str | None = None
    client_phone: str | None = None
    messages: list[Message]
    files: list[Sha256]
    extraction: Extraction | None = None


class File(Record):
    """A picture, sound or document, in base64; null where it is missing."""

    sha256: Sha256
    mime_type: str
    size: int | None = None
    data: str | None


class Memory(Record, MemoryContent):
    """One thing known about the person, in whatever state: see `Memory`."""

    id: Name
    text: Annotated[str, Field(min_length=1)]
    access_count: Count = 0
    revision: Annotated[int, Field(ge=1, le=_MOST)] = 1


class Category(Record):
    """One of the person's own categories: what it is of has its name, in any case."""

    category_id: Name
    name: Annotated[str, Field(min_length=1)]
    color: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")] = "#3b82f6"
    description: str | None = None
    parent_id: Name | None = None
    created_at: AwareDatetime


class Use(Record):
    """A memory was used."""

    access_id: Name
    memory_id: Name
    kind: Access
    session_id: Name | None = None
    relevance: float | None = None
    at: AwareDatetime


class Instruction(Record, InstructionContent):
    """A standing instruction."""

    id: Name
    text: Annotated[str, Field(min_length=1)]
    usage_count: Count = 0


class Saying(Record):
    """A message that can be searched for and is in no session of the document."""

    message_id: Name
    session_id: Name
    speaker: Name
    text: Annotated[str, Field(min_length=1)]
    said_at: AwareDatetime


class Incoming(Record):
    """A message as it came in: `message` until it was answered, `reply` from then on."""

    message_id: Name
    received_at: AwareDatetime
    message: dict[str, Any] | None = None
    reply: str | None = None
    sent: bool = False


class PersonExport(Record):
    """All that is stored of one person. `person` is their key; every list is in the order in which it came about."""

    format: Literal["langmem-plugin person"] = FORMAT
    format_version: Literal[1] = FORMAT_VERSION
    exported_at: AwareDatetime
    person: Name
    settings: Settings = Settings()
    consent: Consent = Consent()
    identifiers: list[Identifier] = Field(default_factory=list)
    categories: list[Category] = Field(default_factory=list)
    memories: list[Memory] = Field(default_factory=list)
    uses: list[Use] = Field(default_factory=list)
    instructions: list[Instruction] = Field(default_factory=list)
    said_elsewhere: list[Saying] = Field(default_factory=list)
    incoming: list[Incoming] = Field(default_factory=list)
    sessions: list[Session] = Field(default_factory=list)
    files: list[File] = Field(default_factory=list)

    def to_json(self) -> str:
        return self.model_dump_json(indent=1)


_FIELDS = PersonExport.model_fields.items()
SINGLE = ("settings", "consent")
"""The parts that are one record; all others are lists."""
LISTS: dict[str, type[Record]] = {
    name: get_args(each.annotation)[0] for name, each in _FIELDS if get_origin(each.annotation) is list
}
