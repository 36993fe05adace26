"""Whom a clause is about."""

from dataclasses import dataclass
from typing import Final

from langmem_plugin.facts.tokens import Token

SELF: Final = "self"


@dataclass(frozen=True)
class Subject:
    """`who` as in a slot; what is said of it goes on at `end`; `first` is where it begins.

    `noun` is the attribute it names, if it does ("my dentist", "my daughter's birthday"), `role` the kind of person,
    `name` the words of a name. `loose`: nothing says that it is a person of theirs.
    """

    who: str
    first: int
    end: int
    third: bool = True
    noun: str | None = None
    role: str | None = None
    name: tuple[Token, ...] = ()
    loose: bool = False
    shown: tuple[Token, ...] = ()


SPEAKER: Final = Subject(SELF, 0, 0, third=False)
