"""Phrases that say one thing of somebody in other words, and words by which kinds of values are told.

A phrase may have a gap of a few words ("buy … from"), and one Hebrew letter at its end is written onto the next word.
"""

from typing import Final

from langmem_plugin.languages.language import phrases, words

ONE_MEANING: Final = {
    name: phrases(cell)
    for name, cell in {
        "supply": "supplier|supplier for|supplies|supply our|supplied by|comes from|come from|get … from|buy … from|order … from|source … from"
        "|proveedor de|proveedor|proveedora|nos lo trae|nos la trae|nos los trae|suministra|viene de|compramos … a|compro … a"
        "|ספק|הספק|קונים|קונה|מספק|מספקת|מגיע|מגיעה",
        "own": "own|owns|owner of|have|has|got|belongs to me|belongs to us|belong to me|belong to us|is mine|is ours|are mine|are ours|mine|ours|what i have|what we have|is what i have"
        "|tengo|tenemos|soy dueno de|soy duena de|es mia|es mio|es nuestra|es nuestro|son nuestros|son mios|me pertenece|nos pertenece|mia|mio"
        "|יש לי|יש לנו|שייך לי|שייכת לי|שייך לנו|שייכת לנו|שלי|שלנו|בבעלותי|בבעלותנו",
        "school": "school|goes to|go to|going to|attends|attend|studies at|study at|pupil at|student at|enrolled at"
        "|va al|va a|voy al|colegio de|colegio|escuela|estudia en|estudio en|instituto"
        "|לומד ב|לומדת ב|לומדים ב|לומד|לומדת|הולך ל|הולכת ל|בית ספר|בית הספר|תלמיד ב|תלמידת",
        "earned": "charge|charges|rate|rates|fee|my rate is|cobro|cobramos|tarifa|גובה|גובים|לוקח|לוקחת|תעריף",
        "paid": "pay|pays|pay … for|paying|cost|costs|cost me|costs me|costs us|price|fee|price of|pago|pagamos|pago … por|pagamos … por|cuesta|me cuesta|nos cuesta|precio|precio de|cuota|cuota de|cuota del"
        "|עולה|עולה לי|עולה לנו|משלם|משלמת|משלמים|על|מחיר|המחיר",
        "birth": "was born in|were born in|born in|birthplace|naci en|nacido en|nacida en|lugar de nacimiento|נולדתי ב|מקום הלידה",
        "spouse": "married to|husband|wife|spouse|casado con|casada con|marido|esposo|esposa|mujer|נשוי ל|נשואה ל|בעלי|אשתי",
        "like": "like|love|enjoy|adore|is something i like|is something i love|is something i enjoy|fond of|fan of|am into|me gusta|me gustan|me encanta|es algo que me gusta|es algo que me encanta|disfruto|disfruto de"
        "|אוהב|אוהבת|זה משהו שאני אוהב|זה משהו שאני אוהבת|משהו שאני אוהב|משהו שאני אוהבת",
        "best": "pb|pr|personal best|best time|my best|best|record|mejor marca|mejor tiempo|marca personal|récord|record|שיא|שיא אישי",
        "line": "carrier|phone carrier|phone company|phone provider|mobile provider|mobile carrier|network|provider|with … for|phone|mobile|cell|phone plan|am with|compania de telefono|compania|telefonia|operadora|estoy con|חברת הסלולר|סלולר",
        "tenancy": "tenant|tenant in|tenant of|rents|rents … from me|rents … from us|rents from me|lives in|inquilino|inquilina|alquila|me alquila|vive en|שוכר|שוכרת|דייר|דיירת|גר ב|גרה ב",
        "training": "train|trains|training|practice|practise|practices|session|entrena|entrenan|entrenamiento|entreno|מתאמן|מתאמנת|מתאמנים|אימון|אימונים|האימון",
        "bank": "bank|bank with|bank is|account with|account at|account|banco|cuenta en|בנק|חשבון",
        "work": "work as|works as|work|works|job|profession|is a|am a|trabaja de|trabajo de|trabaja como|trabajo como|trabaja|trabajo|profesion|עובד כ|עובדת כ|עובד|עובדת",
        "trip": "fly|flies|flight|drive|drives|vuelo|volamos|viajo",
        "dose": "dose|dose of|take|takes|taking|am on|tomo|toma|dosis|לוקח|לוקחת|מינון",
        "named": "called|named|name is|name|spelled|se llama|nombre|קוראים|שם|בשם|שמו|שמה",
        "birthday": "birthday|bday|birthday is|cumple|cumpleanos|cumple anos|nacio el|יום הולדת|יום ההולדת|נולד ב|נולדה ב",
        "allergy": "allergic to|allergy to|allergy|alergico a|alergica a|alergia a|alergico al|alergica al|אלרגי ל|אלרגית ל|אלרגיה ל|יש אלרגיה ל|יש",
        "health": "heart doctor|cardiologist|heart specialist|skin doctor|dermatologist|eye doctor|ophthalmologist",
        "home": "home|home is in|house|live in|lives in|living in|casa esta en|vivo en|vive en|casa|הבית ב|גר ב|גרה ב",
    }.items()
}
"""By what they say: two texts whose other words are the same say one thing with these."""

