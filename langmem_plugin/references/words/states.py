"""States that things are in, and their opposites, however an API or a person words them."""

import re

from langmem_plugin.references.words.language_table import phrases

_STATES = {
    "paid|settled|cleared|posted|charged|pagado|pagada|pagados|pagadas|cobrado|cobrada|liquidado|שולם|שולמה|שולמו|ששולם|ששילמתי|שילם|שילמה|שילמו|שילמתי": "unpaid|due|owed|owing|outstanding|unsettled|to pay|pending|impago|impaga|pendiente|pendientes|sin pagar|por pagar|falta por pagar|debo|לא שולם|לתשלום|ממתין|ממתינה",
    "done|finished|fixed|repaired|sorted|complete|completed|closed|shut|resolved|solved|handled|hecho|hecha|hechos|hechas|terminado|terminada|resuelto|resuelta|cerrado|cerrada|בוצע|בוצעה|נעשה|הושלם|הושלמה|סגור|סגורה|טופל": "undone|unfinished|incomplete|open|todo|to do|pending|remaining|unresolved|unsolved|not started|in progress|pendiente|pendientes|por hacer|sin hacer|abierto|abierta|en curso|פתוח|פתוחה|פתוחים|בטיפול",
    "available|free|vacant|open|empty|unoccupied|spare|disponible|disponibles|libre|libres|פנוי|פנויה|פנויים|זמין|זמינה": "unavailable|taken|occupied|booked|booked out|reserved|busy|full|fully booked|sold out|in use|charging|out of stock|checked out|on loan|waitlist|no disponible|ocupado|ocupada|reservado|reservada|agotado|agotada|lleno|llena|prestado|תפוס|תפוסה|מלא|מלאה|מושאל",
    "answered|replied|responded|rsvp|rsvpd|confirmed|got back|contesto|contestado|respondio|respondido|confirmado|confirmada|ענה|ענתה|השיב|אישר|אישרה": "unanswered|no reply|no response|no answer|awaiting|awaiting reply|awaiting response|waiting|pending|unconfirmed|sin respuesta|sin contestar|sin confirmar|no response yet|לא ענה|לא ענתה|בלי תשובה|ממתין לתשובה",
    "accepted|coming|attending|going|yes|said yes|asiste|viene|acepto|si viene|מגיע|מגיעה|מגיעים|בא|באה": "declined|not coming|not attending|not going|said no|cant come|cant make it|bailed|rejected|rechazo|no viene|no asiste|לא מגיע|לא באה|סירב|סירבה",
    "approved|accepted|granted|aprobado|aprobada|aceptado|אושר|אושרה": "rejected|denied|declined|refused|turned down|rechazado|rechazada|denegado|נדחה|נדחתה",
    "assigned|taken|picked up|claimed|owned|covered|filled|staffed|asignado|asignada|cubierto|cubierta|שובץ|משובץ": "unassigned|unclaimed|unowned|open|nobody|nobodys|nobody's|no one|no one's|noone|noones|up for grabs|uncovered|unfilled|free|sin asignar|nadie|sin cubrir|אף אחד|לא משובץ|בלי שיבוץ",
    "working|online|operational|healthy|operative|funciona|funcionando|operativo|en linea|תקין|תקינה|עובד|עובדת": "broken|faulted|faulty|terminated|stopped|crashed|halted|out of order|out of service|offline|down|faulted|dead|unavailable|averiado|averiada|roto|rota|no funciona|fuera de servicio|sin conexion|תקול|תקולה|מקולקל|מקולקלת|לא עובד|שבור|שבורה",
    "on time|punctual|scheduled|a tiempo|puntual|en hora|בזמן": "late|delayed|behind|running behind|running late|delay|overdue|retrasado|retrasada|con retraso|retraso|tarde|באיחור|מאחר|מאחרת|עיכוב|מתעכב|מתעכבת",
    "current|in time|vigente|al dia|בתוקף": "overdue|late|past due|expired|lapsed|vencido|vencida|vencidos|vencidas|atrasado|atrasada|caducado|פג|פג תוקף|באיחור",
    "active|on|enabled|live|activo|activa|activado|encendido|encendida|פעיל|פעילה|דולק|דולקת": "inactive|off|disabled|paused|stopped|suspended|inactivo|inactiva|apagado|apagada|pausado|pausada|desactivado|כבוי|כבויה|מושבת|מושהה|לא פעיל",
    "delivered|arrived|received|picked up|entregado|entregada|llego|recibido|נמסר|נמסרה|הגיע|הגיעה|התקבל": "undelivered|processing|held|on hold|preparing|placed|in transit|on the way|on its way|underway|shipped|out for delivery|en camino|en transito|en reparto|sin entregar|בדרך|במשלוח|לא הגיע|לא הגיעה|לא נמסר",
    "read|seen|opened|leido|leida|visto|נקרא|נקראה": "unread|unseen|unopened|sin leer|no leido|לא נקרא|לא נקראה",
    "shipped|dispatched|delivered|in transit|on its way|enviado|enviada|despachado|נשלח|נשלחה": "processing|preparing|unshipped|pending|en preparacion|sin enviar|בהכנה",
    "sent|published|enviado|enviada|publicado|נשלח|נשלחה|פורסם": "draft|unsent|borrador|sin enviar|טיוטה",
    "booked|enrolled|signed up|registered|reserved|joined|inscrito|inscrita|apuntado|apuntada|רשום|רשומה": "not booked|not enrolled|no inscrito|לא רשום",
    "cancelled|canceled|called off|killed|scrapped|dropped|cancelado|cancelada|suspendido|suspendida|בוטל|בוטלה|מבוטל|מבוטלת": "",
    "urgent|critical|emergency|asap|urgente|critico|critica|דחוף|דחופה|קריטי": "not urgent|no urgente|לא דחוף",
    "free|gratis|no charge|complimentary|gratuito|gratuita|חינם|בחינם": "paid|de pago|בתשלום",
    "online|virtual|remote|remoto|en remoto|zoom|אונליין|מקוון|בזום": "in person|onsite|presencial|פרונטלי|פנים אל פנים",
    "cancellable|refundable|can cancel|i can cancel|reembolsable|cancelable|ניתן לביטול|אפשר לבטל": "nonrefundable|non refundable|no refund|no reembolsable|לא ניתן לביטול|בלי החזר",
    "verified|checked|verificado|מאומת": "unverified|sin verificar|לא מאומת",
    "full time|fulltime|jornada completa|משרה מלאה": "part time|parttime|media jornada|משרה חלקית",
    "passed|normal|in range|aprobado|תקין": "failed|abnormal|out of range|flagged|suspenso|חריג|חריגה",
    "returned|given back|devuelto|הוחזר": "not returned|sin devolver|לא הוחזר",
}
"""What is so: what is not so."""

