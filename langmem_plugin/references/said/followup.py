"""How an utterance follows on: it chooses, refers, revises, confirms, or is new."""

import re

from langmem_plugin.references.meant.finding import Decision
from langmem_plugin.references.meant.resolution import Followup
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.phrase_reader import read_phrases
from langmem_plugin.references.said.tagger import Mark, marked
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.dates_and_numbers import typed_atoms
from langmem_plugin.references.text.tokens import is_stop, normal, words_of
from langmem_plugin.references.words import phrases

_CHOICES = re.compile(
    r"\b(?:one|any|either|which) of (?:these|them|those)|\b(?:these|those|they) (?:work|times?|options?)|\b(?:here are|some times|options)\b|\bwhich (?:one)?\b.*\?|\balguno de estos\b|\bcual\b|\bאיזה\b",
)
_PROPOSAL = re.compile(
    r"\b(?:(?:is|does|do|are|how)\b.{0,30}\b(?:this|that|it|now|these|you want|look|right|correct|good|ok)|how(?:'s| is| about)|shall i|should i|would you like|want me to|confirm)\b.{0,400}\?\s*+$"
    r"|\b(?:esta bien|te parece|quieres que)\b.{0,400}\?|(?:בסדר|מתאים|האם|לאשר).{0,400}\?",
)
_CHANGE = re.compile(
    r"\b(?:change|make (?:it|that|the|this|sure)|instead|actually|switch|swap|move|push|reschedul\w+|updat\w+|rather|should be|needs? to|need it|has to|have it|want it|like it|extend|add(?: \w+)? to (?:it|the (?:list|invite|meeting))"
    r"|i meant|only|also|put (?:it|that)|set (?:it|the|that)|try|forget|remove|include|invite|block|longer|shorter|earlier|later|let'?s do|can (?:we|you|it)|could (?:we|you|it)"
    r"|cambia\w*|mejor|en vez|mueve\w*|ponlo)\b|תשנה|תעביר|במקום|תחליף|בעצם"
)
_WHAT_ABOUT = re.compile(
    r"^\W*(?:(?:and|ok|okay|so|then|no|well|yes|thanks|great),? )*(?:then )?(?:what|how) about\b|^\W*and (?:for|on|in|at|what|next|tomorrow|today)\b|^\W*(?:que tal|y (?:el|la|para|en|si|manana))\b|^\W*(?:ו?מה (?:לגבי|עם))"
)
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
_LAST = re.compile(r"[.!?]\s+")


def label(utterance: str, ledger: Ledger, decision: Decision) -> Followup:
    """One of the five, from what the assistant last did (offered several, proposed one, or stated), what the utterance
    says, and what it was found to point at.
    """
    marks, language = marked(utterance)
    return _Follow(utterance, marks, read_phrases(marks, language.name), ledger, decision).label()


def changes(utterance: str) -> bool:
    """Whether the words ask to change something: "swap …", "make it …", "instead"."""
    said = normal(utterance)
    return bool(_CHANGE.search(said) or _WHAT_ABOUT.search(said))


