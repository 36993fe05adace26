"""Which nouns name a person or a firm that serves one: a mechanic, a bookkeeper, "the oven repair guy", a supplier."""

from functools import cache
from typing import Final

from langmem_plugin.facts.words import Language
from langmem_plugin.facts.words.language_table import words

HONORIFICS: Final = words(
    'dr|mr|mrs|ms|prof|professor|profesor|profesora|professora|sr|sra|dra|doctor|doctora|senor|senora|don|dona|rabbi|father|sister|coach|miss|ד"ר|דר|פרופ|מר|גברת'
)
_SERVING: Final = words(
    "guy|lady|man|woman|person|contact|tenant|agent|broker|rep|handyman|tutor|instructor|coach|trainer|bookkeeper|supplier|vendor|contractor|manager|supervisor|babysitter|sitter|minder|helper|teacher|dealer|keeper|inspector|advisor|adviser|counselor|planner|lodger|subtenant|apprentice|employee|intern|goalkeeper"
    "|inquilino|inquilina|proveedor|proveedora|profesor|profesora|entrenador|entrenadora|monitor|monitora|cuidadora|cuidador|canguro|asesor|asesora|gestor|gestora|empleado|empleada|aprendiz"
    "|ספק|דייר|דיירת|שוכר|שוכרת|מורה|מאמן|מאמנת|מדריך|מדריכה|יועץ|יועצת|סוכן|סוכנת|מטפל|מטפלת|גנן|מוסך|מכונאי|עובד|עובדת|מנהל|מנהלת|אורתופד|עוזר|עוזרת"
)
# Whom everybody may speak of: "the singer is Adele" tells nothing of the speaker.
PUBLIC: Final = words(
    "singer|actor|actress|author|director|president|king|queen|minister|star|player|writer|winner|killer|villain|hero|host|composer|artist|judge|mayor|producer|scientist|politician|founder|owner|man|woman|guy|lady|person|detective|soldier|captain|lead|cantante|actriz|autor|autora|presidente|rey|escritor|escritora|artista|jugador|ganador|זמר|זמרת|שחקן|שחקנית|סופר|סופרת|במאי|נשיא|מלך"
)


def is_profession(word: str, language: Language) -> bool:
    bare = word.removesuffix("s") if language.name == "en" else word
    return bare in language.professions


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
