"""Items named in full, or by an id: "save the Lemon Chicken", "order A-1042"."""

from langmem_plugin.references.meant.candidate_lists import list_with, without
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import RECENT, Ledger
from langmem_plugin.references.shown.name_matching import named_in, sharing
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import is_stop, words_of


def by_name(text: str, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """Every item that a text, which is part of the utterance, names in full."""
    latest = ledger.shown_lists[-1].entries
    words = [word for word in atoms(text) | frozenset(words_of(text)) if not is_stop(word)]
    pool = sharing(words, list(reversed(ledger.result_lists[-RECENT:])))
    pool += without(latest, pool)
    found = [
        mention.entry
        for mention in named_in(text, _by_recency(pool, ledger))
        if _tells(mention.entry, utterance, latest) and not _shared(mention.entry, latest)
    ]
    if not found:
        return None
    first = found[0]
    quote = utterance.quote(first.name_text[0].split() if first.name_text else ())
    return Finding(found, quote, "named in full", "name", list_with(first, ledger))


def _shared(entry: ItemEntry, latest: list[ItemEntry]) -> bool:
    """Whether others just shown are called the same."""
    same = [other for other in latest if other.name_text[:1] == entry.name_text[:1]]
    return len(same) > 1 and any(other is entry for other in same)


def _by_recency(entries: list[ItemEntry], ledger: Ledger) -> list[ItemEntry]:
    """Entries last in focus first, then those shown last."""
    rank = {id(entry): place for place, entry in enumerate(ledger.focus, 1)}
    return sorted(entries, key=lambda entry: -rank.get(id(entry), 0))


def _tells(entry: ItemEntry, utterance: Utterance, latest: list[ItemEntry]) -> bool:
    """A name of function words or bare numbers is evidence only where it is chosen from the list just shown."""
    if any(not is_stop(word) and not word.isdigit() for name in entry.name_text for word in name.split()):
        return True
    if not any(entry is other for other in latest):
        return False
    spoken = f" {' '.join(words_of(utterance.text))} "
    names = [f" {name} " for name in entry.name_text if not name.isdigit()]
    return len(spoken.split()) > 1 and any(spoken.startswith(name) or spoken.endswith(name) for name in names)
