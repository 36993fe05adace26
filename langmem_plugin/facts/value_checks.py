"""Whether the words found can be the value of an attribute at all, and how many values they are."""

from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.person_nouns import HONORIFICS, serves
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import ORDINALS, number
from langmem_plugin.facts.words import Language
from langmem_plugin.facts.words.language_table import words
from langmem_plugin.facts.words.one_meaning import MAKERS

_OLDEST: Final = 105
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
        if value[0].plain in ORDINALS:
            return True
        counted = number([token.plain for token in value])
        return counted is not None and 0 <= counted[0] <= _OLDEST and counted[0] == int(counted[0])
    second = value[1].plain if len(value) > 1 else ""
    if attribute in ("like", "dislike", "preference") and first in _ORDINALS:
        return False
    if attribute == "routine" and "allergic" in (first, second):
        return False
    if attribute in ("goal", "routine") and second in ("more", "mas", "about", "it", "them", "here", "lo"):
        return False
    if attribute == "home" and (first in HONORIFICS or any(first in makers for makers in MAKERS.values())):
        return False
    if attribute == "home" and not _NO_PLACES.isdisjoint(token.plain for token in value):
        return False
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
        return len(value) <= _MOST_NAME_WORDS and first not in idle and not first.startswith("כש") and not negated
    if (
        attribute in ("home", "dwelling", "employer", "allergy", "intolerance")
        and not noted
        and _is_figurative(value, attribute, language)
    ):
        return False
    if attribute == "phone" and not noted and _digits(value) < _DIALLED:
        return False
    if subject.noun == attribute and attribute not in _NO_GERUND_MEANT and not noted and _is_gerund(value[0]):
        return False
    if attribute in ("diet", "drinking") and first in NOT_EATEN:
        return False
    if attribute == "possession" and not negated:
        if (
            (first.endswith("ed") and len(first) > 4)
            or first in _PARTICIPLES
            or first in language.fillers
            or first in language.frequencies
        ):
            return False
        known = language.weekdays.keys() | language.months.keys()
        named = any(token.plain in ("called", "named", "llamado", "llamada", "llama") for token in value)
        told = value if named else value[:_NAMED_BY]
        return (
            first != "to"
            and (
                any(token.capital and token.plain not in known for token in told)
                or any(_is_year(token.plain) for token in value)
            )
            and EVENTS.isdisjoint(token.plain for token in value)
        )
    if attribute in ("health", "job") and EVENTS.intersection(token.plain for token in value):
        return False
    if subject.noun is not None and attribute not in _OF_PLANS:
        if first in language.moods and not subject.noun.startswith("favorite "):
            return False
        if negated and not value[0].capital and language.name != "he":
            return False
        weekday = first in language.weekdays and subject.noun.split()[-1] not in _WEEKLY
        if (weekday and attribute not in _DATED) or (not EVENTS.isdisjoint(subject.noun.split()) and not noted):
            return False
        if subject.loose and subject.noun == attribute and attribute not in language.attributes.values() and not noted:
            timed = first.rstrip("s") in language.weekdays
            return (
                timed
                or value[0].capital
                or (
                    value[-1].capital
                    and any(token.plain in ("called", "named", "llamado", "llamada") for token in value)
                )
                or first in HONORIFICS
                or any(token.plain[:1].isdigit() for token in value)
                or _is_served(subject.noun, value, language)
            )
    if attribute == "employer":
        return len(value) <= 5 and first not in language.moods
    return True


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