STATES: dict[str, tuple[tuple[int, bool], ...]] = {}
"""A word or phrase to the states it tells of, and whether they hold."""
for _number, (_so, _not_so) in enumerate(_STATES.items()):
    for _form in phrases(_so):
        STATES[_form] = (*STATES.get(_form, ()), (_number, True))
    for _form in phrases(_not_so):
        STATES[_form] = (*STATES.get(_form, ()), (_number, False))
_ENDS = re.compile("(?:ים|ות|ו|ה|ת|תי)$")
_ROOTED, _SHORTEST = 5, 3  # letters of a Spanish participle, and of a Hebrew word


def _root(word: str) -> str:
    """A Hebrew or Spanish word without what tells gender, number and person; "" of others."""
    if "\u05d0" <= word[:1] <= "\u05ea":
        bare = word[1:] if word[0] in "שהלמו" and len(word) > _SHORTEST + 1 else word
        return _ENDS.sub("", bare) if len(bare) >= _SHORTEST else ""
    return word.rstrip("s")[:-1] if len(word) > _ROOTED and word.rstrip("s").endswith(("do", "da")) else ""


_ROOTS: dict[str, tuple[tuple[int, bool], ...]] = {}
for _form, _told in STATES.items():
    if " " not in _form and (_bare := _root(_form)):
        _ROOTS.setdefault(_bare, _told)


def states_told(words: str) -> tuple[tuple[int, bool], ...]:
    """The states that a word or phrase tells of, in any gender and number, and whether they hold."""
    return STATES.get(words) or (() if " " in words else _ROOTS.get(_root(words), ()))


LONGEST_STATE = max(len(form.split()) for form in STATES)

