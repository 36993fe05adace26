"""Whether the words found can be the value of an attribute at all, and how many values they are."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from langmem_plugin.facts.meaning_phrases import MAKERS
from langmem_plugin.facts.person_nouns import HONORIFICS, serves
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import ORDINALS, number
from langmem_plugin.languages.language import Language, words

_OLDEST: Final = 105
_MOST_NAME_WORDS: Final = 3
_MOST_EMPLOYER_WORDS: Final = 5
_LISTED: Final = frozenset({"allergy", "intolerance", "like", "dislike", "language", "fear", "diet", "pet"})
_OF_PLANS: Final = frozenset({"goal", "strategy", "plan", "decision", "preference", "instruction"})
EVENTS: Final = words(
    "reservation|battery|emails|messages|ticket|tickets|minutes|minute|mins|min|hours|hour|meeting|call|appointment|question|flight|party|interview|date|exam|test|class|idea|problem|headache|cold|fever|dinner|lunch|turn|order|table|answer|guess|choice|pick|stop|train|bus|taxi|uber|package|parcel|delivery|point|part|seat|score|room|thing|shift|bill|check|tip|pedido|mesa|respuesta|turno|paquete|הזמנה|שולחן|תשובה|reunion|cita|vuelo|pregunta|problema|פגישה|תור|שאלה|בעיה|טיסה|מבחן"
)
PARTICLES: Final = words("out|up|off|away|down|over|back|home|here|there|together|along|around|ahead|through")
_PARTICIPLES: Final = words(
    "seen|made|been|had|done|gone|heard|read|never|taken|found|lost|met|won|given|eaten|always|left|thought|forgotten|under"
)
_ORDINALS: Final = words(
    "first|second|third|fourth|last|latter|former|number|option|primero|primera|segundo|segunda|tercero|ultimo|ultima|numero|ראשון|ראשונה|שני|שנייה|אחרון|אחרונה|מספר"
)
_NO_PLACES: Final = words("step|stage|topic|page|level|times|question|שלב|נושא|שאלה|עמוד|tema|paso|pagina|pregunta")
_NOT_NAMES: Final = words(
    "מונית|אמבולנס|משטרה|שוטר|רופא|רופאה|חשמלאי|אינסטלטור|מלצר|מנהל|עזרה|מוסך|גרר|סיפור|טקסט|ספר|שיר|מחדש|שוב|בחזרה|חזרה|בערב|בבוקר|כבר|תור|ambulance|police|doctor|ambulancia|policia|grua|doctor|medico|later|back|tomorrow|asap|maybe|crazy|old|paranoid|stupid|now|soon|anytime|luego|despues|pronto|manana|ahora|cuando|אחר|מחר|עכשיו|מאוחר|כש|כשאתה|כולם|taxi|uber|cab|mad|weird|lazy|again|instead"
)
NOT_EATEN: Final = words(
    "lunch|dinner|breakfast|supper|brunch|צהריים|ארוחת|ארוחה|cena|almuerzo|desayuno|algo|at|in|on|with|out|later|before|after|too|so|much|alone|early|late|there|here|here's"
)
_NO_HOMES: Final = words(
    "fear|denial|hope|peace|moment|past|present|future|dream|dreams|dreamland|poverty|luxury|silence|darkness|chaos|harmony|sin|style|comfort|misery|regret|danger|shame|exile|fantasy|hell|bubble|trouble|pain|doubt|isolation|solitude|hiding|debt|terror|dread|constant|grief|sorrow|anger|gratitude|faith|secret|limbo|misery|luxury|agony|stress|interesting|world|shadow|shadows|clouds|head|lie|lies|memory|memories|"
    "nubes|peligro|pasado|miedo|paz|sueno|suenos|negacion|pobreza|silencio|sombra|sombras|luna|mentira|futuro|presente|mundo|burbuja|caos|soledad|infierno|recuerdo|"
    "סרט|סרטים|פחד|הכחשה|עבר|הווה|עתיד|שלום|בועה|חלום|חלומות|סכנה|צל|עוני|לחץ|שקט|תקווה|שקר|עננים|גיהנום|בדידות|כאוס|פנטזיה|מתח|חרדה"
)
_NO_EMPLOYERS: Final = words(
    "night|nights|evening|evenings|morning|mornings|afternoon|afternoons|dawn|midnight|noon|weekends|free|peanuts|fun|myself|ourselves|it|living|money|food|silence|peace|pairs|shifts|bed|pajamas|weekdays|"
    "noche|noches|tarde|tardes|madrugada|mediodia|gratis|silencio|equipo|turnos|pijama|dinero|"
    "לילה|לילות|בוקר|בקרים|ערב|ערבים|צהריים|שקט|לחץ|חינם|כיף|משמרות|פיג'מה|זוגות|חושך"
)
_NO_ALLERGENS: Final = words(
    "people|person|persons|men|women|guys|humans|idiots|idiot|morning|mornings|work|working|drama|bullshit|stupidity|lies|liars|nonsense|boredom|exercise|sports|homework|politics|politicians|responsibility|commitment|love|meetings|boss|bosses|math|maths|rules|bureaucracy|winter|adults|romance|him|you|hypocrisy|hypocrites|failure|injustice|waking|mediocrity|small-talk|cliches|advice|excel|"
    "gente|persona|personas|tontos|idiotas|trabajo|trabajar|madrugar|mananas|mentiras|mentirosos|drama|amor|reuniones|compromiso|politica|politicos|hombres|mujeres|estupidez|burocracia|"
    "אנשים|טיפשים|טיפש|אידיוטים|עבודה|לעבוד|שטויות|בוקר|בקרים|קימה|לקום|דרמה|דרמות|שקרים|שקרנים|גברים|נשים|אהבה|פגישות|ישיבות|טיפשות|פוליטיקה|בירוקרטיה|מחויבות|ימי"
)
_NO_GERUND_MEANT: Final = _OF_PLANS | {"hobby", "job", "routine", "fear", "diet", "day", "like", "dislike", "name"}
_NO_GERUNDS: Final = words("beijing|reading|fernando|orlando|inverness|nanjing|chongqing|boeing")
_NAMED_BY: Final = 2  # words in which what one has is named: "a Sky subscription", not "a hike with Jeff"
_DIALLED: Final = 5  # digits of the shortest number that somebody is called by
_WEEKLY: Final = words("day|night|practice|class|lesson|training|rehearsal|off|shift|group|club|choir|therapy")
_CALLED: Final = words("called|named|llamado|llamada")
_OF_TALK: Final = words("more|mas|about|it|them|here|lo")
_DATED: Final = frozenset({"birthday", "anniversary", "deadline", "due date", "launch date", "wedding date", "day"})


@dataclass(frozen=True)
class _Told:
    """Words that may be the value of an attribute; `noted` are those that a person asked to keep."""

    value: Sequence[Token]
    attribute: str
    subject: Subject
    language: Language
    negated: bool
    noted: bool

    @property
    def first(self) -> str:
        return self.value[0].plain

    @property
    def second(self) -> str:
        return self.value[1].plain if len(self.value) > 1 else ""

    def has(self, *attributes: str) -> bool:
        return self.attribute in attributes

    def says(self, forms: Collection[str]) -> bool:
        return any(token.plain in forms for token in self.value)


def is_value(
    value: Sequence[Token], attribute: str, subject: Subject, language: Language, *, negated: bool, noted: bool
) -> bool:
    if not any(token.word for token in value):
        return False
    told = _Told(value, attribute, subject, language, negated, noted)
    verdicts = (check(told) for check in _CHECKS)
    return next((verdict for verdict in verdicts if verdict is not None), True)


def _of_a_closed_set(told: _Told) -> bool | None:
    """Those whose words are a table's own."""
    if not told.has("smoking", "status", "relationship", "religion", "observance", "accessibility", "job-"):
        return None
    return told.attribute != "status" or told.subject.who != SELF


