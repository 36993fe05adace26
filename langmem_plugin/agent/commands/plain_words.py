"""Commands in plain words, "remember that I am vegan", by rules in three languages: rather none than a wrong one.

A text is one only as a whole: a single sentence, no question, nothing asked for besides. What only points ("forget
that one") or is to be done ("remember to buy milk") belongs to the agent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from langmem_plugin.agent.command_words import CommandName
from langmem_plugin.agent.commands.instruction_list import NEWEST

_LONGEST = 600  # letters of a text that is looked at
_LONGEST_QUESTION = 80
_SHORTENED = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|no|sr|sra|dra|ud|uds|[a-zñ])\.\s", re.IGNORECASE)
_SENTENCES = re.compile(r"[.!?…][\"'”’)]{0,3}\s\S")
_QUESTION = re.compile(r"[?¿؟]")
_APOSTROPHES = str.maketrans("’ʼ`´", "''''")


@dataclass(frozen=True)
class Said:
    """Which command a text is, with what follows the command's words."""

    command: CommandName
    rest: str = ""


@dataclass(frozen=True)
class _Rule:
    """`says` has the argument as group "rest", which `means` must match from its start, and `not_if` nowhere."""

    command: Literal["remember", "forget", "instructions"]
    says: re.Pattern[str]
    means: re.Pattern[str] | None = None
    not_if: re.Pattern[str] | None = None


@dataclass(frozen=True)
class _Language:
    letters: re.Pattern[str]
    asks_for_all: re.Pattern[str]
    drops_rule: re.Pattern[str]
    """Takes a standing instruction back, the one with a `number` or the last."""
    rules: Sequence[_Rule]
    asks_more: re.Pattern[str]
    """A request behind the first: "… and show me recipes"."""
    politeness: re.Pattern[str]
    """Behind what is told, and no part of it."""
    allows: re.Pattern[str]
    """That what the person says may be remembered."""
    forbids: re.Pattern[str]
    erases: re.Pattern[str]
    """All that is known of the person: they are asked whether that is meant."""
    asks_why: re.Pattern[str]
    """On what the last reply rests."""
    drops: re.Pattern[str]
    """That something is deleted, "rest", which may be remembered or the business of the agent."""
    of_a_tool: re.Pattern[str]
    """It is the agent's: deleted from a list, an order, a calendar."""


def said(text: str) -> Said | None:
    """The command that a text is in plain words; None if it is none. `text` is cleaned."""
    if not text or len(text) > _LONGEST or len([line for line in text.splitlines() if line.strip()]) > 1:
        return None
    text = " ".join(text.split())
    if _SENTENCES.search(_SHORTENED.sub(" ", text)):
        return None
    plain = text.translate(_APOSTROPHES)
    for language in _LANGUAGES.values():
        if not language.letters.search(plain):
            continue
        if (whole := _whole(language, plain)) is not None:
            return whole
        if _QUESTION.search(plain):
            continue
        for rule in language.rules:
            if (found := _read(rule, language, plain)) is not None:
                # As it was written: only apostrophes were made equal, letter by letter.
                return Said(rule.command, text[found.start("rest") : found.end("rest")].strip())
    return None


def _whole(language: _Language, text: str) -> Said | None:
    """Of sayings in which nothing is left open."""
    if language.asks_for_all.fullmatch(text):
        return Said("memories")
    if dropped := language.drops_rule.fullmatch(text):
        return Said("instructions", f"delete {dropped['number'] or NEWEST}")
    if language.erases.fullmatch(text):
        return Said("privacy", "erase")
    switched = _switched(language, text)
    return None if switched is None else Said("privacy", switched)


def asks_why(text: str) -> bool:
    """Whether a text asks on what the reply before it rests: a command only where that is something remembered."""
    if not text or len(text) > _LONGEST_QUESTION:
        return False
    plain = " ".join(text.split()).translate(_APOSTROPHES)
    return any(
        language.letters.search(plain) and language.asks_why.fullmatch(plain) for language in _LANGUAGES.values()
    )


def wants_gone(text: str) -> str | None:
    """What a text asks to delete, "my address", where that may be a memory: a command only if one is found by it."""
    if not text or len(text) > _LONGEST_QUESTION:
        return None
    plain = " ".join(text.split()).translate(_APOSTROPHES)
    for language in _LANGUAGES.values():
        found = language.drops.fullmatch(plain) if language.letters.search(plain) else None
        if found is not None and not language.of_a_tool.search(plain):
            return found["rest"].strip(" ,")
    return None


