"""What somebody does in the simple present, by which English, Spanish and Hebrew tell what is lasting.

"My brother runs the dairy side" holds for long, "my brother is running late" does not: no list of subjects or of
objects tells that, but the form of the verb. Left out are the verbs of wishing, saying, seeming and of what happens
once, which stand in the same form.
"""

from typing import Final

from langmem_plugin.facts.checking import LAUGHS, checked
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.languages.language import words

_DO: Final = words("do|does")
_TO_BE: Final = words("is|was|has|this|its|us|as|plus|yes|always|sometimes|perhaps|besides|vs|pls|thanks|towards")
# Of somebody else in the present, and yet of the moment.
_OF_THE_MOMENT: Final = words(
    "want|need|think|know|say|tell|ask|feel|look|seem|sound|appear|mean|hope|wish|wonder|guess|suppose|believe|forget|remember|notice|agree|disagree|promise|deserve|arrive|leave|come|land|get|go|start|begin|finish|end|turn|become|return|happen|wait|sit|stand|stay|visit|call|text|message|email|write|reply|answer|send|give|bring|take|make|let|keep|put|find|lose|win|break|fall|hurt|ache|die|cry|laugh|smile|snore|smell|matter|help|thank|miss|rock|suck|cost|expire|open|close|hit|beat|act|pretend|claim|insist|complain|swear|joke|reckon|ping|try|understand|see|hear|watch|react|love|like|hate|enjoy|prefer|adore|decide|plan|approve|recommend|suggest|point|show|figure|freak|drive me"
)
# Of oneself in the present: what is done again and again, or for years.
LASTING: Final = words(
    "run|own|manage|teach|coach|train|drive|ride|grow|raise|breed|rent|share|commute|volunteer|study|paint|sing|sew|sell|use|wear|support|attend|belong|serve|work|sleep|foster|host|fish|swim|cycle|row|babysit|deliver|repair|take|do|play|cook|bake|dance|wake|practise|practice|row|pray|brew|umpire|referee|chair|edit|design|freelance|supply|lease|homeschool|suffer|inject|keep|carry|charge|own"
)
# What one does or does not do for life: "Grandpa doesn't drive any more".
_HABITS: Final = words(
    "drive|swim|drink|smoke|cook|cycle|dance|ski|knit|read|work|conduce|nada|bebe|fuma|cocina|trabaja|conduzco|nado|bebo|fumo|cocino|נוהג|נוהגת|שותה|מעשן|מעשנת|מבשל|מבשלת"
)
_NOT_FOR_LONG: Final = words("eaten|drunk|smoked|driven|touched|worked|played|worn|used|lived|flown")
_ALONE: Final = words("homeschool|commute|freelance|volunteer|snores|ronca|stutters|stammers|tartamudea|נוחר|נוחרת")
_SPANISH: Final = words(
    "toco|doy|llevo|uso|cuido|crio|cultivo|vendo|enseno|dirijo|alquilo|comparto|entreno|corro|monto|canto|bailo|pinto|coso|juego|cocino|reparto|conduzco|estudio|hago|dirige|toca|cuida|cria|cultiva|vende|ensena|alquila|comparte|entrena|corre|monta|canta|baila|pinta|cose|juega|cocina|reparte|conduce|estudia|hace|lleva|usa|damos|tocamos|usamos|criamos|cultivamos|vendemos|alquilamos|compartimos|entrenamos|cerramos|abrimos|cierro|abro|colabora|colaboro|asisto|asiste|pertenezco|pertenece|gestiono|gestiona|arreglo|arregla|fabrico|fabrica|ceno|cenamos|duermo|duerme|tomo|toma|tomamos|llevamos"
)
_HEBREW: Final = words(
    "משרת|משרתת|מלמד|מלמדת|מנהל|מנהלת|מגדל|מגדלת|מגדלים|מתנדב|מתנדבת|מוכר|מוכרת|מוכרים|משכיר|משכירה|משכירים|מנגן|מנגנת|מתאמן|מתאמנת|מאמן|מאמנת|רוכב|רוכבת|שר|שרה|רוקד|רוקדת|רץ|רצה|שוחה|צובע|תופר|תופרת|מצייר|מציירת|מטפל|מטפלת|משתמש|משתמשת|מרכיב|מרכיבה|מבשל|מבשלת|אופה|סוגר|סוגרים|פותח|פותחים|שוכר|שוכרת|שוכרים|מפעיל|מפעילה|מפעילים|חולק|חולקת|לומד|לומדת|גובה|גובים|לוקח|לוקחת"
)
_SHORTEST: Final = 3
# The same of Spanish verbs, and the words that look like verbs there.
_OF_NOW: Final = words(
    "quiere|quieren|dice|dicen|necesita|necesitan|piensa|cree|llega|llegan|viene|vienen|puede|pueden|debe|deben|parece|pregunta|sale|salen|vuelve|vuelven|sabe|saben|siente|espera|esperan|busca|buscan|tiene|tienen|este|esta|estan|donde|cuando|entre|siempre|nunca|tarde|antes|grande|hasta|contra|sobre|para|gracias|manda|llama|llaman|pide|cuenta|conoce|recuerda|olvida|empieza|termina|pierde|gana|muere|cae|sigue|siguen|queda|quedan|pone|tarda|falta|gusta|encanta|duele|importa|odia|prefiere|ahora|nada|cada|hace|cumple|paga|suele|acaba|insiste|nombre|madre|padre|grave|enferma|cansada|enfadada|contenta|triste"
)
_NO_OBJECTS: Final = words(
    "until|till|hasta|it|that|this|these|those|you|your|u|him|them|me|us|if|when|what|why|how|whether|sure|sense|care|want|to|note|look|like|well|so|too|than|much|not|out|up|off|better|here|there|a break|advantage|one|something|anything|nothing|everything|my best"
    "|lo|la|le|te|me|eso|esto|que|si|cuando|como|caso|falta|tiempo|ganas|gracias|aqui|alli|algo|nada|frio|calor|prisa|bien|mal|"
    "|את זה|זה|אותו|אותה|אותך|לך|לו|ש|עכשיו|הביתה|לישון|לשם|משם|לאיבוד|רגע|דקה"
)
_NOT_KEPT: Final = words("in|my|an|the|a|on|for|up|with|to|all")
_DEICTIC: Final = words("you|your|u|ur|yourself|it|that|this|tu|te|tus|eso|esto|אותך|לך|שלך|זה")


