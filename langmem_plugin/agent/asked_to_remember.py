"""Whether a person asks, in their own words, that something be remembered: loosely, for a model decides what."""

import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.agent.topic import newest_of_person
from langmem_plugin.conversation.context_block import before_context
from langmem_plugin.conversation.own_words import own_words
from langmem_plugin.references.said.yes_or_no import agrees

_REMEMBER = r"(?:remember|memori[sz]e|save|store|keep|note|record|write|jot|add)\b"
_ASKED = re.compile(
    rf"(?:^|[.!?,;:] ?|\b(?:please|and|then|also|but|so|ok|okay|hey|hi|just|(?:can|could|will|would|should|must) you"
    rf"|you (?:can|should|must|may|could)|(?:want|need|like) you to) ){_REMEMBER}"
    r"|\b(?:don't|do not|never) forget\b"
    r"|(?<!\w)(?:ו?ש?ת(?:זכור|זכרי|שמור|שמרי|רשום|רשמי)|ו?(?:זכור|זכרי|שמור|שמרי|רשום|רשמי)|אל תשכחי?)(?!\w)"
    r"|\b(?:recuerda|recuerde|recu[eé]rdalo|recu[eé]rdame|guarda|guarde|gu[aá]rdalo|apunta|ap[uú]ntalo|anota|an[oó]talo"
    r"|memoriza|no (?:te |lo |se )?olvides?|(?:puedes|podr[ií]as) (?:recordar|guardar|apuntar|anotar)"
    r"|quiero que (?:recuerdes|guardes|apuntes|anotes))\b",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"\b(?:remember|save|store|keep|note)\b|זכור|זכרי|שמור|רשום|\b(?:recuerd|recordar|guard|apunt|anot)", re.IGNORECASE
)


def asks_to_remember(messages: Sequence[BaseMessage]) -> bool:
    """By the newest message, or the question of the assistant that it says yes to."""
    newest = newest_of_person(messages)
    if newest is None:
        return False
    lines = before_context(own_words(messages[newest])).replace("’", "'").splitlines()
    said = "; ".join(" ".join(line.split()) for line in lines)
    if _ASKED.search(said):
        return True
    verdict = agrees(said)
    before = messages[newest - 1] if newest else None
    return verdict is not None and verdict.yes and isinstance(before, AIMessage) and bool(_OFFERED.search(before.text))
