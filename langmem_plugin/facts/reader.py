"""Reads sentences from left to right and finds what each clause states."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.clauses import after_leads, starts, stated_until
from langmem_plugin.facts.copulas import copula
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.noun_phrases import nameable, person_at
from langmem_plugin.facts.other_wordings import mistaken, set_anew, supplied, switched_maker
from langmem_plugin.facts.phrasings import (
    asked_for,
    called,
    changed,
    corrected,
    employed_there,
    here,
    noted,
    profession,
    turned_round,
)
from langmem_plugin.facts.predicates import predicate
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.routines import led_by_days, routine, scheduled
from langmem_plugin.facts.statement import Statement
from langmem_plugin.facts.subject import SELF, SPEAKER, Subject
from langmem_plugin.facts.subjects import subject_at
from langmem_plugin.facts.tokens import Sentence, Token
from langmem_plugin.facts.value_checks import listed
from langmem_plugin.facts.wording import Wording
from langmem_plugin.languages.language import words

_TELLS: Final = words("do|does|did|have|has|only|been")
# Verbs that nobody is told to do, so that it is the speaker who does: "hate coriander, leave it out".
_WITHOUT_SUBJECT: Final = words("hate|love|loathe|detest|prefer|live|am|hated|owe|allergic")
_MOST_NAMES: Final = 3
_GOES_ON: Final = frozenset(("'s", "'", "&", "and", "y"))  # "my sister Amara's birthday", of which more is said
_ON_DAYS: Final = words("on|every|each|los|cada|בימי|כל|ביום")
_SUBJECTS: Final = words("i|we|you|u|he|she|they|it|who")
_OR: Final = frozenset(("or", "o", "או"))  # after "not" it is as little so
_STATES: Final = words("job|relationship|diet|health|accessibility|allergy|intolerance|religion|age")


def read(reading: Reading, sentence: Sentence) -> None:
    begin, end = stated_until(sentence, reading.language, noted=reading.noted)
    _avoid(reading, sentence.tokens)
    reading.tokens = sentence.tokens[:end]
    _mention(reading, begin)
    done, reading.spoke = begin, False
    for at in starts(reading.tokens, begin, reading.language):
        if at < done:
            continue
        place = after_leads(reading.tokens, at, reading.language)
        led = place
        place = _past_days(reading, place)
        if place < done or place >= len(reading.tokens):
            continue
        if _named_now(reading, place):
            continue
        said = _clause(reading, place, first=at == begin)
        if said is None and led < place < len(reading.tokens):
            said = led_by_days(reading, led, place)
        if said is None:
            _speaks_of(reading, place)
            continue
        done = said.last
        there = employed_there(reading, said) if said.subject.noun is None else None
        for each in listed(said.value, said.attribute, reading.language):
            reading.found.append(_worded(reading, replace(said, value=each)))
        if there is not None:
            reading.found.append(_worded(reading, there))
            done = there.last
        reading.unnamed = (
            (len(reading.found) - 1, said.first)
            if said.attribute in ("pet", "family") and len(said.value) == 1
            else None
        )
        reading.known = said.subject if said.subject.who != SELF or reading.known is None else reading.known
        if said.subject.role is not None and said.subject.role == said.attribute:
            who = " ".join([said.attribute, *(token.plain for token in said.value)])
            reading.known = replace(said.subject, who=who, noun=None, name=said.value, shown=said.value)
        elif (
            said.subject.noun is not None
            and said.value
            and said.value[0].capital
            and not reading.language.drops_subject
        ):
            who = f"{said.attribute} {' '.join(token.plain for token in said.value)}"
            reading.known = replace(
                said.subject, who=who, noun=None, role=said.attribute, name=said.value, shown=said.value
            )
        reading.spoke = said.subject.who == SELF and said.subject.noun is None
        _count_no_children_named(reading, said)
        reading.children = reading.children or said.attribute == "children"


def _mention(reading: Reading, begin: int) -> None:
    """Keeps who somebody of the speaker's is, by role and name, wherever that stands: "marrying my fiancée Steph"."""
    tokens, language = reading.tokens, reading.language
    if reading.noted or language.possessive_after:
        return
    for at in range(begin, len(tokens)):
        if tokens[at].plain not in language.possessives:
            continue
        role, used = person_at(tokens, at + 1, language)
        end = at + 1 + used
        while end < len(tokens) and tokens[end].capital and nameable(tokens[end], language):
            end += 1
        name = tokens[at + 1 + used : end]
        if (
            role is not None
            and 0 < len(name) < _MOST_NAMES
            and not (end < len(tokens) and tokens[end].plain in _GOES_ON)
        ):
            subject = replace(SPEAKER, first=at, end=at, third=True, role=role)
            reading.mentioned.append(_worded(reading, Finding(subject, role, name, at, end)))


