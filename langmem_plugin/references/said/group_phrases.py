"""Phrases for a whole list or what is left of it: all, both, neither, the other, another."""

from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark


class GroupPhrases:
    """Reads a group at the cursor; None, and the cursor where it was, when there is none."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        for kind in ("neither", "both", "all"):
            if mark.has(kind):
                if kind == "both" and self._cursor.at(start + 1).has("cardinal", "ordinal", "label", "marker", "the"):
                    return None
                self._cursor.index += 1
                while self._cursor.at(self._cursor.index).has("of", "the", "these", "them") and not self._cursor.at(
                    self._cursor.index
                ).has("idiom"):
                    self._cursor.index += 1
                count = 0
                if self._cursor.at(self._cursor.index).has("cardinal") and not self._cursor.at(self._cursor.index).has(
                    "one"
                ):
                    count = self._cursor.at(self._cursor.index).number("cardinal")
                    self._cursor.index += 1
                if self._cursor.at(self._cursor.index).has("one"):
                    self._cursor.index += 1
                return Phrase(
                    kind,
                    *self._cursor.span(start, self._cursor.index),
                    count=count,
                    nouns=self._cursor.nouns(self._cursor.index),
                )
        if mark.has("another", "other"):
            definite = (
                self._cursor.at(start - 1).has("the", "this", "its") or mark.text.startswith("the ") or mark.definite
            )
            self._cursor.index += 1
            one = self._cursor.at(self._cursor.index).has("one")
            if one:
                self._cursor.index += 1
            kind = "other" if definite else "another"
            return Phrase(
                kind,
                *self._cursor.span(start, self._cursor.index),
                nouns=self._cursor.nouns(self._cursor.index),
                one=one,
            )
        return None
