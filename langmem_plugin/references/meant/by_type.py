"""Items named by their type or by a field of theirs: "that restaurant", "add the ingredients", "what is the cost?"."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks_detail
from langmem_plugin.references.said.segments import heads
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.tool_results import COLLECTIVE, reads
from langmem_plugin.references.text.atoms import is_known, word_atoms
from langmem_plugin.references.text.tokens import is_stop, key_words, stem
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE, PLACE, THING

_PLACE_FIELDS = word_set("address|street|location|venue|city|area|postcode|place|latitude|lat|geo|direccion|כתובת")
_ACTIONS = word_set(
    "book|booking|buy|buying|reserve|reserving|purchase|purchasing|get|order|ordering|schedule|scheduling|make|arrange|rent"
)
_PURCHASES = word_set("book|buy|reserve|buying|booking")
_TAKEN_UP_AGAIN = re.compile(
    r"\b(?:back|return|resume|finish|continue|proceed|complete|now|first|want|need|like|wanna|ready|actually|earlier|before|previous(?:ly)?|found|mentioned|searched|talked)\b"
)
_BOOKED = word_set("ticket|table|room|appointment|reservation|booking")


def by_type(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "book that restaurant", "the event you found"."""
    marks = utterance.wanted_marks
    acting = any(mark.text in _ACTIONS or mark.has("return") for mark in marks)
    for nouns in utterance.definite_nouns:
        if not acting and not COLLECTIVE.isdisjoint(stem(noun) for noun in nouns):
            continue  # "show me the meal plan"
        entry = _last_of_type(nouns, ledger, acting=acting)
        if entry is not None and not _strange(nouns, entry, utterance):
            reason = "the last spoken of that type"
            of_type = [other for other in ledger.shown_lists[-1].entries if entry.kind_words & other.kind_words]
            if len(of_type) > 1 and ledger.chosen[-1:] != [entry] and ledger.shown_lists[-1].kind == "list":
                continue
            return Finding([entry], " ".join(nouns), reason, "type", list_with(entry, ledger))
    return None


def _strange(nouns: Sequence[str], entry: ItemEntry, utterance: Utterance) -> bool:
    """Whether a word tells of another thing, as "dog" does in "the dog bite claim" of a claim about a wrist."""
    known = entry.atoms | entry.kind_words | NO_TYPE | GROUPS.keys() | THING
    known |= {mark.text for mark in utterance.marks if mark.kinds}
    return any(not ({stem(noun), noun, *word_atoms(noun)} & known) for noun in nouns)


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


_NEAR_FOCUS = 3
_NAMES = frozenset(("name", "id", "title"))


def by_part(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "add the ingredients": several things in a field of the item in focus, named with a definite word."""
    if not ledger.focus or asks_detail(ledger.reply):
        return None
    for entry in ledger.focus[: -_NEAR_FOCUS - 1 : -1]:  # "saved" may have been said of it since
        for nouns in utterance.definite_nouns:
            part = part_of(entry, nouns[:2])
            if part is not None and isinstance(entry.item[part], (list, tuple, dict)):
                reason = f"the {part} of the one last spoken of"
                return Finding([entry], nouns[0], reason, "part", list_with(entry, ledger), part)
    return None


def by_question(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "what is the cost?", "any wind?": asks for a field of an item just spoken of."""
    own = any(mark.text == "my" for mark in utterance.wanted_marks)
    described = utterance.language.name != "he" and heads(utterance.marks)
    if own or described or utterance.has("search") or asks_detail(ledger.reply):
        return None
    for entry in ledger.focus[: -_NEAR_FOCUS - 1 : -1]:
        field = _asked_field(utterance, entry)
        if field is not None and not _of_another(utterance, entry, field):
            reason = f"asks for its {field.replace('_', ' ')}"
            return Finding([entry], utterance.text.strip(), reason, "asked", list_with(entry, ledger), field)
    return None


def _of_another(utterance: Utterance, entry: ItemEntry, field: str) -> bool:
    """As "bohemian rhapsody" in "how long is bohemian rhapsody" of another song: two words that nothing of it explains."""
    known = entry.atoms | entry.kind_words | {stem(word) for word in entry.fields.get(field, ())}
    strange = [
        mark.text
        for mark in utterance.wanted_marks
        if mark.text[:1].isalpha() and not is_stop(mark.text) and not mark.kinds and not is_known(mark.text, known)
    ]
    return len(strange) > 1


def part_of(entry: ItemEntry, nouns: Sequence[str]) -> str | None:
    """The field of an entry that nouns name: "ingredients" of a recipe."""
    wanted = {stem(word) for noun in nouns for word in (noun, *word_atoms(noun))}
    for name in entry.item:
        words = {stem(word) for word in key_words(name)}
        if words and words & wanted and not wanted & entry.kind_words:
            return name
    return None


def _asked_field(utterance: Utterance, entry: ItemEntry) -> str | None:
    """The field that a word for it asks for ("how long"), else the one that shares most words with the utterance."""
    every = utterance.wanted_marks
    marks = [mark for place, mark in enumerate(every) if not (place and every[place - 1].has("cardinal"))]
    for place, mark in enumerate(marks):
        if any(later.has("indefinite") for later in marks[place + 1 : place + 3]):
            continue  # "how much is a dollar"
        names = mark.values.get("attribute")
        if isinstance(names, tuple):
            for wanted in names:
                for field, words in entry.fields.items():
                    if wanted in words or stem(wanted) in words:
                        return field
    if every and every[0].has("question"):  # "whats a reserve"
        marks = [mark for place, mark in enumerate(marks) if not (place and marks[place - 1].has("indefinite"))]
    said = {stem(word) for mark in marks for word in (mark.text, *word_atoms(mark.text)) if not is_stop(mark.text)}
    best: tuple[int, str] | None = None
    for field, words in entry.fields.items():
        if words & _NAMES and not words & _NAMES & said:
            continue
        hits = len({stem(word) for word in words} & said - {"name", "type", "title"})
        if hits and (best is None or hits > best[0]):
            best = (hits, field)
    return best[1] if best else None
