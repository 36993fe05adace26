"""A fact in the person's own words, as it is remembered: short, without themselves, every time made absolute."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from langmem_plugin.facts.apart import NARROWING
from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.moments import Moment, moments
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import ORDINALS
from langmem_plugin.languages.language import Language, words

_ME: Final = words("me|us|לי|לנו|nos")
_BE: Final = frozenset(("am", "are", "been", "'m", "'re"))
_TELLING: Final = frozenset(("do", "does", "did", "only"))
_ON: Final = words("on|at|in|los|las|el|the")
_LONGEST_TIME: Final = 6
_OF_BIRTH: Final = frozenset(("birthday", "birthplace", "birth year"))
_SURE: Final = 0.9
_LESS_SURE: Final = 0.8
UNTIMED: Final = words("instruction|anniversary|deadline|routine|goal|plan|strategy") | {
    "due date",
    "launch date",
    "wedding date",
    "passport expiry",
}


@dataclass(frozen=True)
class Wording:
    """Makes statements of what was found in the `tokens` of a sentence of `text`."""

    text: str
    tokens: tuple[Token, ...]
    language: Language
    said_at: datetime | None

    def statement(self, said: Finding) -> Statement:
        kind = attribute_of(said.attribute)
        timed = [] if kind.category == "identity" or said.attribute in UNTIMED else self._timed(said)
        last = self._narrowed(max([said.last, *(said.first + moment.last for moment in timed)]))
        led = self._led(said.first)
        start = self.tokens[led].start
        quote = self.text[min(start, said.avoided[0].start) if said.avoided else start : self.tokens[last - 1].end]
        value = _written(self.text, said.value)
        if said.attribute == "age" and said.value[0].plain in ORDINALS:
            value = str(ORDINALS[said.value[0].plain])
        valid_from = next((moment.start for moment in timed if moment.kind in ("since", "at")), None)
        valid_to = next((moment.end for moment in timed if moment.kind == "until"), None)
        if said.over and valid_from is not None:
            valid_from, valid_to = None, valid_from
        subject = said.subject
        wording = self._wording(said, timed, last)
        if led < said.first:
            ends = self.tokens[said.first - 1 - (self.tokens[said.first - 1].plain == ",")].end
            wording += f" {self.text[start:ends][:1].lower()}{self.text[start:ends][1:]}"
        if said.avoided:
            wording += {"en": " to ", "es": " a ", "he": " ל"}[self.language.name] + value
        theirs = subject.who != SELF and kind.fact_type == "personal" and subject.role is not None
        return Statement(
            text=wording,
            quote=quote,
            slot=Slot(subject.who, said.attribute, kind.single) if said.attribute else None,
            value=value,
            negated=said.negated,
            over=said.over,
            fact_type="relationship" if theirs else kind.fact_type,
            confidence=_LESS_SURE if subject.loose or subject.first == subject.end else _SURE,
            sensitive=kind.sensitive or is_sensitive(quote),
            category=kind.category,
            valid_from=valid_from,
            valid_to=valid_to,
            instead_of=_written(self.text, said.instead_of) if said.instead_of else None,
        )

    def _narrowed(self, last: int) -> int:
        """Where a fact ends of which it is said right after it that it is so at some times alone, or as well."""
        for start in (last, last + 1):
            if start > last and not (last < len(self.tokens) and self.tokens[last].plain in _ON):
                break
            for phrase in NARROWING:
                if tuple(token.plain for token in self.tokens[start : start + len(phrase)]) == phrase:
                    return start + len(phrase)
        return last

    def _led(self, first: int) -> int:
        """Where a fact begins that is led by when alone it is so: "On weekends I …"."""
        end = first - (first > 0 and self.tokens[first - 1].plain == ",")
        for start in range(max(end - _LONGEST_TIME, 0), end):
            led = tuple(token.plain for token in self.tokens[start:end])
            if led in NARROWING or (led[0] in _ON and led[1:] in NARROWING):
                return start
        return first

    def _timed(self, said: Finding) -> list[Moment]:
        """The times said within the fact or right after it."""
        tokens = self.tokens[said.first : said.last + _LONGEST_TIME]
        if self.said_at is None:
            return []
        return [
            each
            for each in moments(tokens, self.language, self.said_at, ahead=said.ahead)
            if each.first <= said.last - said.first
            # Who says in November to be born in June was not born this year.
            and (said.attribute not in _OF_BIRTH or _has_year(each, tokens))
        ]

    def _wording(self, said: Finding, timed: Sequence[Moment], last: int) -> str:
        """The person's own words, without themselves, and with every time made absolute."""
        subject, tokens, language = said.subject, self.tokens, self.language
        parts: list[str] = []
        at = subject.end
        if subject.shown and subject.shown[0].start < tokens[subject.first].start:
            parts = [self.text[subject.shown[0].start : subject.shown[-1].end]]  # whom "he" or "she" stands for
            if tokens[at].plain == "is" and (tokens[at].written[:1] == "'" or tokens[at].start == tokens[at].end):
                parts, at = [*parts, "is"], at + 1
        elif subject.shown and said.attribute:
            at = subject.first
        else:
            while at < last - 1 and self._is_idle(at):
                at += 1
        moved = {said.first + moment.first: moment for moment in timed}
        while at < last:
            moment = moved.get(at)
            if moment is not None:
                parts.append(moment.text)
                at = said.first + moment.last
                continue
            token, following = tokens[at], at + 1
            left_out = (at < subject.end and token.plain in language.possessives) or (
                token.plain in _ME and said.attribute in ("debt", "monthly payment")
            )
            if not left_out:
                while (
                    following < last and following not in moved and tokens[following].start == tokens[following - 1].end
                ):
                    following += 1
                parts.append(self.text[token.start : tokens[following - 1].end])
            at = following
        wording = " ".join(" ".join(part.split()) for part in parts if part.strip())
        for mark in (" ,", " .", " 's"):
            wording = wording.replace(mark, mark[1:])
        return wording[:1].upper() + wording[1:]

    def _is_idle(self, at: int) -> bool:
        """A word before the fact that a note does without: "am", "also", "'ve"."""
        token = self.tokens[at]
        if begins(self.tokens, at, self.language.ended):
            return False
        if token.plain in ("have", "has", "would"):
            return token.written[:1] == "'" or token.start == token.end
        return token.plain in _BE or token.start == token.end or token.plain in self.language.fillers - _TELLING


def _has_year(moment: Moment, tokens: Sequence[Token]) -> bool:
    return any(str(moment.start.year) in token.plain for token in tokens[moment.first : moment.last])


def _written(text: str, value: Sequence[Token]) -> str:
    """The words of a value as they were written, whatever stands between them left out where it is far."""
    if value[-1].end - value[0].start <= sum(token.end - token.start for token in value) + 2 * len(value):
        return text[value[0].start : value[-1].end]
    return " ".join(token.written for token in value)
