"""The question for the person when several items are equally meant."""

from collections.abc import Sequence

from langmem_plugin.references.meant.prompt_block import inline
from langmem_plugin.references.shown.items import ItemEntry


def ask(entries: Sequence[ItemEntry]) -> str:
    """A question that names the candidates by number and name."""
    names = [f"{place}. {inline(entry.title)[:60]}" for place, entry in enumerate(entries[:6], 1)]
    more = f" … ({len(entries)} in all)" if len(entries) > 6 else ""
    return (
        f"Which one do you mean: {', '.join(names[:-1])} or {names[-1]}{more}?"
        if len(names) > 1
        else f"Do you mean {names[0]}?"
    )