TELLING_ALONE: Final = frozenset(("birth", "spouse", "like", "line", "bank"))
"""Of these, one more word is enough: "I was born in Oslo", "Oslo is my birthplace"."""

LEFT_OUT: Final = words(
    "level|dose|type|units|called|normal|usual|regular|standard|each|every|per|nivel|at|in|is|de|del|en|ב|רמה|ברמה"
)
"""Words that a text may say of a value or not: "my French is at level B2", "I'm B2 in French"."""

HAPPENING: Final = words(
    "raised|raise|put|lowered|set|bumped|sold|bought|got|gained|lost|ran|run|hit|passed|exam|reached|finished|made|gave|they|moved|switched|few|some|more|today|yesterday|week|month|last|new|one|couple|mart|market|been|got|went|gone|come|came|price|prices|cost|costs|am|put|down|up|to|by|since|from|then|subi|subimos|subido|vendi|vendimos|compramos|compre|algunas|algunos|mas|aprobe|examen|nuevo|nueva|pase|pasamos|hoy|ayer|precio"
    "|העליתי|מכרתי|מכרנו|קנינו|קניתי|כמה|עוד|חדש|חדשה|היום|אתמול|עברתי|התייקר|התייקרה"
)
"""What is told along with a change, and is no other thing than the one that has changed."""

SHIFTS: Final = (words("night|morning|day|early|late|evening|afternoon|noche|manana|tarde|dia|לילה|בוקר|ערב|יום"),)
"""Of each group only one holds: the night shift, the morning shift."""

MAKERS: Final = {
    "line": words(
        "verizon|t-mobile|at&t|sprint|vodafone|orange|o2|ee|three|giffgaff|movistar|telefonica|yoigo|jazztel|masmovil|pepephone|tigo|claro|telcel|entel|personal|wom|bitel|cricket|mint|xfinity|spectrum|comcast|rogers|bell|telus|fido|optus|telstra|jio|airtel|tmobile|telekom|swisscom|sunrise|proximus|kpn|ziggo|virgin|sky|bt|talktalk|lebara|lycamobile|cellcom|pelephone|hot|partner|golan|סלקום|פלאפון|פרטנר|הוט|גולן|בזק|סלקום"
    ),
    "car": words(
        "mazda|kia|toyota|honda|ford|volvo|skoda|seat|renault|peugeot|citroen|fiat|bmw|audi|mercedes|vw|volkswagen|opel|vauxhall|hyundai|nissan|subaru|suzuki|mitsubishi|tesla|chevrolet|chevy|jeep|dodge|chrysler|lexus|infiniti|acura|mini|jaguar|porsche|dacia|saab|byd|polestar|cupra|ssangyong|buick|cadillac|gmc|lincoln|ram|alfa|lancia|isuzu|geely|chery|מאזדה|קיה|טויוטה|הונדה|פורד|וולוו|סקודה|סיאט|רנו|פיג'ו|סיטרואן|פיאט|אאודי|מרצדס|יונדאי|ניסאן|סובארו|סוזוקי|מיצובישי|טסלה|שברולט"
    ),
    "bank": words(
        "barclays|monzo|hsbc|lloyds|natwest|santander|revolut|starling|halifax|chase|citibank|wells fargo|n26|bbva|caixabank|sabadell|bankinter|ing|bankia|openbank|unicaja|ibercaja|deutsche|commerzbank|sparkasse|leumi|hapoalim|discount|mizrahi|לאומי|הפועלים|דיסקונט|מזרחי|nationwide|metro|wise|abn|rabobank|nordea|danske|swedbank"
    ),
    "phone": words(
        "iphone|android|pixel|galaxy|samsung|nokia|xiaomi|huawei|oneplus|motorola|blackberry|אייפון|אנדרואיד|גלקסי"
    ),
}
"""Makers of which somebody mostly has one: who switched from one to another has changed that."""
