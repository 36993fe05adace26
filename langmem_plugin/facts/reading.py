"""What is known of a text while it is read, sentence after sentence."""

from dataclasses import dataclass, field
from datetime import datetime

from langmem_plugin.facts.statement import Statement
from langmem_plugin.facts.subject import Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language


@dataclass
class Reading:
    """`tokens` are those of the sentence that is read, `known` who was spoken of last; `noted`: it is a note."""

    text: str
    language: Language
    said_at: datetime | None
    noted: bool
    tokens: tuple[Token, ...] = ()
    found: list[Statement] = field(default_factory=list)
    known: Subject | None = None
    children: bool = False  # they were spoken of
    naming: bool = False  # what is read now is names
    spoke: bool = False  # the clause before was about the speaker
    mentioned: list[Statement] = field(default_factory=list)  # "my sister Amara", whatever is said of her
    avoided: tuple[Token, ...] = ()  # "without nuts"
    unnamed: tuple[int, int] | None = None  # the fact whose name may follow, and where it begins
