"""Words that say how a text stands to what was said before, whatever both are about: English, Spanish, Hebrew."""

# ruff: noqa: E501 - a cell of a table stays in one piece

from typing import Final

from langmem_plugin.languages.language import LANGUAGES, phrases, words

CUES: Final = {
    name: phrases(cell)
    for name, cell in {
        "now": "now|these days|nowadays|currently|from now on|as of|from today|starting|since|at the moment|so far|already|till further notice|this time"
        "|ahora|actualmente|desde hoy|desde ahora|a partir de|de momento|hoy en dia|ya|ultimamente|por ahora|a estas alturas"
        "|עכשיו|מעכשיו|מהיום|כיום|כרגע|החל מ|מעתה|כבר|היום",
        "fresh": "new|newer|brand new|latest|actual|nuevo|nueva|nuevos|nuevas|חדש|חדשה|חדשים|חדשות",
        "same": "same|as before|as usual|unchanged|mismo|misma|mismos|mismas|igual|igualmente|como siempre|כרגיל|כמו קודם|אותו דבר",
        "change": "changed|changes|changing|change|switched|switching|switch|swapped|swap|moved|moves|moving|move|shifted|pushed|postponed|rescheduled|brought forward|delayed|replaced|replaces|replacing|replace|gone over|went over|taken over|took over|takes over|instead|instead of|rather than|traded|converted|transferred|migrated|renamed|redone|updated|upgraded|downgraded|renewed|extended|reset|relocated|put back|slipped|became|becomes|turned into|went with|gone with|going with|redid|redone|repainted|double booked|handed over|hands over|passed to|went for|settled on|chose|opted|decided on|bumped"
        "|cambie|cambio|cambia|cambiado|cambiaron|cambiamos|cambian|hemos cambiado|he cambiado|han cambiado|pase a|me pase|nos pasamos|paso a|pasa a|pasado a|pasan|mudo|mude|mudamos|mudado|movido|movio|movieron|aplazado|aplazo|aplazaron|adelantado|adelanto|retrasado|retraso|en vez de|en lugar de|sustituido|sustituye|reemplaza|reemplazo|renovado|renove|ampliado|actualizado|trasladado|traslado|trasladaron|pospuesto|atrasado"
        "|החלפתי|החלפנו|החליף|החליפה|החליפו|מחליף|מחליפה|עברתי|עברנו|עבר|עברה|עברו|עובר|עוברת|עוברים|שיניתי|שינינו|שינה|שינו|השתנה|השתנתה|השתנו|במקום|במקומו|במקומה|במקומם|במקומי|הוזז|הוזזה|נדחה|נדחתה|נדחו|דחו|דחינו|דחיתי|הקדימו|הקדמנו|הוקדם|הוקדמה|הזיזו|הזזנו|הזזתי|העבירו|העברתי|העברנו|חידשתי|חידשנו|הוארך|עודכן|התחלף|התחלפה",
        "amount": "raised|raise|raising|upped|increased|increase|went up|gone up|goes up|put up|up to|up from|rose|higher|lowered|lower|reduced|reduce|cut|dropped|went down|gone down|come down|came down|down to|down from|decreased|doubled|halved|grew|grown|gained|lost|promoted|promotion|turned|turns|bigger|smaller|cheaper|dearer"
        "|subio|subido|subi|subimos|suben|subieron|sube|aumento|aumentado|aumentaron|bajo|bajado|baje|bajaron|bajamos|baja|rebajado|rebajaron|crecido|crecio|engordado|adelgazado|ascendido|ascendieron|cumplio|cumplido|encarecido|mas caro|mas barato"
        "|עלה|עלתה|עלו|העלו|העלה|העלתה|העליתי|העלינו|הועלה|ירד|ירדה|ירדו|הוריד|הורידה|הורידו|הורדתי|הורדנו|גדל|גדלה|גדלו|התייקר|התייקרה|קודמתי|מלאו|חגג|חגגה|הוזל",
        "end": "no longer|no more|not any more|anymore|any more|any longer|stopped|stop|stops|quit|quits|left|leaving|leaves|dropped|cancelled|canceled|cancelling|ditched|scrapped|sold|selling|gave up|given up|gave away|given away|got rid|get rid|ended|over|finished|done with|finish|closed|closed down|shut|shut down|shuts|retired|fired|resigned|died|dead|passed away|put down|broke up|split up|divorced|moved out|dropped out|called off|fell through|gone|out of|expired|discharged|signed off|signed me off|unsubscribed|deleted|binned|thrown out|threw out|threw away|returned|sent back|handed back|weaned|outgrew|outgrown|off the|is off|am off|are off|gone off|went off|completed|wrapped up|lapsed|disbanded|let go|pulled out|backed out|came off|off it|all clear|cured|healed|recovered|cleared|stolen|got stolen|emptied|took out|taken out|ripped out|pulled up|forget|off for good|for good|not needed|dissolved|abandoned|withdrew|withdrawn|dropped off"
        "|ya no|dejado|deje|dejo|dejamos|dejaron|dejar|vendi|vendido|vendimos|vendio|cancele|cancelado|cancelamos|cancelaron|se acabo|acabado|acabo|termine|termino|terminado|terminamos|cerro|cerrado|cerraron|jubilo|jubilado|despedido|despidieron|murio|fallecio|muerto|regale|regalado|regalamos|rompimos|separado|separamos|divorciado|se fue|se ha ido|me fui|nos fuimos|me he ido|fuera|caducado|caduco|tirado|tire|devuelto|devolvi|devolvimos|baja de|di de baja|dado de baja|nos dimos de baja|me di de baja|dado el alta|quitado|quitaron|quite|eliminado|anulado|anule|anularon|ya nada|nunca mas|abandonado|curado|suspendido|retirado|renuncie"
        "|כבר לא|לא עוד|הפסקתי|הפסקנו|הפסיק|הפסיקה|הפסיקו|עזבתי|עזבנו|עזב|עזבה|עזבו|מכרתי|מכרנו|מכר|מכרה|ביטלתי|ביטלנו|ביטל|ביטלה|ביטלו|בוטל|בוטלה|נגמר|נגמרה|נגמרו|הסתיים|הסתיימה|סיימתי|סיימנו|סיים|סיימה|נסגר|נסגרה|סגר|סגרה|סגרו|סגרתי|סגרנו|פרש|פרשה|פוטר|פוטרתי|מת|מתה|נפטר|נפטרה|נפרדנו|התגרשנו|התגרשו|ויתרתי|ויתרנו|אין יותר|יותר לא|לא יותר|יותר|פג|החזרתי|החזרנו|מסרנו|נתנו|זרקתי|זרקנו|התפטרתי|התפטר|התפטרה|הבריא|החלים|השתחרר|השתחררה|השתחררתי",
        "correct": "wrong|mistake|mistaken|actually|turns out|turned out|correction|correct|corrected|misread|misheard|mixed up|typo|i meant|meant|sorry|not really|in fact|misspelled|spelled|should be|should read|scratch that|my bad|was off|in the end|after all|apparently"
        "|me equivoque|equivocado|equivocada|error|correccion|corrijo|en realidad|perdon|resulta|resulto|me confundi|al final|quise decir|mal|era mentira|se escribe|al parecer|confundido"
        "|טעיתי|טעות|התבלבלתי|תיקון|בעצם|מסתבר|הסתבר|סליחה|התכוונתי|בסוף|לא נכון|למעשה|התברר|מתברר|שגיאה",
        "paid": "paid|settled|repaid|gave back|gave me back|paid back|square|all square|cleared|even|quits|pay back|transferred me|nothing left|owes nothing|written off|refunded|reimbursed"
        "|pago|pague|pagado|pagaron|pagamos|saldado|saldo|saldada|devolvio|devolvi|devuelto|devolvieron|en paz|a mano|liquidado|liquidada|liquido|he pagado|ha pagado"
        "|שילם|שילמה|שילמו|שילמתי|שילמנו|החזיר|החזירה|החזירו|החזרתי|סגר את|סגרה את|סגרתי את|פרע|העביר לי|העבירה לי|סילק|שולם|שולמה",
        "add": "also|too|as well|another|second|other|besides|plus|in addition|additionally|extra|on top|both|more|either|and also|additional"
        "|tambien|ademas|otro|otra|otros|otras|segundo|segunda|mas|aparte|tampoco|ambos|encima"
        "|גם|וגם|עוד|נוסף|נוספת|בנוסף|אחר|אחרת|השני|השנייה|שנייה|שני|בנוסף ל",
        "still": "still|as always|remains|reminder|again|remember|yet|keeps|continues|waiting"
        "|sigue|siguen|todavia|aun|otra vez|recuerda|seguimos|sigo|continua"
        "|עדיין|כמו תמיד|שוב|תזכורת|ממשיך|ממשיכה|נשאר|נשארה|עוד לא",
        "begin": "started|start|starting|began|joined|took up|taken up|got|bought|adopted|signed up|hired|opened|set up|booked|enrolled"
        "|empece|empezado|empezo|empezamos|he empezado|compre|compramos|comprado|adopte|adoptamos|contrate|contratamos|contratado|me apunte|apuntado|abri|reserve|reservado"
        "|התחלתי|התחלנו|התחיל|התחילה|קניתי|קנינו|אימצנו|אימצתי|נרשמתי|נרשמנו|הצטרפתי|שכרנו|לקחתי|לקחנו|פתחתי|הזמנתי",
        "back": "back|returned to|went back|gone back|moved back|again|volvi|vuelto|volvimos|vuelvo|de nuevo|otra vez|regrese|חזרתי|חזרנו|חזר|חזרה|שוב|בחזרה",
        "past": "used to|was|were|had|formerly|previously|previous|old|former|last year|once|before|ex|era|antes|antiguo|antigua|anterior|tenia|habia|estaba|היה|היתה|הייתה|היו|הייתי|פעם|לשעבר|הקודם|הקודמת|הישן|הישנה|לפני",
        "not": "not|don't|doesn't|didn't|isn't|aren't|can't|won't|never|dont|doesnt|isnt|cant|wont|no|nobody|nothing|none|neither|without|hasn't|haven't|wasn't"
        "|no|nunca|jamas|nada|nadie|sin|ni|tampoco"
        "|לא|אין|אף|בלי|אינו|אינה|אינני|מעולם",
        "and": "and|y|e|plus|&",
        "when": "when|if|only|except|unless|but|during|until|while|cuando|si|solo|salvo|excepto|pero|hasta|durante|כש|אם|רק|חוץ|אבל|עד|בזמן|כאשר",
    }.items()
}
"""Of each cue the phrases that give it, in plain form."""

