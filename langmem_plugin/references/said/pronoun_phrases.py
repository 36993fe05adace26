"""Pronouns and what stands for them: this, those, it, them, its, there, the previous one."""

from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark

_MOST_COUNTED = 12
_STATES = frozenset(("is", "was", "were", "are", "isn't", "es", "era", "fue"))


class PronounPhrases:
    """Reads a pronoun at the cursor; None, and the cursor where it was, when there is none."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        counted = self._cursor.at(start - 2)
        some = counted.has("cardinal", "indefinite", "most") or counted.text in ("half", "which", "few", "many")
        if mark.has("them", "these") and self._cursor.at(start - 1).has("of") and some:
            return None  # "half of them": which half is not said
        if mark.has("these"):
            self._cursor.index += 1
            count = 0
            if self._cursor.at(self._cursor.index).has("cardinal"):
                count = self._cursor.at(self._cursor.index).number("cardinal")
                self._cursor.index += 1
            return Phrase(
                "these",
                *self._cursor.span(start, self._cursor.index),
                count=count,
                nouns=self._cursor.nouns(self._cursor.index),
            )
        if (
            (mark.has("previous") and mark.text.startswith("the "))
            or (mark.has("previous") and self._cursor.at(start - 1).has("the", "one", "this", "from"))
            or (mark.has("previous") and mark.definite)
        ):
            self._cursor.index += 1
            return Phrase(
                "previous", *self._cursor.span(start, self._cursor.index), nouns=self._cursor.nouns(self._cursor.index)
            )
        if mark.has("this") and self._cursor.at(start + 1).text in _STATES and self._cursor.at(start + 2).text != "one":
            return None  # "that is fine" agrees or chats; it picks nothing by itself
        if mark.text == "it's" and not self._cursor.at(start + 1).has("attribute"):
            return None
        if mark.has("there") and (
            self._cursor.at(start - 1).text in _STATES or self._cursor.at(start + 1).text in _STATES
        ):
            return None  # "is there", "there are"
        if mark.has("this"):
            self._cursor.index += 1
            if self._cursor.at(self._cursor.index).has("one"):
                self._cursor.index += 1
                return Phrase(
                    "this",
                    *self._cursor.span(start, self._cursor.index),
                    nouns=self._cursor.nouns(self._cursor.index),
                    one=True,
                )
            return Phrase(
                "this", *self._cursor.span(start, self._cursor.index), nouns=self._cursor.nouns(self._cursor.index)
            )
        for kind in ("its", "their", "there", "them", "it"):
            if mark.has(kind):
                self._cursor.index += 1
                return Phrase(
                    kind,
                    *self._cursor.span(start, self._cursor.index),
                    nouns=self._cursor.nouns(self._cursor.index) if kind in ("its", "their") else (),
                )
        following = self._cursor.at(start + 1)
        if (
            mark.has("the")
            and following.has("cardinal")
            and not following.has("one", "unit")
            and (self._cursor.language == "en" or mark.text in ("los", "las"))
            and not self._cursor.at(start - 1).has("preposition")
        ):
            if self._cursor.at(start + 2).has("unit", "one") or following.number("cardinal") > _MOST_COUNTED:
                return None
            self._cursor.index += 2
            return Phrase(
                "these",
                *self._cursor.span(start, self._cursor.index),
                count=self._cursor.at(start + 1).number("cardinal"),
                nouns=self._cursor.nouns(self._cursor.index),
                explicit=False,
            )
        return None