def _nothing_owed(told: _Told) -> bool | None:
    owes_none = told.negated and told.attribute == "debt" and told.first in ("anything", "nothing", "nada", "כלום")
    return True if owes_none else None


def _pronoun(told: _Told) -> bool | None:
    if told.has("pronouns", "routine", "name") or (told.first == "one" and len(told.value) > 1):
        return None
    return False if told.first in told.language.pronouns else None


def _age(told: _Told) -> bool | None:
    if told.attribute != "age":
        return None
    if told.first in ORDINALS:
        return True
    counted = number([token.plain for token in told.value])
    return counted is not None and 0 <= counted[0] <= _OLDEST and counted[0] == int(counted[0])


def _words_of_no_value(told: _Told) -> bool | None:
    """By the words it begins or ends with."""
    first, second = told.first, told.second
    no_value = (
        (told.has("like", "dislike", "preference") and first in _ORDINALS)
        or (told.attribute == "routine" and "allergic" in (first, second))
        or (told.has("goal", "routine") and second in _OF_TALK)
        or first in PARTICLES
        or told.value[-1].plain in ("one", "ones")
        or (told.has("diet", "drinking") and first in NOT_EATEN)
    )
    return False if no_value else None


def _home(told: _Told) -> bool | None:
    """Not with somebody, at step 3, on Monday."""
    if told.attribute != "home":
        return None
    first, language = told.first, told.language
    timed = first in language.weekdays or first in language.months or first[:1].isdigit()
    no_place = (
        first in HONORIFICS
        or any(first in makers for makers in MAKERS.values())
        or told.says(_NO_PLACES)
        or (timed and len(told.value) == 1)
    )
    return False if no_place else None