def _switched(language: _Language, text: str) -> str | None:
    end = language.politeness.search(text)
    told = text[: end.start()] if end else text
    if language.forbids.fullmatch(told):
        return "off"
    return "on" if language.allows.fullmatch(told) else None


def _read(rule: _Rule, language: _Language, text: str) -> re.Match[str] | None:
    end = language.politeness.search(text)
    found = rule.says.fullmatch(text[: end.start()] if end else text)
    if found is None or not found["rest"].strip(" .,!:"):
        return None
    rest = found["rest"]
    if rule.means is not None and not rule.means.match(rest):
        return None
    if (rule.not_if is not None and rule.not_if.search(rest)) or language.asks_more.search(rest):
        return None
    return found


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL | re.VERBOSE)


_EN_HEAD = r"\A(?:(?:hey|hi|hello|ok|okay|well|so|and|also|oh)\b[\s,!]{0,3})?(?:please[\s,]{1,3})?"
_EN_END = r"[\s.!]{0,5}\Z"
# What a clause begins with; "that place" has none, and "that coffee keeps me awake" its verb behind.
_EN_CLAUSE = _pattern(
    r"""(?:i|i'(?:m|ve|d|ll)|you|you'(?:re|ve|ll)|we|we'(?:re|ve|ll)|he|he'(?:s|ll)|she|she'(?:s|ll)|they|they'(?:re|ve|ll)
    |it|it's|my|our|his|her|their|your|the|a|an|there|there's|every|everybody|everyone|nobody
    |on|in|at|from|since|no|most|some|any|mom|mum|dad|grandma|grandpa)\b\s\S
    |[^\W\d_][\w'.-]{0,30}(?:\s[\w'.-]{1,30})?\s(?:is|are|was|were|isn't|aren't|wasn't|can|can't|cannot|could|couldn't|don't|doesn't|does|do|did|didn't
    |has|have|had|hasn't|haven't|will|won't|would|must|should|may|makes?|keeps?|likes?|loves?|hates?|owes?|needs?|wants?
    |prefers?|lives?|works?|eats?|drinks?|plays?|speaks?|costs?|goes|go|gives?|gets?|starts?|ends?|begins?|turns?|opens?)\b\s\S"""
)
_EN_POINTS = (
    r"(?:it|that|this|them|those|these|(?:the|that|this)\s(?:\w{1,30}\s)?ones?|number\s\d{1,4}|[#]?\d{1,4}"
    r"|the\s(?:first|second|third|last|other|above|rest)|(?:the\s|all\s|your\s)?previous\b.*)"
)
_EN_NO_FACT = _pattern(
    r"\A(?:(?:the|that|this)\s(?:(?:first|second|third|last|other)\s)?one\b|(?:i|we)\s(?:just\s|ever\s)?(?:asked|said|mentioned|wrote|told|talked|spoke|discussed)\b|you\b)|,"
)
_EN_SAID_BY_ME = (
    r"(?:(?:what|everything|anything|whatever|all|things|stuff|facts)\s(?:that\s)?i\s(?:tell\syou|say|write|text\syou|send\syou)"
    r"|(?:things|stuff|facts|everything|anything|information|data)\s(?:about|on)\sme)"
)
_EN_ONE = r"\b(?:the|that|this)\s(?:(?:first|second|third|last|other)\s)?one\b"

# What is wanted at some hour is an errand, and "song is great" of "remember that song is great" points at a song.
_EN_ERRAND = r"""\A(?:i|we)(?:'d\slike|'ll\sneed|\s(?:will\s)?(?:need|want|have\sto|must))\s.{0,60}?
    \b(?:at\s\d|today\b|tonight\b|tomorrow\b|in\s(?:an?|\d{1,2})\s(?:hour|minute))"""
_EN_JUDGED = r"""\A[^\W\d_]{2,20}\s(?:is|was|are|were)\s(?:(?:so|really|very|such|just)\s)?(?:great|good|bad|awful
    |amazing|terrible|awesome|fun|funny|nice|cool|lovely|boring|brilliant|fantastic|horrible|perfect|beautiful|delicious|a\smess)
    [\s.!]{0,5}\Z"""

