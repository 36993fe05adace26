"""Phrases that count by order: "the second", "the first and the last", "the last two", "second cheapest"."""

from langmem_plugin.references.said.comparison_phrases import is_superlative
from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison

_FROM_THE_END = {"last": -1, "penultimate": -2, "antepenultimate": -3}


class OrdinalPhrases:
    """Reads an ordinal phrase at the cursor; None, and the cursor where it was, when there is none."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, mark: Mark) -> Phrase | None:
        """The first or last few, or places counted one by one."""
        return self._few(mark) or self._places(mark)

    def _few(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        if (
            mark.has("cardinal")
            and self._cursor.at(start + 1).has("last")
            and not self._cursor.at(start + 1).has("idiom")
        ):
            self._cursor.index += 2
            return Phrase(
                "last",
                *self._cursor.span(start, self._cursor.index),
                count=mark.number("cardinal"),
                nouns=self._cursor.nouns(self._cursor.index),
            )
        if (
            mark.has("cardinal")
            and self._cursor.at(start + 1).has("ordinal")
            and self._cursor.at(start + 1).number("ordinal") == 1
            and mark.number("cardinal") < 20
            and self._cursor.language != "en"
        ):
            self._cursor.index += 2
            return Phrase(
                "first",
                *self._cursor.span(start, self._cursor.index),
                count=mark.number("cardinal"),
                nouns=self._cursor.nouns(self._cursor.index),
            )
        if (
            mark.has("both")
            and self._cursor.language == "es"
            and self._cursor.at(start + 1).has("last", "ordinal")
            and mark.text in ("los dos", "las dos")
        ):
            self._cursor.index += 2
            kind = "last" if self._cursor.at(start + 1).has("last") else "first"
            return Phrase(
                kind,
                *self._cursor.span(start, self._cursor.index),
                count=2,
                nouns=self._cursor.nouns(self._cursor.index),
            )
        if mark.has("top") and self._cursor.at(start + 1).has("cardinal"):
            self._cursor.index += 2
            return Phrase(
                "first",
                *self._cursor.span(start, self._cursor.index),
                count=self._cursor.at(start + 1).number("cardinal"),
                nouns=self._cursor.nouns(self._cursor.index),
            )
        return None

    def _places(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        if not mark.has("ordinal", "last", "penultimate", "antepenultimate", "middle"):
            return None
        if mark.has("ordinal") and not self._is_ordinal(start):
            return None
        if mark.has("middle") and not (
            (
                self._cursor.at(start + 1).has("one", "end", "polite")
                and self._cursor.at(start - 1).has("the", "end", "choose")
            )
            or (mark.text != "middle" and mark.has("middle"))
        ):
            return None
        if mark.has("last") and (
            self._cursor.at(start + 1).has("unit", "weekday")
            or (self._cursor.language == "en" and self._cursor.at(start - 1).text == "at")
        ):
            return None
        after = self._cursor.at(start + 1)
        if mark.has("ordinal") and after.has("comparison") and is_superlative(after.text, self._cursor.language):
            comparison = after.values["comparison"]
            if not isinstance(comparison, Comparison):
                return None
            self._cursor.index += 2
            return Phrase(
                "comparison",
                *self._cursor.span(start, self._cursor.index),
                comparison=comparison,
                numbers=(mark.number("ordinal"),),
                nouns=self._cursor.nouns(self._cursor.index),
            )
        count_at = start + 1
        if (
            self._cursor.at(count_at).has("cardinal")
            and not self._cursor.at(count_at).has("one")
            and not mark.has("middle")
        ):
            count = self._cursor.at(count_at).number("cardinal")
            self._cursor.index += 2
            if mark.has("last"):
                return Phrase(
                    "last",
                    *self._cursor.span(start, self._cursor.index),
                    count=count,
                    nouns=self._cursor.nouns(self._cursor.index),
                )
            if mark.has("ordinal") and mark.number("ordinal") == 1:
                return Phrase(
                    "first",
                    *self._cursor.span(start, self._cursor.index),
                    count=count,
                    nouns=self._cursor.nouns(self._cursor.index),
                )
        numbers: list[int] = []
        index = last = start
        while True:
            current = self._cursor.at(index)
            value = self._ordinal_value(current)
            if value is None:
                break
            numbers.append(value)
            index += 1
            last = index
            following = self._cursor.at(index)
            if following.text in ("one", "1") or (following.has("one") and not following.has("cardinal")):
                index += 1
                last = index
            joined = False
            while self._cursor.at(index).has("and") or self._cursor.at(index).text in (",", "&", "y el", "y la"):
                index += 1
                joined = True
            if joined:
                while self._cursor.at(index).has("the") or self._cursor.at(index).text in ("את", "the"):
                    index += 1
            else:
                break
        if self._cursor.at(last).has("from_end"):
            numbers = [-number for number in numbers]
            last += 1
        self._cursor.index = last
        nouns = self._cursor.nouns(last)
        return Phrase(
            "numbers",
            *self._cursor.span(start, last),
            numbers=tuple(dict.fromkeys(numbers)),
            nouns=nouns,
            one=self._cursor.at(last - 1).has("one"),
        )

    def _ordinal_value(self, mark: Mark) -> int | None:
        if mark.has("middle"):
            return 0
        for kind, value in _FROM_THE_END.items():
            if mark.has(kind):
                return value
        return mark.number("ordinal") if mark.has("ordinal") else None

    def _is_ordinal(self, index: int) -> bool:
        mark, before, after = self._cursor.marks[index], self._cursor.at(index - 1), self._cursor.at(index + 1)
        if after.has("unit") and not after.has("polite", "preposition"):
            return False
        if (
            (after.has("of") and self._cursor.at(index + 2).has("month", "unit"))
            or before.has("month")
            or after.has("month")
        ):
            return False
        if self._cursor.language == "he":
            return mark.definite or before.has("marker") or len(self._cursor.marks) <= 2
        if mark.text[:1].isdigit():
            dated = (
                after.text in ("of", "de")
                or before.has("weekday")
                or self._cursor.at(index - 2).has("weekday")
                or (self._cursor.at(index - 2).has("preposition") and before.has("the"))
            )
            return after.has("one", "marker") or (not dated and before.has("the", "end", "choose", "and", "confirm"))
        if (
            self._cursor.language == "en"
            and not before.has(
                "the", "end", "choose", "and", "this", "its", "punctuation", "confirm", "range", "except", "all", "not"
            )
            and not after.has("one", "marker")
        ):
            return False
        if before.has("indefinite"):
            return False
        if (
            mark.text == "first"
            and not before.has("the")
            and not after.has("one", "marker", "cardinal", "and", "end")
            and index == 0
        ):
            return False
        if mark.text == "second" and before.text in ("a", "one", "this", "just a"):
            return False
        return not (
            self._cursor.language == "es"
            and not before.has(
                "the", "end", "choose", "and", "this", "range", "except", "all", "punctuation", "preposition", "of"
            )
        )