def _name(told: _Told) -> bool | None:
    if told.attribute != "name":
        return None
    language = told.language
    idle = language.common | language.fillers | language.moods | language.questions | _NOT_NAMES
    brief = len(told.value) <= _MOST_NAME_WORDS
    return brief and told.first not in idle and not told.first.startswith("כש") and not told.negated


def _meant_as_said(told: _Told) -> bool | None:
    """Not "in fear", "at night", "me crazy", "dancing"; whatever a person notes is."""
    if told.noted:
        return None
    lived = told.has("home", "dwelling", "employer", "allergy", "intolerance")
    if lived and _is_figurative(told.value, told.attribute, told.language):
        return False
    if told.attribute == "phone" and _digits(told.value) < _DIALLED:
        return False
    by_noun = told.subject.noun == told.attribute and told.attribute not in _NO_GERUND_MEANT
    return False if by_noun and _is_gerund(told.value[0]) else None


def _possession(told: _Told) -> bool | None:
    """Something with a name, or of a year, and no event: "a 2019 Mazda", "a cat called Tom"."""
    if told.attribute != "possession" or told.negated:
        return None
    first, language = told.first, told.language
    done = (first.endswith("ed") and len(first) > 4) or first in _PARTICIPLES
    if done or first == "to" or first in language.fillers or first in language.frequencies or told.says(EVENTS):
        return False
    known = language.weekdays.keys() | language.months.keys()
    naming = told.value if told.says(_CALLED | {"llama"}) else told.value[:_NAMED_BY]
    named = any(token.capital and token.plain not in known for token in naming)
    return named or any(_is_year(token.plain) for token in told.value)


def _no_event(told: _Told) -> bool | None:
    return False if told.has("health", "job") and told.says(EVENTS) else None


def _of_a_noun(told: _Told) -> bool | None:
    """As in "my boss is …", "my gym is …": what can be said of that noun."""
    noun, language, first = told.subject.noun, told.language, told.first
    if noun is None or told.attribute in _OF_PLANS:
        return None
    weekday = first in language.weekdays and noun.split()[-1] not in _WEEKLY
    if (
        (first in language.moods and not noun.startswith("favorite "))
        or (told.negated and not told.value[0].capital and language.name != "he")
        or (weekday and told.attribute not in _DATED)
        or (not EVENTS.isdisjoint(noun.split()) and not told.noted)
    ):
        return False
    known = noun != told.attribute or told.attribute in language.attributes.values()
    return None if known or told.noted or not told.subject.loose else _names_or_numbers(told, noun)


def _names_or_numbers(told: _Told, noun: str) -> bool:
    """What may be said of a noun that no table knows."""
    return (
        told.first.rstrip("s") in told.language.weekdays
        or told.value[0].capital
        or (told.value[-1].capital and told.says(_CALLED))
        or told.first in HONORIFICS
        or any(token.plain[:1].isdigit() for token in told.value)
        or _is_served(noun, told.value, told.language)
    )


