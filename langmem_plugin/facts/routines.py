"""What somebody does again and again, or always, or never."""

from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.checking import LAUGHS, checked
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.facts.values import number
from langmem_plugin.languages.language import words

_TIMES: Final = words("times|days|nights|mornings|evenings|veces|dias|פעמים|ימים")
_TWICE: Final = words("once|twice|thrice|פעמיים")
_PER: Final = words("a|per|por|al|each|every|ב|la")
_ALWAYS: Final = words("always|siempre|תמיד")
_NEVER: Final = words("never|nunca|jamas")
_ONLY: Final = words("only|solo|רק")
# What is said of the moment, not of a habit: "I always knew", "I never said that", "I only want to know".
_NO_HABITS: Final = words(
    "knew|said|thought|had|got|heard|saw|was|were|been|went|told|came|found|made|gave|felt|left|met|lost|took|did|kept|meant|understood|know|need|think|feel|want|have|get|see|hear|say|believe|remember|understand|forget|wonder|mean|love|like|hate|enjoy|will|would|could|can|should|do|does|ask|end|seem|assumed|realized|tell|mind|hope|wish|wanted|tried|be|am|is|are|gonna|going|managed|got|seen|done|really|that|it|this|just|guess|receive|received|answer|reply|one|two|if|when|in|on|at|for|with|a|the"
    "|dije|supe|pense|vi|oi|tuve|fui|estuve|hice|se|tengo|necesito|quiero|creo|pienso|siento|olvido|me|te|lo|la|le|he|has|ha|es|soy|estoy|puedo|queria|hay|en|con|para|por|un|una|dices|digas|contestas|olvidas|dejes|respondas|uses|hagas|mandes|escribas"
    "|אמרתי|ידעתי|חשבתי|ראיתי|שמעתי|הייתי|עשיתי|יודע|יודעת|צריך|צריכה|רוצה|חושב|חושבת|שוכח|שוכחת|מרגיש|מרגישה|אוהב|אוהבת|שואל|שואלת|יכול|יכולה|רציתי|לא|את|אותו|אתה|תענה|תעני|תשתמש|תשתמשי|אל|יש|היה|זה|אם"
)


def routine(reading: Reading, subject: Subject, *, implied: bool = False) -> Finding | None:
    """As in "I run every morning", "we ski twice a year"."""
    if subject.loose or (subject.end > subject.first and subject.noun):
        return None
    if subject.end == subject.first and not (reading.language.drops_subject or implied):
        return None
    if subject.end == subject.first and reading.language.name == "es" and not _in_first_person(reading, subject.end):
        return None
    last = value_end(reading, subject.end)
    value = reading.tokens[subject.end : last]
    often = [place for place in range(len(value)) if _often(reading, value, place)]
    if not often or len(value) < 2 or value[0].plain in reading.language.moods | _ONCE:
        return None
    if value[0].plain in ("have", "has") and (value[0].written[:1] == "'" or value[1].plain.endswith("ed")):
        return None
    if value[0].plain in ("am", "are") and value[1].plain not in _STATES:
        return None  # "I'm losing it every week"
    if reading.language.name == "en" and value[0].plain.endswith("ed"):
        return None  # "I noticed that they usually …"
    return checked(reading, Finding(subject, "routine", value, subject.first, last))


def _in_first_person(reading: Reading, at: int) -> bool:
    """Whether a Spanish clause without its subject is the speaker's: "ceno tarde", "nos levantamos a las 6"."""
    idle = reading.language.fillers | reading.language.negations | reading.language.always | {"me", "nos", "lo", "la"}
    verb = next((token.plain for token in reading.tokens[at:] if token.plain not in idle), "")
    return verb.endswith(("o", "mos", "oy")) and verb not in ("soy", "estoy", "somos", "estamos", "como", "cuando")


_STATES: Final = words("open|closed|shut|off|free|busy|at|in|on|away|home|out")
_ONCE: Final = words(
    "'ve|can|may|might|must|shall|need|want|wanted|would|could|should|will|think|know|hope|wish|guess|saw|found|heard|was|had|quiero|necesito|creo"
)
_HAPPENS: Final = words(
    "is|are|'s|meets|meet|starts|runs|opens|closes|comes|come|happens|es|son|esta|estan|empieza|abre|cierra|toca|הוא|היא|סגור|סגורה|פתוח|פתוחה|מתקיים|מתקיימת|נפגש|נפגשת"
)
_USUALLY: Final = words("usually|normally|normalmente|suelo")
_LONGEST_THING: Final = 4
_SOONEST: Final = 4  # words after the verb until it is said how often