SELVES: Final = frozenset(word for language in LANGUAGES for word in language.selves | language.possessives) | words(
    "me|us|mine|ours|mi|mis|nos|nuestro|nuestra|nuestros|nuestras|user|לי|לנו|שלי|שלנו|אני|אנחנו"
)
"""Words by which the speaker, or a note about them, names them."""

HAPPENED: Final = words(
    "got|went|took|gave|sold|bought|left|came|told|made|lost|found|ran|built|wrote|broke|chose|fell|grew|paid|put|cut"
    "|met|began|became|brought|caught|sent|stole|had|has|been|have|done|redid|gone|taken|given|stolen|broken"
)
"""English words that tell of something done and do not end as such words do."""

LIGHT: Final = words(
    "day|days|week|weeks|month|months|year|years|time|times|thing|go|goes|going|went|take|takes|taking|use|using|make"
    "|made|come|comes|call|called|need|needs|want|wants|keep|keeps|give|gives|gave|like|likes|people"
    "|place|today|tomorrow|yesterday|morning|evening|night|per|each|every|usual|usually|always|new|old|first|last"
    "|little|big|good|long|way|part|full|pay|pays|cost|costs|price|number|name"
    "|dia|dias|semana|semanas|mes|meses|ano|anos|vez|veces|cosa|cosas|ir|voy|va|van|vamos|tomo|toma|llevo|lleva|hago"
    "|hace|trabajo|trabaja|llamo|llama|quiero|hoy|manana|noche|tarde|cada|todos|todas|siempre|pago|paga|cuesta"
    "|precio|numero|nombre|primero|ultimo|grande|pequeno|bueno"
    "|יום|ימים|שבוע|שבועות|חודש|חודשים|שנה|שנים|פעם|פעמים|דבר|דברים|הולך|הולכת|לוקח|לוקחת|עושה|עובד|עובדת|קורא|צריך"
    "|צריכה|רוצה|היום|מחר|אתמול|בוקר|ערב|לילה|כל|תמיד|משלם|משלמת|עולה|מחיר|מספר|שם|ראשון|אחרון|גדול|קטן|טוב"
)
"""Words that tell little of what a text is about."""

TRANSFERS: Final = words(
    "owe|owes|lent|lend|lends|borrowed|borrows|gave|gives|pays|pay|paid|sold|sells|sent|sends|teaches|calls|debe|debo"
    "|deben|debemos|presto|preste|paga|pago|vendio|vendi|dio|di|חייב|חייבת|חייבים|חייבות|הלוויתי|הלווה|משלם|משלמת|שילם|מכר"
)
"""What passes between two, of whom either may be the giver: who is named first tells."""