_ENGLISH = _Language(
    drops=_pattern(
        rf"""{_EN_HEAD}(?:(?:can|could|would|will)\syou\s(?:please\s)?)?(?:forget|delete|remove|erase|wipe)\s(?:please\s)?
        (?:about\s|(?:what|everything|all|anything)\syou\s(?:know|remember|have|saved|noted)\s(?:about|on|of)\s
        |the\s(?:fact|memory|note|entry)\s(?:that|about|with)\s)?
        (?P<rest>(?:my|our|his|her|their|the|where|when|how|who|that)\s[^?]{{2,}}?)(?:\sfrom\s(?:your\s)?memory)?(?:,?\splease)?[\s.!?]{{0,5}}\Z"""
    ),
    of_a_tool=_pattern(
        r"\b(?:from|off|in|on|to)\s(?:the|my|our|this|that)\b|\b(?:lists?|cart|basket|orders?|calendars?|reminders?|tasks?|meetings?|files?"
        r"|events?|bookings?|messages?|emails?|recipes?|that\sone|last\sone|first\sone)\b"
    ),
    letters=re.compile("[A-Za-z]"),
    asks_for_all=_pattern(
        rf"""{_EN_HEAD}(?:(?:can\syou\s|could\syou\s)?(?:please\s)?(?:show|tell|list)\s(?:me\s)?(?:everything\s|all\s)?(?:that\s)?(?:what\s)?you\s
        |what\s(?:all\s)?do\syou\s|what\shave\syou\s)(?:remember(?:ed)?|know|stored|learn(?:ed|t))\s(?:about|of)\sme
        (?:[\s,]{{0,3}}please)?[\s.!?]{{0,5}}\Z"""
    ),
    drops_rule=_pattern(
        rf"""{_EN_HEAD}(?:forget(?:\sabout)?|drop|cancel|delete|remove|scrap|revoke)\s(?:(?:that|this|the\slast|my\slast|your\slast)\s(?:standing\s)?(?:rule|instruction)
        |(?:the\s)?(?:standing\s)?(?:rule|instruction)\s(?:number\s|no\.?\s)?\#?(?P<number>\d{{1,3}}))(?:[\s,]{{0,3}}please)?{_EN_END}"""
    ),
    rules=(
        _Rule(
            "remember",
            _pattern(
                rf"""{_EN_HEAD}(?:remember|(?:don't|do\snot|never)\sforget|keep\sin\smind)(?:\s(?:please\s)?that\s|\s?:\s?)(?P<rest>.+)"""
            ),
            means=_EN_CLAUSE,
            not_if=_pattern(rf"{_EN_ONE}|\bis\swhat\s(?:i|we)\b|{_EN_ERRAND}|{_EN_JUDGED}"),
        ),
        _Rule(
            "forget",
            _pattern(rf"""{_EN_HEAD}forget\s(?:please\s)?that\s(?P<rest>.+?){_EN_END}"""),
            means=_EN_CLAUSE,
            not_if=_EN_NO_FACT,
        ),
        _Rule(
            "forget",
            _pattern(
                rf"""{_EN_HEAD}forget\s(?:what|everything|all|whatever|anything)(?:\s(?:that\s)?(?:i(?:'ve)?\s(?:ever\s)?(?:told\syou|said|mentioned|wrote)
                |you\s(?:know|remember)))?\s(?:about|of|regarding)\s(?P<rest>.+?){_EN_END}"""
            ),
            not_if=_pattern(rf"\A(?:{_EN_POINTS}\s?\Z|{_EN_POINTS}[\s,]{{1,3}}(?:and|or)\b)|,|\bme\s?\Z"),
        ),
        _Rule(
            "instructions",
            _pattern(rf"""{_EN_HEAD}from\snow\son[\s,:]{{1,3}}(?:please\s)?(?P<rest>.+?){_EN_END}"""),
            not_if=_pattern(
                r"""\A(?:(?:i|we)\s(?!want\b|would\slike\b|would\sprefer\b|prefer\b|need\syou\b|expect\b)
                |(?:i|we)'(?!d\s(?:like|prefer|rather)\b)|(?:my|our|his|her|their|he|she|they|it|the|there|this|that|a|an|all|everything|nothing|let's)\b
                |(?:he|she|they|it|there|that)')"""
            ),
        ),
    ),
    asks_more=_pattern(
        r"""(?:,|\band\b|\bthen\b|\bso\b|\bbut\b)\s(?:then\s)?(?:please\s)?(?:can\syou\s|could\syou\s|let's|let\sme|i\swant\syou\sto\s)?
        (?:show|find|tell|send|order|book|search|recommend|suggest|help|write|list|add|give\sme|let's|what|where|when|which|who|how)\b(?!\s(?:and|i|we|he|she|they)\b)"""
    ),
    politeness=_pattern(r"[\s,]{1,3}(?:please|ok|okay|thanks|thank\syou)[\s.!]{0,5}\Z"),
    allows=_pattern(
        rf"""{_EN_HEAD}(?:you(?:\smay|\scan|'re\sallowed\sto|\sare\sallowed\sto|\shave\smy\spermission\sto)|feel\sfree\sto|i\sallow\syou\sto)
        \s(?:start\sto\s)?(?:remember|keep|store|save)\s{_EN_SAID_BY_ME}(?:\s(?:again|from\snow\son))?{_EN_END}"""
    ),
    forbids=_pattern(
        rf"""{_EN_HEAD}(?:(?:stop|quit)\s(?:remembering|keeping|storing|saving|collecting)
        |(?:don't|do\snot|never|you\s(?:may|can|must|should)\s?not|you\scan't|i\sdon't\swant\syou\sto)\s(?:remember|keep|store|save))
        \s{_EN_SAID_BY_ME}(?:\s(?:any\s?more|from\snow\son|again))?{_EN_END}"""
    ),
    erases=_pattern(
        rf"""{_EN_HEAD}(?:(?:can|could)\syou\s)?(?:please\s)?(?:forget|(?:delete|erase|remove)(?=.+\bme\b))\s(?:everything|all(?=.*\b(?:me|you|i)\b))
        (?:\s(?:(?:that|what)\s)?(?:you(?:'ve|\shave)?\s(?:ever\s)?(?:know|remember|remembered|stored|learned|learnt)
        |i(?:'ve|\shave)?\s(?:ever\s)?(?:told|said|tell)(?:\s(?:to\s)?you)?))?(?:\s(?:about|of|on)\sme)?(?:[\s,]{{1,3}}please)?[\s.!]{{0,5}}\Z"""
    ),
    asks_why=_pattern(
        rf"""{_EN_HEAD}(?:(?:and|but)\s)?(?:why\s(?:do|did|would)\syou\s(?:think|say|believe|assume|remember|mention)\s(?:that|so|this|it)
        |how\s(?:do|did|would|could|can)\syou\s(?:know|remember)(?:\s(?:that|this|it|all\s(?:that|this)))?
        |(?:from\s)?where\s(?:do|did)\syou\s(?:know|get|have|hear|learn)\s(?:that|this|it)(?:\sfrom)?
        |who\stold\syou(?:\s(?:that|this|so))?|what\smakes\syou\s(?:think|say|believe)\s(?:that|so|this))[\s.!?]{{0,5}}\Z"""
    ),
)

