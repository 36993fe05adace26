"""Whether an utterance changes the call before it: "what about next week?", "make it 8 pm", "no, the other list"."""

import re

from langmem_plugin.references.meant.finding import Decision
from langmem_plugin.references.meant.resolution import PreviousCall
from langmem_plugin.references.said.requests import is_request
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.plain_data import plain
from langmem_plugin.references.text.said_values import said_values
from langmem_plugin.references.text.tokens import is_stop, normal, words_of
from langmem_plugin.references.words import word_set

_PICKING = word_set("numbers|first|last|comparison|both|other")
_NO = word_set("no|nope|nah|לא")
_CHANGE = re.compile(
    r"\b(?:change|make (?:it|that|the|this|sure)|instead|actually|switch|swap|move|push|reschedul\w+|updat\w+|rather|should be|needs? to|need it|has to|have it|want it|like it|extend|add(?: \w+)? to (?:it|the (?:list|invite|meeting))"
    r"|i meant|only|also|put (?:it|that)|set (?:it|the|that)|try|forget|remove|include|invite|block|longer|shorter|earlier|later|let'?s do|can (?:we|you|it)|could (?:we|you|it)"
    r"|cambia\w*|mejor|en vez|mueve\w*|ponlo)\b|תשנה|תעביר|במקום|תחליף|בעצם"
)
_WHAT_ABOUT = re.compile(
    r"^\W*(?:(?:and|ok|okay|so|then|no|well|yes|thanks|great),? )*(?:then )?(?:what|how) about\b|^\W*and (?:for|on|in|at|what|next|tomorrow|today)\b|^\W*(?:que tal|y (?:el|la|para|en|si|manana))\b|^\W*(?:ו?מה (?:לגבי|עם))"
)
_NOT_BUT = re.compile(
    r"^\W*(?:(?:no|nope|oops|wait|sorry|espera|perdon|לא|רגע|סליחה)\W+)+(?:not|no|לא)? ?\w|^\W*(?:not|לא) [^,]{2,30},|, (?:not|לא) [^,]{2,30}$"
)
_CHOICES = re.compile(
    r"\b(?:one|any|either|which) of (?:these|them|those)|\b(?:these|those|they) (?:work|times?|options?)|\b(?:here are|some times|options)\b|\bwhich (?:one)?\b.*\?|\balguno de estos\b|\bcual\b|\bאיזה\b",
)
_PROPOSAL = re.compile(
    r"\b(?:(?:is|does|do|are|how)\b.{0,30}\b(?:this|that|it|now|these|you want|look|right|correct|good|ok)|how(?:'s| is| about)|shall i|should i|would you like|want me to|confirm)\b.{0,400}\?\s*+$"
    r"|\b(?:esta bien|te parece|quieres que)\b.{0,400}\?|(?:בסדר|מתאים|האם|לאשר).{0,400}\?",
)
_ADDITION = re.compile(
    r"\b(?:but|add|invite|include|can'?t|cannot|have .{0,200}\b(?:begin|start|end)|begin|starts?|after|before)\b"
)
_PICK = re.compile(r"\b(?:slot|option|choice|times?|one|first|second|third|works?|fine|good|great|perfect)\b")
_BUT = re.compile(r"\b(?:but|add|invite|not pm|not am)\b")
_ASKING = re.compile(r"\b(?:delete|cancel|where|what|when|who)\b")
_NEW = re.compile(
    r"\b(?:schedule|create|book|set up|plan|show me|find|search|look up|remind|who(?:'s| is| are)|tell me|what(?:'s| is| are) (?:the|on|my)|add (?:a|an|my|the)|do i have|am i|will (?:it|i|there)|weather|is there|how many|give me|i need to|i need a|i have a|i want to|i'?d like to|need a|put (?:a|an)|make (?:a|an|me)|cancel my|delete my|when (?:is|do|am)|where is)\b"
)
_FIELD = re.compile(
    r"\b(?:the|its) (?:start |end |new )?(?:time|date|day|location|place|subject|title|name|duration|length|start|end|attendees?|description|status|meeting|event|appointment|reminder|list|order|reservation|invite|price|quantity|size)\b"
)
_YES = re.compile(
    r"^\W*(?:(?:and|oh|ah|well|um) )?(?:yes\w*|done|yeah|yep|yup|yea|ya|sure|ok|okay|k|right|correct|perfect|great|good|fine|nice|cool|awesome|excellent|wonderful|absolutely|definitely|exactly|thanks?|thank you|thx|no|nope|nah"
    r"|that'?s?|it'?s|looks?|sounds?|seems?|works?|go ahead|do it|confirm\w*|so good|very good|all good|i think so|please do|apparently|of course|si|claro|vale|perfecto|gracias|כן|לא|בסדר|תודה|מעולה)\b"
)
_GOOD = re.compile(
    r"\b(?:good|great|perfect\w*|fine|nice|works?|correct|right|ok|okay|looks?|excellent|awesome|amazing|wonderful|fantastic|yes|yeah|yep|sure|confirm\w*|thanks?|thank you|ideal|best|cool|love|lovely|acceptable|exactly|wrong|not right|isn'?t|does ?n'?t|does(?: not)?|don'?t|that'?s it|that is it|that'?s all|that is all|bien|perfecto|gracias)\b|מעולה|בסדר|תודה|נהדר"
)
_POINTER = re.compile(
    r"\b(?:it|its|that|this|those|these|them|they|their|there|then|he|she|him|her|his|hers|the same|ese|esa|eso|lo|la misma|este|esta)\b|\b(?:אותו|אותה|אותם|זה|זאת|זו|שלו|שלה|שם)\b"
)
_SENTENCE_END = re.compile(r"[.!?]\s+")
_SHORT = 4  # words of an utterance that only makes sense with the call before it: "in tel aviv"
_CORRECTION = 7
_ANSWER = 6  # words of an answer to a proposal
_AGREEMENT = 9


