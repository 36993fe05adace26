"""Items at an end of a scale: "the cheapest", "the two longest", "the second earliest"."""

import math
import re
from collections.abc import Sequence

from langmem_plugin.references.meant.candidate_lists import candidate_lists, of_type
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.measured_values import measure
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.tokens import normal, stem
from langmem_plugin.references.words import Comparison
from langmem_plugin.references.words.field_names import AGE, CLOCK, DURATION, PRICE


def by_comparison(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """In the first of the last three lists that has a field to compare by."""
    if phrase.comparison is None:
        return None
    for candidate in candidate_lists(utterance, ledger, phrase.nouns)[:3]:
        listed = of_type(candidate, phrase.nouns)
        if len(listed.entries) < 2:
            continue
        found = extreme(listed.entries, phrase.comparison, phrase.count, phrase.numbers[0] if phrase.numbers else 0)
        if found is not None:
            entries, field = found
            reason = f"by {field} among the {len(listed.entries)} last shown"
            return Finding(entries, utterance.words(phrase), reason, "comparison", listed)
    return None


def extreme(
    entries: Sequence[ItemEntry], comparison: Comparison, count: int = 1, rank: int = 0
) -> tuple[list[ItemEntry], str] | None:
    """The `count` entries at the meant end of the scale, best first, and the field's name; None when no field can be
    compared or the end is shared by more entries than asked for. `rank` 2 is the second from that end.
    """
    for name in (*_fields(entries, comparison), *_typed_fields(entries, comparison)):
        values = [(measure(entry.field_value(name)), entry) for entry in entries]
        known = [(value, entry) for value, entry in values if value is not None and math.isfinite(value)]
        if len(known) < max(2, (len(entries) + 1) // 2) or len({value for value, _ in known}) < 2:
            continue
        known.sort(key=lambda pair: -comparison.direction * pair[0])
        if rank:
            same = sum(value == known[rank - 1][0] for value, _ in known) if rank <= len(known) else 0
            return ([known[rank - 1][1]], name) if same == 1 else None
        if count < len(known) and known[count - 1][0] == known[count][0]:
            continue
        return [entry for _, entry in known[:count]], name
    return None


_SHAPES = (
    (PRICE, re.compile(r"^\D{0,4}[$€₪£]|[$€₪£]\s*$|\b(?:usd|eur|ils|nis|gbp)\b")),
    (DURATION, re.compile(r"^\s*\d+(?:[.,]\d+)?\s*(?:min|minutes?|h|hr|hours?|m|דקות|minutos|horas)\b|^pt?\d")),
    (CLOCK, re.compile(r"^\d{4}-\d\d?-\d\d?|^\d\d?:\d\d")),
    (AGE, re.compile(r"^\d{4}-\d\d?-\d\d?")),
)


def _typed_fields(entries: Sequence[ItemEntry], comparison: Comparison) -> list[str]:
    """Fields whose values look like what is compared, whatever they are called: `$12`, `25 min`,
    `2026-05-01`.
    """
    for fields, shape in _SHAPES:
        if fields is comparison.fields:
            return [
                name
                for name in entries[0].fields
                if all(
                    isinstance(entry.field_value(name), str) and shape.search(normal(str(entry.field_value(name))))
                    for entry in entries
                )
            ]
    return []


def _fields(entries: Sequence[ItemEntry], comparison: Comparison) -> list[str]:
    """Fields whose name holds one of the comparison's words, in that order of preference."""
    names: dict[str, frozenset[str]] = {}
    for entry in entries:
        names.update(entry.fields)
    ranked = []
    for name, words in names.items():
        ranks = [rank for rank, wanted in enumerate(comparison.fields) if wanted in words or stem(wanted) in words]
        if ranks:
            ranked.append((min(ranks), len(words), name))
    return [name for _, _, name in sorted(ranked)]
