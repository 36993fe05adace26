"""Which facts need the person's own leave: secrets, health, faith, love, politics, crime and drugs, what they earn.

A fact that is taken for one of these wrongly is only asked about, so the table errs on that side.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

from langmem_plugin.facts.numbers import kinds_of_numbers
from langmem_plugin.languages.language import words
from langmem_plugin.languages.plain_text import plain

Kind = Literal[
    "card", "national id", "bank", "secret", "e-mail", "ip", "health", "faith", "love", "politics", "crime", "money"
]
_GIVEN_TO_BE_USED: Final = frozenset({"e-mail", "ip"})

_SECRETS: Final = words(
    "password|passwords|passcode|passphrase|credential|credentials|cvv|cvc|otp|apikey|login|logins|username|keycode|"
    "contrasena|contrasenas|clave|claves|usuario|סיסמה|סיסמא|סיסמת|סיסמאות|הסיסמה|כספומט"
)
_IDS: Final = words('ssn|passport|dni|nie|cedula|pasaporte|ת"ז|תז|דרכון')
_BANK: Final = words("iban")
# They tell something only with a value beside them, and are mostly about something else.
_WITH_A_NUMBER: Final[dict[Kind, frozenset[str]]] = {
    "secret": words("code|codes|codigo|codigos|קוד|קודים|הקודים|alarm|alarma|אזעקה|pin|token"),
    "money": words("earn|earns|gano|gana|wage|wages|מרוויח|מרוויחה"),
}
_OTHER_CODES: Final = words(
    "error|errors|errores|שגיאה|discount|descuento|promo|promotional|coupon|cupon|הנחה|ההנחה|qr|zip|postal|post|area|"
    "country|dress|source|review|conduct|conducta|python|java|bar|barcode|color|colour|status|exit|מיקוד|מבצע|product|"
    "producto|booking|reservation|tracking|voucher|referral|invitation|track|order"
)
_HEALTH: Final = words(
    "hiv|aids|vih|sida|std|sti|als|adhd|ptsd|ocd|copd|ibs|ivf|chemo|chemotherapy|quimio|quimioterapia|"
    "radiotherapy|dialysis|dialisis|insulin|insulina|hba1c|cd4|biopsy|biopsia|tumor|tumour|tumors|tumores|cancer|"
    "cancers|diabetes|diabetic|diabetico|diabetica|epilepsy|epilepsia|asthma|asma|depression|depressed|depresion|"
    "deprimido|deprimida|anxiety|ansiedad|bipolar|autism|autistic|autismo|autista|schizophrenic|ictus|"
    "herpes|chlamydia|gonorrhea|syphilis|sifilis|virus|disease|illness|disorder|syndrome|enfermedad|sindrome|"
    "trastorno|diagnosed|diagnosis|diagnostico|medication|medications|medicine|medicines|medicina|medicamento|"
    "medicamentos|antidepressant|antidepressants|antidepresivos|pills|pastillas|lithium|litio|prozac|xanax|"
    "ritalin|adderall|viagra|ozempic|surgery|cirugia|migraine|migraines|migrana|parkinson|alzheimer|crohn|lupus|"
    "celiac|suicidal|suicide|suicidio|miscarriage|abortion|aborto|pregnant|pregnancy|embarazada|embarazo|"
    "psychiatrist|psychologist|therapist|therapy|oncologist|neurologist|cardiologist|gynecologist|urologist|"
    "psiquiatra|psicologo|psicologa|terapeuta|terapia|oncologo|oncologa|disabled|disability|discapacidad|"
    "discapacitado|discapacitada|deaf|wheelchair|ciego|ciega|sordo|sorda|hypertension|hipertension|סרטן|"
    "סוכרת|סכרת|אפילפסיה|אסתמה|דיכאון|חרדה|חרדות|אוטיזם|אוטיסט|אוטיסטית|איידס|מחלה|מחלת|תסמונת|הפרעה|הפרעת|אבחנה|"
    "תרופה|תרופות|כדורים|ניתוח|אינסולין|כימותרפיה|דיאליזה|גידול|מיגרנה|בהריון|הריון|בהיריון|היריון|הפלה|פסיכולוג|"
    "פסיכולוגית|פסיכיאטר|פסיכיאטרית|מטפל|מטפלת|אונקולוג|אונקולוגית|נכה|נכות|עיוור|עיוורת|חירש|חירשת|אובדני|"
    "אובדנית|דמנציה|דלקת"
)
_LIFE: Final[dict[Kind, frozenset[str]]] = {
    "faith": words(
        "jewish|jew|muslim|christian|catholic|protestant|hindu|buddhist|atheist|mormon|islam|judaism|christianity|"
        "religion|religious|mosque|synagogue|quran|rabbi|imam|judio|judia|musulman|musulmana|cristiano|cristiana|"
        "catolico|catolica|ateo|atea|mezquita|sinagoga|religioso|religiosa|יהודי|יהודייה|יהודיה|מוסלמי|מוסלמית|נוצרי|"
        "נוצרייה|נוצריה|דתי|דתייה|דתיה|חילוני|חילונית|חרדי|חרדית|אתאיסט|מסגד|כנסייה|כנסיה"
    ),
    "love": words(
        "gay|lesbian|bisexual|queer|transgender|homosexual|heterosexual|asexual|lesbiana|mistress|amante|infiel|הומו|"
        "לסבית|ביסקסואל|ביסקסואלית|טרנסג'נדר|מאהב|מאהבת|בוגד|בוגדת"
    ),
    "politics": words(
        "democrat|republican|communist|socialist|leftist|likud|unionized|voted|voto|vote en|sindicato|sindicalista|"
        "comunista|socialista|socialistas|הצבעתי|מצביע|מצביעה|ליכוד"
    ),
    "crime": words(
        "parole|probation|convicted|felony|felon|arrested|carcel|prision|arrestado|arrestada|weed|cannabis|marijuana|"
        "cocaine|heroin|meth|lsd|rehab|addict|addicted|addiction|alcoholic|overdose|marihuana|cocaina|heroina|adicto|"
        "adicta|adiccion|alcoholico|alcoholica|כלא|מאסר|סמים|קנאביס|וויד|קוקאין|הרואין|גמילה|מכור|מכורה|אלכוהוליסט"
    ),
    "money": words("salary|income|paycheck|salario|sueldo|ingresos|משכורת|שכר"),
}
_PHRASES: Final[dict[Kind, frozenset[str]]] = {
    "card": words("credit card|card number|debit card|tarjeta de credito|numero de tarjeta|כרטיס אשראי"),
    "national id": words("social security|id number|id card|national id|my id is|תעודת זהות|מספר זהות"),
    "bank": words("account number|swift code|numero de cuenta|מספר חשבון"),
    "secret": words(
        "api key|private key|email and password|secret key|secret code|client secret|my secret is|api token|access token|"
        "token is|my pin|mi pin|pin number|pin code|pin is|שם משתמש"
    ),
    "health": words(
        "blood pressure|blood sugar|viral load|tumor marker|mental health|panic attack|panic attacks|heart attack|"
        "heart disease|heart condition|medical condition|hearing aid|hearing aids|multiple sclerosis|had a stroke|"
        "having a stroke|after a stroke|from a stroke|suffered a stroke|am blind|is blind|are blind|legally blind|"
        "went blind|going blind|born blind|aa meeting|aa meetings|na meetings|am sober|been sober|is sober|stay sober|"
        "got sober|years sober|months sober|presion arterial|tension alta|salud mental|esclerosis multiple|"
        "silla de ruedas|לחץ דם|כיסא גלגלים|טרשת נפוצה"
    ),
    "faith": words(
        "goes to mass|go to mass|to mass|sunday mass|my church|our church|to church|at church|in church|church every|"
        "the church|of church|a misa|la misa|en misa|de misa|a la iglesia|mi iglesia|בית כנסת|בית הכנסת|לבית כנסת|"
        "לבית הכנסת|בבית כנסת|בבית הכנסת"
    ),
    "love": words(
        "am trans|is trans|are trans|trans man|trans woman|soy trans|es trans|having an affair|had an affair|affair with|"
        "affairs with|cheating on|my lover|his lover|her lover"
    ),
    "politics": words(
        "labor union|trade union|the union|union member|union rep|right wing|left wing|i vote|we vote|will vote|my vote|"
        "am conservative|am a conservative|is conservative|am liberal|am a liberal|is liberal|ועד עובדים"
    ),
    "crime": words(
        "drug dealer|my dealer|mi dealer|criminal record|smoke pot|in prison|in jail|to prison|to jail|from prison|"
        "of prison|of jail|prison sentence|antecedentes penales|libertad condicional|עבר פלילי"
    ),
    "money": words("i earn|we earn"),
}
# Of diseases and medicines, by how their names end or begin.
_BEGINNINGS: Final = tuple(
    words(
        "hepatit|cancer|leukemi|leucemi|lymphom|linfom|schizo|esquizo|psychosis|psychotic|psychother|oncolog|psiquiatr|"
        "psychiatr|chemother|antidepress|antipsych|alzheimer|parkinson|fibromyalg|fibromialg|anorexi|bulimi|dement|"
        "epilep"
    )
)
_ENDINGS: Final = tuple(
    words(
        "itis|osis|emia|rrhea|oma|omas|formin|formina|pril|statin|statina|azepam|azolam|cillin|cilina|mycin|micina|oxetine"
        "|oxetina|traline|tralina|olol|sartan|gliptin|glutide|parin|prazole|prazol|codone|triptan|mab|vir"
    )
)
_LEAST_BEFORE: Final = 2  # letters
# They end like diseases and medicines and are none.
_NO_STEM: Final = words(
    "oklahoma|tacoma|paloma|sonoma|aroma|aromas|diploma|diplomas|idioma|idiomas|broma|bromas|roma|redoma|april|"
    "abril|academia|bohemia|premia|epitome|maloma|genoma|axioma|elvir|elixir|servir|vivir|escribir|recibir|hervir|"
    "convivir|metamorphosis|osmosis|photosynthesis|carcoma|coloma"
)
_WORD = re.compile(r"[^\W_]++(?:[\"'][^\W_]++)*+")
# A church that is an address: "a church street café", "Church Road".
_STREET = re.compile(r"\b(?:church|mosque|synagogue|temple)\s(?:street|st|road|rd|lane|avenue|ave|square|hill)\b")
_HE_PREFIX: Final = re.compile(r"[והבלמכש]{1,2}(?=[א-ת]{3})")
_MEDICINE_BALL = re.compile(r"\bmedicine balls?\b")
_SCLEROSIS = re.compile(r"\bMS\b")
_VALUE = re.compile(r"\d{3}")
_WORDS: Final[dict[Kind, frozenset[str]]] = {
    "secret": _SECRETS,
    "national id": _IDS,
    "bank": _BANK,
    "health": _HEALTH,
    **_LIFE,
}


def is_sensitive(text: str) -> bool:
    """Whether a person is asked before it is remembered. An e-mail or IP address alone is not: it is told to be used."""
    return not kinds_of(text) <= _GIVEN_TO_BE_USED


def kinds_of(text: str) -> frozenset[Kind]:
    """What a text holds. Whole words only: neither "turkey" nor "monkey" holds a key."""
    bare = _MEDICINE_BALL.sub(" ", _STREET.sub(" ", plain(text)))
    found = [each.removesuffix("'s") for each in _WORD.findall(bare)]
    return frozenset([*kinds_of_numbers(text, frozenset(found)), *_kinds_of_words(found, text)])


def _kinds_of_words(found: list[str], text: str) -> Iterator[Kind]:
    said = f" {' '.join(found)} "
    forms = {form for word in found for form in _forms(word)}
    for kind, known in _WORDS.items():
        if not forms.isdisjoint(known):
            yield kind
    for kind, phrases in _PHRASES.items():
        if any(f" {phrase} " in said for phrase in phrases):
            yield kind
    if any(map(_is_medical, found)) or _SCLEROSIS.search(text):
        yield "health"
    if _VALUE.search(text):
        for kind, known in _WITH_A_NUMBER.items():
            if not forms.isdisjoint(known) and forms.isdisjoint(_OTHER_CODES):
                yield kind


def _forms(word: str) -> Iterator[str]:
    """As written, and without what Hebrew writes as one with it: "the", "in", "to", "from"."""
    yield word
    prefix = _HE_PREFIX.match(word)
    if prefix is not None:
        yield from (word[cut:] for cut in range(1, prefix.end() + 1))


def _is_medical(word: str) -> bool:
    if word.startswith(_BEGINNINGS):
        return True
    return word not in _NO_STEM and word[_LEAST_BEFORE:].endswith(_ENDINGS)
