"""Pronouns that Spanish writes onto its verbs."""

from langmem_plugin.references.words import phrases

_VERBS = frozenset(
    phrases(
        "guarda|pide|manda|envia|agrega|anade|abre|borra|elimina|compra|reserva|muestra|pon|haz|da|dame|cancela|llama|comparte|cambia|mueve|toma|escoge|elige|quita|apunta|imprime|repite|lee|mira|prueba|sube|baja|usa|marca|busca|confirma|ordena"
    )
)


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
