"""What fields are called that people compare by: prices, durations, ratings, in every language."""

from langmem_plugin.references.words.language_table import phrases

PRICE = phrases(
    "price|cost|fare|fee|rent|amount|total|rate|charge|budget|precio|costo|coste|tarifa|importe|monto|total_price|מחיר|עלות|סכום"
)
DURATION = phrases(
    "minutes|duration|time|length|hours|seconds|secs|cook|prep|ready|wait|lead|queue|total_time|runtime|travel|eta|duracion|tiempo|minutos|horas|segundos|espera|משך|זמן|דקות|שעות|המתנה"
)
CLOCK = phrases(
    "start|departure|depart|leaving|leave|time|begin|date|when|day|due|created|year|released|published|pickup|checkin|deadline|end|arrival|arrive|expire|expiry|hora|fecha|inicio|salida|תאריך|שעה|יציאה|התחלה"
)
DUE = (
    phrases(
        "due|deadline|expires|expire|expiry|ends|next|until|vence|vencimiento|caduca|caducidad|plazo|limite|תפוגה|יעד"
    )
    + CLOCK
)
DEBT = phrases("owed|owing|owe|debt|balance|due|arrears|outstanding|debe|deuda|saldo|pendiente|חוב|יתרה")
RATING = phrases(
    "rating|stars|star|grade|mark|nota|score|review|reviews|rank|estrella|estrellas|puntuacion|calificacion|valoracion|resenas|דירוג|כוכבים|ציון"
)
WEIGHT = phrases("weight|mass|kg|grams|calories|kcal|peso|משקל")
CALORIES = phrases("calories|kcal|cal|calorias|energy|קלוריות")
DISTANCE = phrases("distance|km|miles|meters|away|distancia|kilometros|meter|מרחק")
SIZE = phrases(
    "size|area|sqft|bedrooms|beds|servings|serves|capacity|quantity|count|seats|amount|length|height|weight|number|population|tamano|porciones|cantidad|personas|people|guests|pages|volume|גודל|מנות|כמות"
)
HEIGHT = phrases("height|elevation|altitude|alt|altura|altitud|elevacion|גובה")
DEPTH = phrases("depth|deep|draft|draught|profundidad|calado|עומק")
WIDTH = phrases("width|beam|wide|ancho|anchura|רוחב")
NOISE = phrases("noise|loudness|db|decibels|ruido|sonido|רעש")
FIRMNESS = phrases("firmness|softness|dureza|firmeza|קשיחות")
PAY = phrases("pay|salary|wage|fee|rate|cache|sueldo|salario|jornal|paga|honorarios|שכר|תשלום") + PRICE
RECENT = phrases("last|recent|latest|updated|modified|used|visited|seen") + tuple(
    word for word in CLOCK if word != "year"
)
AGE = phrases(
    "age|edad|born|birth|birthdate|dob|nacimiento|founded|built|year|ano|anada|שנה|released|published|created|recorded|opened|raised|since|abierto|abierta|creado|creada|desde|date|updated|modified"
)
EASE = phrases("difficulty|level|effort|steps|complexity|dificultad|קושי")
HEAT = phrases("temperature|heat|spice|spiciness|temp")
STOPS = phrases("stops|layovers|transfers|changes")
