"""Words of clocks, calendars, money and measures in every language, in normal form, beside the tables of each one."""

from langmem_plugin.references.words.language_table import by_form, numbered, phrases, word_set

CODES: dict[str, str] = {
    "1": "one|un|una|uno|אחת|אחד",
    "a": "a|an",
    "q": "quarter|quarters|cuarto|cuartos|רבע|רבעי",
    "f": "half|medio|media|חצי|מחצית|½",
    ">": "past|after|despues de|אחרי",
    "<": "to|till|til|until|before|para|antes de|hasta|עד|לפני|ל",
    "&": "and|&|y|ו",
    "_": "menos|minus|פחות",
    "-": "-|–|−|־",
    "l": "las|la",
    "e": "el",
    "@": "at|by|from|since|desde|ב|בשעה|השעה|משעה|לשעה",
    "i": "in|on|of|de|del|en|por|the|per|של",
    "~": "about|around|roughly|approximately|approx|circa|like|almost|nearly|unos|unas|como|aproximadamente|casi|sobre|בערך|בסביבות|כמעט|כ|~",
    "s": "ish|or so|o asi|בערך",
    "O": "o'clock|oclock|en punto|בדיוק",
    "z": "oh",
    "%": "%|percent|per cent|pct|por ciento|אחוז|אחוזים",
    "y": "cent|cents|centavo|centavos|centimo|centimos|agora|agorot|אגורה|אגורות|pence|penny",
    "N": "next|last|this|coming|upcoming|previous|proximo|proxima|pasado|pasada|este|esta|הבא|הבאה|שעבר|שעברה",
    "/": "/",
}
"""One letter for each kind of word that a phrase of time or money is made of; `CODES` have no amount."""

HALVES = {"am": 0, "a.m": 0, "pm": 720, "p.m": 720}

NUMBERS: dict[str, int] = {
    **by_form({0: "zero|cero|אפס", 2: "couple of|couple|pair of|par de|זוג", 2000: "אלפיים"}),
    **numbered(
        "שלוש עשרה|שלושה עשר|שלש עשרה; ארבע עשרה|ארבעה עשר; חמש עשרה|חמישה עשר|חמשה עשר; שש עשרה|שישה עשר|ששה עשר; "
        "שבע עשרה|שבעה עשר; שמונה עשרה|שמונה עשר; תשע עשרה|תשעה עשר; עשרים",
        start=13,
    ),
    **numbered(
        "veintiuno|veintiun|veintiuna; veintidos; veintitres; veinticuatro; veinticinco; veintiseis; veintisiete; "
        "veintiocho; veintinueve",
        start=21,
    ),
    **numbered(
        "thirty|treinta|שלושים; forty|fourty|cuarenta|ארבעים; fifty|cincuenta|חמישים; sixty|sesenta|שישים|ששים; "
        "seventy|setenta|שבעים; eighty|ochenta|שמונים; ninety|noventa|תשעים",
        start=30,
        step=10,
    ),
    **numbered(
        "cien|ciento; doscientos|doscientas|מאתיים; trescientos|trescientas; cuatrocientos|cuatrocientas; "
        "quinientos|quinientas; seiscientos|seiscientas; setecientos|setecientas; ochocientos|ochocientas; "
        "novecientos|novecientas",
        start=100,
        step=100,
    ),
}
"""Number words that the languages' own tables do not reach."""

NOT_NUMBERS = frozenset({"tree", "once", "one", "un", "una", "uno", "אחת", "אחד"})
"""Forms of the languages' cardinals that mostly mean something else in a text."""

MULTIPLIERS: dict[str, int] = by_form(
    {
        12: "dozen|docena|docenas|תריסר",
        100: "hundred|מאה|מאות",
        1000: "thousand|k|grand|mil|אלף|אלפים",
        1_000_000: "million|millon|millones|מיליון",
    }
)