def _past_days(reading: Reading, at: int) -> int:
    """Past the days on which something is so, where they stand first: "los viernes toco el bajo", "on Fridays we …"."""
    language, tokens = reading.language, reading.tokens
    at_first = at
    if at < len(tokens) and tokens[at].plain in _ON_DAYS:
        at += 1
        while at < len(tokens) and (
            tokens[at].plain in language.weekdays or tokens[at].plain in language.joins | _ON_DAYS | language.periods
        ):
            at += 1
        if at > at_first + 1 and at < len(tokens):
            return at + (tokens[at].plain == ",")
    return at_first


def _clause(reading: Reading, at: int, *, first: bool) -> Finding | None:
    if reading.tokens[at].plain in reading.language.others and reading.known is None:
        reading.known = _spoken_of(reading, at)
    subject = subject_at(reading.tokens, at, reading.language, known=reading.known, noted=reading.noted and first)
    said = (
        changed(reading, at)
        or corrected(reading, at)
        or set_anew(reading, at)
        or mistaken(reading, at)
        or switched_maker(reading, at)
        or supplied(reading, at)
    )
    if first:
        said = said or asked_for(reading, at) or here(reading, at)
    if said is not None:
        return said
    if subject is not None:
        said = _said_of(reading, subject) or profession(reading, subject) or turned_round(reading, subject)
        if said is not None:
            return said
    known = reading.known or (_spoken_of(reading, at) if reading.language.drops_subject and not first else None)
    if known is not None and known.who != SELF and not first:
        said = predicate(reading, replace(known, first=at, end=at, noun=None)) or (
            _goes_on(reading, replace(known, first=at, end=at, noun=None)) if not reading.spoke else None
        )
        if said is not None:
            return said
    return _implied(reading, at, first=first) or (
        None if reading.noted else scheduled(reading, at) or called(reading, at)
    )


def _speaks_of(reading: Reading, at: int) -> None:
    """Who is spoken of goes on, although nothing was said of them that is kept: "my gran can't come, she's diabetic"."""
    subject = subject_at(reading.tokens, at, reading.language, known=reading.known)
    if subject is not None and subject.role is not None and subject.noun is None:
        reading.known, reading.spoke = subject, False
    elif subject is not None and subject.who == SELF and subject.noun is None and subject.end > subject.first:
        reading.spoke = True


def _goes_on(reading: Reading, subject: Subject) -> Finding | None:
    """What else somebody is, after "and": "I'm 34 and single", "es mi marido y es camionero"."""
    said = profession(reading, subject) if reading.language.drops_subject else None
    if said is None and reading.tokens[subject.end - 1].plain in reading.language.joins - _OR:
        said = predicate(reading, subject, unsaid=True)
    if said is None or said.attribute not in _STATES or said.value[-1].plain == "veggies":
        return None
    return said


def _said_of(reading: Reading, subject: Subject) -> Finding | None:
    if subject.noun is not None:
        return copula(reading, subject, subject.noun)
    said = predicate(reading, subject)
    if said is None and subject.role is not None:
        return copula(reading, subject, subject.role)
    return said


