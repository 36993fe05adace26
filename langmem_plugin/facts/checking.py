"""Whether what was found is stated for good, and what of its words is the value."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_checks import is_value
from langmem_plugin.facts.value_span import boundary, moments_in, value_end
from langmem_plugin.facts.wording import UNTIMED
from langmem_plugin.languages.language import words

_OF_PEOPLE: Final = words(
    "home|allergy|intolerance|employer|age|debt|health|school|birthday|status|job|diet|accessibility|medication|language|birthplace|like|dislike|hobby|relationship|work|routine|origin|fear"
) | {"monthly payment", "work schedule", "field of study"}
_CHANGES: Final = (("went", "up"), ("went", "down"), ("changed", "to"), ("subio", "a"), ("goes", "up"), ("is", "now"))
_NOTHING: Final = words("a|an|the|to|of|un|una|el|la")
LAUGHS: Final = words("lol|lmao|haha|hahaha|jaja|jajaja|חחח|חחחח|😂|🤣")
_PER_HOUR: Final = words("an|a|per|the|each|hour|h|/|la|por|hora|cada|לשעה|שעה")
_NO_MORE: Final = words("longer|no|לא|not|anymore|עוד")
_OF_MANY: Final = words("like|love|hate|enjoy|prefer")


def checked(reading: Reading, said: Finding) -> Finding | None:
    tokens = reading.tokens[said.first : said.last]
    told = any(token.plain in reading.language.events for token in tokens)
    around = reading.tokens[said.first : boundary(reading, said.last)]
    brief = any(begins(around, place, reading.language.momentary) for place in range(len(around)))
    told = told or any(begins(tokens, place, _CHANGES) for place in range(len(tokens)))
    if brief and not told and not reading.noted and said.attribute != "instruction":
        return None
    named_only = said.subject.loose and said.subject.noun is None
    if named_only and any(token.plain in _OF_MANY for token in tokens):
        return None  # "things like pasta"
    if named_only and said.attribute not in _OF_PEOPLE:
        return None
    if (
        named_only
        and said.attribute == "age"
        and not (reading.children or reading.noted or len(tokens) > len(said.subject.name) + 2)
    ):
        return None
    ended = begins(reading.tokens, said.last, reading.language.ended_after)
    if ended and said.negated:
        said = replace(said, over=True, last=said.last + ended)
    if said.over and not said.negated and _gone(reading, said):
        said = replace(said, negated=True)
    value = _trimmed(reading, said)
    if value and (value[0].plain in reading.language.joins or [t.plain in _NOTHING for t in value] == [True]):
        return None  # what was quoted is left out
    if said.subject.noun is not None and _in_jest(reading, value):
        return None
    if not is_value(value, said.attribute, said.subject, reading.language, negated=said.negated, noted=reading.noted):
        return None
    return replace(said, value=value, instead_of=said.instead_of or _instead_of(reading, said))


def _in_jest(reading: Reading, value: Sequence[Token]) -> bool:
    """As in "my diet is 90% cold coffee and spite lol": laughed at, and no name or number that one would look up."""
    laughs = any(token.plain in LAUGHS for token in reading.tokens)
    return (
        laughs
        and not reading.noted
        and (any(t.plain == "%" for t in value) or not any(t.capital or t.plain[:1].isdigit() for t in value))
    )


def _instead_of(reading: Reading, said: Finding) -> tuple[Token, ...]:
    """As in "…, not Dina", "… instead of Postgres"."""
    for at in range(said.first, min(said.last + 2, len(reading.tokens))):
        used = begins(reading.tokens, at, reading.language.instead)
        if used and at + used < len(reading.tokens):
            return reading.tokens[at + used : value_end(reading, at + used)]
    return ()


def _gone(reading: Reading, said: Finding) -> bool:
    """Whether it is said in so many words that it is not so now: "no longer", but not "used to"."""
    tokens = reading.tokens[said.first : said.last]
    return any(
        begins(tokens, place, reading.language.ended) and tokens[place + 1].plain in _NO_MORE
        for place in range(len(tokens) - 1)
    )


def _trimmed(reading: Reading, said: Finding) -> tuple[Token, ...]:
    """The value without articles before it and times after it."""
    value = list(said.value)
    if (
        said.attribute == "allergy"
        and [token.plain for token in value][-1:]
        and value[-1].plain in ("allergic", "allergy")
        and len(value) > 1
    ):
        value.pop()
    while len(value) > 1 and (value[0].plain in reading.language.articles or not value[0].word):
        if value[0].written in "$€₪£":
            break
        value.pop(0)
    if attribute_of(said.attribute).category != "identity" and said.attribute not in UNTIMED - {
        "goal",
        "plan",
        "strategy",
    }:
        for moment in reversed(moments_in(reading, value, ahead=said.ahead)):
            if moment.last == len(value) and moment.first > 0:
                value = value[: moment.first]
    while len(value) > 1 and said.attribute == "hourly rate" and value[-1].plain in _PER_HOUR:
        value.pop()
    while value and (
        (not value[-1].word and value[-1].plain not in ("%", "'s"))
        or value[-1].plain in reading.language.fillers | reading.language.joins | {"by", "for", "before"}
    ):
        value.pop()
    return tuple(value)
