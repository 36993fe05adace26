"""Whether what was found around a pattern of the tables leaves it its meaning: not "fired up", "married to my job"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langmem_plugin.facts.grammar import Match, begins
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subject import Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_checks import EVENTS, NOT_EATEN, PARTICLES
from langmem_plugin.facts.value_span import NEW_CLAUSE, moments_in
from langmem_plugin.languages.language import words

_UNTIL: Final = words("until|till|hasta|עד")
_HOW_MUCH: Final = words("a|an|big|bigger|biggest|huge|massive|total|great|real|such|your|not|lifelong")
_NO_SUBJECTS: Final = words("a|with|from|so|more|that|as|by|on|and|all|lots|new")
_LINKS: Final = words("and|but|or")
_YEARS_OLD: Final = words("years|yrs|yo|y/o|anos|anitos|old")
_CALLED: Final = words("named|called|llamado|llamada|llama|בשם")
_WORKING: Final = words(
    "work|worked|works|working|job|position|role|employed|hired|resigned|fired|laid|sacked|quit|trabajo|trabajamos|trabaja|trabajan|trabajar|trabajaba|empleado|empleada|renuncie|despidieron"
)
_SCHOOLS: Final = words(
    "school|kindergarten|preschool|daycare|college|university|nursery|primary|highschool|colegio|instituto|cole|escuela|universidad"
)
_SHOWN: Final = words("the|this|that|these|those|how|when|what|ese|esa|este|esta")
_YOURS: Final = words("your|ur|tu|tus|su|sus|שלך")
_CALL_ME: Final = words("call|llamame|dime|diganme|llamenme")
_PLACES: Final = words(
    "city|countryside|suburbs|country|village|mountains|beach|north|south|east|west|center|centre|coast|uk|us|usa|netherlands|ciudad|campo|centro|norte|sur|pueblo|afueras"
)


@dataclass(frozen=True)
class Taken:
    """What a pattern took of the sentence: `matched` are its words, `rest` the value after them, up to `last`."""

    subject: Subject
    match: Match
    matched: Sequence[Token]
    rest: Sequence[Token]
    last: int

    @property
    def said(self) -> frozenset[str]:
        return frozenset(token.plain for token in self.matched)


def fits(reading: Reading, taken: Taken) -> bool:
    """Whether what follows the pattern leaves it its meaning: not "5 minutes", "left the keys"."""
    language, attribute, held = reading.language, taken.match.pattern.attribute, taken.match.value
    following = reading.tokens[taken.last] if taken.last < len(reading.tokens) else None
    if following is not None and not taken.rest and following.plain in PARTICLES:
        return False
    if attribute == "skill" and following is not None and following.word:
        return following.plain in language.joins | language.cuts | {"at"}
    if _is_owner(reading, taken):
        return False
    if attribute == "age":
        return _is_age(reading, taken, following)
    if attribute == "like" and "fan" in taken.said and all(token.plain in _HOW_MUCH for token in held):
        return False  # "I'm a huge fan."
    return not taken.rest or (not _misleads(reading, taken) and _is_of_its_kind(reading, taken))


def _is_owner(reading: Reading, taken: Taken) -> bool:
    """Whether "'s" is no "is": "Abby's manager", "my sister's vegan lasagne"."""
    language, after = reading.language, reading.tokens[taken.match.end : taken.match.end + 1]
    if not taken.matched or taken.matched[0].plain != "'s":
        return False
    if taken.match.pattern.attribute == "job":
        return taken.said.isdisjoint(("a", "an", "the"))
    goes_on = language.cuts | language.joins | language.articles | language.fillers | language.selves
    return not taken.rest and bool(after) and after[0].word and after[0].plain not in goes_on


def _is_age(reading: Reading, taken: Taken, following: Token | None) -> bool:
    language, said, last = reading.language, taken.said, taken.last
    if "de" in said and not reading.children:
        return False
    if said & _YEARS_OLD:
        return True
    free = (
        following is None
        or (not following.word and following.plain != "%")
        or following.plain in language.joins | language.cuts | language.fillers
    )
    free = free or bool(
        moments_in(reading, reading.tokens[last : last + 4], ahead=False)
        or begins(reading.tokens, last, language.momentary)
    )
    return (free or begins(reading.tokens, last, language.leads) > 0) and not said & {"we", "are"}


def _misleads(reading: Reading, taken: Taken) -> bool:
    """Whether it is the pattern of something else: a manner of speaking, a comparison, something of the moment."""
    language, attribute, said, rest = reading.language, taken.match.pattern.attribute, taken.said, taken.rest
    first, held = rest[0].plain, {token.plain for token in taken.match.value}
    unsaid = taken.subject.first == taken.subject.end and not reading.noted
    ahead = reading.tokens[taken.subject.first - 1].plain if taken.subject.first else ""
    return (
        (attribute == "goal" and "learning" in said | held and first in _NO_SUBJECTS)  # "I'm learning from them"
        or (attribute == "possession" and not taken.match.pattern.mark and first in _SHOWN and not reading.noted)
        or (unsaid and "like" in said and ahead not in _LINKS)  # "books, like novels", "just like we agreed"
        or (attribute == "like" and "to" in said and first in language.asks)  # "I like to add half an hour"
        or (attribute == "diet" and not EVENTS.isdisjoint(token.plain for token in rest))  # "I can't have a meeting"
        or (attribute == "origin" and "mas" in said)  # "soy más de siesta que de deporte"
        or (attribute == "preference" and "rather" in said and any(token.plain == "than" for token in rest))
        or (attribute == "relationship" and not _is_with_somebody(reading, rest))  # "married to my job"
        or (attribute in ("like", "dislike") and first in _SHOWN and not rest[min(1, len(rest) - 1)].capital)
        or first in _YOURS
        or (attribute == "hobby" and first in _UNTIL)  # "he only plays until 7"
        or (attribute == "language" and first in NEW_CLAUSE)
        or (attribute == "use" and not (reading.noted or (taken.match.pattern.mark and rest[0].capital)))
        or (attribute in ("diet", "drinking") and first in NOT_EATEN)
    )


def _is_of_its_kind(reading: Reading, taken: Taken) -> bool:
    """Whether the value can be one of this attribute: a name, a place, a school."""
    language, attribute, said, rest = reading.language, taken.match.pattern.attribute, taken.said, taken.rest
    named = rest[0].capital or language.name == "he"
    if attribute == "name" and said & _CALL_ME and not named and not reading.text.islower():
        return False  # "call me when you finish"
    bare_rest = [token for token in rest if token.plain not in language.articles] or list(rest)
    held = taken.match.value
    if held and bare_rest[0].plain in language.pronouns and attribute not in ("relationship", "diet"):
        return False
    if attribute == "pet":
        return named or bool(said & _CALLED) or rest[0].plain in language.joins
    if attribute == "employer" and not said & _WORKING:
        return named
    opened = rest[0].plain in language.articles | {"next"}
    if attribute == "home" and opened:
        return is_dwelling(rest) or bare_rest[0].capital or bool({token.plain for token in rest} & _PLACES)
    if attribute == "school":
        often = any(token.plain in language.frequencies for token in reading.tokens[taken.match.end : taken.last + 2])
        return (
            (any(token.capital for token in rest) and not often)
            or bool({token.plain for token in (*rest, *held)} & _SCHOOLS)
            or language.name == "he"
        )
    return not (opened and attribute in ("field of study", "name"))


def is_dwelling(rest: Sequence[Token]) -> bool:
    """As in "I live in a third-floor flat", "vivo en un cuarto sin ascensor": in what, not where."""
    return (
        len(rest) > 1
        and rest[0].plain in ("a", "an", "un", "una")
        and not any(token.capital or token.plain in _PLACES for token in rest)
    )


def _is_with_somebody(reading: Reading, rest: Sequence[Token]) -> bool:
    language = reading.language
    attached = language.name == "he" and rest[0].plain[:1] == "ל"
    if not attached and rest[0].plain not in ("to", "with", "con", "a", "עם"):
        return True
    if attached:
        who = [rest[0].plain[1:], *(token.plain for token in rest[1:])]
        return (who[0],) in language.people or language.possessives.isdisjoint(who)
    own = any(token.plain in language.possessives | {"the", "el", "la"} for token in rest[:2])
    return not own or any(token.capital or (token.plain,) in language.people for token in rest[1:])
