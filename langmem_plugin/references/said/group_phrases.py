"""Phrases for a whole list or what is left of it: all, both, neither, the other, another."""

from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark


def read_group(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    kind = next((kind for kind in ("neither", "both", "all") if mark.has(kind)), None)
    if kind is None:
        return _other(cursor, mark)
    if kind == "both" and cursor.near(1).has("cardinal", "ordinal", "label", "marker", "the"):
        return None
    size = 1
    while cursor.near(size).has("of", "the", "these", "them") and not cursor.near(size).has("idiom"):
        size += 1
    count = cursor.near(size).count
    size += count > 0
    return cursor.take(kind, size + cursor.near(size).has("one"), count=count)


def _other(cursor: Cursor, mark: Mark) -> Phrase | None:
    if not mark.has("another", "other"):
        return None
    definite = (
        mark.definite or mark.text.startswith(("the ", "el ", "la ")) or cursor.near(-1).has("the", "this", "its")
    )
    one = cursor.near(1).has("one")
    return cursor.take("other" if definite else "another", 1 + one, one=one)
