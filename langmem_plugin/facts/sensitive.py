"""Which facts need the person's own leave: secrets, health, faith, love, politics, crime, drugs and what they earn.

A fact that is taken for one of these wrongly is only asked about, so the table errs on that side.
"""

import re
from typing import Final

from langmem_plugin.facts.tokens import plain
from langmem_plugin.facts.words.language_table import words

_SECRETS: Final = words(
    "password|passwords|passcode|passphrase|pin|secret|secrets|token|credential|credentials|cvv|cvc|iban|ssn|"
    "passport|swift|otp|apikey|login|logins|username|code|codes|keycode|alarm|contrasena|clave|claves|codigo|"
    'codigos|alarma|usuario|dni|nie|cedula|pasaporte|סיסמה|סיסמא|סיסמת|סיסמאות|קוד|קודים|הקודים|ת"ז|תז|דרכון|'
    "כספומט|אזעקה"
)
_HEALTH: Final = words(
    "hiv|aids|vih|sida|std|sti|ms|als|adhd|ptsd|ocd|copd|ibs|ivf|chemo|chemotherapy|quimio|quimioterapia|"
    "radiotherapy|dialysis|dialisis|insulin|insulina|hba1c|cd4|biopsy|biopsia|tumor|tumour|tumors|tumores|cancer|"
    "cancers|diabetes|diabetic|diabetico|diabetica|epilepsy|epilepsia|asthma|asma|depression|depressed|depresion|"
    "deprimido|deprimida|anxiety|ansiedad|bipolar|autism|autistic|autismo|autista|schizophrenic|stroke|ictus|"
    "herpes|chlamydia|gonorrhea|syphilis|sifilis|virus|disease|illness|disorder|syndrome|enfermedad|sindrome|"
    "trastorno|diagnosed|diagnosis|diagnostico|medication|medications|medicine|medicines|medicina|medicamento|"
    "medicamentos|antidepressant|antidepressants|antidepresivos|pills|pastillas|lithium|litio|prozac|xanax|"
    "ritalin|adderall|viagra|ozempic|surgery|cirugia|migraine|migraines|migrana|parkinson|alzheimer|crohn|lupus|"
    "celiac|suicidal|suicide|suicidio|miscarriage|abortion|aborto|pregnant|pregnancy|embarazada|embarazo|"
    "psychiatrist|psychologist|therapist|therapy|oncologist|neurologist|cardiologist|gynecologist|urologist|"
    "psiquiatra|psicologo|psicologa|terapeuta|terapia|oncologo|oncologa|disabled|disability|discapacidad|"
    "discapacitado|discapacitada|blind|deaf|wheelchair|ciego|ciega|sordo|sorda|hypertension|hipertension|סרטן|"
    "סוכרת|סכרת|אפילפסיה|אסתמה|דיכאון|חרדה|חרדות|אוטיזם|אוטיסט|אוטיסטית|איידס|מחלה|מחלת|תסמונת|הפרעה|הפרעת|אבחנה|"
    "תרופה|תרופות|כדורים|ניתוח|אינסולין|כימותרפיה|דיאליזה|גידול|מיגרנה|בהריון|הריון|בהיריון|היריון|הפלה|פסיכולוג|"
    "פסיכולוגית|פסיכיאטר|פסיכיאטרית|מטפל|מטפלת|אונקולוג|אונקולוגית|נכה|נכות|עיוור|עיוורת|חירש|חירשת|אובדני|"
    "אובדנית|דמנציה|דלקת"
)
_LIFE: Final = words(
    "jewish|jew|muslim|christian|catholic|protestant|hindu|buddhist|atheist|mormon|islam|judaism|christianity|"
    "religion|religious|mosque|synagogue|quran|rabbi|imam|judio|judia|musulman|musulmana|cristiano|cristiana|"
    "catolico|catolica|ateo|atea|mezquita|sinagoga|misa|religioso|religiosa|gay|lesbian|bisexual|queer|"
    "transgender|trans|homosexual|heterosexual|asexual|lesbiana|democrat|republican|communist|socialist|"
    "conservative|liberal|leftist|likud|unionized|voted|vote|votes|voto|sindicato|sindicalista|comunista|"
    "socialista|parole|probation|prison|jail|convicted|felony|felon|arrested|dealer|carcel|prision|arrestado|"
    "arrestada|weed|cannabis|marijuana|cocaine|heroin|meth|lsd|rehab|addict|addicted|addiction|alcoholic|sober|"
    "overdose|marihuana|cocaina|heroina|adicto|adicta|adiccion|alcoholico|alcoholica|salary|income|wage|wages|"
    "earn|earns|paycheck|salario|sueldo|ingresos|gano|mistress|lover|affair|affairs|cheating|amante|infiel|יהודי|"
    "יהודייה|יהודיה|מוסלמי|מוסלמית|נוצרי|נוצרייה|נוצריה|דתי|דתייה|דתיה|חילוני|חילונית|חרדי|חרדית|אתאיסט|מסגד|"
    "כנסייה|כנסיה|הומו|לסבית|ביסקסואל|ביסקסואלית|טרנסג'נדר|הצבעתי|מצביע|מצביעה|ליכוד|כלא|מאסר|סמים|קנאביס|וויד|"
    "קוקאין|הרואין|גמילה|מכור|מכורה|אלכוהוליסט|משכורת|שכר|מאהב|מאהבת|בוגד|בוגדת"
)
_PHRASES: Final = words(
    "credit card|card number|debit card|api key|private key|social security|id number|id card|national id|"
    "account number|email and password|blood pressure|blood sugar|viral load|tumor marker|mental health|"
    "panic attack|panic attacks|heart attack|heart disease|heart condition|medical condition|hearing aid|"
    "hearing aids|multiple sclerosis|goes to mass|go to mass|to mass|sunday mass|my church|our church|to church|"
    "at church|in church|church every|the church|of church|labor union|trade union|the union|union member|"
    "union rep|aa meeting|aa meetings|na meetings|drug dealer|criminal record|smoke pot|right wing|left wing|"
    "tarjeta de credito|numero de tarjeta|numero de cuenta|presion arterial|tension alta|salud mental|"
    "esclerosis multiple|silla de ruedas|a la iglesia|mi iglesia|antecedentes penales|libertad condicional|"
    "תעודת זהות|מספר זהות|כרטיס אשראי|מספר חשבון|שם משתמש|לחץ דם|כיסא גלגלים|טרשת נפוצה|בית כנסת|בית הכנסת|"
    "לבית כנסת|לבית הכנסת|בבית כנסת|בבית הכנסת|ועד עובדים|עבר פלילי"
)
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
_CARD = re.compile(
    r"(?<![\d-])\d{4}(?:[ -]?\d{4}){3}(?![\d-])|(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])|(?<![\d-])\d{9}(?![\d-])"
)
# A church that is an address: "a church street café", "Church Road".
_STREET = re.compile(r"\b(?:church|mosque|synagogue|temple)\s(?:street|st|road|rd|lane|avenue|ave|square|hill)\b")
_DIAL_CODE = re.compile(
    r"\b(?:zip|postal|post|area|country|dress|source|qr|python|discount|promo|codigo\s(?=postal))\s?codes?\b|\bcodigo\spostal\b"
)
_HE_PREFIX: Final = re.compile(r"[והבלמכש]{1,2}(?=[א-ת]{3})")
_ALL: Final = _SECRETS | _HEALTH | _LIFE


def is_sensitive(text: str) -> bool:
    """Whole words only: neither "turkey" nor "monkey" holds a key."""
    if _CARD.search(text) is not None:
        return True
    bare = _DIAL_CODE.sub(" ", _STREET.sub(" ", plain(text)))
    found = [each.removesuffix("'s") for each in _WORD.findall(bare)]
    said = f" {' '.join(found)} "
    return any(map(_is_of_it, found)) or any(f" {phrase} " in said for phrase in _PHRASES)


def _is_of_it(word: str) -> bool:
    if word in _ALL or word.startswith(_BEGINNINGS):
        return True
    if word not in _NO_STEM and word[_LEAST_BEFORE:].endswith(_ENDINGS):
        return True
    prefix = _HE_PREFIX.match(word)  # "the", "in", "to", "from", written as one with the word
    return prefix is not None and any(word[cut:] in _ALL for cut in range(1, prefix.end() + 1))