MINUTES: dict[str, float] = by_form(
    {
        1 / 60_000: "ms|millis|millisecond|milliseconds",
        1 / 60: "s|sec|secs|second|seconds|segundo|segundos|שנייה|שניה|שניות",
        1: "m|min|mins|minute|minutes|minuto|minutos|דקה|דקות|דק",
        60: "h|hr|hrs|hour|hours|hora|horas|שעה|שעות",
        1440: "d|day|days|dia|dias|יום|ימים",
        10080: "w|wk|wks|week|weeks|semana|semanas|שבוע|שבועות",
        43200: "month|months|mes|meses|חודש|חודשים",
        525600: "yr|yrs|year|years|ano|anos|שנה|שנים",
    }
)
"""Minutes in a unit of duration; a month is 30 days, a year 365."""

NOTES = {"tenner": 10, "fiver": 5}
"""One word for an amount of money."""

PAIRS = {"שעתיים": 60, "דקותיים": 1, "יומיים": 1440, "שבועיים": 10080, "חודשיים": 43200, "שנתיים": 525600}
"""One word for two of a unit."""

CURRENCIES: dict[str, str] = by_form(
    {
        "USD": "$|us$|usd|dollar|dollars|buck|bucks|dolar|dolares|דולר|דולרים",
        "EUR": "€|eur|euro|euros|pavo|pavos|אירו|יורו",
        "GBP": '£|gbp|quid|sterling|libra|libras|pound|pounds|ליש"ט|פאונד',
        "ILS": '₪|ils|nis|shekel|shekels|sheqel|shekalim|שקל|שקלים|שח|ש"ח',
        "JPY": "¥|jpy|yen|yenes",
        "INR": "₹|inr|rupee|rupees|rupias",
        "CHF": "chf|franc|francs",
        "": "peso|pesos",
    }
) | {code: code.upper() for code in phrases("cad|aud|mxn|brl|sek|nok|dkk|pln|czk|cny|krw|zar|nzd|sgd|hkd|ars|clp")}

MEASURES: dict[str, tuple[float, str]] = by_form(
    {
        (1, "km"): 'km|kms|kilometer|kilometers|kilometre|kilometres|kilometro|kilometros|קמ|ק"מ|קילומטר',
        (0.001, "km"): "meter|meters|metre|metres|metro|metros|mtr|מטר|מטרים",
        (1.609344, "km"): "mi|mile|miles|milla|millas|מייל",
        (0.0003048, "km"): "ft|foot|feet|pie|pies",
        (1, "kg"): 'kg|kgs|kilo|kilos|kilogram|kilograms|kilogramo|kilogramos|קילו|קג|ק"ג',
        (0.001, "kg"): "g|gr|gram|grams|gramo|gramos|גרם",
        (0.45359237, "kg"): "lb|lbs",
        (1, "l"): "l|liter|liters|litre|litres|litro|litros|ליטר",
        (0.001, "l"): "ml",
        (1, "°C"): "°c|celsius|centigrade",
        (1, "°F"): "°f|fahrenheit",
        (1, "°"): "°|degree|degrees|grado|grados|מעלות",
        (1, "m2"): 'm2|m²|sqm|sq m|square meters|square metres|metros cuadrados|מר|מ"ר',
        (0.09290304, "m2"): "sqft|sq ft|square feet",
        (1, "gb"): "gb|gigs|gig|gigabyte|gigabytes|ג'יגה",
        (0.001, "gb"): "mb|megabyte|megabytes",
        (1000, "gb"): "tb|terabyte|terabytes",
        (1, "kcal"): "kcal|calorie|calories|caloria|calorias|קלוריות",
        (
            1,
            "people",
        ): "person|persons|people|ppl|guest|guests|pax|adult|adults|persona|personas|invitados|comensales|אנשים|סועדים|אורחים",
        (1, "bedroom"): "bedroom|bedrooms|br|bdr|bed|beds|dormitorio|dormitorios|חדרי שינה",
        (1, "room"): "room|rooms|habitacion|habitaciones|חדר|חדרים",
        (1, "bathroom"): "bathroom|bathrooms|bath|baths|bano|banos",
        (1, "stop"): "stop|stops|layover|layovers|escala|escalas|parada|paradas|עצירה|עצירות",
        (1, "star"): "star|stars|estrella|estrellas|★|כוכב|כוכבים",
        (1, "night"): "nights|noches|לילות",
        (1, "page"): "page|pages|pagina|paginas|עמודים",
        (1, "serving"): "serving|servings|serves|serve|porcion|porciones|מנות",
    }
)
"""What a unit or a counted noun is in the unit that values are given in."""

