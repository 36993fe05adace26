"""Ways to say a fact that are not a subject and what is said of it: changes, corrections, standing wishes, notes."""

from dataclasses import replace
from typing import Final, Protocol

from langmem_plugin.facts.clauses import after_leads
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.subjects import SELF, SPEAKER, Subject, attribute_at, subject_at
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.words import Language

_WHERE: Final = (
    ("where", "i", "work"),
    ("where", "we", "work"),
    ("where", "i", "live"),
    ("where", "we", "live"),
    ("donde", "trabajo"),
    ("donde", "vivo"),
)


class Reading(Protocol):
    """What is known of a sentence while it is read."""

    tokens: tuple[Token, ...]
    language: Language

    def checked(self, said: Finding) -> Finding | None: ...

    def value_end(self, at: int, *, named: bool = False) -> int: ...

    def copula(self, subject: Subject, noun: str) -> Finding | None: ...

    def predicate(self, subject: Subject, *, unsaid: bool = False) -> Finding | None: ...


def changed(reader: Reading, at: int) -> Finding | None:
    """As in "I switched dentists, it's Dr. Amir now", "I have a new phone number, it's …"."""
    start = at + (reader.tokens[at].plain in reader.language.selves)
    used = begins(reader.tokens, start, reader.language.switched)
    if not used:
        return None
    noun, length = attribute_at(reader.tokens, start + used, reader.language)
    if not noun:
        return None
    place = after_leads(reader.tokens, start + used + length, reader.language)
    said = begins(reader.tokens, place, reader.language.it_is)
    named = reader.tokens[place - 1].plain in (",", ":") and reader.tokens[place : place + 1] != ()
    if place + said >= len(reader.tokens) or not (said or (named and reader.tokens[place].capital)):
        return None
    last = reader.value_end(place + said, named=True)
    subject = Subject(SELF, at, place + said, noun=noun)
    shown = reader.tokens[start + used : start + used + length]
    return reader.checked(Finding(replace(subject, shown=shown), noun, reader.tokens[place + said : last], at, last))


def corrected(reader: Reading, at: int) -> Finding | None:
    """As in "It's Dana, not Dina": a value whose slot only what it corrects can tell."""
    used = begins(reader.tokens, at, (("it", "is"), ("its",), ("זה",), ("es",), ("se", "llama")))
    if not used or at + used >= len(reader.tokens):
        return None
    last = reader.value_end(at + used, named=True)
    mark = last + (last < len(reader.tokens) and reader.tokens[last].plain == ",")
    if (
        not (mark < len(reader.tokens) - 1 and reader.tokens[mark].plain in reader.language.negations)
        or last - at - used > 4
    ):
        return None
    end = reader.value_end(mark + 1, named=True)
    return Finding(
        replace(SPEAKER, first=at, end=at),
        "",
        reader.tokens[at + used : last],
        at,
        end,
        instead_of=reader.tokens[mark + 1 : end],
    )


def asked_for(reader: Reading, at: int) -> Finding | None:
    """A standing wish: "always answer me in short messages"."""
    used = begins(reader.tokens, at, reader.language.instructed)
    if not used or at + used >= len(reader.tokens) or reader.tokens[at + used].plain not in reader.language.addressed:
        return None
    last = reader.value_end(at + used)
    return reader.checked(Finding(replace(SPEAKER, first=at, end=at), "instruction", reader.tokens[at:last], at, last))


def profession(reader: Reading, subject: Subject) -> Finding | None:
    """As in "My partner is a paediatric nurse"."""
    at, negated = subject.end, False
    if at >= len(reader.tokens) or reader.tokens[at].plain not in ("am", "are", "is", "'s"):
        return None
    at += 1
    while at < len(reader.tokens) and (
        reader.tokens[at].plain in reader.language.fillers or reader.tokens[at].plain in reader.language.negations
    ):
        negated ^= reader.tokens[at].plain in reader.language.negations
        at += 1
    last = reader.value_end(at) if at < len(reader.tokens) else at
    value = reader.tokens[at:last]
    words = [
        place for place, token in enumerate(value[:5]) if token.plain.removesuffix("s") in reader.language.professions
    ]
    if not words or (value[0].plain not in ("a", "an", "the") and subject.third):
        return None
    value = value[: words[-1] + 1]
    return reader.checked(Finding(subject, "job", value, subject.first, at + len(value), negated=negated))


def turned_round(reader: Reading, subject: Subject) -> Finding | None:
    """As in "Priya Nair is my accountant", "Brightwave is where I work"."""
    at = subject.end
    used = begins(reader.tokens, at, reader.language.copulas)
    if not used or not subject.name or subject.noun is not None:
        return None
    place = at + used
    where = begins(reader.tokens, place, _WHERE)
    if where:
        attribute = "employer" if reader.tokens[place + where - 1].plain.startswith(("work", "trabaj")) else "home"
        return reader.checked(
            Finding(
                replace(SPEAKER, first=subject.first, end=subject.first),
                attribute,
                subject.name,
                subject.first,
                place + where,
            )
        )
    if place >= len(reader.tokens) or reader.tokens[place].plain not in reader.language.possessives:
        return None
    owned = subject_at(reader.tokens, place, reader.language)
    noun, length = attribute_at(reader.tokens, place + 1, reader.language)
    if owned is not None and owned.role and owned.noun is None:
        noun, length = owned.role, owned.end - place - 1
    if not noun:
        return None
    value = subject.name
    if noun in ("dog", "cat", "pet"):
        noun, value = "pet", (*value, *reader.tokens[place + 1 : place + 1 + length])
    return reader.checked(
        Finding(
            replace(SPEAKER, first=subject.first, end=subject.first),
            noun,
            value,
            subject.first,
            place + 1 + length,
        )
    )


def noted(reader: Reading, at: int) -> Finding | None:
    """What only notes say: "Choir practice: Mondays", "The billing project uses Postgres as its database"."""
    the = at + (reader.tokens[at].plain in reader.language.articles)
    while the + 1 < len(reader.tokens) and reader.tokens[the].plain in ("new", "nuevo", "nueva"):
        the += 1
    for end in range(the + 1, min(the + 4, len(reader.tokens))):
        if not reader.tokens[end - 1].word:
            return None
        who = " ".join(token.plain for token in reader.tokens[the:end])
        thing = Subject(who, at, end, shown=reader.tokens[the:end])
        if reader.tokens[end].plain in ("uses", "usa", "utiliza"):
            last = reader.value_end(end + 1) if end + 1 < len(reader.tokens) else end + 1
            value = reader.tokens[end + 1 : last]
            turn = next((place for place, token in enumerate(value) if token.plain in ("as", "como")), len(value))
            noun = " ".join(
                token.plain
                for token in value[turn + 1 :]
                if token.plain not in reader.language.articles | {"its", "their", "su"}
            )
            return reader.checked(Finding(thing, noun or "use", value[:turn], at, last))
        if end == the + 1:
            said = reader.predicate(replace(thing, name=reader.tokens[the:end], loose=True))
            if said is not None and said.attribute == "age":
                return said
        if begins(reader.tokens, end, reader.language.copulas) or reader.tokens[end].plain == ":":
            monthly = any(token.plain in ("month", "mes", "לחודש") for token in reader.tokens[end:])
            if monthly and reader.tokens[end].plain == ":":
                return reader.copula(replace(thing, noun="monthly payment"), "monthly payment")
            return reader.copula(replace(thing, who=SELF, noun=who), who)
    return reader.predicate(replace(SPEAKER, first=at, end=at, third=True), unsaid=True)