_HE_HEAD = r"\A(?:(?:היי|הי|אוקיי|אוקי|טוב|אז|וגם|גם|שלום)\b[\s,!]{0,3})?(?:בבקשה[\s,]{1,3})?"
_HE_END = r"[\s.!]{0,5}\Z"
# A clause of two words or more behind "ש"; these begin with that letter themselves.
_HE_CLAUSE = _pattern(r"\S{1,40}\s\S")
_HE_WORDS_WITH_SH = (
    "(?:בת|לום|לוש|לושה|לושת|ם|מות|עה|עות|נה|נים|יר|ירים|אלה|אלות|ולחן|מש|וק|תי|תיים|ני|ניים|נייה|ש|ישה|בע|בעה|מונה|בוע|בועות|יעור"
    "|ירות|יחה|כן|כנה|ל|לי|לך|לו|לה|לנו|לכם|להם|וב|ונה|ומר|ליטה|מח|מחה|קל|קלים|קט|נת|עת|מן|מלה|ינוי|ווה)"
)
_HE_RETRACTED = _pattern(r",|\A(?:את|אתה|דיברנו|אמרתי|שאלתי|ביקשתי|כתבתי|סיפרתי|דיברתי)\b")
_HE_POINTS = (
    r"(?:זה|זאת|זו|ההוא|ההיא|אלה|אלו|הם|הן|הראשון|הראשונה|השני|השנייה|השניה|השלישי|השלישית"
    r"|האחרון|האחרונה|מספר\s\d{1,4})"
)

_HE_SAID_BY_ME = (
    r"(?:(?:את\s)?(?:כל\s)?מה\sשאני\s(?:אומר|אומרת|מספר|מספרת|כותב|כותבת)(?:\sלך)?"
    r"|(?:דברים|פרטים|מידע|משהו|כלום|שום\sדבר|הכל|הכול)\s(?:עלי|עליי))"
)