def _employer(told: _Told) -> bool | None:
    if told.attribute != "employer":
        return None
    return len(told.value) <= _MOST_EMPLOYER_WORDS and told.first not in told.language.moods


_CHECKS: Final[tuple[Callable[[_Told], bool | None], ...]] = (
    _of_a_closed_set,
    _nothing_owed,
    _pronoun,
    _age,
    _words_of_no_value,
    _home,
    _name,
    _meant_as_said,
    _possession,
    _no_event,
    _of_a_noun,
    _employer,
)
"""The first that has a verdict decides."""


def _is_served(noun: str, value: Sequence[Token], language: Language) -> bool:
    """Where Hebrew writes names without capitals: by what the noun is of."""
    return (
        language.name == "he"
        and len(value) <= _MOST_NAME_WORDS
        and any(serves(word, language) for word in noun.split()[:1])
        and value[0].plain not in language.moods | language.common
    )


def _is_figurative(value: Sequence[Token], attribute: str, language: Language) -> bool:
    """As in "live in fear", "work at night", "allergic to Mondays"."""
    forms = [{token.plain, token.plain.removeprefix("ה")} for token in value]
    if attribute in ("allergy", "intolerance"):
        days = language.weekdays.keys()
        return any(
            form in _NO_ALLERGENS or form in days or form.removesuffix("s") in days for each in forms for form in each
        )
    if value[0].capital:
        return False
    return bool(forms[0] & (_NO_EMPLOYERS if attribute == "employer" else _NO_HOMES)) or _is_gerund(value[0])


def _is_gerund(token: Token) -> bool:
    if token.capital or len(token.plain) < 6 or token.plain in _NO_GERUNDS:
        return False
    return token.plain.endswith(("ing", "iendo", "ando", "ness"))


def _digits(value: Sequence[Token]) -> int:
    """How many digits it says, in figures or one by one in words."""
    return sum(
        sum(letter.isdigit() for letter in token.plain) or (number([token.plain]) is not None) for token in value
    )


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isascii() and word.isdigit() and word[:2] in ("19", "20")


def listed(value: tuple[Token, ...], attribute: str, language: Language) -> list[tuple[Token, ...]]:
    """The parts of "peanuts, milk and eggs", where each is a fact of its own."""
    if attribute in ("children", "pet") and (named := _by_name(value, language)):
        return named
    if attribute not in _LISTED or (attribute == "diet" and len(value) == 1):
        return [value]
    parts: list[list[Token]] = [[]]
    for place, token in enumerate(value):
        following = value[place + 1].plain if place + 1 < len(value) else ""
        attached = attribute in ("allergy", "intolerance") and token.plain[:2] == "ול" and len(token.plain) > 3
        if attached and parts[-1]:  # "לאגוזים ולדגים"
            parts.append([Token(token.plain[2:], token.start + 2, token.end, token.written[2:])])
            continue
        joined = token.plain in ("and", "or", "y", "e", "ו", "&") or (token.plain == "," and attribute != "pet")
        if joined and (attribute != "pet" or following in language.articles or (following,) in language.people):
            parts.append([])
        else:
            parts[-1].append(token)
    found = [tuple(_without_articles(part, language)) for part in parts if part]
    found = [part for part in found if part]
    if not found or any(len(part) > 4 for part in found):
        return [value]
    return found


def _by_name(value: tuple[Token, ...], language: Language) -> list[tuple[Token, ...]]:
    """Each of "two cats, Michi y Luna"; none where they are not named one by one."""
    first = next((at for at, token in enumerate(value) if token.capital and at > 1), 0)
    if not first or number([value[0].plain]) is None:
        return []
    names = [token for token in value[first:] if token.word and token.plain not in language.joins]
    return [(name,) for name in names] if len(names) > 1 and all(name.capital for name in names) else []


def _without_articles(part: list[Token], language: Language) -> list[Token]:
    while len(part) > 1 and part[0].plain in language.articles:
        part = part[1:]
    return part