def _implied(reading: Reading, at: int, *, first: bool) -> Finding | None:
    """A clause without its subject: "sold the car", "vivo en Madrid", "allergic to peanuts" in a note."""
    speaker = replace(SPEAKER, first=at, end=at)
    if reading.noted and (first or not reading.found):
        said = predicate(reading, speaker, unsaid=True)
        if said is not None and said.attribute == "home" and not first:
            return None  # "I work in Wakefield, at the hospital"
        return said or noted(reading, at) or routine(reading, speaker, implied=True)
    while at + 1 < len(reading.tokens) and reading.tokens[at].plain in reading.language.fillers - _TELLS:
        at += 1
    word = reading.tokens[at].plain
    if not first and reading.spoke:
        said = predicate(reading, speaker) or _goes_on(reading, speaker)
        return said if said is not None and said.attribute not in ("hobby", "smoking", "use") else None
    following = reading.tokens[at + 1].plain if at + 1 < len(reading.tokens) else ""
    if not first and not reading.language.drops_subject and _is_of_another(reading, at):
        return None
    alone = first or not reading.tokens[at - 1].word
    if (alone and word in _WITHOUT_SUBJECT and not begins(reading.tokens, at + 1, reading.language.copulas)) or (
        word == "can" and following == "not"
    ):
        return predicate(reading, replace(speaker, first=at, end=at))
    if reading.language.drops_subject or word in reading.language.events or word in ("call", "no", "not"):
        return predicate(reading, speaker) or (profession(reading, speaker) if reading.language.drops_subject else None)
    return None


def _is_of_another(reading: Reading, at: int) -> bool:
    """Whether who was named last ahead of a clause without subject is not the speaker: "you left and became a nurse"."""
    said = (token.plain for token in reversed(reading.tokens[:at]))
    return next((word not in reading.language.selves for word in said if word in _SUBJECTS), False)


def _avoid(reading: Reading, tokens: Sequence[Token]) -> None:
    """Remembers what was wanted left out: "a recipe without nuts"."""
    for at, token in enumerate(tokens[:-1]):
        if token.plain in reading.language.without:
            end = at + 1
            while (
                end < len(tokens)
                and tokens[end].word
                and end - at < 3
                and tokens[end].plain not in reading.language.joins | reading.language.cuts
            ):
                end += 1
            if end > at + 1:
                reading.avoided = tuple(tokens[at:end])


def _named_now(reading: Reading, at: int) -> bool:
    """Takes "her name is Waffles" for the name of the pet that was just spoken of."""
    used = begins(reading.tokens, at, reading.language.names_it)
    if (
        reading.unnamed is None
        or not used
        or at + used >= len(reading.tokens)
        or not reading.tokens[at + used].written[:1].isalpha()
    ):
        return False
    place, name = reading.unnamed[0], reading.tokens[at + used]
    held = reading.found[place]
    beginning = reading.text.find(held.quote)
    reading.found[place] = replace(
        held,
        text=f"{held.text}, {name.written}",
        quote=reading.text[beginning : name.end],
        value=f"{held.value} {name.written}",
    )
    reading.unnamed = None
    return True


def _spoken_of(reading: Reading, at: int) -> Subject | None:
    """Who was named earlier in the sentence without anything being said that is kept."""
    for place in range(at):
        token = reading.tokens[place]
        if (
            token.plain in reading.language.possessives
            or (token.capital and token.plain not in reading.language.common)
            or token.plain == "חברת"
        ):
            start = place + (token.plain == "חברת")
            end = start
            while end < at and (reading.tokens[end].capital or end == start) and reading.tokens[end].word:
                end += 1
            subject = subject_at(reading.tokens, place, reading.language)
            if subject is not None and subject.noun is None and subject.who != SELF:
                return subject
            name = reading.tokens[start:end]
            if name and token.plain not in reading.language.possessives:
                who = " ".join(each.plain for each in name)
                return Subject(who, place, end, name=name, loose=True, shown=name)
    return None


def _count_no_children_named(reading: Reading, said: Finding) -> None:
    """As in "Two kids, Mia is 6 and Leo is 3": those named say how many there are."""
    if reading.children and said.attribute == "age":
        reading.found = [each for each in reading.found if each.slot is None or each.slot.attribute != "children"]


def _worded(reading: Reading, said: Finding) -> Statement:
    return Wording(reading.text, reading.tokens, reading.language, reading.said_at).statement(said)