_HEBREW = _Language(
    drops=_pattern(
        r"""\A(?:(?:היי|טוב|בבקשה)[\s,]{1,3})?(?:(?:את\s|אתה\s)?(?:יכול|יכולה|אפשר)\s)?(?:תמחקי?|תשכחי?|מחקי?|שכחי?|למחוק|לשכוח)\s(?:בבקשה\s)?
        (?:(?:את\s)?(?:כל\s)?מה\sשאתה?\sיודעת?\sעל\s|את\s|על\s)(?P<rest>[^?]{2,}?)(?:\sמהזיכרון)?(?:,?\sבבקשה)?[\s.!?]{0,5}\Z"""
    ),
    of_a_tool=_pattern(
        r"רשימה|מהרשימה|רשימת|עגלה|הזמנה|יומן|תזכורת|משימה|פגישה|קובץ|אירוע|הודעה|הודעות|מתכון|אחרון|אחרונה|ראשון|ראשונה"
    ),
    letters=re.compile("[א-ת]"),
    asks_for_all=_pattern(
        rf"""{_HE_HEAD}(?:(?:תגיד|תגידי|תראה|תראי|ספר|ספרי)\sלי\s)?(?:מה|כל\sמה\sש)\s?(?:את|אתה)\s(?:זוכר|זוכרת|יודע|יודעת)\s(?:עלי|עליי)[\s.!?]{{0,5}}\Z"""
    ),
    drops_rule=_pattern(
        rf"""{_HE_HEAD}(?:תשכח|תשכחי|שכח|שכחי|בטל|בטלי|תבטל|תבטלי|מחק|מחקי|תמחק|תמחקי)\s(?:(?:את\s|מ)?(?:ה?כלל\s(?:ה(?:זה|אחרון))|ה?הוראה\s(?:ה(?:זאת|זו|אחרונה)))
        |(?:את\s)?(?:ה?כלל|ה?הוראה)\s(?:מספר\s)?(?P<number>\d{{1,3}})){_HE_END}"""
    ),
    rules=(
        _Rule(
            "remember",
            _pattern(
                rf"""{_HE_HEAD}(?:תזכור|תזכרי|תזכרו|זכור|זכרי|אל\sתשכח|אל\sתשכחי|קח\sבחשבון|קחי\sבחשבון)(?:[\s,]{{1,3}}בבקשה)?[\s,]{{1,3}}ש(?P<rest>(?!{_HE_WORDS_WITH_SH}\b).+)"""
            ),
            means=_HE_CLAUSE,
            not_if=_pattern(
                rf"\A(?:זה|זאת|זו|אלה|אלו)\b|\s{_HE_POINTS}[\s.!]{{0,5}}\Z"
                r"|\A(?:אני|אנחנו)\s(?:צריך|צריכה|צריכים|רוצה|רוצים)\s.{0,60}?\s(?:היום|הערב|מחר|ב-?\d|בשעה|באחת|בשתיים"
                r"|בשלוש|בארבע|בחמש|בשש|בשבע|בשמונה|בתשע|בעשר)"
            ),
        ),
        _Rule(
            "remember",
            _pattern(rf"""{_HE_HEAD}(?:תזכור|תזכרי|תזכרו|זכור|זכרי)(?:\sבבקשה)?\s?:\s?(?P<rest>.+)"""),
            means=_HE_CLAUSE,
            not_if=_pattern(r"\A[לת]|\A(?:זה|זאת|זו|אלה|אלו)\b"),  # what is to be done
        ),
        _Rule(
            "forget",
            _pattern(
                rf"""{_HE_HEAD}(?:תשכח|תשכחי|שכח|שכחי)[\s,]{{1,3}}ש(?P<rest>(?!{_HE_WORDS_WITH_SH}\b).+?){_HE_END}"""
            ),
            means=_HE_CLAUSE,
            not_if=_HE_RETRACTED,
        ),
        _Rule(
            "forget",
            _pattern(
                rf"""{_HE_HEAD}(?:תשכח|תשכחי|שכח|שכחי)\s(?:את\s)?(?:כל\s)?מה\sש(?:סיפרתי|אמרתי|כתבתי|(?:את|אתה)\s(?:יודע|יודעת|זוכר|זוכרת))
                (?:\s(?:לך|לכם))?\s(?:על|לגבי|בנוגע\sל)\s?(?P<rest>.+?){_HE_END}"""
            ),
            not_if=_pattern(rf"\A{_HE_POINTS}\s?\Z|,|\Aי\b|\Aיי\b"),
        ),
        _Rule(
            "instructions",
            _pattern(
                rf"""{_HE_HEAD}(?:מעכשיו(?:\sוהלאה)?|מהיום(?:\sוהלאה)?|מעתה(?:\sו(?:אילך|הלאה))?)[\s,:]{{1,3}}(?:בבקשה\s)?(?P<rest>.+?){_HE_END}"""
            ),
            not_if=_pattern(
                r"\A(?:אני\s(?!רוצה\b|מבקש\b|מבקשת\b|מעדיף\b|מעדיפה\b)|אנחנו\s(?!רוצים\b|מעדיפים\b)|(?:הוא|היא|הם|הן|זה|זאת|יש|אין|השם|קוראים|הבן|הבת|אשתי|בעלי|הכל|הכול|כולם|נגמר|בוא|בואי|בואו)\b)"
            ),
        ),
    ),
    asks_more=_pattern(
        r"""(?:,\s?(?:ו|אז\s)?|\sו)(?:תראה|תראי|תמצא|תמצאי|תגיד|תגידי|תשלח|תשלחי|תזמין|תזמיני|תחפש|תחפשי|תמליץ|תמליצי|תעזור|תעזרי|תכתוב|תכתבי|תוסיף|תוסיפי|תן|תני|בוא|בואי|מה|איפה|מתי|איך)\b"""
    ),
    politeness=_pattern(r"[\s,]{1,3}(?:בבקשה|תודה|אוקיי)[\s.!]{0,5}\Z"),
    allows=_pattern(
        rf"""{_HE_HEAD}(?:(?:את|אתה)\s(?:יכול|יכולה|רשאי|רשאית)|מותר\sלך|אני\s(?:מרשה|מאשר|מאשרת)\sלך)\s(?:לזכור|לשמור)\s{_HE_SAID_BY_ME}(?:\s(?:שוב|מעכשיו))?{_HE_END}"""
    ),
    forbids=_pattern(
        rf"""{_HE_HEAD}(?:(?:תפסיק|תפסיקי|להפסיק|די|אסור\sלך|(?:את|אתה)\sלא\s(?:יכול|יכולה|רשאי|רשאית))\s(?:לזכור|לשמור|לאסוף)|אל\s(?:תזכור|תזכרי|תשמור|תשמרי))
        \s{_HE_SAID_BY_ME}(?:\s(?:יותר|מעכשיו))?{_HE_END}"""
    ),
    erases=_pattern(
        rf"""{_HE_HEAD}(?:(?:תשכח|תשכחי|שכח|שכחי)(?:\sאת)?\s(?:הכל|הכול)|(?:תשכח|תשכחי|שכח|שכחי|תמחק|תמחקי|מחק|מחקי)\s(?:את\s)?(?:(?:הכל|הכול)\s(?:עלי|עליי)
        |כל\sמה\sש(?:את|אתה)\s(?:יודע|יודעת|זוכר|זוכרת)\s(?:עלי|עליי)))(?:[\s,]{{1,3}}בבקשה)?{_HE_END}"""
    ),
    asks_why=_pattern(
        rf"""{_HE_HEAD}(?:(?:למה|מדוע)\s(?:את|אתה)\s(?:חושב|חושבת|אומר|אומרת|זוכר|זוכרת)\s(?:את\sזה|ככה|כך|כן)
        |(?:איך|מאיפה|מנין|מניין)\s(?:את|אתה)\s(?:יודע|יודעת|זוכר|זוכרת)(?:\sאת\s(?:זה|כל\sזה))?
        |מי\s(?:אמר|סיפר)\sלך(?:\s(?:את\sזה|על\sזה))?|מאיפה\s(?:הבאת|לקחת)\sאת\sזה)[\s.!?]{{0,5}}\Z"""
    ),
)

