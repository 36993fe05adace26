"""How people say that a name is another's, in English, Hebrew and Spanish; a new way of saying it is a line here."""

import re

_PEOPLE = "everyone|everybody|people|we|they|friends|the kids|the family"

ALIAS_THEN_NAME = (
    r"\bis (?:just |only |my |our )?(?:short|an abbreviation|an acronym|(?:a|the|my) nickname) (?:for|of)\b",
    r"\bstands for\b",
    r"\bis (?:what|how) (?:we|i|they|people|everyone|everybody) (?:all )?calls?\b",
    r"\b(?:es|está) (?:la |una |el |un )?(?:abreviatura|abreviación|apodo|diminutivo|sigla) de\b",
    r"\bes como (?:llamamos|decimos) a\b",
    r"(?<!\w)(?:זה |הוא |היא |זו )?(?:ה?קיצור|ראשי תיבות|ה?כינוי|שם חיבה) של(?!\w)",
)
NAME_THEN_ALIAS = (
    r"\ba\.?k\.?a\.?(?!\w)",
    r"\b(?:also|better) known as\b",
    r"\bnicknamed\b",
    r"\bgoes by\b",
    r"\b(?:también )?conocid[oa] como\b",
    r"\bapodad[oa]\b",
    r"\balias\b",
    r"(?<!\w)(?:המכונה|שמכונה|הידוע כ|הידועה כ)(?!\w)-?",
)
CALLED = (  # the name before it, or in the sentence before; the alias behind it
    rf"\b(?:{_PEOPLE}|i|(?:his|her|our|my) friends) (?:all |just |always |usually )?calls? (?:him|her|it|them)\b",
    r"\b(?:his|her) nickname is\b",
    r"\b(?:todos|todas|todo el mundo|la gente|sus amigos|mis hijos) l[oae]s? (?:llaman?|dicen?)\b",
    r"\b(?:l[oae] (?:llamamos|decimos)|su apodo es)\b",
    r"(?<!\w)(?:כולם|כולן|כל החברים|החברים|אנחנו|אני|הילדים) (?:קוראים|קוראות|קורא|קוראת) ל(?:ו|ה)(?!\w)",
    r"(?<!\w)ה?כינוי של(?:ו|ה)(?: הוא)?(?!\w)",
)
CALLS = (  # somebody by a name: one word each
    rf"\b(?:{_PEOPLE}) (?:all |just |always )?calls? "
    r"|\b(?:todos|todas|la gente) (?:llaman?|le dicen) a "
    r"|(?<!\w)(?:כולם|כולן|החברים|הילדים) קוראים ל-?"
)
ONE_OR_THE_OTHER = (  # the one that abbreviates the other is the alias
    r"\bi mean(?:t)?\b",
    r"\bthat is\b",
    r"\bi\.e\.",
    r"\bis\b",
    r"\bquiero decir\b",
    r"\bo sea\b",
    r"\bes\b",
    r"(?<!\w)(?:כלומר|הכוונה ל|זאת אומרת|ז״א|זה|הוא|היא)(?!\w)-?",
)


def alternatives(connectors: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in connectors), re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words("dr mr mrs ms prof sr sra don doña ד״ר פרופ גב׳ מר")
NO_TITLE_BEFORE = "".join(rf"(?<!\b{each}\.)" for each in ("Dr", "Mr", "Ms", "Mrs", "Prof", "Sra", "Sr"))
ARTICLES = _words("the el la")
BESIDE = _words("in at from to near of en de a desde by with con for para")
"""Behind them stands a place, or somebody beside the one who is meant."""

NO_NAMES = _words("""
    i i'm i’m my our his her their the a an this that it he she we they you and or but so not no yes ok okay well oh hi
    hey today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday if because when everyone
    everybody people also actually please remember note
    el la los las un una mi mis su sus y o pero no sí si yo tú él ella hoy mañana lunes martes miércoles jueves viernes
    sábado domingo todos todas que porque cuando
    אני אתה את הוא היא אנחנו הם הן זה זו זאת של על עם לא כן אבל גם או כי אם כש מה מי כולם כולן היום מחר אתמול
    שלי שלך שלו שלה שלנו יש אין היה היתה הייתה קיצור כינוי בעצם כלומר
""")
