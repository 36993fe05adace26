"""Which nouns name a person or a firm that serves one: a mechanic, a bookkeeper, "the oven repair guy", a supplier."""

from functools import cache
from typing import Final

from langmem_plugin.languages.language import Language, words

HONORIFICS: Final = words(
    'dr|mr|mrs|ms|prof|professor|profesor|profesora|professora|sr|sra|dra|doctor|doctora|senor|senora|don|dona|rabbi|father|sister|coach|miss|ד"ר|דר|פרופ|מר|גברת'
)
_SERVING: Final = words(
    "guy|carer|lady|man|woman|person|contact|tenant|agent|broker|rep|handyman|tutor|instructor|coach|trainer|bookkeeper|supplier|vendor|contractor|manager|supervisor|babysitter|sitter|minder|helper|teacher|dealer|keeper|inspector|advisor|adviser|counselor|planner|lodger|subtenant|apprentice|employee|intern|goalkeeper"
    "|inquilino|inquilina|proveedor|proveedora|profesor|profesora|entrenador|entrenadora|monitor|monitora|cuidadora|cuidador|canguro|asesor|asesora|gestor|gestora|empleado|empleada|aprendiz"
    "|ספק|דייר|דיירת|שוכר|שוכרת|מורה|מאמן|מאמנת|מדריך|מדריכה|יועץ|יועצת|סוכן|סוכנת|מטפל|מטפלת|גנן|מוסך|מכונאי|עובד|עובדת|מנהל|מנהלת|אורתופד|עוזר|עוזרת"
)
# Whom everybody may speak of: "the singer is Adele" tells nothing of the speaker.
PUBLIC: Final = words(
    "singer|actor|actress|author|director|president|king|queen|minister|star|player|writer|winner|killer|villain|hero|host|composer|artist|judge|mayor|producer|scientist|politician|founder|owner|man|woman|guy|lady|person|detective|soldier|captain|lead|cantante|actriz|autor|autora|presidente|rey|escritor|escritora|artista|jugador|ganador|זמר|זמרת|שחקן|שחקנית|סופר|סופרת|במאי|נשיא|מלך"
)


# What people do for a living, by the ending of the noun; those below end so and say something else of somebody.
_ENDINGS: Final = {
    "en": ("er", "or", "ist", "ian", "smith", "wright", "man", "woman", "eer", "monger", "keeper"),
    "es": ("ista", "ero", "era", "dor", "dora", "tor", "tora", "logo", "loga", "grafo", "grafa"),
}
_SAID_OF_ANYBODY: Final = words(
    "member|lover|eater|sleeper|player|monster|loser|teenager|toddler|stranger|beginner|believer|number|letter|mother|father|brother|sister|daughter|partner|customer|vegetarian|winner|matter|order|danger|killer|wonder|disaster|hater|drinker|smoker|user|sucker|walker|joker|human|woman|christian|fighter|survivor|leader|thinker|talker|spender|helper|minor|senior|junior|bachelor|sufferer|runner|swimmer|gamer|newcomer|foreigner|outsider|insider|latecomer|grandmother|grandfather|grandparent|neighbour|neighbor|nightmare|terror|optimist|pessimist|feminist|perfectionist|nudist|racist|realist|minimalist|librarian|pedestrian|civilian|centenarian|octogenarian|pescatarian|pescetarian|flexitarian|riser|starter|bloomer|listener|dreamer|fixer|subscriber|follower|traitor|visitor|error|mirror|goner|keeper|lifesaver|cheater|owner|learner|gambler|settler|singleton|traveller|traveler|commuter|speaker|reader|writer's|holder|passenger|sinner|whiner|snorer|pacer|juggler|genius"
    "|soltero|soltera|primero|primera|extranjero|extranjera|optimista|pesimista|realista|feminista|egoista|perfeccionista|trabajador|trabajadora|madrugador|madrugadora|heredero|heredera|seguidor|seguidora|jugador|jugadora|hablador|habladora|manera|era|mayor|mejor|peor|menor|favor|dolor|error|amor|calor|mentiroso|casero|casera|fumador|fumadora|bebedor|bebedora|minimalista|lista|autor|lector|lectora|conservador|conservadora|verdadero|verdadera|entero|entera|compañero|companero|companera|heterosexual"
)


def is_profession(word: str, language: Language) -> bool:
    bare = word.removesuffix("s") if language.name == "en" else word
    return bare in language.professions


def ends_as_one(word: str, language: Language) -> bool:
    """Whether a noun said of somebody, "a locksmith", "anestesista", is of what they work as."""
    return len(word) > 5 and word.endswith(_ENDINGS.get(language.name, ("\0",))) and word not in _SAID_OF_ANYBODY


@cache
def serves(word: str, language: Language) -> bool:
    """Whether a noun is of somebody one goes to or works with; "-ologist" and the like by their ending."""
    return (
        word in _SERVING
        or is_profession(word, language)
        or (word,) in language.people
        or (language.name == "he" and word[:1] == "ה" and len(word) > 3 and serves(word[1:], language))
        or (len(word) > 7 and word.endswith(("ologist", "dontist", "iatrist", "ologo", "ologa", "iatra", "oncista")))
    )
