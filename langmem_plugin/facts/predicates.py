"""What is said of a subject by a verb, by the patterns of the tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.fitting import Taken, fits, is_dwelling
from langmem_plugin.facts.grammar import Match, bare, begins, best_match
from langmem_plugin.facts.noun_phrases import KIN
from langmem_plugin.facts.present_tense import present
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.routines import habit, routine
from langmem_plugin.facts.subject import Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_checks import EVENTS
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.languages.language import words

_CURRENCIES: Final = "$€₪£"
_PAST: Final = words("lived|worked|גרתי|גרנו|עבדתי|עישנתי|vivia|trabajaba|fumaba")
_USING: Final = words("to|go|going|with|use|using|on|usar|ir|con|por|utilizar|ללכת|על|להשתמש|את|לעבוד|עם")
# What is decided and stays so: not "to watch a film", but "to close on Mondays".
_LASTING: Final = words(
    "stop|stopped|close|quit|sell|keep|hire|raise|drop|open|become|retire|expand|start|switch|move|leave|cancel|rent|buy|adopt|marry|divorce|homeschool|launch|discontinue|postpone"
    "|cerrar|dejar|vender|abrir|mudarnos|mudarme|subir|contratar|cancelar|empezar|cambiar|alquilar|comprar|adoptar|casarnos|separarnos"
    "|להפסיק|לסגור|למכור|לפתוח|לעבור|להתחיל|לשכור|להעלות|לבטל|לקנות|לאמץ|להתחתן|להתגרש|לעזוב"
)
_OF_SOME_THINGS: Final = words(
    "open|leave|cancel|move|switch|buy|keep|drop|rent|abrir|cancelar|comprar|dejar|alquilar|cambiar|לפתוח|לבטל|לקנות|לעזוב|לעבור"
)
_LASTING_THINGS: Final = words(
    "job|company|band|school|subscription|membership|shop|branch|store|office|restaurant|cafe|business|house|home|apartment|flat|car|contract|gym|club|city|country|carriers|providers|banks|team|clinic|studio"
    "|trabajo|empresa|tienda|casa|piso|coche|oficina|restaurante|banco|suscripcion|negocio|colegio|ciudad|sucursal"
    "|עבודה|חנות|דירה|בית|רכב|עסק|סניף|מנוי|עיר|משרד|הדירה|העבודה"
)
_EXPECTED: Final = words(
    "car|license|licence|driver's|driving|kids|children|pets|siblings|passport|oven|dishwasher|dryer|garden|balcony|tv|television|smartphone|insurance|bike|microwave|elevator|lift"
    "|coche|carro|auto|hijos|mascotas|carne|carnet|pasaporte|horno|lavavajillas|jardin|ascensor|hermanos|licencia|seguro"
    "|רכב|אוטו|מכונית|רישיון|ילדים|חיות|דרכון|תנור|מדיח|גינה|מרפסת|טלוויזיה|מעלית|ביטוח|אחים"
)
_FOR_NOW: Final = words("to|for|left|para|que|coming|waiting|ready|open|due|de|ל|לפני")
_ILL: Final = {
    "en": ("itis", "osis", "emia", "aemia", "algia", "lexia", "plegia", "praxia", "pathy", "lepsy", "iasis", "phobia"),
    "es": ("itis", "osis", "emia", "algia", "lexia", "plejia", "praxia", "patia", "lepsia", "iasis", "fobia", "pasos"),
    "he": ("לקציה", "פסיה", "אנמיה", "דלקת", "תריס", "פתיה", "וזה", "מיאלגיה", "לקסיה"),
}
_VEHICLES_OF_WORK: Final = words(
    "bus|truck|lorry|taxi|cab|tram|train|ambulance|forklift|tractor|autobus|camion|tren|ambulancia"
)
_PLURALS: Final = words("people|sheep|cattle|geese|oxen|fish|deer|livestock|poultry")
_AFTER_COUNTED: Final = words(
    "of|now|in|on|at|for|with|to|that|which|this|and|left|per|here|there|total|altogether|from|going|coming|en|de|con|que|para|ya|ahora|esta|este|por|עכשיו|של|עם|על|ב"
)
# What one has for a while, eats up or spends: "3 exams", "2 eggs", "20 emails".
_NOT_KEPT: Final = words(
    "people|guest|friend|option|item|photo|picture|page|call|tab|deadline|error|chapter|lesson|game|match|vote|choice|thing|reason|time|percent|degree|km|mile|meter|metre|word|letter|slice|drink|beer|bag|box|egg|tomato|potatoe|potato|onion|carrot|apple|banana|lemon|orange|exam|task|chore|errand|deliverie|delivery|file|link|bug|note|request|suggestion|song|episode|season|step|contact|candidate|applicant|subscriber|opening|proposal|draft|kilo|pound|gram|liter|litre|cup|spoon|can|bottle|piece|percent|follower|like|view|coupon|point|level|life|live|inche|inch|foot|feet|character|line|row|column|use|try|trie|attempt|goal|plan|job|interview|book|movie|recipe|class|classe|paper|essay|report|left|more|other|different|year|old|month|week|day|hour|minute|second|night|morning|evening|grand|thousand|million|hundred|star|size|number|rule|favor|wish|wishe|dream|secret|fear"
    "|minuto|hora|dia|mes|ano|semana|invitado|amigo|opcion|opcione|foto|pagina|llamada|examen|examene|tarea|huevo|tomate|patata|cebolla|mensaje|correo|duda|cosa|vece|vez|punto|nivel|kilo|gramo|litro|persona|euro|peso|dolar|dolare|reunione|cita|partido|clase|deber|libro|entrada|idea|motivo|grado"
    "|אפשרויות|דקות|שעות|ימים|שבועות|חודשים|שנים|אורחים|חברים|תמונות|שיחות|מבחנים|ביצים|מיילים|הודעות|פגישות|דברים|שאלות|בעיות|משימות|שיעורים|ספרים|רעיונות|אנשים|כרטיסים|שקלים|נקודות|מטלות|עבודות|עגבניות"
)
_AS: Final = words("as|como|בתור|כ")
_CUT_AT: Final = {
    "employer": _AS,
    "school": _AS,
    "language": words("at|with|to|in|en|con|עם|בבית"),
    "car": words("for|to|para"),
}


def predicate(reading: Reading, subject: Subject, *, unsaid: bool = False) -> Finding | None:
    match = best_match(reading.tokens, subject.end, reading.language, third=subject.third and not unsaid, unsaid=unsaid)
    said = None if match is None else _matched(reading, subject, match)
    return said or routine(reading, subject) or habit(reading, subject) or present(reading, subject)


def _matched(reading: Reading, subject: Subject, match: Match) -> Finding | None:
    attribute = match.pattern.attribute
    if attribute == "lack" or (attribute == "possession" and match.negated and not match.pattern.mark):
        return _not_owned(reading, subject, match)
    behind = _behind(reading, match)
    if behind is None:
        return None
    attribute, rest, last = behind
    value = match.value if _is_whole(match) else (*match.value, *rest)
    if [token.plain for token in value] in (["it"], ["them"]) and attribute in ("allergy", "dislike", "intolerance"):
        value = _meant(reading, subject.first)
    if attribute == "decision":
        subject, value = _lasting_decision(reading, subject, value)
        if not value:
            return None
    if _is_of_others(reading, subject, match, (*rest, *reading.tokens[last : last + 1])):
        return None
    if attribute == "counted":
        return _counted(reading, subject, match, last)
    attribute = _specified(reading, attribute, value, rest)
    if attribute == "allergy" and not rest and len(match.value) == 1 and match.said <= 4:
        return _allergic(reading, subject, match)
    matched = reading.tokens[subject.end : match.end]
    if not fits(reading, Taken(subject, match, matched, rest, max(last, match.end))):
        return None
    said = {token.plain for token in matched}
    found = Finding(
        subject,
        attribute,
        value,
        subject.first,
        max(last, match.end),
        negated=match.negated ^ ("-" in match.pattern.mark),
        over=match.over or ("have" not in said and not said.isdisjoint(_PAST)),
        ahead="+" in match.pattern.mark,
    )
    return checked(reading, found)


def _behind(reading: Reading, match: Match) -> tuple[str, tuple[Token, ...], int] | None:
    """The attribute, the words of its value that stand behind what was matched, and where they end; None where the
    sentence goes on with something else.
    """
    attribute, tokens = match.pattern.attribute, reading.tokens
    rest, last = _up_to_a_cut(reading, match)
    cut = rest and (not rest[0].word or rest[0].plain in reading.language.cuts | reading.language.joins)
    if cut and rest[0].written not in _CURRENCIES:
        if not match.value:
            return None
        rest, last = (), match.end
    if attribute == "possession" and rest and not match.pattern.mark and (ill := _illness(rest, reading.language.name)):
        attribute, rest, last = "health", rest[:ill], match.end + ill
    if last + 1 == len(tokens) and tokens[last].plain == "'s" and rest:
        last, rest = last + 1, (*rest, tokens[last])  # "Parkinson's", "St Luke's"
    if attribute in _CUT_AT:
        last = next((at for at in range(match.end + 1, last) if tokens[at].plain in _CUT_AT[attribute]), last)
    if attribute == "employer":  # "at a bakery and we open on Saturdays", but "at Marks and Spencer"
        joined = (at for at in range(match.end + 1, last) if tokens[at].plain in reading.language.joins)
        last = next((at for at in joined if at + 1 == last or not tokens[at + 1].capital), last)
    if attribute in _CUT_AT or attribute == "employer":
        rest = rest[: last - match.end]
    while last > match.end and not tokens[last - 1].word:
        last -= 1
    return attribute, rest, last


def _up_to_a_cut(reading: Reading, match: Match) -> tuple[tuple[Token, ...], int]:
    """All that may belong to the value; names may stand in a row."""
    if not match.open_end or match.rest is None:
        return (), match.end
    attribute = match.pattern.attribute
    naming = attribute in ("pet", "family") or (attribute == "children" and _are_names(reading, match.end))
    reading.naming = naming
    last = value_end(reading, match.end)
    reading.naming = False
    rest = (match.rest, *reading.tokens[match.end + 1 : last]) if last > match.end else ()
    return rest[1:] if rest and naming and rest[0].plain == "," else rest, last


def _is_of_others(reading: Reading, subject: Subject, match: Match, behind: Sequence[Token]) -> bool:
    """As in "sold at football grounds", "I left Acme's gym": not of who is spoken of."""
    alone = subject.first == subject.end and reading.language.name == "en" and match.pattern.attribute == "possession"
    if alone and match.pattern.mark and {each.plain for each in reading.tokens[subject.end : match.end]} <= {"sold"}:
        return True
    return match.pattern.mark == "-" and any(token.plain == "'s" for token in behind)


def _specified(reading: Reading, attribute: str, value: Sequence[Token], rest: Sequence[Token]) -> str:
    """The attribute as its value makes it: a lorry is a job, "alone" says how somebody lives."""
    if attribute == "car" and not _VEHICLES_OF_WORK.isdisjoint(token.plain for token in value):
        return "job"
    if attribute == "home" and is_dwelling(rest):
        return "dwelling"
    return attribute + _day_kind(reading) if attribute == "wake-up time" else attribute


def _is_lasting(value: Sequence[Token]) -> bool:
    """Not "to stop here", "to open a window", "to leave early"."""
    rest = {token.plain for token in value[1:]}
    if not rest:
        return False
    if value[0].plain in ("stop", "stopped", "start"):
        return value[1].plain.endswith("ing")
    return value[0].plain not in _OF_SOME_THINGS or bool(rest & _LASTING_THINGS)


def _counted(reading: Reading, subject: Subject, match: Match, last: int) -> Finding | None:
    """As in "We have 120 ewes", "tengo 30 gallinas": how many of what; but not of what comes and goes."""
    first, language = match.end, reading.language
    noun = reading.tokens[first : min(first + 2, last)]
    if noun and (
        len(noun) == 1 or not noun[1].word or noun[1].plain in language.cuts | language.joins | _AFTER_COUNTED
    ):
        noun = noun[:1]
    words_said = [token.plain for token in noun]
    if not noun or match.negated or not all(word.isalpha() and len(word) > 2 for word in words_said):
        return None
    head = words_said[0] if language.name == "es" else words_said[-1]
    plural = head.endswith(("s", "ים", "ות")) or head in _PLURALS
    known = language.currencies.keys() | language.periods_said.keys() | language.pronouns | language.weekdays.keys()
    singular = head.removesuffix("s")
    told = [*words_said, singular]
    if (
        not plural
        or known & {head, singular}
        or not (_NOT_KEPT | EVENTS).isdisjoint(told)
        or ((singular,) in language.people and language.people[singular,] not in KIN)
    ):
        return None
    if language.name != "he" and not reading.noted and any(token.capital for token in noun):
        return None
    value = tuple(token for token in match.value if token.word)
    end = first + len(noun)
    if not reading.noted and end < len(reading.tokens) and reading.tokens[end].plain in _FOR_NOW:
        return None
    return checked(reading, Finding(subject, " ".join(words_said), value, subject.first, end, over=match.over))


def _not_owned(reading: Reading, subject: Subject, match: Match) -> Finding | None:
    """As in "I don't have a car": of what people are expected to have; a lack of anything else is of the moment."""
    at = match.end
    while at < len(reading.tokens) and reading.tokens[at].plain in reading.language.articles:
        at += 1
    last = value_end(reading, at) if at < len(reading.tokens) else at
    value = reading.tokens[at:last]
    noun = value[-1].plain if value and reading.language.name == "en" else value[0].plain if value else ""
    if not value or len(value) > 3 or noun not in _EXPECTED:
        return None
    return checked(reading, Finding(subject, "possession", value, subject.first, last, negated=True))


def _are_names(reading: Reading, at: int) -> bool:
    """Whether nothing but names follows: ", Ines and Theo", not ", Mia is 6 and Leo is 3"."""
    follows = [token for token in reading.tokens[at:] if token.word and token.plain not in reading.language.joins]
    return all(token.capital for token in follows)


def _illness(said: Sequence[Token], language: str) -> int:
    """How many words name something one has for years, which medicine calls alike everywhere: "dyslexia", "artrosis"."""
    endings = _ILL[language]
    return next(
        (at + 1 for at, token in enumerate(said[:3]) if len(token.plain) > 5 and token.plain.endswith(endings)), 0
    )


def _lasting_decision(
    reading: Reading, subject: Subject, value: tuple[Token, ...]
) -> tuple[Subject, tuple[Token, ...]]:
    """What was decided for good, and of what; nothing where it was decided for a moment."""
    lasting = next((place for place, token in enumerate(value[:2]) if token.plain in _LASTING), None)
    if lasting is not None and _is_lasting(value[lasting:]):
        return subject, value[lasting:]
    using = {token.plain for token in value[:3]} & (_USING - {"to", "go", "ir", "going"})
    about, decided = _decided(reading, subject, value)
    return (subject, ()) if about is subject and not using else (about, decided)


def _decided(reading: Reading, subject: Subject, value: tuple[Token, ...]) -> tuple[Subject, tuple[Token, ...]]:
    """What was decided, and for what: "to go with Postgres for the billing project"."""
    while len(value) > 1 and value[0].plain in _USING:
        value = value[1:]
    for place in range(1, len(value) - 1):
        rest = value[place + 1 :]
        if value[place].plain in ("for", "in", "on", "en", "para") or value[place].plain[1:] == "פרויקט":
            rest = rest if value[place].plain[1:] != "פרויקט" else (bare(value[place], 1), *rest)
            while len(rest) > 1 and rest[0].plain in reading.language.articles:
                rest = rest[1:]
            return replace(subject, who=" ".join(token.plain for token in rest)), value[:place]
    return subject, value


def _allergic(reading: Reading, subject: Subject, match: Match) -> Finding | None:
    """As in "My son is allergic": to what was wanted left out before, else just so."""
    value = reading.avoided[1:] or match.value
    said = Finding(subject, "allergy", value, subject.first, match.end, negated=match.negated, over=match.over)
    return checked(reading, replace(said, avoided=reading.avoided) if reading.avoided else said)


def _meant(reading: Reading, at: int) -> tuple[Token, ...]:
    """What "it" is: the last thing named before the clause at `at`."""
    while at > 0:
        token = reading.tokens[at - 1]
        if token.word and not begins(reading.tokens, at - 1, reading.language.leads):
            known = (
                token.plain
                in reading.language.common
                | reading.language.pronouns
                | reading.language.fillers
                | reading.language.cuts
            )
            return () if known else (token,)
        at -= 1
    return ()


def _day_kind(reading: Reading) -> str:
    """Whether weekdays or the weekend are meant: two different times to get up."""
    for at in range(len(reading.tokens)):
        used = begins(reading.tokens, at, tuple(reading.language.day_kinds))
        if used:
            return f" on {reading.language.day_kinds[tuple(token.plain for token in reading.tokens[at : at + used])]}"
    return ""


def _is_whole(match: Match) -> bool:
    """Whether the words of the pattern are the value, and what follows only says more ("vegan since May")."""
    return bool(match.value) and match.pattern.attribute in (
        "diet",
        "relationship",
        "religion",
        "job-",
        "accessibility",
        "smoking",
        "medication",
        "status",
        "age",
        "skill",
    )