_ES_HEAD = r"\A[¡\s]{0,3}(?:(?:oye|hola|vale|ok|bueno|y|pues|ah)\b[\s,!]{0,3})?(?:por\sfavor[\s,]{1,3})?"
_ES_END = r"[\s.!]{0,5}\Z"
_ES_CLAUSE = _pattern(r"\S{1,40}\s\S")
# Behind a colon may stand what is to be done: "compra leche".
_ES_STATED = _pattern(
    r"""(?:(?:el|la|los|las|mi|mis|nuestr[oa]s?|su|sus|yo|soy|tengo|vivo|no|me)\s\S{1,40}\s\S|(?:soy|tengo|vivo|trabajo)\s\S
    |[^\W\d_][\w'.-]{0,30}(?:\s[\w'.-]{1,30})?\s(?:(?:me|le|nos|se|te)\s(?:debe|gusta|llama|prefiere)n?|es|son|está|están|tiene|tienen|vive|viven|trabaja|trabajan|debe|deben)\s\S)"""
)
_ES_POINTS = (
    r"(?:eso|esto|ello|esos?|esas?|el\s(?:primero|segundo|tercero|último|otro)"
    r"|la\s(?:primera|segunda|tercera|última|otra)|número\s\d{1,4})"
)
_ES_WHAT = r"(?:lo|todo\slo)\sque\s(?:te\s)?(?:he\s)?(?:dije|dicho|conté|contado|escribí|mencioné|sabes|recuerdas)"