class _Follow:
    def __init__(
        self, utterance: str, marks: list[Mark], phrases: list[Phrase], ledger: Ledger, decision: Decision
    ) -> None:
        self.said = normal(utterance).strip()
        self.marks = marks
        self.phrases = phrases
        self.decision = decision
        reply = normal(ledger.reply).strip()
        self.reply = _LAST.split(reply.rstrip())[-1] if reply else ""
        self.begun = bool(ledger.utterances or ledger.reply or ledger.shown_lists)
        self.words = [word for mark in marks for word in mark.text.split() if word[:1].isalnum()]
        self.common = {word for word in words_of(reply) if not is_stop(word)} & {
            word for word in words_of(self.said) if not is_stop(word)
        }
        self.typed = typed_atoms(utterance)

    def label(self) -> Followup:
        if not self.begun:
            return "new"
        listed = any(phrase.kind in ("numbers", "first", "last", "comparison", "both") for phrase in self.phrases)
        if (
            self.decision.findings
            and listed
            and any(finding.sort in ("number", "ordinal", "comparison", "group") for finding in self.decision.findings)
        ):
            return "choose"
        if (
            listed
            and re.search(r"\b(?:one|option|time|slot|choice)\b", self.said)
            and re.search(
                r"\b(?:want|like|works?|good|great|best|perfect|fine|take|go with|choose|pick|looks?)\b", self.said
            )
            and not any(word in _VERBS for word in self.words)
        ):
            return "choose"
        if listed and self.reply and _CHOICES.search(self.reply) and len(self.words) <= 7:
            return "choose"
        if _WHAT_ABOUT.search(self.said):
            return "revise"
        if self.reply and _CHOICES.search(self.reply):
            return self._after_choices(listed=listed)
        if self.reply and _PROPOSAL.search(self.reply):
            return self._after_proposal()
        return self._after_statement(listed=listed)

    @property
    def agrees(self) -> bool:
        return bool(_YES.search(self.said) or _GOOD.search(self.said)) and len(self.words) <= 9

    @property
    def declines(self) -> bool:
        return bool(self.marks) and self.marks[0].text in ("no", "nope", "nah", "לא")

    def _after_choices(self, *, listed: bool) -> Followup:
        adds = re.search(
            r"\b(?:but|add|invite|include|instead|can'?t|cannot|have .{0,200}\b(?:begin|start|end)|begin|starts?|later|earlier|after|before)\b",
            self.said,
        )
        picks = re.search(
            r"\b(?:slot|option|choice|times?|one|first|second|third|works?|fine|good|great|perfect)\b", self.said
        )
        if listed and not self.declines:
            return "choose"
        if len(self.words) <= 3 and self.words[:1] and self.words[0] in _VERBS and _POINTER.search(self.said):
            return "refer"
        if self.declines:
            return "revise" if len(self.words) > 4 else "confirm"
        if (adds and not (picks and self.typed)) or re.search(
            r"^\W*(?:(?:actually|please|can you|i need it|fine),? )*(?:make|set|change|to)\b", self.said
        ):
            return "revise"
        if picks or (_GOOD.search(self.said) and len(self.words) <= 12):
            return "choose"
        if self.words and self.words[0] in _VERBS and len(self.words) > 3 and not _POINTER.search(self.said):
            return "new"
        if self.typed and len(self.words) <= 8 and not _CHANGE.search(self.said):
            return "choose"
        if _CHANGE.search(self.said) or re.search(r"\b(?:let'?s|can|could|would|need)\b", self.said):
            return "revise"
        return "new" if _NEW.search(self.said) or len(self.words) > 7 else "choose"

    def _after_proposal(self) -> Followup:
        change = _CHANGE.search(self.said) or re.search(r"\b(?:but|add|invite|not pm|not am)\b", self.said)
        if re.search(r"\b(?:cancel|delete|remove)\b", self.reply) and _KEEPS.search(self.said):
            return "refer"  # it is to be changed, not cancelled
        if self.agrees and not change and not (self.typed and not _GOOD.search(self.said)):
            return "confirm"
        if _NEW.search(self.said) and not _POINTER.search(self.said) and not self.declines:
            return "new"
        if change or (self.declines and len(self.words) > 2):
            return "revise"
        if re.search(r"\b(?:delete|cancel|where|what|when|who)\b", self.said):
            return "refer" if _POINTER.search(self.said) or _FIELD.search(self.said) else "new"
        if len(self.words) <= 6 or _POINTER.search(self.said) or self.typed:
            return "revise"
        return "new"

    def _after_statement(self, *, listed: bool) -> Followup:
        plain = _OPENING.sub("", self.said)
        first = plain.split(" ")[0].strip(".,!?")
        creates = _NEW.search(self.said)
        pointer = _POINTER.search(_TIMES.sub(lambda match: " " * len(match[0]), self.said))
        points = pointer is not None
        if pointer and pointer[0] == "it" and _WEATHER.search(self.said) and not _WEATHER.search(self.reply):
            points = False  # "is it raining?"
        own = _OWN.search(self.said)
        if pointer and own and own.start() < pointer.start() and len(self.words) > 6:
            points = False  # "create an event … and have it last an hour"
        field_named = _FIELD.search(self.said)
        if re.search(r"\bi meant?\b", self.said):
            return "revise"
        asks = bool(self.marks) and self.marks[0].has("question") and self.said.endswith("?")
        if (
            not asks
            and len(self.words) <= 7
            and (_YES.search(self.said) or _GOOD.search(self.said))
            and not _CHANGE.search(self.said)
            and not field_named
            and not creates
            and first not in _VERBS
        ):
            return "confirm"
        if re.search(r"\b(?:that'?s all|that (?:is|will be|would be) all|i appreciate)\b", self.said):
            return "confirm"
        if (
            re.search(
                r"\b(?:any|anything|the|is there|are there any|do i have any) (?:\w+ )?(?:other|else)\b|\binstead\b",
                self.said,
            )
            and not self.declines
        ):
            return "refer"
        if (
            re.search(r"^what(?:'s| is| will| would)?.{0,24}\bweather\b.{0,16}\??$", plain)
            and not self.typed
            and " in " not in plain
        ):
            return "refer"
        if points or (listed and not re.search(r"\bmy\b", self.said)):
            return "refer"
        if any(finding.sort != "asked" or not creates for finding in self.decision.findings):
            return "refer"
        if field_named and not (creates and re.search(r"\b(?:a|an|my) ", self.said)):
            return "refer"
        rest = {word for word in words_of(self.said) if not is_stop(word)} - self.common
        if (
            re.search(r"\b(?:any|anything|other|else|more|another|also)\b", self.said)
            and self.common
            and len(rest) <= 4
            and len(self.words) <= 9
        ):
            return "refer"
        if self.common and not creates and len(rest) <= 2 and first not in _VERBS:
            return "refer"
        if (
            len(self.words) <= 4
            and not creates
            and first not in _VERBS
            and (self.typed or not any(mark.has("question") for mark in self.marks))
        ):
            return "revise"
        return "new"


