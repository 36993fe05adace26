"""The facts that people state about themselves and theirs, read by rules without a model: rather none than a wrong one."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from langmem_plugin.facts.attributes import GROUPS, NAMED_IN, Slot, Statement, attribute_of
from langmem_plugin.facts.clause_reader import Finding, Reader, is_timed, is_whole
from langmem_plugin.facts.guards import A_JOKE, ANOTHERS, doubted, is_automated, mocks, own_words, unbelieved
from langmem_plugin.facts.instruction_recognition import instructions_in
from langmem_plugin.facts.negation_and_modality import Claim, Stated
from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.facts.sentence_splitting import Token, after_leads, begins, sentences
from langmem_plugin.facts.statement_patterns import Line, language_of
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.time_expressions import Moment, moments
from langmem_plugin.languages.language_words import Language
from langmem_plugin.languages.text_normalization import plain

_LONGEST_SENTENCE: Final = 120  # words
_MOST: Final = 20  # facts of one message: people state no more at once, and each is compared with all that is known
_SURE, _LESS_SURE = 0.9, 0.8
_BE: Final = frozenset(("am", "are", "been"))
_TELLING: Final = frozenset(("do", "does", "did", "only"))
_WORN: Final = frozenset(("have", "has", "would"))  # written onto "I": "I've"
_LONGEST_TIME: Final = 6
_LATEST_ASKED, _LEAST_ASKED = 3, 2  # words before "remember that", and behind it


def statements(text: str, *, said_at: datetime) -> list[Statement]:
    """Return every fact that is plainly stated in `text` and that no guard speaks against, in its order; 20 at most.

    Nothing is read in a question, an idea, a joke or another's words. What is said twice is one fact, told where
    it was said last.
    """
    if mocks(text):
        return []
    told: dict[tuple[object, ...], Statement] = {}
    for each in reversed(_read(own_words(text), text, said_at, noted=False)):
        about_speaker = each.slot is None or each.slot.who == SELF
        claimed = Stated(Claim(each.text, each.quote, about_speaker), text)
        if not unbelieved(claimed, said_at.date()) and doubted(claimed) not in (ANOTHERS, A_JOKE):
            told.setdefault((plain(each.text), each.slot, plain(each.value or ""), each.negated, each.over), each)
    return [replace(each, sensitive=each.sensitive or is_sensitive(each.quote)) for each in reversed(told.values())]


def statement_of(text: str, said_at: datetime | None = None) -> Statement:
    """Return one short fact as a memory words it, in the third person too; `slot` is None where it
    was not understood.
    """
    found = _read(text, text, said_at, noted=True)
    whole = text.strip()
    if not found:
        return Statement(whole, whole)
    holding = [each for each in found if not (each.negated or each.over)]
    slotted = [each for each in holding or found if each.slot is not None]
    told = (slotted or found)[-1]
    also = tuple(replace(each, text=whole, quote=whole) for each in found if each is not told)
    return replace(told, text=whole, quote=whole, also=also)


def _read(own: str, text: str, said_at: datetime | None, *, noted: bool) -> list[Statement]:
    if is_automated(text):
        return []
    language = language_of(text)
    reader = Reader(language, said_at, noted=noted)
    read: list[Statement] = []
    for sentence in sentences(own, language):
        tokens = sentence.tokens[:_LONGEST_SENTENCE]
        if read and (named := _named_now(text, read[-1], tokens, language)) is not None:
            read[-1] = named
        line, found = reader.read(replace(sentence, tokens=tokens))
        told = [_worded(text, line, each, said_at) for each in found]
        rests = (line.tokens[each.last :] for each in found)
        told = [_named_now(text, each, rest, language) or each for each, rest in zip(told, rests, strict=True)]
        event = None if sentence.asked else _life_event(text, Line(tokens, language), said_at)
        if event is not None and (noted or not any(_same_words(each, event) for each in told)):
            told = [event, *told]
        if not told and not noted and not sentence.asked and tokens:
            told = _ordered(text[tokens[0].start : tokens[-1].end]) or _asked_to_keep(text, tokens, language)
        read += told
        if len(read) >= _MOST:
            break
    return read[:_MOST]


def _named_now(text: str, pet: Statement, tokens: Sequence[Token], language: Language) -> Statement | None:
    """Return the fact of a pet or child with the name that is told after it: "We got a puppy! Her name is Waffles"."""
    at = after_leads(tokens, 0, language)
    used = begins(tokens, at, language.names_it)
    if not used or at + used >= len(tokens) or pet.slot is None or pet.slot.attribute not in GROUPS["with names"]:
        return None
    name = tokens[at + used]
    if name.plain in language.common | language.fillers | language.negations:
        return None
    quote = text[text.find(pet.quote) : name.end]
    held, value = pet.value or "", f"{pet.value} {name.written}"
    return replace(pet, text=pet.text.replace(held, value, 1), quote=quote, value=value)


def _same_words(one: Statement, other: Statement) -> bool:
    ours, theirs = one.quote.strip(" ."), other.quote.strip(" .")
    return ours in theirs or theirs in ours


def _ordered(sentence: str) -> list[Statement]:
    """Return the standing orders on how the person wants to be answered."""
    return [
        _plainly(order.quote if order.condition else order.text, order.quote, "instruction")
        for order in instructions_in(sentence)
        if not order.names
    ]


def _plainly(value: str, quote: str, attribute: str) -> Statement:
    kind = attribute_of(attribute)
    return Statement(
        value[:1].upper() + value[1:],
        quote,
        slot=Slot(SELF, attribute, kind.single),
        value=value,
        fact_type=kind.fact_type,
        confidence=_SURE,
        category=kind.category,
    )


def _asked_to_keep(text: str, tokens: Sequence[Token], language: Language) -> list[Statement]:
    """Return all that stands behind "remember that", where nothing else was read in it."""
    for at in range(min(len(tokens), _LATEST_ASKED)):
        used = begins(tokens, at, language.remember_that)
        rest = tokens[at + used :]
        joined = language.name == "he"  # "that" is written onto the next word
        if not used or len(rest) < _LEAST_ASKED - joined or (joined and rest[0].plain[:1] != "ש"):
            continue
        if is_errand(text, tokens, language):
            continue
        said = text[rest[0].start + joined : rest[-1].end].rstrip(" .!…,")
        return [_plainly(said, said, "note")]
    return []


def is_errand(text: str, tokens: Sequence[Token], language: Language) -> bool:
    """Tell whether it is wanted at one moment and done once, as in "remember that I need a taxi at 5"; not
    with "every Monday".
    """
    if not tokens or any(token.plain in language.frequencies for token in tokens):
        return False
    used = next((at + used for at in range(_LATEST_ASKED) if (used := begins(tokens, at, language.remember))), 0)
    said = plain(text[tokens[0].start : tokens[-1].end])
    brief = re.search(language.hours, said) or any(begins(tokens, at, language.momentary) for at in range(len(tokens)))
    needed = any(begins(tokens, at, language.needs) for at in range(used, used + _LATEST_ASKED))
    return bool(used and needed and brief)


def _life_event(text: str, line: Line, said_at: datetime | None) -> Statement | None:
    """Read an event of the speaker's own that ends what it does not name: "I got laid off", "Tom and I broke up"."""
    tokens, language = line.tokens, line.language
    led = language.fillers | language.leading | language.selves | language.determiners | language.possessives
    begun = after_leads(tokens, 0, language)
    for at in range(begun + _joined_selves(tokens[begun:], language), len(tokens)):
        for event, said in language.life_events.items():
            used = begins(tokens, at, said)
            if used and is_whole(line, at + used, said_at, NAMED_IN[event]):
                whole = text[tokens[0].start : tokens[-1].end]
                if re.search(r"\b(?:19|20)\d\d\b", whole):  # it may be another one's
                    return _plainly(whole, whole, "note")
                quote, value = (text[first.start : tokens[at + used - 1].end] for first in (tokens[0], tokens[at]))
                return replace(_plainly(value, quote, event), text=quote[:1].upper() + quote[1:])
        if tokens[at].word and tokens[at].plain not in led and not begins(tokens, at, language.leads):
            return None
    return None


