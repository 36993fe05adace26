"""Which standing instructions cannot both be followed, and which of them holds: by rules, no model.

Read are the language, length, tone, formality, emojis, units and the name to call the person by, and the same words
with and without a "never". Whatever else an instruction says conflicts with nothing: in doubt both hold.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.memory.models import plain

_LONGEST = 300  # letters of a text that is read
_OWN_CONDITION = re.compile(
    r"\b(?:unless|except|if|when|whenever|but|while|only\son|cuando|si|salvo|excepto|menos|pero)\b|\bאם\b|\bכש|\bאלא\b|\bאבל\b|\bחוץ\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r",\s|;\s?|\s(?:and|y)\s|,\s?ו")
_PREFIX = re.compile(
    r"(?:(?:please|always|only|just|also|siempre|por\sfavor|solo|sólo|תמיד|בבקשה|רק)\s|(?:i\s(?:want|need)|i'd\slike|i\swould\slike)\s(?:you\sto\s)?"
    r"|you\s(?:should|must|have\sto|need\sto|can)\s|make\ssure\s(?:to|you)\s|(?:quiero|prefiero)\s(?:que\s)?|אני\s(?:רוצה|מבקש|מבקשת|מעדיף|מעדיפה)\s(?:ש)?)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:(?:(?:do\snot|don't)(?:\sever)?|never(?:\sever)?|not|stop|no\smore|no\slonger|avoid|without|no|nunca|jamás|deja\sde|evita|sin|no\smás)\s"
    r"|(?:(?:אף\sפעם|לעולם|בחיים)\s)?אל\s|(?:תפסיק|תפסיקי|תפסיקו|די)\s|בלי\s)",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    r"\s(?:any\s?more|ever|ever\sagain|yet|más|יותר|אף\sפעם|(?:to|with|for)\sme|please|por\sfavor|always|siempre)\Z",
    re.IGNORECASE,
)

_LANGUAGES = {
    "en": "english inglés ingles אנגלית",
    "es": "spanish español espanol castellano ספרדית",
    "he": "hebrew hebreo עברית",
    "fr": "french francés frances צרפתית",
    "de": "german alemán aleman גרמנית",
    "it": "italian italiano איטלקית",
    "pt": "portuguese portugués portugues פורטוגזית",
    "ar": "arabic árabe arabe ערבית",
    "ru": "russian ruso רוסית",
    "nl": "dutch holandés neerlandés הולנדית",
    "zh": "chinese chino סינית",
    "ja": "japanese japonés יפנית",
    "ro": "romanian rumano רומנית",
    "pl": "polish polaco פולנית",
    "tr": "turkish turco טורקית",
    "uk": "ukrainian ucraniano אוקראינית",
    "yi": "yiddish יידיש",
    "am": "amharic אמהרית",
}
_CODE_OF = {word: code for code, words in _LANGUAGES.items() for word in words.split()}
_SPEAK = (
    r"(?:answer(?:ing)?|reply(?:ing)?|respond(?:ing)?|speak(?:ing)?|talk(?:ing)?|writ(?:e|ing))(?:\s(?:to\s)?(?:me|us))?\s(?:only\s)?(?:in\s)?"
    r"|(?:respond|contest|escrib|habl)(?:a|e|as|es|er|ar|ir|an)?(?:me)?\s(?:siempre\s|solo\s)?(?:en\s)?"
    r"|(?:respóndeme|contéstame|escríbeme|háblame)\s(?:en\s)?"
    r"|(?:תענ[הי]|תענו|תשיבי?|תכתוב|תכתבי|תדבר|תדברי|לענות|לכתוב|לדבר)\s(?:(?:לי|איתי|אליי)\s)?(?:רק\s)?ב"
)
_TELL_ANSWERS = (
    r"(?:(?:be|being|keep|keeping|give|giving|answer|reply|respond|write|writing|make|use|using|add|adding|put|include|uses|usar|utilices|pongas|sé|seas|ser|da|dame|responde|contesta|escribe|usa|mantén|תהיה|תהיי|תענה|תעני|תכתוב|תכתבי|תן\sלי|תני\sלי|תשתמש|תשתמשי|להשתמש|תוסיף|תוסיפי)\s)?"
    r"(?:(?:me|to\sme|it|them|in|with|your|the|my|en|tus|de\smanera|de\sforma|con|más|muy|more|very|as|a|לי|באופן|בצורה|יותר|מאוד)\s){0,4}(?:(?:answers?|replies|responses?|messages?|respuestas|mensajes|תשובות)\s)?"
)
_AFTER = (
    r"(?:\s(?:answers?|replies|responses?|messages?|tone|respuestas|language|units?|system|possible"
    r"|tono|lenguaje|יותר|מאוד))?"
)


def _style(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_TELL_ANSWERS})(?:{words}){_AFTER}", re.IGNORECASE)


_LANGUAGE = re.compile(rf"(?:{_SPEAK})(?P<value>[^\W\d_]{{3,15}})", re.IGNORECASE)
_NAME = re.compile(
    r"(?:(?:call(?:ing)?|name|address)\sme\s(?:as\s)?|(?:llámame|me\sllames|llamarme)\s|(?:תקרא|תקראי|לקרוא)\sלי\s)(?P<value>[^,;]{1,40})",
    re.IGNORECASE,
)
_STYLES: Sequence[tuple[str, str, re.Pattern[str]]] = tuple(
    (dimension, value, _style(words))
    for dimension, value, words in (
        (
            "length",
            "short",
            (
                r"brief|briefly|short|shorter|concise|concisely|in\sshort|(?:one|a\ssingle|two)\s(?:sentences?|lines?|words?)|breves?|brevemente|cortas?|conciso|concisa"
                r"|una\s(?:sola\s)?(?:frase|línea)|בקצרה|קצרות|קצר|קצרה|תמציתי|תמציתית|(?:ב)?(?:משפט|שורה)\s(?:אחד|אחת)"
            ),
        ),
        (
            "length",
            "long",
            r"long|longer|detailed|in\sdetail|at\slength|verbose|thorough|largas?|detalladas?|detallado|detalle|בפירוט|ארוכות|מפורט|מפורטת|מפורטות|באריכות",
        ),
        ("formality", "formal", r"formal|formally|de\susted|רשמי|רשמית|רשמיות"),
        ("formality", "informal", r"informal|informally|casual|casually|de\stú|לא\sרשמי|לא\sרשמית"),
        (
            "tone",
            "funny",
            r"funny|humorous|playful|humou?r|divertido|divertida|gracioso|graciosa|humor|מצחיק|מצחיקה|הומור|בהומור",
        ),
        ("tone", "serious", r"serious|seriously|serio|seria|רציני|רצינית|ברצינות"),
        (
            "emojis",
            "used",
            r"(?:any\s|many\s|so\smany\s|lots\sof\s|muchos\s)?(?:emojis?|emoticons?|emoticonos)|ב?אימוג'י(?:ם)?|ב?אמוג'י(?:ם)?|ב?אימוג׳ים",
        ),
        ("units", "metric", r"(?:the\s)?metric|(?:el\s)?(?:sistema\s|unidades\s)?métric(?:o|as)|(?:ב?יחידות\s)?מטריות"),
        (
            "units",
            "imperial",
            r"(?:the\s)?imperial|(?:el\s)?(?:sistema\s|unidades\s)?imperial(?:es)?|(?:ב?יחידות\s)?אימפריאליות",
        ),
        ("temperature", "celsius", r"(?:degrees\s|grados\s)?celsius|ב?צלזיוס"),
        ("temperature", "fahrenheit", r"(?:degrees\s|grados\s)?fahrenheit|ב?פרנהייט"),
        ("distance", "kilometres", r"kilomet(?:er|re)s?|kilómetros|ב?קילומטרים"),
        ("distance", "miles", r"miles|millas|ב?מיילים"),
        ("address", "feminine", r"(?:תפנה|תפני)\s(?:אליי|אלי)\s(?:ב)?לשון\sנקבה|(?:ב)?לשון\sנקבה"),
        ("address", "masculine", r"(?:תפנה|תפני)\s(?:אליי|אלי)\s(?:ב)?לשון\sזכר|(?:ב)?לשון\sזכר"),
    )
)
_WHOLE: Mapping[str, tuple[str, str]] = {
    "trátame de usted": ("formality", "formal"),
    "tutéame": ("formality", "informal"),
}


@dataclass(frozen=True)
class Claim:
    """One thing an instruction asks for, or with `denied` forbids."""

    about: str
    value: str
    denied: bool

    def opposes(self, other: "Claim") -> bool:
        if self.about != other.about:
            return False
        same = self.value == other.value
        return same if self.denied != other.denied else not (same or self.denied or self.about == _WORDS)


_WORDS = "words"


class Ruled(Protocol):
    """What is weighed; an Instruction is one."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def condition(self) -> str | None: ...


