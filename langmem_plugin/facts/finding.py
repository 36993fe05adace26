"""A fact as it was found in a sentence, before it is worded."""

from dataclasses import dataclass

from langmem_plugin.facts.subject import Subject
from langmem_plugin.facts.tokens import Token


@dataclass(frozen=True)
class Finding:
    """The words of one fact, which begins at the token `first` and ends before `last`.

    `ahead`: it will be so. `instead_of` is what it corrects, `avoided` the words before it that say what is to be left
    out ("without nuts").
    """

    subject: Subject
    attribute: str
    value: tuple[Token, ...]
    first: int
    last: int
    negated: bool = False
    over: bool = False
    ahead: bool = False
    instead_of: tuple[Token, ...] = ()
    avoided: tuple[Token, ...] = ()
