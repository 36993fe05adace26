"""Which language an utterance is written in."""

from langmem_plugin.references.said.lexicon import lexicon
from langmem_plugin.references.text.tokens import tokens
from langmem_plugin.references.words import LANGUAGES, Language, phrases

_SPANISH_MARKS = frozenset("áéíóúñ¿¡")
_VERBS = frozenset(
    phrases(
        "guarda|pide|manda|envia|agrega|anade|abre|borra|elimina|compra|reserva|muestra|pon|haz|da|dame|cancela|llama|comparte|cambia|mueve|toma|escoge|elige|quita|apunta|imprime|repite|lee|mira|prueba|sube|baja|usa|marca|busca|confirma|ordena"
    )
)


def language_of(text: str) -> Language:
    """The language an utterance is written in: by script, else by its function words; English when in doubt."""
    english, hebrew, spanish = LANGUAGES
    if any("\u05d0" <= letter <= "\u05ea" for letter in text):
        return hebrew
    words = [token.text for token in tokens(text) if token.word]
    accented = bool(words) and not _SPANISH_MARKS.isdisjoint(text.lower())
    scores = []
    for language in (english, spanish):
        table = lexicon(language)[0]
        scores.append(sum((word in language.stop) + ((word,) in table) for word in words))
    scores[1] += sum(has_enclitic(word, word) for word in words)
    return spanish if scores[1] + 2 * accented > scores[0] else english


def has_enclitic(written: str, value: str) -> bool:
    """Whether a Spanish verb carries its object: "guardala", "envíamelo"."""
    for pronoun in ("los", "las", "lo", "la"):
        if value.endswith(pronoun):
            verb = value[: -len(pronoun)]
            for object_pronoun in ("me", "nos", "te", "se", ""):
                bare = verb[: len(verb) - len(object_pronoun)] if verb.endswith(object_pronoun) else ""
                if bare in _VERBS or (len(bare) > 3 and bare.endswith(("ar", "er", "ir", "ando", "iendo"))):
                    return True
            return any(letter in "áéíóú" for letter in written.lower()) and len(verb) > 2
    return False