def overruled(instructions: Sequence[Ruled]) -> dict[str, str]:
    """The id of each that cannot be followed, and that of the one that holds instead.

    They come with the one that overrides the others first. One is overruled where all it asks for is opposed, under the
    same condition: one that holds at other times, or asks for more, stays.
    """
    lost: dict[str, str] = {}
    standing: dict[tuple[str, str], list[tuple[Claim, str]]] = {}
    for each in instructions:
        read = claims(each.text)
        under = plain(each.condition or "")
        winners = [
            next((by for other, by in standing.get((under, claim.about), ()) if claim.opposes(other)), None)
            if claim is not None
            else None
            for claim in read
        ]
        if winners and (winner := winners[0]) is not None and all(winners):
            lost[each.id] = winner
            continue
        for claim in read:
            if claim is not None:
                standing.setdefault((under, claim.about), []).append((claim, each.id))
    return lost


def opposed(text: str, other: str) -> bool:
    """Whether all that `other` asks for is opposed by `text`."""
    mine = [each for each in claims(text) if each is not None]
    theirs = claims(other)
    return bool(theirs) and all(each is not None and any(each.opposes(own) for own in mine) for each in theirs)


def withdraws(text: str, other: str) -> bool:
    """Whether `text` only takes `other` back, as "stop answering in Spanish" does: nothing is left to be done then."""
    mine = claims(text)
    return (
        len(mine) == 1
        and mine[0] is not None
        and mine[0].denied
        and mine[0].about not in (_WORDS, "emojis")
        and opposed(text, other)
    )


