"""Whether the words found can be the value of an attribute at all, and how many values they are."""

from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.subjects import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import number
from langmem_plugin.facts.words import Language

_OLDEST: Final = 120
_MOST_NAME_WORDS: Final = 3
_LISTED: Final = frozenset({"allergy", "intolerance", "like", "dislike", "language", "fear", "diet", "pet"})
_OF_PLANS: Final = frozenset({"goal", "strategy", "plan", "decision", "preference", "instruction"})
_CLOSED: Final = frozenset(
    {
        "relationship",
        "status",
        "smoking",
        "accessibility",
        "religion",
        "observance",
        "health",
        "job",
        "medication",
        "hobby",
    }
)
_EVENTS: Final = frozenset(
    "meeting call appointment question flight party interview date exam test class idea problem headache cold fever dinner lunch "
    "turn order table answer guess choice pick stop train bus taxi uber package parcel delivery point part seat score room thing shift bill check tip favorite "
    "pedido mesa respuesta turno paquete הזמנה שולחן תשובה "
    "reunion cita vuelo pregunta problema פגישה תור שאלה בעיה טיסה מבחן".split()
)
PARTICLES: Final = frozenset(
    "out up off away down over back home here there together along around ahead through".split()
)
_NOT_NAMES: Final = frozenset(
    "later back tomorrow asap maybe crazy old paranoid stupid now soon anytime luego despues pronto manana ahora cuando אחר מחר עכשיו מאוחר כש כשאתה כולם taxi uber cab mad weird lazy again instead".split()
)
NOT_EATEN: Final = frozenset(
    "at in on with out later before after too so much alone early late there here here's".split()
)
_DATED: Final = frozenset({"birthday", "anniversary", "deadline", "due date", "launch date", "wedding date", "day"})


def is_value(
    value: Sequence[Token], attribute: str, subject: Subject, language: Language, *, negated: bool, noted: bool
) -> bool:
    if not value or not any(token.word for token in value):
        return False
    first = value[0].plain
    if attribute in ("smoking", "status", "relationship", "religion", "observance", "accessibility", "job-"):
        return attribute != "status" or subject.who != SELF
    if negated and attribute == "debt" and first in ("anything", "nothing", "nada", "כלום"):
        return True
    if (
        first in language.pronouns
        and not (first == "one" and len(value) > 1)
        and attribute not in ("pronouns", "routine", "name")
    ):
        return False
    if attribute == "age":
        counted = number([token.plain for token in value])
        return counted is not None and 0 <= counted[0] <= _OLDEST and counted[0] == int(counted[0])
    if first in PARTICLES or value[-1].plain in ("one", "ones"):
        return False
    if (
        attribute == "home"
        and (first in language.weekdays or first in language.months or first[:1].isdigit())
        and len(value) == 1
    ):
        return False
    if attribute == "name":
        idle = language.common | language.fillers | language.moods | language.questions | _NOT_NAMES
        return len(value) <= _MOST_NAME_WORDS and first not in idle and not negated
    if attribute in ("diet", "drinking") and first in NOT_EATEN:
        return False
    if attribute == "possession" and not negated:
        return any(token.capital or token.plain[:1].isdigit() for token in value) and _EVENTS.isdisjoint(
            token.plain for token in value
        )
    if attribute in ("health", "job") and _EVENTS.intersection(token.plain for token in value):
        return False
    if subject.noun is not None and attribute not in _OF_PLANS:
        if first in language.moods and not subject.noun.startswith("favorite "):
            return False
        if negated and not value[0].capital and language.name != "he":
            return False
        weekday = first in language.weekdays
        if (weekday and attribute not in _DATED) or (not _EVENTS.isdisjoint(subject.noun.split()) and not noted):
            return False
        if subject.loose and subject.noun == attribute and attribute not in language.attributes.values() and not noted:
            timed = first.rstrip("s") in language.weekdays
            return timed or value[0].capital or any(token.plain[:1].isdigit() for token in value)
    if attribute == "employer":
        return len(value) <= 5 and first not in language.moods  # noqa: PLR2004
    return True


def listed(value: tuple[Token, ...], attribute: str, language: Language) -> list[tuple[Token, ...]]:
    """The parts of "peanuts, milk and eggs", where each is a fact of its own."""
    if attribute not in _LISTED or (attribute == "diet" and len(value) == 1):
        return [value]
    parts: list[list[Token]] = [[]]
    for place, token in enumerate(value):
        following = value[place + 1].plain if place + 1 < len(value) else ""
        joined = token.plain in ("and", "or", "y", "e", "ו", "&") or (token.plain == "," and attribute != "pet")
        if joined and (attribute != "pet" or following in language.articles or (following,) in language.people):
            parts.append([])
        else:
            parts[-1].append(token)
    found = [tuple(_without_articles(part, language)) for part in parts if part]
    found = [part for part in found if part]
    if not found or any(len(part) > 4 for part in found):  # noqa: PLR2004 - rather a sentence than a list
        return [value]
    return found


def _without_articles(part: list[Token], language: Language) -> list[Token]:
    while len(part) > 1 and part[0].plain in language.articles:
        part = part[1:]
    return part
