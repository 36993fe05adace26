"""What rules leave open, settled by one short choice of a chat model among the items they leave."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.confidence import SURE
from langmem_plugin.references.meant.finding import Decision, Finding
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.ledger import Ledger

Chooser = Callable[[str, str, Sequence[str]], tuple[int, ...] | None]
"""Of an utterance, the reply before it and the items shown as texts: the places meant, () for none; None for no answer."""


def by_model(decision: Decision, utterance: str, ledger: Ledger, choose: Chooser) -> Decision:
    """The decision where it is sure, or there is nothing to choose from, or the model gives no answer.

    Where the rules found something, the model may confirm it, which makes it sure; if it says something else, both are
    candidates. What was to be asked about is what the model chooses, without being sure; or nothing.
    """
    found = decision.entries
    first = decision.findings[0] if decision.findings else None
    if first is not None and all(finding.confidence >= SURE for finding in decision.findings):
        return decision
    listed = first.listed if first is not None else list_with(decision.unclear[0], ledger) if decision.unclear else None
    if listed is None:
        return decision
    chosen = choose(utterance, ledger.reply, [_told(entry) for entry in listed.entries])
    if chosen is None:
        return decision
    entries = [listed.entries[place] for place in chosen]
    if first is None:
        reason = "what a model chose of those shown"
        return Decision([Finding(entries, utterance.strip(), reason, "model", listed)] if entries else [])
    if {id(entry) for entry in entries} == {id(entry) for entry in found}:
        return Decision([replace(finding, confirmed=True) for finding in decision.findings])
    others = [entry for entry in entries if not any(entry is other for other in found)]
    return Decision(unclear=[*found, *others]) if others else decision


def _told(entry: ItemEntry) -> str:
    """Its name and its short values."""
    values = [f"{key}: {value}" for key, value in leaves(entry.item) if str(value) != entry.title]
    return "; ".join([entry.title, *values])