def previous_call(text: str, ledger: Ledger, decision: Decision) -> PreviousCall | None:
    """The last call when the utterance revises it: it asks for a change, changes or declines what was just proposed, or
    is too short to stand for itself.

    Of utterances that revise, 92 % are found; of those taken to revise, half do (`benchmarks/references.py`): the
    prompt therefore says that it may.
    """
    if not ledger.calls or not revises(text, ledger.reply, found=bool(decision.findings)):
        return None
    call = ledger.calls[-1]
    return PreviousCall(call.tool, plain(call.arguments))


def revises(text: str, reply: str, *, found: bool = False) -> bool:
    """`reply` is what the assistant said last; `found` says whether the utterance was found to mean an item."""
    said = normal(text).strip()
    if _CHANGE.search(said) or _WHAT_ABOUT.search(said):
        return True
    if not found and len(said.split()) <= _CORRECTION and _NOT_BUT.search(said) and said_values(said):
        return True  # "no wait, not friday, saturday"
    question = _SENTENCE_END.split(normal(reply).strip())[-1]
    asked = _CHOICES.search(question) or _PROPOSAL.search(question)
    if not asked and (found or _content_words(said) & _content_words(reply)):
        return False
    utterance = Utterance(text)
    if any(phrase.kind in _PICKING for phrase in utterance.phrases):
        return False
    words = [word for mark in utterance.marks for word in mark.text.split() if word[:1].isalnum()]
    if _CHOICES.search(question):
        return _revises_choices(said, words)
    if _PROPOSAL.search(question):
        return _revises_proposal(said, words)
    return _is_fragment(said, words, asks=utterance.has("question"))


def _revises_choices(said: str, words: list[str]) -> bool:
    if words[:1] and words[0] in _NO:
        return len(words) > _SHORT
    return bool(_ADDITION.search(said)) and not (_PICK.search(said) and said_values(said))


def _revises_proposal(said: str, words: list[str]) -> bool:
    declines = bool(words[:1]) and words[0] in _NO
    value = bool(said_values(said))
    but = bool(_BUT.search(said))
    if _agrees(said, words) and not but and not (value and not _GOOD.search(said)):
        return False
    if _NEW.search(said) and not _POINTER.search(said) and not declines:
        return False
    if but or (declines and len(words) > 2):
        return True
    if _ASKING.search(said):
        return False
    return value or len(words) <= _ANSWER or bool(_POINTER.search(said))


def _is_fragment(said: str, words: list[str], *, asks: bool) -> bool:
    if len(words) > _SHORT or _agrees(said, words):
        return False
    if _NEW.search(said) or _POINTER.search(said) or _FIELD.search(said):
        return False
    return not is_request(said) and (bool(said_values(said)) or not asks)


def _agrees(said: str, words: list[str]) -> bool:
    return len(words) <= _AGREEMENT and bool(_YES.search(said) or _GOOD.search(said))


def _content_words(text: str) -> set[str]:
    return {word for word in words_of(text) if not is_stop(word)}
