"""A whole list, or one of two: "all of them", "both", "the other one"."""

from collections.abc import Sequence

from langmem_plugin.references.meant.by_offer import offered
from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import best_list, newest, of_type, type_words, without
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, long_part
from langmem_plugin.references.shown.ledger import Ledger


def by_all(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "all of them"; "everything" of a single item is its longest part."""
    wanted = type_words(phrase.nouns)
    words = utterance.words(phrase)
    last = ledger.shown_lists[-1]
    part = long_part(last.entries[0]) if len(last.entries) == 1 else None
    if part is not None and words.lower() in ("everything", "todo", "הכל", "הכול"):
        return Finding([last.entries[0]], words, f"the {part} of the one last shown", "part", last, part)
    listed = best_list(utterance, ledger, phrase.nouns)
    if listed is None or (phrase.count and phrase.count != len(listed.entries)):
        return None
    if (
        wanted
        and not any(wanted & entry.kind_words for entry in listed.entries)
        and not wanted & type_words(tuple(listed.nouns))
    ):
        return None
    return Finding(list(listed.entries), words, f"all {len(listed.entries)} last shown", "group", listed)


def by_both(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """The two of a list, else the two that the person spoke of."""
    listed = best_list(utterance, ledger, phrase.nouns)
    listed = of_type(listed, phrase.nouns) if listed is not None else None
    if listed is not None and len(listed.entries) == 2:
        return Finding(list(listed.entries), utterance.words(phrase), "the two last shown", "group", listed)
    if len(ledger.chosen) == 2:
        return Finding(list(ledger.chosen), utterance.words(phrase), "the two spoken of", "group", listed)
    return None


def by_other(
    phrase: Phrase,
    utterance: Utterance,
    ledger: Ledger,
    turned_down: Sequence[ItemEntry],
    beside: Sequence[Mark] = (),
) -> Finding | None:
    """Of two, or of two that the words `beside` describe, the one that was not turned down here, asked about or last
    spoken of.
    """
    asked = offered(ledger)
    known = turned_down or ([asked] if asked is not None else ledger.focus[-1:])
    for listed in newest(ledger):
        fitting = described(beside, utterance, listed, [(phrase.start, phrase.end)])
        among = fitting.entries if len(listed.entries) > 1 and len(fitting.telling) > 0 else listed.entries
        rest = without(among, known)
        if len(rest) == 1 and len(rest) < len(among):
            return Finding(rest, utterance.words(phrase), "the one that was not just spoken of", "other", listed)
    return None


def by_others(phrase: Phrase, utterance: Utterance, ledger: Ledger, turned_down: Sequence[ItemEntry]) -> Finding | None:
    """As in "the others", "the other 3": of the last list, those not spoken of since; else those it left out."""
    listed = next((each for each in newest(ledger) if len(each.entries) > 1), None)
    if listed is None:
        return None
    known = turned_down or [entry for entry in ledger.chosen if any(entry is other for other in listed.entries)]
    rest = without(listed.entries, known)
    if phrase.count and phrase.count != len(rest):
        rest = without([entry for source in listed.sources for entry in source.entries], listed.entries)
    if not (known or phrase.count) or not rest or (phrase.count and phrase.count != len(rest)):
        return None
    return Finding(rest, utterance.words(phrase), "those that were not spoken of", "other", listed)
