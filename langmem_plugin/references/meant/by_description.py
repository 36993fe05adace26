"""Items described: by part of a name, or by a value ("the 12:30", "the one with basil")."""

from collections.abc import Collection, Iterable
from itertools import pairwise

from rapidfuzz import fuzz, process

from langmem_plugin.references.meant.candidate_lists import type_words
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.meant.last_question import asks_detail
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import DAYPARTS, ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.name_matching import common_atoms
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms, word_atoms
from langmem_plugin.references.text.tokens import stem, words_of
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE

_NEWEST_LISTS = 4
_WHOLE = 1.0
_SEVERAL = ("ones", "those", "los", "las", "los de", "las de", "todos", "all")


def by_description(utterance: Utterance, ledger: Ledger, *, type_noun: float = _WHOLE) -> Finding | Unclear | None:
    """In the newest list that holds what fits; type nouns ("salon" in "Blue Salon") weigh `type_noun`."""
    for listed in list(reversed(ledger.shown_lists))[:_NEWEST_LISTS]:
        found, evidence = described(utterance.text, listed, type_noun=type_noun)
        if 1 < len(found) < len(listed.entries):
            if _each_named(found, utterance, listed):
                return Finding(found, utterance.text.strip(), "each of them named in part", "part of name", listed)
            if any(mark.text in _SEVERAL or mark.has("all") for mark in utterance.marks):
                reason = f"all of those shown that fit {', '.join(evidence)}"
                return Finding(found, utterance.text.strip(), reason, "value", listed)
            if _alike(found, evidence, utterance, ledger, listed):
                return Unclear(found)
        if len(found) == 1 and _convincing(evidence, found[0], utterance, ledger, listed):
            reason = "the only one shown that fits these words"
            return Finding(found, utterance.quote(evidence), reason, "part of name", listed)
    return None


def described(text: str, listed: ShownList, *, type_noun: float = _WHOLE) -> tuple[list[ItemEntry], list[str]]:
    """The entries of a list that share most with a text, and the words they share."""
    shared = common_atoms(listed.entries) if len(listed.entries) > 1 else frozenset()
    vocabulary = {word for entry in listed.entries for words in entry.name_words for word in words}
    said = _corrected(frozenset(word for word in atoms(text) if not word.isdigit()), vocabulary) - shared
    scores: list[tuple[float, ItemEntry]] = []
    for place, entry in enumerate(listed.entries):
        names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
        score = sum(
            0.3
            if word in NO_TYPE and word not in DAYPARTS
            else (2.0 if word in names else 1.0) * (type_noun if word in GROUPS else 1.0)
            for word in said & listed.atoms_of(place)
        )
        scores.append((score, entry))
    best = max((score for score, _ in scores), default=0.0)
    enough = 0.6 if type_noun == _WHOLE else 1.0
    found = [entry for score, entry in scores if score == best] if best >= enough else []
    evidence = said & listed.atoms_of(listed.entries.index(found[0])) if found else frozenset()
    return found, sorted(evidence)


def _corrected(said: frozenset[str], vocabulary: Iterable[str]) -> frozenset[str]:
    """The words said plus, for each unknown word of five letters or more, the known word it is a slip of."""
    known = [word for word in vocabulary if len(word) >= 4 and word[0].isalpha()]
    lookup = set(known)
    extra = set()
    for word in said:
        if len(word) >= 5 and word.isalpha() and word not in lookup:
            match = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=84)
            if match is not None:
                extra.add(match[0])
    return said | extra


def _each_named(found: list[ItemEntry], utterance: Utterance, listed: ShownList) -> bool:
    """Whether several entries are each named by words of their own: "Miso or Olive"."""
    if not utterance.has("and"):
        return False
    own = [listed.atoms_of(listed.entries.index(entry)) & utterance.atoms for entry in found]
    return all(words.difference(*(other for other in own if other is not words)) for words in own)


def _alike(
    found: list[ItemEntry], evidence: list[str], utterance: Utterance, ledger: Ledger, listed: ShownList
) -> bool:
    """Whether a definite name fits several items of different names: "the soup" of two soups."""
    names = [frozenset().union(*entry.name_words) for entry in found if entry.name_words]
    shared = frozenset.intersection(*names) & set(evidence) if len(names) == len(found) else frozenset()
    definite = any(stem(word) in shared for nouns in utterance.definite_nouns for word in nouns)
    return (
        definite and len(set(names)) == len(found) and _convincing(sorted(shared), found[0], utterance, ledger, listed)
    )


def _convincing(
    evidence: Collection[str], entry: ItemEntry, utterance: Utterance, ledger: Ledger, listed: ShownList
) -> bool:
    """Whether the shared words are meant to pick this entry, rather than being said of something new."""
    marks = utterance.marks
    names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
    if listed.captions:
        names |= listed.caption_atoms[listed.entries.index(entry)]
    named = [word for word in evidence if word in names and word not in NO_TYPE and ":" not in word]
    plain = [word for word in evidence if ":" not in word and word not in DAYPARTS]
    places = [place for place, mark in enumerate(marks) if stem(mark.text) in evidence or mark.text in evidence]
    after = [marks[place - 1] for place in places if place]
    if any(mark.has("cardinal") and not mark.has("indefinite") for mark in after):
        return False  # "three lemons"
    anchored = utterance.has("one") or any(
        stem(word) in evidence or word_atoms(word) & set(evidence)
        for nouns in utterance.definite_nouns
        for word in nouns
    )
    following = [marks[place + 1].text for place in places if place + 1 < len(marks)]
    kind_sought = any(stem(word) != word and stem(word) in GROUPS for word in following)  # "chicken recipes"
    new = (kind_sought or utterance.has("search")) and not anchored
    if new or (not named and asks_detail(ledger.reply)):
        return False
    most = min(map(len, entry.name_words), default=1)
    inside = any(mark.has("preposition", "of", "range") for mark in after)
    if named and (anchored or len(named) * 2 > most or (len(named) * 2 == most and not inside)):
        return True
    short = len(words_of(utterance.text)) <= 4
    if named and len(listed.entries) > 1 and (len(named) * 2 >= most or short or any(len(word) > 4 for word in named)):
        return True
    if len(listed.entries) == 1:
        return bool(plain) and anchored
    if any(mark.has("one") or (mark.has("weekday") and mark.text.endswith("'s")) for mark in marks):
        return True
    valued = any(mark.has("value") and before.has("the") for before, mark in pairwise(marks))
    of_type = any(type_words(nouns) & entry.kind_words for nouns in utterance.definite_nouns)
    if valued or of_type:
        return True  # "the 12:30", "the flight for 75"
    typed = any(stem(word) in GROUPS or word in entry.kind_words for word in plain)
    return (anchored and (typed or len(utterance.atoms) <= 3)) or (bool(plain) and len(utterance.atoms) <= 2)
