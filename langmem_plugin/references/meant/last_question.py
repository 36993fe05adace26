"""What the assistant's last sentence wants of the person: a detail, or a yes to an offer."""

import re

_SENTENCE = re.compile(r"[^.!?]*[.!?]*")
_DETAIL = re.compile(
    r"\b(when|how (?:many|long|much)|what (?:time|date|day|name|is the|city|area|type|kind|title|number|amount|would you like to name|account)|which (?:date|day|city|account|area)"
    r"|where|who(?:m|se)?|number|your (?:name|stay)|(?:check|pick).?(?:in|up)|how about you|prefer|what (?:are|'s) (?:the|your))\b",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(would you like|do you want|shall|should i|can i|may i|could i|want me to|how about|what about|do you think|does (?:that|this|it|a)|is (?:that|this|it)"
    r"|sounds?|interested|work for you|(?:will|would) .{1,40} work|need (?:me )?to (?:book|make)|need a (?:reservation|booking)|what do you say|quieres|te gustaria|reservo|guardo|te parece|לשריין|להוסיף|לבטל|לקנות|לשמור|רוצה|להזמין)\b",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"\b(anything|something|any ?way|what|how|nothing|any|other) (?:else|more|further|other|help)|help (?:you )?(?:with|today)|assist|help (?:me |you )?out|(?:next|other|further) (?:task|help)|algo mas|עוד משהו",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(how|what) about\b|do you think|which (?:one|of)|\bwork\b", re.IGNORECASE)
_END = 120
"""Letters of a reply in which a question at its end stands."""
_OPENING = 6
"""Letters before a question that is still the whole sentence."""


def asks_detail(reply: str) -> bool:
    """Whether it asks for a time, a number, a name or the like, so that the next utterance is likely to be that."""
    last = _last_sentence(reply)
    detail = _DETAIL.search(last)
    return (
        detail is not None
        and last.endswith(("?", "."))
        and ("?" in last or detail.start() < _OPENING)
        and not _ELSE.search(last)
        and not _CHOICE.search(last)
    )


def offers(reply: str) -> bool:
    """Whether it offers to do something: "Shall I book it?"."""
    last = _last_sentence(reply)
    return "?" in last and bool(_OFFER.search(last)) and not asks_what_else(last)


def asks_what_else(text: str) -> bool:
    """Whether a text asks for the next task: "Anything else?"."""
    return bool(_ELSE.search(text[-_END:]))


def asks(reply: str) -> bool:
    return "?" in reply[-_END:]


def _last_sentence(reply: str) -> str:
    sentences = [part.strip() for part in _SENTENCE.findall(reply) if part.strip()]
    return sentences[-1] if sentences else ""
