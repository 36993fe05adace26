"""Items named by their type: "that restaurant", "book the tickets"; and the place that "there" is."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks_detail
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.tool_results import COLLECTIVE, reads
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import phrases
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE, PLACE, THING

_PLACE_FIELDS = frozenset(
    phrases("address|street|location|venue|city|area|postcode|place|latitude|lat|geo|direccion|כתובת")
)
_ACTIONS = frozenset(
    phrases(
        "book|booking|buy|buying|reserve|reserving|purchase|purchasing|get|order|ordering|schedule|scheduling|make|arrange|rent"
    )
)
_PURCHASES = frozenset(phrases("book|buy|reserve|buying|booking"))
_TAKEN_UP_AGAIN = re.compile(
    r"\b(?:back|return|resume|finish|continue|proceed|complete|now|first|want|need|like|wanna|ready|actually|earlier|before|previous(?:ly)?|found|mentioned|searched|talked)\b"
)
_ANOTHER = 2  # words that fit another thing
_BOOKED = frozenset(phrases("ticket|table|room|appointment|reservation|booking"))


def by_type(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "book that restaurant", "the event you found"."""
    marks = utterance.wanted_marks
    acting = any(mark.text in _ACTIONS or mark.has("return") for mark in marks)
    for nouns in utterance.definite_nouns:
        if not acting and not COLLECTIVE.isdisjoint(stem(noun) for noun in nouns):
            continue  # "show me the meal plan"
        entry = _last_of_type(nouns, ledger, acting=acting)
        if entry is not None and (strange := _strange(nouns, entry, utterance)) < _ANOTHER:
            reason = "the last spoken of that type"
            of_type = [other for other in ledger.shown_lists[-1].entries if entry.kind_words & other.kind_words]
            rivals = len(of_type) > 1 and ledger.chosen[-1:] != [entry]
            if rivals and ledger.shown_lists[-1].kind == "list":
                continue
            evidence = {"qualified": float(strange), "rivals": float(rivals)}
            return Finding([entry], " ".join(nouns), reason, "type", list_with(entry, ledger), evidence=evidence)
    return None


def _strange(nouns: Sequence[str], entry: ItemEntry, utterance: Utterance) -> int:
    """How many words tell of another thing, as "dog" and "bite" do in "the dog bite claim" of a claim about a wrist."""
    known = entry.atoms | entry.kind_words | NO_TYPE | GROUPS.keys() | THING
    known |= {mark.text for mark in utterance.marks if mark.kinds}
    return sum(not ({stem(noun), noun, *word_atoms(noun)} & known) for noun in nouns)


def by_action(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "go back to booking tickets", "buy me 3 tickets": an action on a type of item offered before."""
    words = [mark.text for mark in utterance.wanted_marks]
    if not set(words) & _ACTIONS or asks_detail(ledger.reply):
        return None
    taken_up = _TAKEN_UP_AGAIN.search(" ".join(words))
    if not taken_up and not set(words) & _PURCHASES:
        return None
    if utterance.has("search") and not taken_up:
        return None
    for noun in words:
        kind = stem(noun)
        if kind not in _BOOKED:
            continue
        entry = _last_of_type([noun], ledger, acting=True)
        if entry is not None:
            reason = f"the {noun} can be had for it, and it was offered before"
            return Finding([entry], noun, reason, "older", list_with(entry, ledger))
    return None


def place_spoken_of(ledger: Ledger) -> ItemEntry | None:
    """Where "there" is."""
    return next((entry for entry in _offered(ledger) if _place_like(entry)), None)


def _place_like(entry: ItemEntry) -> bool:
    """Somewhere one can go: it has a name and an address or the like."""
    return bool(entry.names) and any(words & _PLACE_FIELDS for words in entry.fields.values())


def _last_of_type(nouns: Sequence[str], ledger: Ledger, *, acting: bool) -> ItemEntry | None:
    """The item last in focus whose type the nouns name, exactly before loosely; for a purchase, one not yet acted on."""
    said = {stem(word) for noun in nouns for word in (noun, *word_atoms(noun))}
    wanted = frozenset(word for word in said if word not in NO_TYPE and len(word) > 1)
    if not wanted:
        return None
    loose = frozenset().union(*(GROUPS.get(word, frozenset()) for word in wanted))
    pool = _offered(ledger)
    pools = [[entry for entry in pool if not _acted_on(entry, ledger)], pool] if acting else [pool]
    for entries in pools:
        for types in (wanted, loose):
            for entry in entries:
                if types & entry.kind_words:
                    return entry
        if wanted & PLACE:
            found = next((entry for entry in entries if _place_like(entry)), None)
            if found is not None:
                return found
    return None


def _offered(ledger: Ledger) -> list[ItemEntry]:
    """What could be taken up again: the focus, newest first, and the last named of each sentence that named several."""
    rank = {id(entry): place for place, entry in enumerate(ledger.focus)}
    found = []
    for listed in reversed(ledger.shown_lists):
        few = listed.kind == "prose" or (listed.kind == "all" and len(listed.entries) <= 3)
        if few or len(listed.entries) == 1:
            inside = [entry for entry in listed.entries if id(entry) in rank]
            found.append(max(inside, key=lambda entry: rank[id(entry)]) if inside else listed.entries[-1])
    newest_first = ledger.focus[::-1]
    return list({id(entry): entry for entry in (*newest_first[:1], *found, *newest_first)}.values())


def _acted_on(entry: ItemEntry, ledger: Ledger) -> bool:
    listed = list_with(entry, ledger)
    return listed is not None and bool(listed.tool) and not reads(listed.tool)