def present(reading: Reading, subject: Subject) -> Finding | None:
    """As in "my brother runs the dairy side", "I do the school run", "toco el bajo", "הבת שלי משרתת בחיל הים"."""
    language = reading.language
    if subject.loose or subject.noun is not None or (subject.end == subject.first and not language.drops_subject):
        return None
    at, negated, base = subject.end, False, not subject.third
    while at < len(reading.tokens):
        word = reading.tokens[at].plain
        if word in language.negations:
            negated = not negated
        elif word in _DO and any(t.plain in language.negations for t in reading.tokens[at + 1 : at + 2]):
            base = True
        elif word not in language.fillers or word in ("been", "did", "do", "does"):
            break
        at += 1
    since = negated and any(token.plain in ("since", "for", "in") for token in reading.tokens[at:])
    if since and at < len(reading.tokens) and reading.tokens[at].plain in _NOT_FOR_LONG:
        last = value_end(reading, at)
        return checked(reading, Finding(subject, "routine", reading.tokens[at:last], subject.first, last, negated=True))
    if at >= len(reading.tokens) or not _is_lasting(reading.tokens[at], subject, language.name, base=base):
        return None
    last = value_end(reading, at)
    value = reading.tokens[at:last]
    if not _tells(value, negated=negated) or any(token.plain in LAUGHS for token in reading.tokens):
        return None
    if begins(reading.tokens, last, language.conditional) or not all(t.written for t in value[:1]):
        return None
    return checked(reading, Finding(subject, "routine", value, subject.first, last, negated=negated))


def _is_lasting(verb: Token, subject: Subject, language: str, *, base: bool) -> bool:
    theirs = subject.who != SELF and not verb.capital and len(verb.plain) > _SHORTEST
    if language == "es":
        known = verb.plain in _SPANISH and verb.plain.endswith(("o", "oy", "mos")) == (subject.who == SELF)
        return known or (theirs and verb.plain.endswith(("a", "e", "an", "en")) and verb.plain not in _OF_NOW)
    if language == "he":
        return verb.plain in _HEBREW
    if subject.who == SELF:
        return verb.plain in LASTING
    if not verb.plain.isalpha() or verb.capital or verb.plain in _TO_BE:
        return False
    if base:
        return verb.plain in LASTING | _HABITS
    stem = verb.plain.removesuffix("s")
    return (
        stem != verb.plain
        and not stem.endswith("s")
        and not {stem, stem.removesuffix("e"), stem.removesuffix("ie") + "y"} & _OF_THE_MOMENT
    )


def _tells(value: tuple[Token, ...], *, negated: bool) -> bool:
    said = [token.plain for token in value]
    if len(value) == 1:
        return said[0] in _ALONE or (negated and said[0].removesuffix("s") in _HABITS)
    return (
        len(value) > 1
        and said[1] not in _NO_OBJECTS
        and not (
            said[0].startswith("work")
            and said[1:3] not in (["in", "a"], ["in", "an"], ["at", "a"], ["at", "an"], ["with", said[-1]])
        )
        and not (said[0] == "do" and said[1] not in ("the", "a", "an", "my", "our"))
        and not (said[0] == "keep" and (said[1].endswith("ing") or said[1] in _NOT_KEPT))
        and " ".join(said[1:3]) not in _NO_OBJECTS
        and _DEICTIC.isdisjoint(said)
    )
