"""How people begin to ask for something: words before the verb, the verbs, and what brings up a new matter."""

import re

from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.text.tokens import normal
from langmem_plugin.references.words import word_set

_POLITE = "please|thanks|ok|okay|and|then|now|also|no|yes|can you|could you|will you|would you|i want to"
_BEFORE_A_REQUEST, _BEFORE_A_VERB = (
    re.compile(rf"^\W*+(?:(?:{_POLITE}|{more})\b[ ,.!]*+)++")
    for more in (
        "thank|thank you|good|great|cool|i need to|i'd like to",
        "so|por favor|gracias|vale|si|y|entonces|puedes|podrias|quiero|בבקשה|תודה|אוקיי|כן|לא|אז|אפשר|תוכל|תוכלי|אני רוצה",
    )
)
_REQUESTS = word_set(
    "add|book|buy|call|cancel|change|check|create|delete|find|get|give|go|invite|make|move|open|order|plan|put|remind|remove|reschedule|save|schedule|search|send|set|show|start|stop|tell|update|accept|decline"
)
_VERBS = _REQUESTS | word_set(
    "approve|archive|assign|bump|choose|collect|compare|describe|download|email|explain|extend|fetch|forward|grab|hire|keep|mark|notify|pause|pick|postpone|print|refund|reject|renew|rent|restart|resume|return|settle|translate"
    "|am|are|close|confirm|did|do|does|forget|has|have|is|let|list|look|need|pay|play|read|remember|rename|reply|share|swap|switch|take|text|turn|use|want|was|write"
    "|agrega|anade|abre|borra|busca|cambia|cancela|compra|confirma|crea|da|dame|dime|elimina|encuentra|es|esta|haz|llama|manda"
    "|muestra|muestrame|mueve|paga|pide|pon|programa|quita|recuerdame|reserva|tengo|usa|ver|aplaza|aprueba|compara|descarga|devuelve|explica|guarda|imprime|rechaza|reenvia|renueva"
    "|בטל|בטלי|הוסף|הוסיפי|הזמן|הזמיני|הראה|הראי|חפש|חפשי|מחק|מחקי|מצא|מצאי|ספר|ספרי|פתח|פתחי|קבע|קבעי|קנה|קני|שלח|שלחי|שמור|שמרי|שנה|שני"
    "|תבטל|תבטלי|תוסיף|תוסיפי|תזכיר|תזכירי|תזמין|תזמיני|תחליף|תחליפי|תחפש|תחפשי|תמחק|תמחקי|תמצא|תמצאי|תעביר|תעבירי|תפתח|תראה|תראי"
    "|תקבע|תקבעי|תקנה|תקני|תשלח|תשלחי|תשמור|תשמרי|תשנה|תשני|תתקשר|תתקשרי|תסמן|תסמני|תחדש|תחדשי|תדחה|תדחי|תשווה|תשווי"
)
_NEW = word_set(
    "remember|recuerda|זכור|תזכור|תזכרי|remind|recuerdame|תזכיר|תזכירי|text|tell|dile|avisa|תגיד|תגידי|search|find|busca|חפש|תחפש"
)


def is_request(said: str) -> bool:
    """Whether an English utterance in normal form begins with what is to be done: "ok, please book …"."""
    return _BEFORE_A_REQUEST.sub("", said).split(" ")[0].strip(".,!?") in _REQUESTS


def without_opening(said: str) -> str:
    """An utterance in normal form without what may stand before its verb."""
    return _BEFORE_A_VERB.sub("", said)


def is_verb(word: str) -> bool:
    return word in _VERBS


def asks_new(mark: Mark) -> bool:
    return mark.text in _NEW or mark.has("search")


def asks_of_the_world(text: str) -> bool:
    """As in "who was noether", "how many guppies can i put in": whatever is called so, no item is meant."""
    return _OF_THE_WORLD.match(normal(text).lstrip("¿¡ ")) is not None


def asks_for_next(text: str) -> bool:
    """As in "when's the next raku?": perhaps of one that was never shown."""
    return _NEXT.match(normal(text).lstrip("¿¡ ")) is not None


_NEXT = re.compile(
    r"(?:when(?:'?s| is| are) (?:the |my |our )?next|cuando (?:es|son|hay) (?:el |la )?proxim|מתי ה\w+ הבא)"
)
_OF_THE_WORLD = re.compile(
    r"(?:who (?:was|were|wrote|won|invented|painted|directed|sang|discovered)"
    r"|quien(?:es)? (?:fue|fueron|era|eran|escribio|gano|invento|pinto|dirigio|canta|descubrio)"
    r"|what(?:'?s| is) the difference between|how many \w+(?: \w+)? (?:can|should) (?:i|you|we|u)"
    r"|if (?:i|we) had|מה זה בעצם"
    r"|מי (?:היה|היתה|הייתה|היו|כתב|כתבה|ניצח|המציא|צייר|ביים|שר))\b"
)
