"""Ways to say a fact that are not a subject and what is said of it: changes, corrections, standing wishes, notes."""

from dataclasses import replace
from typing import Final

from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.clauses import after_leads
from langmem_plugin.facts.copulas import copula
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.predicates import predicate
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subjects import SELF, SPEAKER, Subject, attribute_at, subject_at
from langmem_plugin.facts.value_span import value_end

_WHERE: Final = (
    ("where", "i", "work"),
    ("where", "we", "work"),
    ("where", "i", "live"),
    ("where", "we", "live"),
    ("donde", "trabajo"),
    ("donde", "vivo"),
)


def changed(reading: Reading, at: int) -> Finding | None:
    """As in "I switched dentists, it's Dr. Amir now", "I have a new phone number, it's …"."""
    start = at + (reading.tokens[at].plain in reading.language.selves)
    used = begins(reading.tokens, start, reading.language.switched)
    if not used:
        return None
    noun, length = attribute_at(reading.tokens, start + used, reading.language)
    if not noun:
        return None
    place = after_leads(reading.tokens, start + used + length, reading.language)
    said = begins(reading.tokens, place, reading.language.it_is)
    named = reading.tokens[place - 1].plain in (",", ":") and reading.tokens[place : place + 1] != ()
    if place + said >= len(reading.tokens) or not (said or (named and reading.tokens[place].capital)):
        return None
    last = value_end(reading, place + said, named=True)
    subject = Subject(SELF, at, place + said, noun=noun)
    shown = reading.tokens[start + used : start + used + length]
    return checked(reading, Finding(replace(subject, shown=shown), noun, reading.tokens[place + said : last], at, last))


def corrected(reading: Reading, at: int) -> Finding | None:
    """As in "It's Dana, not Dina": a value whose slot only what it corrects can tell."""
    used = begins(reading.tokens, at, (("it", "is"), ("its",), ("זה",), ("es",), ("se", "llama")))
    if not used or at + used >= len(reading.tokens):
        return None
    last = value_end(reading, at + used, named=True)
    mark = last + (last < len(reading.tokens) and reading.tokens[last].plain == ",")
    if (
        not (mark < len(reading.tokens) - 1 and reading.tokens[mark].plain in reading.language.negations)
        or last - at - used > 4
    ):
        return None
    end = value_end(reading, mark + 1, named=True)
    return Finding(
        replace(SPEAKER, first=at, end=at),
        "",
        reading.tokens[at + used : last],
        at,
        end,
        instead_of=reading.tokens[mark + 1 : end],
    )


def asked_for(reading: Reading, at: int) -> Finding | None:
    """A standing wish: "always answer me in short messages"."""
    used = begins(reading.tokens, at, reading.language.instructed)
    if (
        not used
        or at + used >= len(reading.tokens)
        or reading.tokens[at + used].plain not in reading.language.addressed
    ):
        return None
    last = value_end(reading, at + used)
    return checked(
        reading, Finding(replace(SPEAKER, first=at, end=at), "instruction", reading.tokens[at:last], at, last)
    )


def profession(reading: Reading, subject: Subject) -> Finding | None:
    """As in "My partner is a paediatric nurse"."""
    at, negated = subject.end, False
    if at >= len(reading.tokens) or reading.tokens[at].plain not in ("am", "are", "is", "'s"):
        return None
    at += 1
    while at < len(reading.tokens) and (
        reading.tokens[at].plain in reading.language.fillers or reading.tokens[at].plain in reading.language.negations
    ):
        negated ^= reading.tokens[at].plain in reading.language.negations
        at += 1
    last = value_end(reading, at) if at < len(reading.tokens) else at
    value = reading.tokens[at:last]
    words = [
        place for place, token in enumerate(value[:5]) if token.plain.removesuffix("s") in reading.language.professions
    ]
    if not words or (value[0].plain not in ("a", "an", "the") and subject.third):
        return None
    value = value[: words[-1] + 1]
    return checked(reading, Finding(subject, "job", value, subject.first, at + len(value), negated=negated))


def turned_round(reading: Reading, subject: Subject) -> Finding | None:
    """As in "Priya Nair is my accountant", "Brightwave is where I work"."""
    at = subject.end
    used = begins(reading.tokens, at, reading.language.copulas)
    if not used or not subject.name or subject.noun is not None:
        return None
    place = at + used
    where = begins(reading.tokens, place, _WHERE)
    if where:
        attribute = "employer" if reading.tokens[place + where - 1].plain.startswith(("work", "trabaj")) else "home"
        return checked(
            reading,
            Finding(
                replace(SPEAKER, first=subject.first, end=subject.first),
                attribute,
                subject.name,
                subject.first,
                place + where,
            ),
        )
    if place >= len(reading.tokens) or reading.tokens[place].plain not in reading.language.possessives:
        return None
    owned = subject_at(reading.tokens, place, reading.language)
    noun, length = attribute_at(reading.tokens, place + 1, reading.language)
    if owned is not None and owned.role and owned.noun is None:
        noun, length = owned.role, owned.end - place - 1
    if not noun:
        return None
    value = subject.name
    if noun in ("dog", "cat", "pet"):
        noun, value = "pet", (*value, *reading.tokens[place + 1 : place + 1 + length])
    return checked(
        reading,
        Finding(
            replace(SPEAKER, first=subject.first, end=subject.first),
            noun,
            value,
            subject.first,
            place + 1 + length,
        ),
    )


def noted(reading: Reading, at: int) -> Finding | None:
    """What only notes say: "Choir practice: Mondays", "The billing project uses Postgres as its database"."""
    the = at + (reading.tokens[at].plain in reading.language.articles)
    while the + 1 < len(reading.tokens) and reading.tokens[the].plain in ("new", "nuevo", "nueva"):
        the += 1
    for end in range(the + 1, min(the + 4, len(reading.tokens))):
        if not reading.tokens[end - 1].word:
            return None
        who = " ".join(token.plain for token in reading.tokens[the:end])
        thing = Subject(who, at, end, shown=reading.tokens[the:end])
        if reading.tokens[end].plain in ("uses", "usa", "utiliza"):
            last = value_end(reading, end + 1) if end + 1 < len(reading.tokens) else end + 1
            value = reading.tokens[end + 1 : last]
            turn = next((place for place, token in enumerate(value) if token.plain in ("as", "como")), len(value))
            noun = " ".join(
                token.plain
                for token in value[turn + 1 :]
                if token.plain not in reading.language.articles | {"its", "their", "su"}
            )
            return checked(reading, Finding(thing, noun or "use", value[:turn], at, last))
        if end == the + 1:
            said = predicate(reading, replace(thing, name=reading.tokens[the:end], loose=True))
            if said is not None and said.attribute == "age":
                return said
        if begins(reading.tokens, end, reading.language.copulas) or reading.tokens[end].plain == ":":
            monthly = any(token.plain in ("month", "mes", "לחודש") for token in reading.tokens[end:])
            if monthly and reading.tokens[end].plain == ":":
                return copula(reading, replace(thing, noun="monthly payment"), "monthly payment")
            return copula(reading, replace(thing, who=SELF, noun=who), who)
    return predicate(reading, replace(SPEAKER, first=at, end=at, third=True), unsaid=True)
