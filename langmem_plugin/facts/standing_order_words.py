"""The words by which people give standing orders, in English, Hebrew and Spanish."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langmem_plugin.facts.words.calendar_names import MONTH_NAMES, WEEKDAY_NAMES, WITHOUT_ACCENTS

WEEKDAYS: Mapping[str, int] = {
    form: number
    for names in WEEKDAY_NAMES.values()
    for number, name in enumerate(names)
    for form in (name, WITHOUT_ACCENTS.get(name, name))
}
MONTHS: Mapping[str, int] = {
    name.lower(): number for names in MONTH_NAMES.values() for number, name in enumerate(names, 1)
}
NUMBERS: Mapping[str, int] = {
    **dict(
        zip(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], range(1, 11), strict=True)
    ),
    **dict(
        zip(
            ["uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"],
            range(1, 11),
            strict=True,
        )
    ),
    "a": 1,
    "an": 1,
    "un": 1,
    "una": 1,
}
UNITS: Mapping[str, tuple[str, int]] = {
    word: unit
    for unit, words in {
        ("minutes", 1): "minute minutes minuto minutos",
        ("minutes", 60): "hour hours hora horas",
        ("days", 1): "day days día días dia dias",
        ("days", 7): "week weeks semana semanas",
        ("days", 30): "month months mes meses",
    }.items()
    for word in words.split()
}


@dataclass(frozen=True)
class OrderWords:
    """All are held against the beginning of what is left of a sentence, but `ends` and `after`, which end it."""

    letters: re.Pattern[str]
    greeting: re.Pattern[str]
    polite_end: re.Pattern[str]
    from_now: re.Pattern[str]
    from_now_end: re.Pattern[str]
    important: re.Pattern[str]
    never_ever: re.Pattern[str] | None
    """Says both that it is important and that it must not be."""
    until: re.Pattern[str]
    until_end: re.Pattern[str]
    times: re.Pattern[str]
    times_end: re.Pattern[str]
    topic: re.Pattern[str]
    """Ends before the topic."""
    whenever: re.Pattern[str]
    """A condition that only a model can read: up to its comma."""
    unless: re.Pattern[str]
    """At the end of a sentence."""
    determiner: re.Pattern[str]
    then: re.Pattern[str]
    wanted: re.Pattern[str]
    """What an assistant is told to do, where it is plain that it is meant to last."""
    answering: re.Pattern[str]
    """How to answer: not what to do once, or at a time."""
    lasting: re.Pattern[str]
    """What says by itself that it is meant to last, and is about how an assistant answers."""
    more: re.Pattern[str]
    """A request of another kind, behind the order."""
    never: str
    names: re.Pattern[str]


def _p(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


_END = r"[.!…]{0,5}\Z"
_CLOCK = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s?(?P<half>[ap]\.?m\b\.?)?"
_CLOCK_2 = _CLOCK.replace("hour", "hour2").replace("minute", "minute2").replace("half", "half2")
_CLOCKS = (
    r"(?P<first>\d{1,2}(?::\d{2})?\s?(?:[ap]m)?)\s(?:and|to|y|a|עד|ו-?)\s?(?:las\s)?"
    r"(?P<last>\d{1,2}(?::\d{2})?\s?(?:[ap]m)?)"
)

# English

_EN_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_EN_MONTH = f"(?:{'|'.join(MONTH_NAMES['en']).lower()})"
_EN_UNTIL = rf"""(?:
    (?:until|till|through)\s(?:
        (?P<tomorrow>tomorrow)|(?P<today>tonight|the\send\sof\s(?:the\s|to)day)|(?:this\s
        |next\s)?(?P<weekday>{_EN_DAY})
        |(?:the\s)?end\sof\s(?:the|this)\s(?P<period>week|month|year)|(?P<next>next\s(?:week|month|year))
        |(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})|(?:the\s)?(?P<day>\d{{1,2}})(?:st|nd|rd
        |th)?\s(?:of\s)?(?P<month>{_EN_MONTH})
        |(?P<month2>{_EN_MONTH})\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?)
    |for\s(?:the\snext\s)?(?P<many>\d{{1,3}}|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s
        (?P<unit>minutes?|hours?|days?|weeks?|months?)
    |for\sthe\snext\s(?P<one>hour|day|week|month)
    |(?:just\s|only\s)?(?P<today2>for\stoday|today\sonly)|(?P<period2>(?:for\s)?this\s(?:week|month|year)))\b"""
_EN_TIMES = rf"""(?:(?:on\s|at\s|during\s)?(?:the\s)?(?P<weekend>weekends)|on\s(?P<weekday_>weekdays)
    |on\s(?P<on>{_EN_DAY})s|(?P<after>after)\s{_CLOCK}
    |(?P<before>before)\s{_CLOCK_2}
    |between\s{_CLOCKS})(?![\w:])"""
_EN_STYLE = (
    r"(?:(?:any|so\smany|more|only|my|the|a|an|simple|plain|short|shorter|long|formal|informal)\s){0,2}"
    r"(?:emojis?|emoticons?|smileys?|exclamation\s(?:marks?|points?)|bullets?|bullet\spoints?|tables?|lists?"
    r"|markdown|bold"
    r"|lower\s?case|upper\s?case|capitals?|capital\sletters|slang|jargon|metric|imperial|celsius|fahrenheit"
    r"|kilomet(?:er|re)s?"
    r"|miles|euros?|dollars?|words|sentences|paragraphs|language|first\sname|last\sname|nickname|name|pronouns"
    r"|hashtags?"
    r"|abbreviations|acronyms|footnotes|headings?|swear\swords|24[\s-]hour|military\stime)\b"
)
_EN_MANNER = (
    r"(?:(?:more|less|very|as|really|so|extra|always)\s){0,2}(?:brief|short|shorter|concise|polite|formal|informal"
    r"|casual|friendly"
    r"|kind|funny|serious|direct|honest|blunt|precise|detailed|positive|nice|professional|patient|gentle|strict|warm"
    r"|sarcastic|ironic|rude|verbose|wordy|chatty|critical|encouraging|cheerful|quick)\b"
)
_EN_SPEECH = rf"""(?:answer|reply|respond|speak\b(?!\sof)|talk\s(?:to\sme|in|like|about)|write\s(?:to\sme|in|short
    |long|your|back|like|out)|write\slower
    |(?:call|address|name|refer\sto|greet)\sme\b(?!\s(?:back|later|now|when|if|at|on|in\s(?:an?|the|\d)|tomorrow
    |tonight|late|early|names|again|before|after|today)\b)
    |cite|quote|apologi[sz]e|translate|summari[sz]e|explain|(?:send|give|show|tell|ask|remind|offer|correct|bother
    |interrupt|wake)\sme\b(?!\s(?:up\b|the\struth))
    |suggest|recommend|mention|include|repeat\syourself|sign|(?:start|begin|end|finish|close)\s(?:your|each|every|a
    |an|the|with|by)
    |keep\s(?:it|them|your|the|answers|replies|things)\b|format|assume\s(?:i|that)|be\s{_EN_MANNER}|use\s{_EN_STYLE}
    |add\s{_EN_STYLE}|put\s{_EN_STYLE}
    |avoid\s(?:using\s)?{_EN_STYLE}|let\sme\sknow|check\swith\sme|confirm)\b"""
_EN_ANSWERING = rf"""(?:answer\b|reply|respond|speak\s(?:to\sme|in|like)|talk\s(?:to\sme|in|like)
    |write\s(?:to\sme\sin|in|short|long|your|like|lower)|(?:call|address)\sme\b
    (?!\s(?:back|later|now|when|if|at|on|in\s(?:an?|the|\d)|tomorrow|tonight|late|early|names|again|before|after|today)\b)
    |keep\s(?:it|your|answers|replies)\b|be\s{_EN_MANNER}|use\s{_EN_STYLE})"""
_EN_SPEAKING = rf"""(?:answering|replying|responding|speaking|talking\s(?:to\sme|in|like|about)
    |writing\s(?:to\sme\s)?(?:in|such|so|long)
    |(?:calling|addressing|greeting|correcting|reminding|interrupting)\sme\b|asking\sme\s(?:if|whether|questions
    |follow)|apologi[sz]ing|translating|summari[sz]ing
    |sending\sme\b(?!\s(?:messages|texts|anything|stuff|these|this|that|the|all)\b)|suggesting|recommending|mentioning
    |repeating\s(?:yourself|what)|(?:starting|beginning|ending)\s(?:your|each|every|with)
    |being\s(?:so\s)?{_EN_MANNER}|(?:using|adding)\s{_EN_STYLE})\b"""
_EN_WISH = r"""(?:(?:i\swant|i\sneed|i'?d\slike|i\swould\slike|i'?d\sprefer|i\sexpect|i\sprefer)\syou\s(?:to\s)?
    |you\s(?:should|must|have\sto|need\sto|can|may|are\sto|ought\sto)\s|make\ssure\s(?:to|you|that\syou)\s
    |be\ssure\sto\s
    |(?:try|remember)\sto\s|please\s)"""
_EN_NOT = r"(?:(?:do\snot|don't)\s(?:ever\s|just\s)?|never\s(?:ever\s)?|always\s|only\s|not\s|just\s|no\slonger\s)"
_EN_WIDE = r"""(?:reply|speak|talk|write|use|say|avoid|keep|list|add|put|skip|leave|assume|round|spell|convert|check
    |confirm|warn|start|begin|end
    |finish|order|sort|compare|prefer|stick|treat|consider|remind|include|look|try|focus|ignore|omit|shorten|limit
    |make|do|have|let(?!'s)|take|count|show
    |give|tell|ask|send|suggest|recommend|call(?!\sme\b)|name(?!\sme\b)|set|be|stay|go\seasy|help|teach|correct|test|quiz|encourage
    |refuse|decline|stop|quit
    |draft|format|return|provide|present|describe|change|switch|define|calculate|propose|offer|find|search|book|sign|greet|pretend
    |act|wait|text|message|read)\b"""
_ENGLISH = OrderWords(
    letters=re.compile("[A-Za-z]"),
    greeting=_p(
        r"(?:(?:hey|hi|hello|ok|okay|well|so|and|also|oh|but|thanks|thank\syou|great|perfect|please|btw|by\sthe\sway"
        r"|listen|look|one\smore\sthing"
        r"|another\sthing)\b(?:\s(?:there|a\slot|so\smuch|bot))?[\s,:!.-]{1,3})"
    ),
    polite_end=_p(
        rf"[\s,]{{1,3}}(?:please|ok|okay|alright|thanks|thank\syou|yes|right|got\sit|understood)[\s?.!]{{0,5}}\Z"
        rf"|{_END}"
    ),
    from_now=_p(
        r"(?:from\s(?:now|today|this\s(?:moment|point))\s(?:on|onwards?|forward)|(?:going|moving)\sforward"
        r"|henceforth|in\s(?:the\s)?future)\b[\s,:]{1,3}"
        r"(?:and\s)?"
    ),
    from_now_end=_p(
        r"[\s,]{1,3}(?:from\s(?:now|today|this\s(?:moment|point))\s(?:on|onwards?|forward)|(?:going"
        r"|moving)\sforward)\Z"
    ),
    important=_p(
        r"(?:(?:(?:and|but)\s)?(?:(?:this|it)\sis\s|it's\s)?(?:the\s)?(?:most|very|really|extremely"
        r"|super)\simportant(?:ly)?(?:\s(?:rule|thing)(?:\sis)?)?"
        r"|important|above\sall|no\smatter\swhat|without\sexception|top\spriority)[\s:,.-]{1,3}"
    ),
    never_ever=_p(r"(?:under\sno\scircumstances?|in\sno\scase)[\s,]{1,3}(?:should\syou\s)?"),
    until=_p(rf"{_EN_UNTIL}[\s,:]{{1,3}}"),
    until_end=_p(rf"[\s,]{{1,3}}{_EN_UNTIL}\Z"),
    times=_p(rf"{_EN_TIMES}[\s,:]{{1,3}}"),
    times_end=_p(rf"[\s,]{{1,3}}{_EN_TIMES}\Z"),
    topic=_p(
        r"(?:whenever|when|if|each\stime|every\stime|any\s?time)\s(?:that\s)?(?:i|we)(?:'m|\sam|'re"
        r"|\sare)?\s(?:ever\s)?"
        r"(?:(?:ask(?:ing)?|talk(?:ing)?|speak(?:ing)?|writ(?:e|ing)|text(?:ing)?"
        r"|chat(?:ting)?)(?:\s(?:to\s)?you)?(?:\s(?:something|anything|questions?|a\squestion))?"
        r"\s(?:about|regarding|concerning|on)|mention(?:ing)?|bring\sup|discuss(?:ing)?)\s"
    ),
    whenever=_p(
        r"(?:whenever|each\stime|every\stime|any\s?time)\s(?:i|we|you|something|someone|anything|it)\b[^,]{2,120},\s"
    ),
    unless=_p(
        r"[\s,]{1,3}(?:unless|except\s(?:when|if))\s(?:(?:i|we)\s(?:ask|talk|speak|write)(?:\syou)?\sabout"
        r"|it\sis\sabout|it's\sabout)\s(?P<topic>[^,;]{2,60})\Z"
    ),
    determiner=_p(r"(?:(?:my|the|a|an|some|any|our|your)\s)"),
    then=_p(r"[,\s]{0,3}(?:then\s)?(?:please\s)?"),
    wanted=_p(
        rf"""(?:{_EN_WISH})?{_EN_NOT}?(?:{_EN_SPEECH}|{_EN_WIDE})
        |(?:i\swant|i\sprefer|i'd\s(?:like|prefer)|i\swould\slike)\s(?:(?:only|more|just|your|the)\s)?(?:short
        |shorter|brief|long|longer|detailed|formal|simple|plain|no)\b
        |(?:i\swant|i\sprefer|i'd\s(?:like|prefer))\s(?:you(?:r)?|answers|replies)\b|no\s(?:more\s)?{_EN_STYLE}
        |(?:no\smore|without)\s(?:{_EN_STYLE}|jokes|links|apologies|small\stalk)|only\s(?:short|brief|in)\b|stop\s\w{{3,}}ing\b
        |(?:short|brief|shorter|formal|only\sshort)\s(?:answers|replies)\b|you\sare\s(?:not\s)?(?:my|to|allowed)\b"""
    ),
    answering=_p(rf"(?:{_EN_WISH})?{_EN_NOT}?{_EN_ANSWERING}|no\s(?:more\s)?{_EN_STYLE}"),
    lasting=_p(
        rf"""(?:{_EN_WISH})?(?:always|never(?:\sever)?|(?:don't|do\snot)\sever)\s{_EN_SPEECH}|stop\s{_EN_SPEAKING}
        |(?:do\snot|don't)\s{_EN_SPEECH}.{{0,80}}\b(?:any\s?more|ever\sagain)\Z
        |no\smore\s(?:{_EN_STYLE}|jokes|reminders|offers|links|apologies|suggestions|puns|small\stalk)"""
    ),
    more=_p(
        r"(?:,\s?(?:and\s|but\s|now\s|so\s)?|\s(?:and|but)\s)(?:now\s|then\s)?(?:what|where|who|which|how\s(?:much"
        r"|many|do|is|are|can)|can\syou|could\syou|show\sme|find\sme|order\sme"
        r"|book\sme|tell\sme\s(?:the|what|how|when|where|who|a|an)\b|let's|when\s(?:is|are|do|does))\b"
    ),
    never="never",
    names=_p(r"(?:(?:always|please)\s){0,3}(?:call|name|address)\sme\s(?!names\b)"),
)

# Hebrew

_HE_DAY = "(?:ראשון|שני|שלישי|רביעי|חמישי|שישי|שבת)"
_HE_UNTIL = rf"""(?:ו?עד\s(?:ל?(?P<tomorrow>מחר)|(?:ל?יום\s)?(?:ה)?(?P<weekday>{_HE_DAY})|סוף\sה?(?P<period>שבוע
    |חודש|שנה)|(?P<today>סוף\sהיום|הערב)
    |(?P<next>(?:השבוע|החודש)\sהבא)|(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})
    |ה?-?(?P<day>\d{{1,2}})\sב(?P<month>[א-ת]{{3,8}}))|(?:רק\s)(?P<today2>היום)|(?:רק\s)(?P<period2>השבוע
    |החודש))(?!\w)"""
_HE_TIMES = rf"""(?:ב(?P<weekend>סופי\sשבוע|סופ"שים)|ב(?P<weekday_>אמצע\sהשבוע|ימי\sחול)|בימי\s(?P<on>{_HE_DAY})
    |(?P<after>אחרי)\s(?:ה?שעה\s)?{_CLOCK}
    |(?P<before>לפני)\s(?:ה?שעה\s)?{_CLOCK_2}|בין\s{_CLOCKS})(?![\w:])"""
_HE_VERB = r"""(?:תענ[הי]|תענו|תשיב|תשיבי|תכתוב|תכתבי|תדבר|תדברי|תקרא\sלי|תקראי\sלי|תפנ[הי]\sאלי+|תפנו|תהי[הי]|תשתמש
    |תשתמשי|תשלח|תשלחי|תציע|תציעי
    |תמליץ|תמליצי|תיתן|תיתני|תתן|תתני|תן\sלי|תני\sלי|תגיד|תגידי|תשאל|תשאלי|תסביר|תסבירי|תתרגם|תתרגמי|תסכם|תסכמי|תצטט
    |תצטטי|תזכיר|תזכירי|תוסיף|תוסיפי|תתנצל|תתנצלי
    |תתחיל|תתחילי|תסיים|תסיימי|תקצר|תקצרי|תשמור|תשמרי|תראה\sלי|תראי\sלי|תימנע|תימנעי|תחזור|תחזרי|תתייחס|תתייחסי|תניח
    |תניחי|תציין|תצייני|תברך|תברכי|ענ[הי]\s|כתוב|כתבי|דבר\sאיתי|דברי\sאיתי
    |תבדוק|תבדקי|תוודא|תוודאי|תתעלם|תתעלמי|תדלג|תדלגי|תעגל|תעגלי|תרשום|תרשמי|תמנה|תמני|תעשה|תעשי)(?!\w)"""
_HE_ANSWER = (
    r"(?:תענ[הי]|תענו|תשיב|תשיבי|תכתוב|תכתבי|תדבר|תדברי|תקרא\sלי|תקראי\sלי|תפנ[הי]\sאלי+|תהי[הי]|תשתמש|תשתמשי)(?!\w)"
)
_HE_INF = r"""(?:לענות|להשיב|להשתמש|לקרוא\sלי|לכתוב|לדבר|לשלוח\sלי|להתנצל|לשאול|להציע|להמליץ|להגיד|לתת\sלי
    |לפנות\sאלי+|להסביר|לתרגם|לסכם|להזכיר|להוסיף|לחזור\sעל|להיות)(?!\w)"""
_HE_NEVER = r"(?:אף\sפעם\sאל|לעולם\sאל|בחיים\sאל|אל)"
_HEBREW = OrderWords(
    letters=re.compile("[א-ת]"),
    greeting=_p(
        r"(?:(?:היי|הי|אוקיי|אוקי|טוב|אז|וגם|גם|שלום|תודה(?:\sרבה)?|מעולה|בבקשה|ועוד\sמשהו|אבל)(?!\w)[\s,:!.-]{1,3})"
    ),
    polite_end=_p(rf"[\s,]{{1,3}}(?:בבקשה|תודה|אוקיי|אוקי|בסדר|טוב)[\s?.!]{{0,5}}\Z|{_END}"),
    from_now=_p(r"ו?(?:מעכשיו(?:\sוהלאה)?|מהיום(?:\sוהלאה)?|מעתה(?:\sו(?:אילך|הלאה))?|להבא)(?!\w)[\s,:]{1,3}"),
    from_now_end=_p(r"[\s,]{1,3}(?:מעכשיו(?:\sוהלאה)?|מהיום(?:\sוהלאה)?|מעתה(?:\sו(?:אילך|הלאה))?|להבא)\Z"),
    important=_p(
        r"(?:זה\s)?(?:(?:ה?הכי|ה?כי)\sחשוב|חשוב\s(?:מאוד|לי\sמאוד)|חשוב|מעל\sהכו?ל|בלי\sיוצא\sמן\sהכלל)[\s:,.-]{1,3}"
    ),
    never_ever=_p(r"(?:בשום\s(?:פנים\sו)?אופן|בשום\sמקרה)\s(?=אל\s)"),
    until=_p(rf"{_HE_UNTIL}[\s,:]{{1,3}}"),
    until_end=_p(rf"[\s,]{{1,3}}{_HE_UNTIL}\Z"),
    times=_p(rf"{_HE_TIMES}[\s,:]{{1,3}}"),
    times_end=_p(rf"[\s,]{{1,3}}{_HE_TIMES}\Z"),
    topic=_p(
        r"(?:כש|כאשר\s|אם\s|בכל\sפעם\sש|כל\sפעם\sש|מתי\sש|בכל\sפעם\sכש)אני\s(?:(?:שואל|שואלת|מדבר|מדברת|כותב"
        r"|כותבת)\s(?:אותך\s|לך\s|איתך\s)?(?:על|לגבי|בנושא|אודות)"
        r"|מזכיר\sאת|מזכירה\sאת)\s"
    ),
    whenever=_p(r"(?:בכל\sפעם\sש|כל\sפעם\sש)[^,]{2,120},\s"),
    unless=_p(
        r"[\s,]{1,3}(?:אלא\sאם(?:\sכן)?|חוץ\sמ(?:אשר|מתי)?)\s?(?:כש)?אני\s(?:שואל|שואלת|מדבר|מדברת)\s(?:על"
        r"|לגבי)\s(?P<topic>[^,;]{2,60})\Z"
    ),
    determiner=_p(r"(?:(?:ה)(?!\w)\s)"),
    then=_p(r"[,\s]{0,3}(?:אז\s)?(?:בבקשה\s)?"),
    wanted=_p(
        rf"""(?:אני\s(?:רוצה|מבקש|מבקשת|מעדיף|מעדיפה)\sש)?(?:תמיד\s|רק\s|{_HE_NEVER}\s)?{_HE_VERB}|בלי\s(?:א[יו]?מוג'ים|בדיחות|קישורים|סימני\sקריאה|הקדמות|התנצלויות)
            |רק\s(?:תשובות|ב)|תפסיקו?י?\s{_HE_INF}
        |אני\s(?:רוצה|מבקש|מבקשת|מעדיף|מעדיפה)\s(?:רק\s)?(?:תשובות|הודעות|ש)|בבקשה\s{_HE_VERB}"""
    ),
    answering=_p(rf"(?:תמיד\s|רק\s|{_HE_NEVER}\s)?{_HE_ANSWER}"),
    lasting=_p(
        rf"""תמיד\s{_HE_VERB}|(?:אף\sפעם|לעולם|בחיים)\sאל\s{_HE_VERB}|(?:תפסיק|תפסיקי|תפסיקו|די)\s{_HE_INF}
            |אל\s{_HE_VERB}.{{0,80}}\s(?:אף\sפעם|יותר|לעולם)\Z"""
    ),
    more=_p(r"(?:,\s?(?:ו|אז\s)?|\sו)(?:תראה|תראי|תמצא|תמצאי|תזמין|תזמיני|תחפש|תחפשי|מה|איפה|מתי|איך|כמה|מי)(?!\w)"),
    never="לעולם אל",
    names=_p(r"(?:תמיד\s)?(?:תקרא|תקראי)\sלי\s(?!ב)"),
)

# Spanish

_ES_DAY = "(?:lunes|martes|miércoles|miercoles|jueves|viernes|sábado|sabado|domingo)"
_ES_MONTH = "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
_ES_UNTIL = rf"""(?:hasta\s(?:(?:el\s)?(?:próximo\s)?(?P<weekday>{_ES_DAY})|(?P<tomorrow>mañana)
    |(?P<today>esta\snoche)
    |(?:el\s)?fin(?:al)?\sde(?:l|\sla|\seste|\sesta)?\s(?P<period>semana|mes|año)|(?:la\s
    |el\s)?(?P<next>próxima\ssemana|próximo\smes|semana\sque\sviene|mes\sque\sviene)
    |(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})|(?:el\s)?(?P<day>\d{{1,2}})\sde\s(?P<month>{_ES_MONTH}))
    |(?:durante|por)\s(?:los\spróximos\s|las\spróximas\s)?(?P<many>\d{{1,3}}|una?|dos|tres|cuatro|cinco|seis|siete
    |ocho|nueve|diez)\s(?P<unit>minutos?|horas?|días?|dias?|semanas?|mes|meses)
    |(?:solo\s|sólo\s)?(?P<today2>por\shoy)|(?P<period2>(?:esta\ssemana|este\smes|este\saño)))(?!\w)"""
_ES_TIMES = rf"""(?:(?:los|en\slos)\s(?P<weekend>fines\sde\ssemana)|(?:los|en)\sdías\s(?P<weekday_>laborables
    |de\ssemana)|los\s(?P<on>{_ES_DAY})s?
    |(?P<after>después\sde|a\spartir\sde)\slas?\s{_CLOCK}
    |(?P<before>antes\sde)\slas?\s{_CLOCK_2}
    |entre\slas\s{_CLOCKS})(?![\w:])"""
_ES_DO = r"""(?:responde|respóndeme|contesta|contéstame|escribe|escríbeme|habla|háblame|llámame(?!\s(?:mañana|luego
    |después|cuando|más|a\s|por|en|hoy|esta|si)\b)|trátame|tutéame|usa|utiliza|sé|mantén|da|dame|di|dime
    |muéstrame|cita|incluye|termina|empieza|comienza|traduce|tradúceme|resume|explica|explícame|recomienda
    |recomiéndame|sugiere|sugiéreme|pregúntame|recuérdame|saluda|salúdame|evita|ten\sen|pon
    |añade|avísame|confirma|consulta|corrígeme|limita|redondea|convierte|omite|ignora|haz|dirígete|envíame|mándame
    |enséñame)(?!\w)"""
_ES_DO_LASTING = r"""(?:responde|respóndeme|contesta|contéstame|escribe|escríbeme|habla|háblame|llámame|trátame
    |tutéame|usa|utiliza|sé\s(?:más\s|muy\s)?(?:breve|amable|formal|informal|directo|directa|educado|educada|conciso
    |concisa|claro|clara|cortés|profesional|serio|seria|honesto|honesta)
    |dame|dime|cita|tradúceme|explícame|recomiéndame|pregúntame|recuérdame|salúdame|avísame|corrígeme|dirígete
    |envíame|mándame)(?!\w)"""
_ES_ANSWER = (
    r"(?:responde|respóndeme|contesta|contéstame|escribe|escríbeme|habla|háblame|trátame|tutéame|usa|utiliza"
    r"|sé)(?!\w)"
)
_ES_NOT = r"""(?:me\s|te\s|lo\s)?(?:uses|utilices|respondas|contestes|escribas|hables|llames|trates|mandes|envíes
    |des|digas|sugieras|recomiendes|preguntes|pongas|incluyas|termines|empieces|seas|repitas|expliques|recuerdes
    |cites|traduzcas
    |añadas|corrijas|disculpes|tutees|interrumpas|hagas|menciones|muestres|ofrezcas)(?!\w)"""
_SPANISH = OrderWords(
    letters=re.compile("[A-Za-z]"),
    greeting=_p(
        r"(?:(?:oye|hola|vale|ok|bueno|y|pues|ah|gracias|muchas\sgracias|perfecto|por\sfavor|además|también"
        r"|otra\scosa|pero)(?!\w)[\s,:!.-]{1,3})"
    ),
    polite_end=_p(rf"[\s,]{{1,3}}(?:por\sfavor|gracias|vale|ok|de\sacuerdo|sí)[\s?.!]{{0,5}}\Z|{_END}"),
    from_now=_p(
        r"(?:a\spartir\sde\s(?:ahora|hoy|este\smomento)|de\s(?:ahora|hoy)\sen\sadelante|desde\sahora|desde\shoy"
        r"|de\saquí\sen\sadelante|en\s(?:el\sfuturo|adelante))(?!\w)[\s,:]{1,3}(?:y\s)?"
    ),
    from_now_end=_p(
        r"[\s,]{1,3}(?:a\spartir\sde\s(?:ahora|hoy|este\smomento)|de\s(?:ahora|hoy)\sen\sadelante|desde\sahora"
        r"|desde\shoy|de\saquí\sen\sadelante|en\sadelante)\Z"
    ),
    important=_p(
        r"(?:(?:esto\s)?(?:es\s)?(?:lo\smás|muy)\simportante(?:\ses(?:\sque)?)?|importante|sobre\stodo|ante\stodo"
        r"|sin\sexcepción|pase\slo\sque\spase)[\s:,.-]{1,3}"
    ),
    never_ever=_p(r"(?:bajo\sninguna?\s(?:circunstancia|concepto)|en\sningún\scaso)[\s,]{1,3}(?=(?:me\s)?\w+s\b)"),
    until=_p(rf"{_ES_UNTIL}[\s,:]{{1,3}}"),
    until_end=_p(rf"[\s,]{{1,3}}{_ES_UNTIL}\Z"),
    times=_p(rf"{_ES_TIMES}[\s,:]{{1,3}}"),
    times_end=_p(rf"[\s,]{{1,3}}{_ES_TIMES}\Z"),
    topic=_p(
        r"(?:siempre\sque|cada\svez\sque|cuando|si)\s(?:yo\s)?(?:te\s)?(?:(?:pregunte|pregunto|hable|hablo|escriba"
        r"|escribo)\s(?:algo\s)?(?:sobre|acerca\sde|por|de)l?|mencione|menciono)\s"
    ),
    whenever=_p(r"(?:siempre\sque|cada\svez\sque)\s[^,]{2,120},\s"),
    unless=_p(
        r"[\s,]{1,3}(?:a\smenos\sque|salvo\s(?:que|si|cuando)|excepto\s(?:si|cuando))\s(?:te\s)?(?:pregunte|pregunto"
        r"|hable|hablo)\s(?:sobre|acerca\sde|por|de)l?\s(?P<topic>[^,;]{2,60})\Z"
    ),
    determiner=_p(r"(?:(?:mis?|el|la|los|las|un|una|algún|alguna|nuestros?|nuestras?)\s)"),
    then=_p(r"[,\s]{0,3}(?:entonces\s)?(?:por\sfavor,?\s)?"),
    wanted=_p(
        rf"""(?:siempre\s)?{_ES_DO}|(?:no|nunca|jamás)\s{_ES_NOT}|deja\sde\s\w+r(?:me|te|se|le)?\b|(?:quiero
            |prefiero|me\sgustaría|necesito)\s(?:que\s(?:no\s|siempre\s|nunca\s)?(?:me\s)?\w+(?:s|me)\b
        |(?:solo\s|sólo\s)?respuestas|mensajes)|(?:sin|no\smás)\s(?:emojis|emoticonos|bromas|chistes|enlaces|signos|introducciones|disculpas)\b|(?:solo|sólo)\srespuestas"""
    ),
    answering=_p(rf"(?:siempre\s)?{_ES_ANSWER}|(?:no|nunca|jamás)\s{_ES_NOT}"),
    lasting=_p(
        rf"""siempre\s{_ES_DO_LASTING}|(?:nunca|jamás)\s{_ES_NOT}|no\s{_ES_NOT}.{{0,20}}\smás\b|no\smás\s(?:emojis
            |emoticonos|bromas|chistes|recordatorios|enlaces)
        |deja\sde\s(?:usar|responder(?:me)?|contestar(?:me)?|escribir(?:me)?\sen|hablar(?:me)?|llamarme|tratarme
        |mandarme|enviarme|darme|decirme|sugerir(?:me)?|recomendar(?:me)?|preguntar(?:me)?|disculparte
        |repetir(?:te)?|explicar(?:me)?)(?!\w)"""
    ),
    more=_p(
        r"(?:,\s?(?:y\s)?|\sy\s)(?:ahora\s)?¿?(?:muéstrame|búscame|pídeme|resérvame|qué|cuál|dónde|cuándo|cómo"
        r"|cuánto|quién)(?!\w)"
    ),
    never="nunca",
    names=_p(r"(?:siempre\s)?llámame\s"),
)

LANGUAGES: Sequence[OrderWords] = (_HEBREW, _ENGLISH, _SPANISH)


def _release(before: str, after: str) -> re.Pattern[str]:
    return _p(rf"(?:{before})(?P<topic>[^.!?\n]{{2,80}}?)(?:{after})?")


_EN_AGAIN = r"\s(?:again|now|any\s?more|any\slonger|from\snow\son|if\syou\s(?:like|want)|please)"
_ES_AGAIN = r"\s(?:otra\svez|de\snuevo|ya|ahora|más|si\squieres|por\sfavor)"
_HE_AGAIN = r"\s(?:שוב|שנית|יותר|עכשיו|בבקשה|אם\sבא\sלך)"
RELEASES = (
    _release(
        r"(?:(?:ok|okay|well|so|btw|and|actually|fine|hey|alright|please),?\s){0,2}(?:"
        r"(?:you|u)\s(?:can|may|could|are\sallowed\sto)\s(?:now\s|go\sback\sto\s|start\s)?|it'?s\s(?:ok(?:ay)?|fine|alright)\sto\s"
        r"|(?:you|u)\s(?:(?:do\snot|don't|dont|no\slonger)\s(?:have|need)\sto|needn't)\s|(?:there'?s\s)?no\s(?:more\s)?need\s(?:to|for)\s"
        r"|(?:go\sback|back)\sto\s|forget\s(?:about\s)?(?:the|that|my)\s(?:rule|order|instruction|thing|request)\s(?:about|with|on)\s"
        r"|i\s(?:do\snot|don't|dont)\s(?:need|want)\syou\sto\s|i\sno\slonger\s(?:need|want)\s(?:you\sto\s)?)",
        _EN_AGAIN,
    ),
    _p(
        r"(?:the\s)?(?P<topic>[^.!?\n]{2,40}?)\s(?:is|are)\s(?:ok(?:ay)?|fine|welcome|allowed|back|good)(?:\s(?:again|now|with\sme)){1,2}"
    ),
    _release(
        r"(?:(?:vale|bueno|pues|oye|ok),?\s){0,2}(?:(?:ya\s)?(?:puedes|podés|podéis)\s(?:volver\sa\s)?|ya\sno\s(?:hace\sfalta|es\snecesario|hay"
        r"|tienes|necesito|quiero)\s(?:que\s)?|no\shace\sfalta\s(?:ya\s)?(?:que\s)?|vuelve\sa\s|olvida(?:te\sde)?\slo\sde\s)",
        _ES_AGAIN,
    ),
    _release(
        r"(?:(?:טוב|אוקיי|אז),?\s){0,2}(?:(?:את|אתה)?\s?(?:כבר\s)?(?:יכול|יכולה|מותר\sלך)\s(?:כבר\s)?(?:שוב\s)?(?:לחזור\s)?|אפשר\s(?:כבר\s)?(?:שוב\s)?(?:לחזור\s)?"
        r"|(?:כבר\s)?(?:לא\sצריך|אין\sצורך|לא\sחייבי?ת?)\s(?:כבר\s)?(?:יותר\s)?|תחזרי?\s|עזבי?\sאת\sה(?:עניין|כלל)\sשל\s)",
        _HE_AGAIN,
    ),
)
"""How an order is said to be over, of something that it was about."""
