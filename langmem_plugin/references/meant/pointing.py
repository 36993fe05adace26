"""What a pronoun, a type noun, a question or an agreement points at: the item in focus that fits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from langmem_plugin.references.said.clauses import wanted_marks
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.tool_results import reads
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, key_words, stem
from langmem_plugin.references.words import phrases
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE, PLACE

_PLACE_FIELDS = frozenset(
    phrases("address|street|location|venue|city|area|postcode|place|latitude|lat|geo|direccion|כתובת")
)
_SENTENCE = re.compile(r"[^.!?]*[.!?]*")
_SLOT = re.compile(
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
_PRAISE = frozenset(
    phrases(
        "good|great|perfect|fine|nice|works|work|cool|sweet|awesome|excellent|amazing|wonderful|lovely|super|ideal|okay|ok|alright|sounds|terrific|fantastic|genial|perfecto|bien|vale|excelente"
    )
) | frozenset(("מעולה", "סבבה", "יופי", "מצוין", "אחלה", "מתאים", "טוב", "נשמע", "מושלם", "suena", "encanta"))
_AGREED = frozenset(
    phrases("yes|yeah|yep|yup|sure|si|claro|definitely|absolutely|ok|okay|please|exactly|correct|right")
) | frozenset(("כן", "בטח"))
_ACT = frozenset(
    phrases(
        "book|booking|buy|buying|reserve|reserving|purchase|purchasing|get|order|ordering|schedule|scheduling|make|arrange|rent"
    )
)
_BACK = re.compile(
    r"\b(?:back|return|resume|finish|continue|proceed|complete|now|first|want|need|like|wanna|ready|actually|earlier|before|previous(?:ly)?|found|mentioned|searched|talked)\b"
)


def place_like(entry: ItemEntry) -> bool:
    """Somewhere one can go: it has a name and an address or the like."""
    return bool(entry.names) and any(words & _PLACE_FIELDS for words in entry.fields.values())


@dataclass(frozen=True)
class Pointed:
    """An entry, the words that pointed at it, the sort of evidence and, for a part, the field asked for."""

    entry: ItemEntry
    words: str
    sort: str
    reason: str
    part: str | None = None


class Pointing:
    """One utterance against what is in focus. Clauses that decline something are left out of account."""

    def __init__(self, utterance: str, marks: Sequence[Mark], ledger: Ledger) -> None:
        self.utterance = utterance
        self.ledger = ledger
        self.all_marks = marks
        self.marks = wanted_marks(marks)
        self.focus = list(reversed(ledger.focus))

    @cached_property
    def asks_slot(self) -> bool:
        """The assistant has just asked for a detail, so that the utterance is likely to be that detail."""
        sentences = [part.strip() for part in _SENTENCE.findall(self.ledger.reply) if part.strip()]
        last = sentences[-1] if sentences else ""
        slot = _SLOT.search(last)
        return (
            bool(slot)
            and last.endswith(("?", "."))
            and ("?" in last or (slot is not None and slot.start() < 6))
            and not _ELSE.search(last)
            and not re.search(r"\b(how|what) about\b|do you think|which (?:one|of)|\bwork\b", last, re.IGNORECASE)
        )

    @cached_property
    def offers(self) -> bool:
        sentences = [part.strip() for part in _SENTENCE.findall(self.ledger.reply) if part.strip()]
        last = sentences[-1] if sentences else ""
        return "?" in last and bool(_OFFER.search(last)) and not _ELSE.search(last)

    # -- type nouns

    def kinds(self, nouns: Sequence[str]) -> frozenset[str]:
        """The nouns, their English concepts and nothing that is no type."""
        words = {stem(word) for noun in nouns for word in (noun, *word_atoms(noun))}
        return frozenset(word for word in words if word not in NO_TYPE and len(word) > 1)

    def typed(self, nouns: Sequence[str], *, acting: bool = False) -> ItemEntry | None:
        """The item last in focus whose type the nouns name, exactly before loosely; for a purchase, one not
        yet acted on.
        """
        wanted = self.kinds(nouns)
        if not wanted:
            return None
        loose = frozenset().union(*(GROUPS.get(word, frozenset()) for word in wanted))
        pool = self.offered
        pools = [[entry for entry in pool if not self._acted(entry)], pool] if acting else [pool]
        for entries in pools:
            for match in (wanted, loose):
                for entry in entries:
                    if match & entry.kind_words:
                        return entry
            if wanted & PLACE:
                found = next((entry for entry in entries if place_like(entry)), None)
                if found is not None:
                    return found
        return None

    @cached_property
    def offered(self) -> list[ItemEntry]:
        """What could be taken up again: the focus, newest first, and the last named of each sentence that
        named several.
        """
        ranked: list[tuple[int, int, ItemEntry]] = []
        rank = {id(entry): place for place, entry in enumerate(self.ledger.focus)}
        seen: set[int] = set()
        for place in range(len(self.ledger.shown_lists) - 1, -1, -1):
            view = self.ledger.shown_lists[place]
            if len(view.entries) == 1 or view.kind == "prose" or (view.kind == "all" and len(view.entries) <= 3):
                inside = [entry for entry in view.entries if id(entry) in rank]
                entry = max(inside, key=lambda one: rank[id(one)]) if inside else view.entries[-1]
                if id(entry) not in seen:
                    seen.add(id(entry))
                    ranked.append((place, rank.get(id(entry), -1), entry))
        found = [entry for _, _, entry in ranked]
        return list({id(entry): entry for entry in (*self.focus[:1], *found, *self.focus)}.values())

    def _acted(self, entry: ItemEntry) -> bool:
        view = next(
            (view for view in reversed(self.ledger.shown_lists) if any(entry is other for other in view.entries)), None
        )
        return view is not None and bool(view.tool) and not reads(view.tool)

    def definite_nouns(self) -> list[tuple[str, ...]]:
        """Noun groups that a definite word introduces: "the rental car from before", "that place"."""
        found = []
        for index, mark in enumerate(self.marks):
            if mark.has("the", "this", "these") or mark.definite or mark.text in ("your", "our"):
                words = [mark.text] if mark.definite else []
                for following in self.marks[index + 1 : index + 5]:
                    if (
                        following.has("punctuation", "not", "preposition")
                        or not following.text[:1].isalpha()
                        or is_stop(following.text)
                    ):
                        break
                    words.append(following.text)
                if words:
                    found.append(tuple(words))
        return found

    # -- ways of pointing

    def by_type(self) -> Pointed | None:
        """As in "Book that restaurant", "the event you found"."""
        words = {mark.text for mark in self.marks}
        acting = bool(words & _ACT) or any(mark.has("return") for mark in self.marks)
        for nouns in self.definite_nouns():
            entry = self.typed(nouns, acting=acting)
            if entry is not None:
                return Pointed(entry, " ".join(nouns), "type", "the last spoken of that type")
        return None

    def by_part(self) -> Pointed | None:
        """As in "Add the ingredients": a field of the item in focus, named with a definite word."""
        if not self.focus or self.asks_slot:
            return None
        for nouns in self.definite_nouns():
            part = self.part_of(self.focus[0], nouns[:2])
            if part is not None and isinstance(self.focus[0].item[part], (list, tuple, dict)):
                return Pointed(self.focus[0], " ".join(nouns), "part", f"the {part} of the one last spoken of", part)
        return None

    def by_action(self) -> Pointed | None:
        """As in "Go back to booking tickets", "buy me 3 tickets": an action on a type of item offered
        before.
        """
        words = [mark.text for mark in self.marks]
        if not set(words) & _ACT or self.asks_slot:
            return None
        said = " ".join(words)
        if not _BACK.search(said) and not set(words) & {"book", "buy", "reserve", "buying", "booking"}:
            return None
        nouns = [
            word
            for word in words
            if stem(word) in GROUPS
            and stem(word) not in ("house", "call", "list", "person", "number", "stay", "share", "note", "trip")
        ]
        named = [
            word
            for word in nouns
            if any(
                stem(word) in group
                for group in (("ticket", "table", "room", "appointment", "reservation", "seat", "booking"))
            )
        ]
        fresh = any(mark.has("search") for mark in self.all_marks) and not _BACK.search(said)
        for noun in named:
            entry = None if fresh else self.typed([noun], acting=True)
            if entry is not None:
                return Pointed(entry, noun, "older", f"the {noun} can be had for it, and it was offered before")
        return None

    def by_question(self) -> Pointed | None:
        """As in "What is the cost?", "any wind?": asks for a field of an item just spoken of."""
        texts = [mark.text for mark in self.marks]
        if self.asks_slot or "my" in texts or any(mark.has("search") for mark in self.all_marks):
            return None
        for entry in self.focus[:3]:
            part = self.asked_field(entry)
            if part is not None:
                return Pointed(entry, self.utterance.strip(), "asked", f"asks for its {part.replace('_', ' ')}", part)
        return None

    def asked_field(self, entry: ItemEntry, nouns: Sequence[str] | None = None) -> str | None:
        """The field of an entry that the utterance (or these nouns) asks for."""
        marks = self.marks if nouns is None else [mark for mark in self.all_marks if mark.text in nouns]
        marks = [mark for place, mark in enumerate(marks) if not (place and marks[place - 1].has("cardinal"))]
        for place, mark in enumerate(marks):
            if any(later.has("indefinite") for later in marks[place + 1 : place + 3]):
                continue  # "how much is a dollar"
            names = mark.values.get("attribute")
            if isinstance(names, tuple):
                for wanted in names:
                    for field_name, words in entry.fields.items():
                        if wanted in words or stem(wanted) in words:
                            return field_name
        said = {stem(word) for mark in marks for word in (mark.text, *word_atoms(mark.text)) if not is_stop(mark.text)}
        best: tuple[int, str] | None = None
        for field_name, words in entry.fields.items():
            if words & {"name", "id", "title"} and not words & {"name", "id", "title"} & said:
                continue
            hit = len({stem(word) for word in words} & said - {"name", "type", "title"})
            if hit and (best is None or hit > best[0]):
                best = (hit, field_name)
        return best[1] if best else None

    def by_agreement(self) -> Pointed | None:
        """As in "Sounds good", "yes please": takes up the one item just offered."""
        if not self.focus or self.asks_slot or not self.ledger.shown_lists:
            return None
        view = self.ledger.shown_lists[-1]
        words = [word for mark in self.marks for word in mark.text.split()]
        if self.offers and words[:1] and words[0] in _AGREED and self.ledger.chosen[-1:] == self.focus[:1]:
            return Pointed(self.focus[0], self.utterance.strip(), "agreed", "takes up what was just offered")
        if len(view.entries) != 1 or view.entries[0] is not self.focus[0] or self.ledger.turn - view.turn > 3:
            return None
        if view.tool and not reads(view.tool):
            return None
        words = [word for mark in self.marks for word in mark.text.split()]
        if any(mark.has("search", "greeting") for mark in self.all_marks):
            return None
        if self.offers and self.ledger.turn - view.turn <= 3 and words[:1] and words[0] in _AGREED:
            return Pointed(self.focus[0], self.utterance.strip(), "agreed", "takes up what was just offered")
        content = [word for word in words if word[:1].isalpha()]
        if (
            self.ledger.turn - view.turn <= 1
            and len(content) <= 8
            and set(content[:5]) & _PRAISE
            and not _ELSE.search(self.ledger.reply[-80:])
        ):
            return Pointed(self.focus[0], self.utterance.strip(), "agreed", "agrees to the one just shown")
        return None

    def place(self) -> ItemEntry | None:
        """Where "there" is."""
        return next((entry for entry in self.offered if place_like(entry)), None)

    def part_of(self, entry: ItemEntry, nouns: Sequence[str]) -> str | None:
        """The field of an entry that nouns name: "ingredients" of a recipe."""
        wanted = {stem(word) for noun in nouns for word in (noun, *word_atoms(noun))}
        for name in entry.item:
            words = {stem(word) for word in key_words(name)}
            if words and words & wanted and not wanted & entry.kind_words:
                return name
        return None