def concerns(topic: str, order: str) -> bool:
    """Tells whether an order is about a topic that is free again: by its words, or by the opposite of them."""
    told, asked = set(terms(topic)), set(terms(order))
    language = _CODE_OF.get(plain(topic).split()[-1]) if told else None
    known = {(each.about, each.value) for each in claims(topic) if each is not None}
    return bool(told) and (
        told <= asked
        or opposed(topic, order)
        or any((each.about, each.value) in known or _other_language(each, language) for each in claims(order) if each)
    )


def _other_language(claim: Claim, language: str | None) -> bool:
    return claim.about == "language" and language not in (None, claim.value)


def claims(text: str) -> tuple[Claim | None, ...]:
    """What a text asks for, clause by clause; None for a clause that is not understood."""
    return () if len(text) > _LONGEST else _claims(text)


@functools.lru_cache(maxsize=2_048)
def _claims(text: str) -> tuple[Claim | None, ...]:
    said = plain(text).replace("’", "'").strip(" .!,;:")
    if not said or _OWN_CONDITION.search(said):
        return ()
    clauses = [each for each in _CLAUSES.split(said) if each.strip()]
    first_denied = bool(clauses) and _bare(clauses[0])[1]
    read: list[Claim | None] = []
    for place, clause in enumerate(clauses):
        bare, denied = _bare(clause)
        if place and first_denied and not denied:  # "don't use emojis and tables" may deny both
            read.append(None)
        else:
            read.append(_claim(bare, denied=denied, alone=len(clauses) == 1))
    return tuple(read)


def _bare(clause: str) -> tuple[str, bool]:
    """Without the words around what is asked for, and whether it is forbidden."""
    denied = False
    for _ in range(6):
        if found := _PREFIX.match(clause):
            clause = clause[found.end() :]
        elif found := _NOT.match(clause):
            clause, denied = clause[found.end() :], True
        else:
            break
    while found := _NO_MORE.search(clause):
        clause = clause[: found.start()]
    return clause.strip(), denied


def _claim(bare: str, *, denied: bool, alone: bool) -> Claim | None:
    if (found := _LANGUAGE.fullmatch(bare)) and found["value"] in _CODE_OF:
        return Claim("language", _CODE_OF[found["value"]], denied)
    if found := _NAME.fullmatch(bare):
        return Claim("name", found["value"].strip(" \"'"), denied)
    if bare in _WHOLE:
        return Claim(*_WHOLE[bare], denied)
    for about, value, pattern in _STYLES:
        if pattern.fullmatch(bare):
            return Claim(about, value, denied)
    words = terms(bare) if alone else []
    return Claim(_WORDS, " ".join(words), denied) if words else None
