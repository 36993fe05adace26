"""Which way of finding serves which kind of phrase, and "all but …", which finds what its inner phrases mean."""

from collections.abc import Callable

from langmem_plugin.references.meant.by_comparison import by_comparison
from langmem_plugin.references.meant.by_group import by_all, by_both, by_other
from langmem_plugin.references.meant.by_position import by_first, by_last, by_numbers, by_previous
from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import best_list, without
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import Segment
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger

Way = Callable[[Phrase, Utterance, Ledger], Finding | None]
"""None when the list does not hold what was asked for."""


def by_phrase(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """What a phrase picks out of a list shown; None for kinds that pick nothing by themselves."""
    way = PICKING.get(phrase.kind)
    return way(phrase, utterance, ledger) if way is not None else None


def _by_exception(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """What the words before "except" fit, all of a list where there are none, without what those behind it mean."""
    inside = [mark for mark in utterance.marks if phrase.start <= mark.start and mark.end <= phrase.end]
    turn = next((place for place, mark in enumerate(inside) if mark.has("except")), 0)
    group = Segment(inside[:turn], phrase.start, phrase.end)
    listed = best_list(utterance, ledger)
    if listed is None:
        return None
    among = listed.entries
    if inside[:turn]:
        for candidate in reversed(ledger.shown_lists):
            fitting = described(group, utterance, candidate)
            if len(fitting.entries) > 1:
                listed, among = candidate, fitting.entries
                break
    behind = Segment(inside[turn + 1 :], phrase.start, phrase.end)
    left_out: list[ItemEntry] = []
    for inner in phrase.inner:
        finding = by_phrase(inner, utterance, ledger)
        if finding is not None:
            left_out.extend(finding.entries)
    if not left_out and behind.marks:
        left_out = described(behind, utterance, listed).entries
    rest = without(among, left_out)
    if not left_out or len(rest) == len(among):
        return None
    reason = f"the {len(among)} last shown without {len(left_out)}"
    return Finding(rest, utterance.words(phrase), reason, "exclusion", listed)


def _by_neither(_phrase: Phrase, _utterance: Utterance, _ledger: Ledger) -> None:
    """It settles that nothing is meant."""


PICKING: dict[str, Way] = {
    "numbers": by_numbers,
    "first": by_first,
    "last": by_last,
    "previous": by_previous,
    "all": by_all,
    "both": by_both,
    "other": by_other,
    "neither": _by_neither,
    "all_but": _by_exception,
    "comparison": by_comparison,
}
"""By kind of phrase; each of these kinds picks by itself."""
