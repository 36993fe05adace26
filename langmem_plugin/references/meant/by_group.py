"""A whole list, or one of two: "all of them", "both", "the other one", and "not the first" of two."""

from langmem_plugin.references.meant.by_description import described
from langmem_plugin.references.meant.candidate_lists import best_list, of_type, type_words, without
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import long_part
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


def by_other(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "the other one" of two: not the one named here, else not the one in focus."""
    listed = best_list(utterance, ledger, phrase.nouns)
    if listed is None or len(listed.entries) != 2:
        return None
    named, _ = described(utterance.text, listed)
    rest = without(listed.entries, named if len(named) == 1 else ledger.focus[-1:])
    if len(rest) != 1:
        return None
    reason = "the one of the two that was not just spoken of"
    return Finding(rest, utterance.words(phrase), reason, "other", listed)


def other_of_two(finding: Finding) -> Finding | None:
    """As in "not the first one": of two, it means the other; of more, none."""
    listed = finding.listed
    if listed is None or len(listed.entries) != 2 or len(finding.entries) != 1:
        return None
    rest = without(listed.entries, finding.entries)
    reason = f"the other of the two, since {finding.words!r} was turned down"
    return Finding(rest, finding.words, reason, "other", listed)
