"""Every form of a language table with its grammatical kinds, mistyped ones too; and which language words are in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.references.text.tokens import Token, tokens
from langmem_plugin.references.words import LANGUAGES, Comparison, Language, word_set
from langmem_plugin.references.words.states import states_told

Value = int | Comparison | tuple[str, ...]
Kinds = dict[str, Value]
"""The kinds of a form with the number, comparison or field names that each carries."""
# Words of other kinds ("es tarde", "the contract one") are too often words of their own, one letter away.
_CORRECTED = frozenset(("ordinal", "marker", "comparison", "last", "penultimate", "both"))

PLAIN = word_set(
    "big|large|small|little|heavy|light|far|near|close|tall|long|short|new|old|early|late|pricey|costly|grande|chico|chica|pequeno|pequena|largo|larga|corto|corta|pesado|pesada|nuevo|nueva|viejo|vieja"
)
"""What compares only where one thing is pointed at by it: "the heavy one"."""


@dataclass
class Lexicon:
    """`forms` by their words; `longest` is of how many words the longest form is that begins with a word."""

    forms: dict[tuple[str, ...], Kinds] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)


@lru_cache(maxsize=8)
def lexicon(language: Language) -> Lexicon:
    found = Lexicon()
    tables: dict[str, Mapping[str, Value]] = {
        **{kind: dict.fromkeys(forms, 0) for kind, forms in language.kinds.items()},
        "weekday": dict.fromkeys(language.weekdays, 0),
        "month": dict.fromkeys(language.months, 0),
        "ordinal": language.ordinals,
        "cardinal": language.cardinals,
        "comparison": language.comparisons,
        "attribute": language.attributes,
    }
    for kind, forms in tables.items():
        for form, value in forms.items():
            words = tuple(token.text for token in tokens(form))
            found.forms.setdefault(words, {})[kind] = value
            found.longest[words[0]] = max(len(words), found.longest.get(words[0], 0))
    return found


def look_up(words: Sequence[str], index: int, language: Language) -> tuple[Kinds, int, bool] | None:
    """The longest form that begins at a place, also behind prefix letters: its kinds, of how many words it is, and
    whether its prefixes make it definite.
    """
    table, first = lexicon(language), words[index]
    stems = _stems(first, language)
    longest = max(table.longest.get(stem, 0) for stem in stems)
    for size in range(min(longest, len(words) - index), 0, -1):
        for stem in stems:
            kinds = table.forms.get((stem, *words[index + 1 : index + size]))
            if kinds is not None:
                taken_from = stem != first and first[0] == "מ" and "cardinal" not in kinds
                definite = stem != first and first[-len(stem) - 1] in language.articles
                return {**kinds, "from": 0} if taken_from else kinds, size, definite
    return None


def _stems(word: str, language: Language) -> list[str]:
    """The word, and what is left of it behind one to three prefix letters."""
    stems = [word]
    for length in range(1, min(3, len(word) - 2) + 1):
        if word[length - 1] not in language.prefixes:
            break
        stems.append(word[length:])
    return stems


def corrected_form(word: str, language: Language, *, before_one: bool) -> str | None:
    """The form of the language that a word is one slip away from; None when it is none.

    `before_one` says that "one" follows, where a shorter word is enough.
    """
    if len(word) < (3 if before_one else 4) or word in language.stop or states_told(word):
        return None
    for form in _mistyped(language).get(word[0], ()):
        if abs(len(form) - len(word)) > 1 or OSA.distance(form, word, score_cutoff=1) != 1:
            continue
        marker = form in language.kinds["marker"]
        if form + "s" == word and not marker:
            continue
        long = len(word) >= 6 or (len(form) >= 6 and marker) or len(form) == len(word) == 5
        if before_one or long or sorted(form) == sorted(word):
            return form
    return None


@lru_cache(maxsize=8)
def _mistyped(language: Language) -> dict[str, list[str]]:
    """Single words worth recognising when mistyped, by their first letter."""
    forms: dict[str, list[str]] = {}
    for (word, *more), kinds in lexicon(language).forms.items():
        if (
            not more
            and len(word) >= 4
            and word.isalpha()
            and word not in PLAIN
            and (kinds.keys() & _CORRECTED or word == "everything")
        ):
            forms.setdefault(word[0], []).append(word)
    return forms


_SPANISH_MARKS = frozenset("áéíóúñ¿¡")
_VERBS = (
    "paga|renueva|firma|activa|contrata|enciende|apaga|cierra|avisa|pregunta|descarga|aplaza|adelanta|acepta|rechaza|devuelve|guarda|pide|manda|envia|agrega|anade|abre|borra|elimina|compra|reserva|muestra|pon|haz|da|cancela|llama|comparte|"
    "cambia|mueve|toma|escoge|elige|quita|apunta|imprime|repite|lee|mira|prueba|sube|baja|usa|marca|busca|confirma|"
    "ordena|.{2,}[aei]r|.*(?:a|ie)ndo"
)
_ACCENTED = frozenset("áéíóú")
_CARRIES = re.compile(f"(?:{_VERBS})(?:me|nos|te|se)?(?:lo|la)s?")


def language_of(text: str, found: Sequence[Token] | None = None) -> Language:
    """The language an utterance is written in: by script, else by its function words; English when in doubt.

    `found` are its tokens, where they are at hand.
    """
    english, hebrew, spanish = LANGUAGES
    if any("\u05d0" <= letter <= "\u05ea" for letter in text):
        return hebrew
    words = [token.text for token in (tokens(text) if found is None else found) if token.word]
    accented = bool(words) and not _SPANISH_MARKS.isdisjoint(text.lower())
    in_spanish = _known(words, spanish) + sum(has_enclitic(word, word) for word in words) + 2 * accented
    return spanish if in_spanish > _known(words, english) else english


def _known(words: Sequence[str], language: Language) -> int:
    forms = lexicon(language).forms
    return sum((word in language.stop) + ((word,) in forms) for word in words)


def has_enclitic(written: str, value: str) -> bool:
    """Whether a Spanish verb carries its object: "guardala", "envíamelo"."""
    if not value.endswith(("lo", "la", "los", "las")):
        return False
    accented = len(value.removesuffix("s")) > 4 and not _ACCENTED.isdisjoint(written.lower())
    return accented or _CARRIES.fullmatch(value) is not None
