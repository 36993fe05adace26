"""What is said of something by "is": "my dentist is …", "the alarm code of the shop is …"."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import bare, begins
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.serving_subjects import NATIONS
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.facts.values import number
from langmem_plugin.languages.language import Language, words

_PETS: Final = frozenset({"dog", "cat", "pet"})
_NAMED_BY: Final = 3  # words, articles too, in which a firm or a team is named
_OF_ONE_ALONE: Final = words("name|surname|age|day|birthday|email|address")
_OF_ANYTHING: Final = words("goal|plan|strategy|status|team|role|bank|school|gym|company")
_BY_NAME: Final = words("team|bank|gym|university|employer|school")
_EXPIRES: Final = (["expires"], ["runs", "out"], ["caduca"], ["vence"])
_PLACED: Final = words(
    "home|address|work address|gym|school|employer|bank|birthday|anniversary|wedding date|deadline|due date|launch date|university|office|day"
)
_THIS_YEAR: Final = words("this|next|year|month|week|השנה|este|ano|proximo|currently")


def copula(reading: Reading, subject: Subject, noun: str) -> Finding | None:
    at, negated = subject.end, False
    while at < len(reading.tokens) and reading.tokens[at].plain in reading.language.fillers:
        at += 1
    while at < len(reading.tokens) and reading.tokens[at].plain in _THIS_YEAR:
        at += 1
    used = begins(reading.tokens, at, reading.language.copulas)
    if not used and reading.noted and at < len(reading.tokens) and reading.tokens[at].plain == ":":
        used = 1
    if not used and (reading.language.name != "he" or subject.role == noun):
        return None
    said_by = [token.plain for token in reading.tokens[at : at + used]]
    planned = [token.plain for token in reading.tokens[at : at + 2]] == ["is", "to"]
    if subject.loose and noun in _OF_ANYTHING and not (reading.noted or planned):
        return None  # "the plan is clear"
    if subject.loose and (said_by == ["'s"] or (noun in _OF_ONE_ALONE and subject.who == SELF)) and not reading.noted:
        return None  # "the address for King's College", "the name is so intriguing"
    at += used
    while at < len(reading.tokens) and (
        reading.tokens[at].plain in reading.language.fillers or reading.tokens[at].plain in reading.language.negations
    ):
        negated ^= reading.tokens[at].plain in reading.language.negations
        at += 1
    if at >= len(reading.tokens):
        return None
    last = value_end(reading, at, named=noun not in ("goal", "plan", "strategy"))
    value = reading.tokens[at:last]
    attribute = noun
    exact = reading.noted or reading.language.name == "he" or reading.text.islower()
    if noun in _BY_NAME and value and not exact and not any(t.capital or t.plain.isdigit() for t in value[:_NAMED_BY]):
        return None  # "my team is on it", "my gym's generator packed up"
    if [token.plain for token in value[:2]] == ["100", "%"] or (_is_of_money(noun) and not _counts(value)):
        return None
    if noun in ("home", "address") and value and value[0].plain[:1] == "ב" and len(value[0].plain) > 2:
        value = (bare(value[0], 1), *value[1:])
    placed = bool(value) and (
        value[0].plain in ("at", "in", "en") or (not used and value[0].plain[:1] == "ב" and len(value[0].plain) > 2)
    )
    if placed and attribute not in _PLACED and not reading.noted and said_by not in _EXPIRES:
        return None
    if said_by in _EXPIRES:
        attribute = f"{noun} expiry"
    if subject.role and noun == "name":
        noun = attribute = subject.role
    if subject.role == noun:
        if not _is_name(value, said_by, reading.language):
            return None
        subject = replace(subject, who=SELF)
    if attribute in _PETS:
        kind = subject.shown[:1]
        if reading.language.name == "he" and kind and kind[0].plain[:1] in ("ה", "ל"):
            kind = (bare(kind[0], 1),)
        attribute, value = "pet", (*kind, *value)
    said = Finding(subject, attribute, value, subject.first, last, negated=negated)
    correction = reading.tokens[last : last + 2]
    if value and [token.plain for token in correction][:1] in (["not"], ["no"], ["לא"]):
        said = replace(said, instead_of=reading.tokens[last + 1 : value_end(reading, last + 1, named=True)])
    return checked(reading, said)


def _is_of_money(noun: str) -> bool:
    kind = attribute_of(noun)
    return kind.category == "money" and kind.single and noun != "bank"


def _counts(value: Sequence[Token]) -> bool:
    return any(any(c.isdigit() for c in token.plain) or number([token.plain]) is not None for token in value)


def _is_name(value: Sequence[Token], copula: Sequence[str], language: Language) -> bool:
    if not value or len(value) > 4:
        return False
    if any(word in ("called", "named", "llama", "llaman", "נקרא", "נקראת", "קוראים") for word in copula):
        return True
    if value[0].plain in NATIONS:
        return False
    return (
        (value[0].capital or language.name == "he")
        and value[0].plain not in language.common | language.moods
        and all(token.capital or language.name == "he" for token in value if token.word)
    )
