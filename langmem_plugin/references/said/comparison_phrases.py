"""Phrases that compare: "the cheapest", "the two longest", "the most spots"."""

from functools import cached_property

from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison


class ComparisonPhrases:
    """Reads a comparison at the cursor; None, and the cursor where it was, when there is none."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        field = self._cursor.nouns(start + 1)[:1]
        than = (
            field and mark.text in ("less", "fewer", "more") and any(each.text == "than" for each in self._cursor.marks)
        )
        if than:
            self._cursor.index += 2
            compared = Comparison(field, 1 if mark.text == "more" else -1)
            return Phrase(
                "comparison", *self._cursor.span(start, self._cursor.index), comparison=compared, count=1, nouns=field
            )
        if mark.has("most", "least") and not mark.has("comparison") and field:
            # "the most spots": the noun names the field.
            self._cursor.index += 2
            compared = Comparison(field, 1 if mark.has("most") else -1)
            return Phrase("comparison", *self._cursor.span(start, self._cursor.index), comparison=compared, count=1)
        if not mark.has("comparison"):
            return None
        before, earlier = self._cursor.at(start - 1), self._cursor.at(start - 2)
        value = mark.values["comparison"]
        if not isinstance(value, Comparison):
            return None
        after = self._cursor.at(start + 1)
        if (
            before.has("indefinite", "another")
            or earlier.has("indefinite", "another")
            or before.text in ("something", "anything", "algo", "any", "משהו", "more", "even")
        ):
            return None
        if (
            mark.text in ("mejor", "peor", "better", "worse", "later", "earlier", "sooner")
            and not before.has("the", "this")
            and not after.has("one")
        ):
            return None
        superlative = is_superlative(mark.text, self._cursor.language)
        pointed = (
            before.has("the", "one", "this", "this", "these", "its", "cardinal")
            or after.has("one")
            or mark.definite
            or earlier.has("the")
        )
        asked = start > self._first_question
        if not superlative and not pointed and not asked:
            return None
        if not superlative and not pointed and self._cursor.language == "es":
            return None
        count = before.number("cardinal") if before.has("cardinal") and not before.has("one") else 1
        if after.has("cardinal") and not after.has("one") and not after.has("indefinite"):
            count = after.number("cardinal")
        self._cursor.index += 1
        return Phrase(
            "comparison",
            *self._cursor.span(start, self._cursor.index),
            comparison=value,
            count=count,
            nouns=self._cursor.nouns(self._cursor.index),
            one=True,
        )

    @cached_property
    def _first_question(self) -> int:
        return self._cursor.first(lambda mark: mark.has("question"))


def is_superlative(text: str, language: str) -> bool:
    if language == "en":
        return any(
            word.endswith("est") or word in ("most", "least", "best", "worst", "fewest", "lowest", "highest")
            for word in text.split()
        )
    if language == "he":
        return text.startswith("הכי") or "ביותר" in text
    return text.startswith(("mas ", "menos ", "mejor", "peor", "mayor", "menor"))
