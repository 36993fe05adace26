"""A fact as it is remembered: in the person's own words, short, without themselves, every time made absolute."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.moments import Moment, moments
from langmem_plugin.facts.patterns import Line, begins
from langmem_plugin.facts.reader import Finding, is_timed
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.whom import SELF

_BE: Final = frozenset(("am", "are", "been"))
_TELLING: Final = frozenset(("do", "does", "did", "only"))
_WORN: Final = frozenset(("have", "has", "would"))  # written onto "I": "I've"
_LONGEST_TIME: Final = 6
_OF_BIRTH: Final = frozenset(("birthday", "birthplace", "birth year"))
_SURE, _LESS_SURE = 0.9, 0.8


def worded(text: str, line: Line, said: Finding, said_at: datetime | None) -> Statement:
    kind, subject = attribute_of(said.attribute), said.subject
    timed = _timed(line, said, said_at)
    last = max([said.last, *(said.first + moment.last for moment in timed)])
    quote = text[line.tokens[said.first].start : line.tokens[last - 1].end]
    valid_from = next((moment.start for moment in timed if moment.kind in ("since", "at")), None)
    valid_to = next((moment.end for moment in timed if moment.kind == "until"), None)
    if said.over and valid_from is not None:
        valid_from, valid_to = None, valid_from
    theirs = subject.who != SELF and kind.fact_type == "personal" and subject.role is not None
    return Statement(
        text=_short(text, line, said, timed, last),
        quote=quote,
        slot=Slot(subject.who, said.attribute, kind.single),
        value=_written(text, said.value),
        negated=said.negated,
        over=said.over,
        fact_type="relationship" if theirs else kind.fact_type,
        confidence=_LESS_SURE if subject.loose or subject.first == subject.end else _SURE,
        sensitive=kind.sensitive or is_sensitive(quote),
        category=kind.category,
        valid_from=valid_from,
        valid_to=valid_to,
        instead_of=_written(text, said.instead_of) if said.instead_of else None,
    )


def _timed(line: Line, said: Finding, said_at: datetime | None) -> list[Moment]:
    """The times said within the fact or right after it."""
    if said_at is None or not is_timed(said.attribute):
        return []
    tokens = line.tokens[said.first : said.last + _LONGEST_TIME]
    return [
        each
        for each in moments(tokens, line.language, said_at, ahead=said.ahead)
        if each.first <= said.last - said.first
        # Who says in November to be born in June was not born this year.
        and (said.attribute not in _OF_BIRTH or str(each.start.year) in {token.plain for token in tokens})
    ]


def _short(text: str, line: Line, said: Finding, timed: Sequence[Moment], last: int) -> str:
    tokens, subject = line.tokens, said.subject
    parts: list[str] = []
    at = subject.shown
    if subject.name and subject.end <= said.first + 1 and subject.name[0].start < tokens[said.first].start:
        parts, at = [text[subject.name[0].start : subject.name[-1].end]], subject.end  # whom "he" or "she" stands for
    elif said.attribute != "routine" and (subject.is_speaker or subject.first == subject.end):
        while at < last - 1 and _is_idle(line, at):
            at += 1
    moved = {said.first + moment.first: moment for moment in timed}
    while at < last:
        if (moment := moved.get(at)) is not None:
            parts.append(moment.text)
            at = said.first + moment.last
            continue
        following = at + 1
        while following < last and following not in moved and tokens[following].start == tokens[following - 1].end:
            following += 1
        if not (at < subject.end and tokens[at].plain in line.language.possessives):
            parts.append(text[tokens[at].start : tokens[following - 1].end])
        at = following
    wording = " ".join(" ".join(part.split()) for part in parts if part.strip())
    for mark in (" ,", " .", " 's"):
        wording = wording.replace(mark, mark[1:])
    return wording[:1].upper() + wording[1:]


def _is_idle(line: Line, at: int) -> bool:
    """A word before the fact that a note does without: "am", "also", "'ve"."""
    token = line.tokens[at]
    if begins(line.tokens, at, line.language.ended):
        return False
    written_on = token.written[:1] == "'" or token.start == token.end
    if token.plain in _WORN:
        return written_on
    return token.plain in _BE or written_on or token.plain in line.language.fillers - _TELLING


def _written(text: str, value: Sequence[Token]) -> str:
    """The words of a value as they were written; what stands between them is left out where it is far."""
    if value[-1].end - value[0].start <= sum(token.end - token.start for token in value) + 2 * len(value):
        return text[value[0].start : value[-1].end]
    return " ".join(token.written for token in value)
