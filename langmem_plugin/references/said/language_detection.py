"""Which language an utterance is written in, and the pronouns that Spanish writes onto its verbs."""

import re
from collections.abc import Sequence

from langmem_plugin.references.said.lexicon import lexicon
from langmem_plugin.references.text.tokens import Token, tokens
from langmem_plugin.references.words import LANGUAGES, Language

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