_KEEPS = re.compile(r"\b(?:chang\w+|move|reschedule|make it|keep it)\b")
_OPENING = re.compile(
    r"^\W*(?:(?:please|thanks?|thank you|ok|okay|good|great|cool|yes|no|and|then|now|also|can you|could you|will you|would you|i need to|i want to|i'd like to)\b[ ,.!]*)+"
)
_OWN = re.compile(
    r"\b(?:schedule|create|add|set up|make|delete|cancel|modify|plan|book|remind|find|extend)\b(?: \w+){0,2}? (?:a|an|my|another|new|the \w+ \w+)\b|\bcalled\b|\b(?:with|at) [a-z]+ and\b"
)
_VERBS = frozenset(
    phrases(
        "add|book|buy|call|cancel|change|check|create|delete|find|get|give|go|invite|make|move|open|order|plan|put|remind|remove|reschedule|save|schedule|search|send|set|show|start|stop|tell|update|accept|decline"
    )
)
_POINTER = re.compile(
    r"\b(?:it|its|that|this|those|these|them|they|their|there|then|he|she|him|her|his|hers|the same|ese|esa|eso|lo|la misma|este|esta)\b|\b(?:אותו|אותה|אותם|זה|זאת|זו|שלו|שלה|שם)\b"
)
_TIMES = re.compile(
    r"\bthis (?:week|weekend|month|year|morning|afternoon|evening|coming|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|summer|winter|spring|fall)\b|\b(?:is|are|was|will) there\b|\b(?:so|know|think|sure|know if|showing|say|event|one|someone|meeting|people) that\b|\bthat i\b"
)
_WEATHER = re.compile(
    r"\b(?:rain\w*|snow\w*|sunny|cloudy|wind\w*|weather|temperature|cold|hot|warm|forecast|humid\w*|umbrella|clear|°)"
)
