"""The question for the person when several items are equally meant."""

from collections.abc import Sequence

from langmem_plugin.foreign_text import one_line
from langmem_plugin.references.shown.items import ItemEntry


def ask(unclear: Sequence[ItemEntry], unresolved: Sequence[str]) -> str | None:
    """A question that names several candidates by number and name, or the words that fit nothing; None for neither."""
    if unresolved:
        words = " or ".join(f"“{one_line(each)}”" for each in unresolved)
        return f"Nothing that I have shown you is {words}. Which one do you mean?"
    if len(unclear) < _SEVERAL:
        return None
    names = [f"{place}. {one_line(entry.title)[:60]}" for place, entry in enumerate(unclear[:6], 1)]
    more = f" … ({len(unclear)} in all)" if len(unclear) > 6 else ""
    return f"Which one do you mean: {', '.join(names[:-1])} or {names[-1]}{more}?"


_SEVERAL = 2