DAYPARTS: dict[str, tuple[int, int]] = by_form(
    {
        (0, 360): "madrugada|לפנות בוקר",
        (300, 720): "morning|mornings|בוקר",
        (660, 960): "midday|צהריים|צהרים",
        (720, 1080): 'afternoon|afternoons|אחר הצהריים|אחה"צ|אחהצ',
        (721, 1260): "tarde",
        (1020, 1440): "evening|evenings|ערב|הערב",
        (1200, 1740): "night|noche|לילה|בלילה",
        (1020, 1740): "tonight|tonite|esta noche|הלילה",
    }
)
"""Minutes from midnight; the night ends on the next day."""

INSTANTS: dict[str, int] = by_form({720: "noon|mediodia|אמצע היום", 0: "midnight|medianoche|חצות"})

RELATIVE_DAYS: dict[str, int] = by_form(
    {
        -2: "anteayer|antier|שלשום",
        -1: "yesterday|ayer|אתמול",
        0: "today|tonight|tonite|hoy|esta noche|היום|הלילה|הערב",
        1: "tomorrow|tmrw|tmr|tomoz|2moro|manana|מחר",
        2: "day after tomorrow|pasado manana|מחרתיים",
    }
)

WEEKDAYS = numbered(
    "יום ב'|lun; יום ג'|mie; יום ד'; יום ה'|jue; יום ו'|vie; יום ש'|sab|shabbat; יום א'",
    start=0,
)
"""Short names of weekdays that the languages' own tables do not have."""

TIMID = frozenset({"may", "sun", "sat", "wed", "mar"})
"""Months and weekdays that are more often another word: read only beside a number, a joiner, or alone."""

LEVELS = numbered(
    "very easy|muy facil|קל מאוד; "
    "easy|facil|קל|beginner|simple|low|cheap|inexpensive|budget|small; "
    "medium|moderate|intermediate|mid|average|בינוני|media|medio; "
    "hard|difficult|advanced|high|expensive|dificil|large|קשה|pricey; "
    "very expensive|very hard|very difficult|expert|muy dificil",
    start=0,
)
"""Words of a scale, from least to most."""

FREE = word_set("free|gratis|free of charge|no charge|חינם|gratuito|gratuita")

KEYS: dict[str, frozenset[str]] = {
    kind: word_set(cell)
    for kind, cell in {
        "nothing": "id|uid|uuid|guid|phone|telephone|telefono|zip|zipcode|postal|postcode|sku|isbn|lat|lng|lon|latitude|longitude|code|version|index|url|email",
        "money": "price|cost|fare|fee|rent|amount|total|subtotal|charge|budget|precio|costo|coste|tarifa|importe|monto|saldo|מחיר|עלות|סכום|יתרה|copay|balance|deposit|salary|tip|tax|spent|paid|owed|payment|refund|revenue|premium|deductible|credit|debit|due_amount|fees|rate|fine",
        "not money": "count|level|tier|score|qty|quantity|type|interest|exchange|heart",
        "minor": "cent|cts|minor|agorot|pence|penny|centimo|centavo",
        "duration": "duration|duracion|length|runtime|elapsed|travel|eta|cook|prep|walk|drive|wait|ready|משך|זמן|tiempo|interval|timeout",
        "moment": "at|ts|time|timestamp|date|datetime|created|updated|modified|epoch|start|end|due|when|departure|arrival|expire|expiry|deadline|published|fecha|hora|on|until|since|begin|depart|arrive|checkin|checkout",
        "distance": "distance|distancia|מרחק|away|elevation|altitude|height|depth|radius",
        "percent": "percent|percentage|pct|porcentaje|אחוז",
        "year": "year|ano|שנה|released|vintage",
        "count": "count|num|number|qty|quantity",
        "currency": "currency|currency_code|currencycode|ccy|iso_currency_code|moneda|מטבע",
        "unit": "unit|units|uom|unidad",
        "amount": "amount|value|quantity|qty|number|size|distance|duration|weight|temperature|length|height|area",
    }.items()
}
"""What the words of a field's name say about a number in it."""