def scheduled(reading: Reading, at: int) -> Finding | None:
    """When something is again and again: "the shop's shut Mondays", "la reunión es siempre el último lunes del mes"."""
    tokens, language = reading.tokens, reading.language
    first = at
    while first < len(tokens) and tokens[first].plain in language.articles | language.possessives:
        first += 1
    verb = next((at for at in range(first, len(tokens)) if tokens[at].plain in _HAPPENS), 0)
    said = tokens[first:verb]
    if not 0 < len(said) <= _LONGEST_THING or not all(t.plain.isalpha() for t in said):
        return None
    idle = language.common | language.selves | language.others | language.questions
    if (
        any(token.plain in language.joins for token in said)
        or said[0].plain in idle
        or said[-1].plain in language.negations
        or verb + 1 >= len(tokens)
    ):
        return None
    last = value_end(reading, verb + 1)
    value = tokens[verb + (tokens[verb].plain in _BEING) : last]
    if not language.negations.isdisjoint(token.plain for token in value[:2]):
        return None
    if not _USUALLY.isdisjoint(token.plain for token in value[:_SOONEST]):
        return None
    if not any(
        _often(reading, value, place) or _of_each(reading, value, place) for place in range(min(_SOONEST, len(value)))
    ):
        return None
    who = " ".join(token.plain for token in said if token.plain not in language.possessives)
    subject = Subject(who, at, verb, loose=False, shown=tuple(tokens[at:verb]))
    return checked(reading, Finding(subject, "schedule", value, at, last))


def led_by_days(reading: Reading, first: int, at: int) -> Finding | None:
    """What the speaker has or does on the days that stand ahead of it: "כל יום שלישי יש לי חוג", "every Friday we have pizza"."""
    language, tokens = reading.language, reading.tokens
    once = not any(_often(reading, tokens[first:at], place) for place in range(at - first))
    if once:
        return None  # "on Saturday I have a car service"
    own = tokens[at].plain in language.selves or [t.plain for t in tokens[at : at + 2]] in (["יש", "לי"], ["יש", "לנו"])
    if not own and not (language.name == "es" and (_in_first_person(reading, at))):
        return None
    last = value_end(reading, at + 1) if at + 2 < len(tokens) else at
    if (
        last < at + 3
        or tokens[at + 1].plain in _ONCE | {"will", "am", "are"}
        or any(token.plain in LAUGHS for token in tokens)
    ):
        return None
    return checked(
        reading, Finding(Subject(SELF, first, first, third=False), "routine", tokens[first:last], first, last)
    )


_BEING: Final = words("is|are|'s|es|son|esta|estan|הוא|היא")
_EACH: Final = words("month|week|year|mes|semana|ano")


def _of_each(reading: Reading, value: Sequence[Token], at: int) -> bool:
    """As in "first Sunday of the month", "los martes", "el último lunes del mes"."""
    word, following = value[at].plain, value[at + 1].plain if at + 1 < len(value) else ""
    if word == "los" and following in reading.language.weekdays:
        return True
    ends = [token.plain for token in value[at + 1 : at + 4]]
    return word in reading.language.weekdays and following in ("of", "del", "de") and not _EACH.isdisjoint(ends)


def habit(reading: Reading, subject: Subject) -> Finding | None:
    """As in "I always take the train", "nunca ceno tarde", "we only buy fair trade": in the present, of the speaker."""
    at = subject.end
    if subject.who != SELF or subject.noun is not None or at + 2 >= len(reading.tokens):
        return None
    if subject.end == subject.first and not reading.language.drops_subject:
        return None
    word, verb = reading.tokens[at].plain, reading.tokens[at + 1].plain
    never = word in _NEVER
    if word not in _ALWAYS | _NEVER | _ONLY or verb in _NO_HABITS or not _is_present(verb, reading.language.name):
        return None
    if word in _ONLY and reading.language.name != "en":
        return None
    last = value_end(reading, at + 1)
    value = reading.tokens[at + 1 : last]
    if len(value) < 2 or any(token.plain in _SAID for token in value) or _is_laughed_at(reading):
        return None
    return checked(reading, Finding(subject, "routine", value, subject.first, last, negated=never))


def _is_laughed_at(reading: Reading) -> bool:
    return any(token.plain in LAUGHS for token in reading.tokens)


_SAID: Final = words("there|here|you|your|u|it|that|this|them|te|tu|eso|esto|lo|אותך|אותו|זה|לך")


def _is_present(verb: str, language: str) -> bool:
    if language == "en":
        return not verb.endswith("ed") and verb.isalpha()
    if language == "es":
        return verb.endswith(("o", "mos"))
    return verb.isalpha() and not verb.endswith("תי")


def _often(reading: Reading, value: Sequence[Token], at: int) -> bool:
    language = reading.language
    following = value[at + 1].plain if at + 1 < len(value) else ""
    if (value[at].plain, following) == ("each", "other"):
        return False
    if _per_week(reading, value, at) or _of_each(reading, value, at):
        return True
    if value[at].plain not in language.frequencies:
        return False
    if value[at].plain not in ("every", "each", "most", "cada", "todos", "todas", "כל"):
        return True
    return (
        following in language.periods
        or following in language.weekdays
        or following in language.months
        or following[:1].isdigit()
    )


def _per_week(reading: Reading, value: Sequence[Token], at: int) -> bool:
    """As in "4 times a week", "twice a month", "3 veces por semana"."""
    language = reading.language
    used = 0
    if value[at].plain in _TWICE:
        used = 1
    else:
        counted = number([value[at].plain])
        if counted is not None and at + 1 < len(value) and value[at + 1].plain in _TIMES:
            used = 2
    place = at + used
    while used and place < len(value) and value[place].plain in _PER:
        place += 1
    if not used or place >= len(value):
        return False
    word = value[place].plain
    return word in language.periods_said or (word[:1] == "ב" and word[1:] in language.periods_said)