def _joined_selves(tokens: Sequence[Token], language: Language) -> int:
    """Return the place behind "Tom and I", "me and Tom", "אני ורון"."""
    said = [token.plain for token in tokens[: 2 if language.name == "he" else 3]]
    joined = not language.joins.isdisjoint(said) or (language.name == "he" and "".join(said[-1:]).startswith("ו"))
    return len(said) if joined and not (language.selves | language.objects).isdisjoint(said) else 0


def _worded(text: str, line: Line, said: Finding, said_at: datetime | None) -> Statement:
    kind, subject = attribute_of(said.attribute), said.subject
    timed = _timed(line, said, said_at)
    last = max([said.last, *(said.first + moment.last for moment in timed)])
    quote = text[line.tokens[said.first].start : line.tokens[last - 1].end]
    valid_from = next((moment.start for moment in timed if moment.kind in ("since", "at")), None)
    valid_to = next((moment.end for moment in timed if moment.kind == "until"), None)
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
        sensitive=kind.sensitive,
        category=kind.category,
        valid_from=valid_from,
        valid_to=valid_to,
        instead_of=_written(text, said.instead_of) if said.instead_of else None,
    )


def _timed(line: Line, said: Finding, said_at: datetime | None) -> list[Moment]:
    """Return the times said within the fact or right after it."""
    if said_at is None or not is_timed(said.attribute) or said.value == said.subject.name:
        return []  # "dinner with my wife Dana yesterday"
    tokens = line.tokens[said.first : said.last + _LONGEST_TIME]
    return [
        each
        for each in moments(tokens, line.language, said_at, ahead=said.ahead)
        if each.first <= said.last - said.first
        # A birth in June that is told in November was not this year.
        and (said.attribute not in GROUPS["of birth"] or str(each.start.year) in {token.plain for token in tokens})
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
    """Tell whether a word before the fact is one that a note does without: "am", "also", "'ve"."""
    token = line.tokens[at]
    if begins(line.tokens, at, line.language.ended):
        return False
    written_on = token.written[:1] == "'" or token.start == token.end
    if token.plain in _WORN:
        return written_on
    return token.plain in _BE or written_on or token.plain in line.language.fillers - _TELLING


def _written(text: str, value: Sequence[Token]) -> str:
    """Return the words of a value as they were written; what stands between them is left out where
    they are far apart.
    """
    if value[-1].end - value[0].start <= sum(token.end - token.start for token in value) + 2 * len(value):
        return text[value[0].start : value[-1].end]
    return " ".join(token.written for token in value)