PROPERTIES: dict[str, frozenset[str]] = {}
"""A word for something that things have or lack, in any of the languages, to the words that fields of it are named by."""
for _line in (
    "people ppl person persons guests party headcount folks gente personas אנשים",
    "hour hours duration time horas שעות",
    "spot spots place places seat seats plazas מקומות",
    "points point puntos נקודות",
    "elevator lift ascensor מעלית",
    "parking garage garaje aparcamiento cochera estacionamiento חניה חנייה",
    "balcony terrace terraza balcon מרפסת",
    "pet pets mascota mascotas animales dog dogs perro perros כלבים חיות",
    "furnished muebles amueblado amueblada מרוהט מרוהטת",
    "bathroom bath bano banos אמבטיה",
    "assignee assigned owner volunteer coordinator responsable אחראי",
    "instructor teacher coach trainer profesor profesora monitor מדריך מורה",
    "category categoria קטגוריה",
    "shelter techo marquesina סככה",
    "refill refills renew renewal autorenew reposicion renovacion חידוש",
    "tracking rastreo מעקב",
    "appointment appt cita turno תור",
    "eta arrival arrive llegada הגעה",
    "price cost precio coste מחיר",
    "deductible franquicia השתתפות",
    "photo picture foto fotos תמונה",
    "attachment attached adjunto צרופה",
    "phone number telefono טלפון",
    "email mail correo מייל",
    "wifi internet",
    "breakfast desayuno בוקר",
    "kitchen cocina מטבח",
    "child children kid kids ninos hijos ילדים",
    "license licence driver carnet permiso רישיון",
    "plug outlet socket power charger electric enchufe שקע חשמל",
    "wheelchair accessible step-free accesible נגיש נגישה",
    "explicit swear clean",
    "battery bateria סוללה",
    "roaming itinerancia נדידה",
    "contract permanence permanencia lock התחייבות",
    "certificate cert certified certificado תעודה",
    "experience experiencia ניסיון",
    "shade shadow sombra צל",
    "water agua מים",
    "guest guests plus companion acompanante אורח",
    "insurance insured seguro ביטוח",
    "delivery shipping envio משלוח",
    "window ventana חלון",
    "table mesa שולחן",
    "quiet silent silencioso שקט",
    "note notes comment nota הערה",
    "reply answer response respuesta תשובה",
    "return vuelta חזור",
    "discount offer sale descuento oferta הנחה מבצע",
    "garden yard jardin גינה",
    "pool piscina בריכה",
    "gym gimnasio כושר",
    "floor floors storey piso planta קומה",
    "zone zona אזור",
    "level nivel רמה",
    "room rooms habitacion sala cuarto חדר",
    "screen monitor display pantalla מסך",
    "climb climbing ascent elevation gain uphill subida desnivel עלייה טיפוס",
    "participant participants enrollment enrolled enrolment attendee attendees member members participantes inscritos משתתפים",
    "passenger passengers traveller travellers pasajeros נוסעים",
    "salary pay wage compensation earnings stipend sueldo salario paga שכר משכורת",
    "deposit fianza deposito פיקדון",
    "grade mark score nota calificacion ציון",
    "view views viewer viewers visitas צפיות",
    "like likes favourite favourites favorite favorites gustas לייקים",
    "download downloads descargas הורדות",
    "follower followers subscriber subscribers seguidores עוקבים",
    "vote votes votos קולות",
    "page pages paginas עמודים",
    "song songs track tracks canciones שירים",
    "episode episodes capitulo capitulos פרק פרקים",
    "mileage odometer kilometraje ק״מ",
    "speed velocidad מהירות",
    "weight heavy peso משקל",
    "height tall altura גובה",
    "depth deep profundidad עומק",
    "stock inventory available left remaining quedan existencias מלאי",
    "consumption usage used consumo צריכה",
    "signal reception senal cobertura קליטה",
    "subtitle subtitles subs subtitulos כתוביות",
    "language languages speaker speakers speaks speaking idioma idiomas שפה",
    "infantil ninos ninas kids children junior youth ילדים",
    "loss losing lost perdida perdidas pnl profit הפסד",
    "delay delays wait waiting retraso espera עיכוב המתנה",
    "fine penalty multa קנס",
    "loan loans prestamo prestamos השאלה",
    "renewal renewals renovacion renovaciones חידושים",
    "audio audioguide audioguia",
    "catering food comida",
    "music musica מוזיקה",
    "warranty guarantee garantia אחריות",
    "heating calefaccion חימום הסקה",
    "air conditioning aircon ac aire מזגן",
    "smoke smoking fumar fumadores עישון",
    "wine vino יין",
    "fuel petrol gasoline diesel combustible gasolina דלק",
    "colour color צבע",
    "signature sign firma חתימה",
    "memory ram memoria זיכרון",
    "complaint complaints protest protests queja quejas protestas תלונה תלונות",
    "owed owing debt balance arrears deuda deudas saldo חוב חובות יתרה",
    "applicant applicants candidate candidates competing competition solicitantes candidatos מועמדים",
    "expiry expires expiring expiration caducidad caduca vence תפוגה",
):
    _words = frozenset(_line.split())
    for _word in _words:
        PROPERTIES[_word] = PROPERTIES.get(_word, frozenset()) | _words