_ES_SAID_BY_ME = (
    r"(?:(?:todo\s)?lo\sque\s(?:yo\s)?(?:te\s|le\s)?(?:digo|cuento|escribo|diga|cuente|escriba)"
    r"|(?:cosas|datos|información|nada|todo)\s(?:sobre|de|acerca\sde)\sm[íi])"
)

_SPANISH = _Language(
    drops=_pattern(
        r"""\A(?:(?:oye|vale|hola|por\sfavor)[\s,]{1,3})?(?:(?:puedes|podrías|podés)\s)?(?:olvid(?:a|ar|es|e|á)(?:te\sde|rte\sde)?|borr(?:a|ar|es|á)|elimin(?:a|ar|es|á)|quit(?:a|ar|á))\s
        (?:(?:todo\s)?lo\sque\ssabes\s(?:de|sobre)\s)?(?P<rest>(?:mis?|el|la|los|las|nuestr[oa]s?|d[óo]nde|cu[áa]ndo|que|qui[ée]n)\s[^?]{2,}?)
        (?:\sde\s(?:tu\s)?memoria)?(?:,?\spor\sfavor)?[\s.!?]{0,5}\Z"""
    ),
    of_a_tool=_pattern(
        r"\b(?:listas?|carrito|cesta|pedidos?|calendario|recordatorios?|tareas?|reuni[óo]n|reuniones|archivos?|eventos?|reservas?"
        r"|mensajes?|correos?|recetas?|[úu]ltim[oa]|primer[oa]?)\b"
    ),
    letters=re.compile("[A-Za-z]"),
    asks_for_all=_pattern(
        rf"""[¿\s]{{0,3}}{_ES_HEAD}(?:(?:dime|muéstrame|enséñame)\s)?[¿\s]{{0,3}}(?:qué|que|lo\sque|todo\slo\sque)\s(?:recuerdas|sabes|has\saprendido)\s(?:de|sobre|acerca\sde)\sm[íi][\s.!?]{{0,5}}\Z"""
    ),
    drops_rule=_pattern(
        rf"""{_ES_HEAD}(?:olvida|olvídate\sde|borra|elimina|quita|cancela|anula)\s(?:(?:esa|esta|la\súltima)\s(?:regla|instrucción|norma)
        |la\s(?:regla|instrucción|norma)\s(?:número\s)?(?P<number>\d{{1,3}}))(?:[\s,]{{0,3}}por\sfavor)?{_ES_END}"""
    ),
    rules=(
        _Rule(
            "remember",
            _pattern(
                rf"""{_ES_HEAD}(?:recuerda|recuerde|recuérdate|acuérdate\sde|no\s(?:te\s)?olvides(?:\sde)?|no\solvide|ten\sen\scuenta)
                (?:[\s,]{{1,3}}por\sfavor)?[\s,]{{1,3}}que\s(?P<rest>.+)"""
            ),
            means=_ES_CLAUSE,
            not_if=_pattern(
                rf"\A(?:te\sdije|es\sbroma|eso|esto|esos|esas)\b|\s{_ES_POINTS}[\s.!]{{0,5}}\Z"
                r"|\A(?:necesito|necesitamos|quiero|queremos|tengo\sque)\s.{0,60}?\b(?:hoy|mañana|esta\snoche|esta\starde|a\slas?\s\w)"
            ),
        ),
        _Rule(
            "remember",
            _pattern(rf"""{_ES_HEAD}(?:recuerda|recuerde)(?:\spor\sfavor)?\s?:\s?(?P<rest>.+)"""),
            means=_ES_STATED,
        ),
        _Rule(
            "forget",
            _pattern(rf"""{_ES_HEAD}(?:olvida|olvide|olvídate\sde)[\s,]{{1,3}}que\s(?P<rest>.+?){_ES_END}"""),
            means=_ES_CLAUSE,
            not_if=_pattern(
                r",|\A(?:te\s)?(?:lo\s)?(?:dije|pregunté|pedí|mencioné|conté|escribí|hablé|hablamos|eres|tú)\b"
            ),
        ),
        _Rule(
            "forget",
            _pattern(
                rf"""{_ES_HEAD}(?:olvida|olvide)\s{_ES_WHAT}\s(?:sobre|acerca\sde(?=l?\s)|de(?=l?\s)|respecto\sa)l?\s(?P<rest>.+?){_ES_END}"""
            ),
            not_if=_pattern(rf"\A(?:{_ES_POINTS}|(?:primero|segundo|tercero|último|otro))\s?\Z|,|\Am[íi]\s?\Z"),
        ),
        _Rule(
            "instructions",
            _pattern(
                rf"""{_ES_HEAD}(?:a\spartir\sde\s(?:ahora|hoy)|de\sahora\sen\sadelante|desde\sahora|de\saquí\sen\sadelante)[\s,:]{{1,3}}(?:por\sfavor[\s,]{{1,3}})?(?P<rest>.+?){_ES_END}"""
            ),
            not_if=_pattern(
                r"""\A(?:ya\s)?(?:no\s)?(?:me\s(?!gustaría\b)|(?:yo|nosotros|mi|mis|nuestro|nuestra|él|ella|ellos|ellas|el|la|todo|nada|mismo|qué|hagamos)\b
                |(?:soy|somos|estoy|estamos|estaré|seré|vivo|viviré|vivimos|trabajo|trabajaré|trabajamos|tengo|tenemos|tendré|voy|vamos|iré|como|comeré|bebo|hago|haré|puedo|estudio|estudiaré)\b)"""
            ),
        ),
    ),
    asks_more=_pattern(
        r"""(?:,|\by\b|\bentonces\b|\bpero\b)\s(?:por\sfavor\s)?(?:muéstrame|enséñame|búscame|busca|dime|mándame|envíame|pide|pídeme|reserva|resérvame|recomiéndame|ayúdame|escribe|añade|dame|hagamos|vamos|qué|cuál|dónde|cuándo|cómo)(?!\w)"""
    ),
    politeness=_pattern(r"[\s,]{1,3}(?:por\sfavor|gracias|vale)[\s.!]{0,5}\Z"),
    allows=_pattern(
        rf"""{_ES_HEAD}(?:puedes|puede|te\spermito|le\spermito|tienes\s(?:mi\s)?permiso\spara|tiene\s(?:mi\s)?permiso\spara)\s(?:recordar|guardar)\s{_ES_SAID_BY_ME}
        (?:\s(?:otra\svez|de\snuevo|desde\sahora|a\spartir\sde\sahora))?{_ES_END}"""
    ),
    forbids=_pattern(
        rf"""{_ES_HEAD}(?:(?:deja|deje|para|pare)\sde\s(?:recordar|guardar|recopilar)|no\s(?:puedes|puede)\s(?:recordar|guardar)|no\squiero\sque\s(?:recuerdes|guardes)
        |(?:ya\s)?no\s(?:recuerdes|recuerde|guardes|guarde)(?:\smás)?)\s{_ES_SAID_BY_ME}(?:\s(?:más|nunca\smás))?{_ES_END}"""
    ),
    erases=_pattern(
        rf"""{_ES_HEAD}(?:(?:olvida|olvide|olvídalo|olvídate\sde)\stodo|(?:olvida|olvide|borra|borre|elimina|elimine)\stodo\s(?:lo\sque\s(?:sabes|recuerdas)\s)?(?:de|sobre|acerca\sde)\sm[íi])
        (?:[\s,]{{1,3}}por\sfavor)?{_ES_END}"""
    ),
    asks_why=_pattern(
        rf"""[¿\s]{{0,3}}{_ES_HEAD}[¿\s]{{0,3}}(?:(?:y\s|pero\s)?(?:por\squé|por\sque|porqué|porque)\s(?:piensas|crees|dices|piensa|cree|dice)\s(?:eso|esto|así)
        |(?:y\s)?(?:cómo|como)\s(?:lo\s)?(?:sabes|supiste|sabe|recuerdas)(?:\s(?:eso|esto|todo\seso))?
        |de\sdónde\s(?:lo\s)?(?:sacas|sacaste|sabes|saca)(?:\s(?:eso|esto))?|qui[ée]n\ste\s(?:lo\s)?(?:dijo|contó|ha\sdicho)(?:\s(?:eso|esto))?
        |qu[ée]\ste\shace\s(?:pensar|creer|decir)\s(?:eso|esto))[\s.!?]{{0,5}}\Z"""
    ),
)

_LANGUAGES: Mapping[str, _Language] = {"he": _HEBREW, "en": _ENGLISH, "es": _SPANISH}
