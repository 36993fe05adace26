"""Pronouns that Spanish writes onto its verbs."""

import re

_VERBS = (
    "guarda|pide|manda|envia|agrega|anade|abre|borra|elimina|compra|reserva|muestra|pon|haz|da|cancela|llama|comparte|"
    "cambia|mueve|toma|escoge|elige|quita|apunta|imprime|repite|lee|mira|prueba|sube|baja|usa|marca|busca|confirma|"
    "ordena|.{2,}[aei]r|.*(?:a|ie)ndo"
)
_CARRIES = re.compile(f"(?:{_VERBS})(?:me|nos|te|se)?(?:lo|la)s?")
_ACCENTED = frozenset("áéíóú")


def has_enclitic(written: str, value: str) -> bool:
    """Whether a Spanish verb carries its object: "guardala", "envíamelo"."""
    if not value.endswith(("lo", "la", "los", "las")):
        return False
    accented = len(value.removesuffix("s")) > 4 and not _ACCENTED.isdisjoint(written.lower())
    return accented or _CARRIES.fullmatch(value) is not None
