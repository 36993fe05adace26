"""Phrases that count by number or letter: "number 2", "1, 3 and 4", "2-4", "option b"; never "2 onions"."""

from functools import cached_property

from langmem_plugin.references.said.cursor import Cursor, is_letter, letter_number
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark

_DETAILS = frozenset(("recipe", "details", "info", "go"))
_OF_TIME = frozenset(("at", "by", "for", "until", "till", "a", "en", "para", "ב", "בשעה"))
_GOES_ON = frozenset(
    ("i", "im", "i'm", "we", "you", "nobody", "they", "he", "she", "the", "its", "it's", "that's", "thats")
)
_LONGEST_LIST = 50
"""Words of the longest list of numbers that is looked through for what follows it."""


class NumberPhrases:
    """Reads a counting phrase at the cursor; None, and the cursor where it was, when there is none."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, mark: Mark) -> Phrase | None:
        start = self._cursor.index
        if mark.has("label"):
            return self._list(start, start)
        if mark.has("marker"):
            following = self._cursor.at(start + 1)
            if following.text in ("#", ".", ":"):
                following, start = self._cursor.at(start + 2), start + 1
            if following.has("cardinal", "label") or (is_letter(following) and self._ends(start + 2)):
                return self._list(start + 1, self._cursor.index)
            if following.has("ordinal") and self._cursor.language == "he":
                return self._list(start + 1, self._cursor.index)
            return None
        if mark.text == "no" and self._cursor.at(start + 1).has("digit") and self._ends(start + 2):
            return self._list(start + 1, start)
        if is_letter(mark) and (
            self._letters_only()
            or self._goes_on_in_letters(start)
            or (self._cursor.at(start - 1).has("choose") and self._cursor.skip_punctuation(start + 1).has("end"))
        ):
            return self._list(start, start)
        if mark.has("cardinal") and self._selects(start):
            return self._list(start, start)
        return None

    def _letters_only(self) -> bool:
        return len(self._cursor.marks) <= 4 and all(
            is_letter(mark) or mark.has("and", "punctuation") or mark.text in ("please", "pls", "plz")
            for mark in self._cursor.marks
        )

    def _goes_on_in_letters(self, index: int) -> bool:
        """As in "a to c", "B and D"."""
        return self._cursor.at(index + 1).has("range", "and") and is_letter(self._cursor.at(index + 2))

    def _ends(self, index: int) -> bool:
        following = self._cursor.skip_punctuation(index)
        return following.has("end", "and", "polite", "range", "choose", "selects", "except", "question", "not", "there")

    def _selects(self, index: int) -> bool:
        """Whether a bare number picks an item: "save 2", "1 and 3", "2"; never "2 onions", "in 2 weeks",
        "at 3".
        """
        mark, before, after = self._cursor.marks[index], self._cursor.at(index - 1), self._cursor.at(index + 1)
        if mark.number("cardinal") > 50 or (self._cursor.language == "he" and mark.text[0] == "ל"):
            return False
        article = mark.has("one", "indefinite") or (mark.text in ("tree", "uno", "nueve") and index)
        joined = before.has("and") and self._cursor.at(index - 2).has("cardinal")
        joins = after.has("and", "range") and self._cursor.at(index + 2).has("cardinal", "digit")
        if not mark.has("digit") and article and not (len(self._cursor.marks) == 1 or joined or joins):
            return False
        if (
            self._cursor.language == "es"
            and not mark.has("digit")
            and before.text in ("la", "el")
            and after.has("end", "polite")
            and not mark.has("one")
            and not self._cursor.at(index - 2).has("preposition")
        ):
            return True
        if (
            before.has("labelled", "month")
            or after.has("month")
            or (after.has("of") and self._cursor.at(index + 2).has("month"))
        ):
            return False
        if before.text == "-" and self._cursor.at(index - 2).has("digit", "ordinal"):
            return False
        if after.text in ("+", "*", "=") or before.text in ("+", "*", "="):
            return False
        if after.text in ("$", "€", "₪", "%", ":", "/") or before.text in ("$", "€", "₪", "£", "/", ".", ":"):
            return False
        place = index + 1
        farthest = index + _LONGEST_LIST
        while place < farthest and (
            self._cursor.at(place).has("digit")
            or (self._cursor.at(place).text == "a" and self._cursor.at(place + 1).has("digit"))
        ):
            place += 1
        while (
            place < farthest
            and (
                self._cursor.at(place).has("and", "range")
                or self._cursor.at(place).text in (",", "-", "–", "y el", "y la")
            )
            and self._cursor.at(place + 1).has("cardinal", "and")
        ):
            place += (
                1 if self._cursor.at(place + 1).has("and") and not self._cursor.at(place + 1).has("cardinal") else 2
            )
        closing = self._cursor.skip_punctuation(place)
        if closing.has("unit") and not closing.has("polite"):
            return False
        ranged_digits = (
            mark.has("digit") and place > index + 1 and before.text not in _OF_TIME and not closing.has("month")
        )
        if ranged_digits and self._cursor.at(index + 1).text != ",":
            return True
        asked = mark.has("digit") and before.has("question") and len(self._cursor.marks) <= 6 and place == index + 1
        if (
            not asked
            and not closing.has(
                "end", "polite", "not", "and", "confirm", "selects", "except", "question", "there", "choose"
            )
            and closing.text not in ".,;!?)"
            and not ((before.has("choose") or index == 1) and mark.has("digit") and closing.text in _GOES_ON)
        ):
            return False
        if (
            mark.has("digit")
            and index == 1
            and closing.text in _GOES_ON
            and not before.has("preposition", "the", "indefinite")
        ):
            return True
        earlier = self._cursor.skip_punctuation(index - 1, -1) if index else Mark("", 0, 0, frozenset({"end"}))
        if before.has("the", "these", "all", "last", "top", "both", "indefinite") and not mark.has("digit"):
            return False
        if before.has("the", "these", "all") and self._cursor.language != "es":
            return before.has("the") and after.has("end", "and")
        if earlier.has("end", "choose", "and", "confirm", "range") or before.text in ".,;!?(":
            return not (earlier.has("preposition") and not earlier.has("choose")) and not self._time_before(index)
        ranged = after.has("range") and self._cursor.at(index + 2).has("cardinal") and len(self._cursor.marks) <= 5
        if mark.has("digit") and ranged and before.text in ("from", "de", "del", "desde", "מ", "los", "las"):
            return True
        if mark.has("digit") and before.text in ("between", "entre", "בין") and place > index + 1:
            return True
        if (
            mark.has("digit")
            and before.text in ("in", "about")
            and self._cursor.at(index - 2).has("question")
            and closing.has("end")
        ):
            return True
        if mark.has("digit") and (
            (before.text in ("with", "con", "what about", "how about", "on", "between", "entre") and closing.has("end"))
            or (before.has("question") and len(self._cursor.marks) <= 6)
        ):
            return True
        if before.has("preposition", "unit", "weekday"):
            return False
        if before.has("revise") or index > self._first_revision:
            return False
        return (
            len(self._cursor.marks) <= 6
            and mark.has("digit")
            and before.text not in ("it", "is", "are", "be", "of", "for")
        )

    def _time_before(self, index: int) -> bool:
        before = self._cursor.at(index - 1)
        if before.text in ("for", "para") and index <= self._first_detail:
            return True
        return before.text in ("at", "in", "by", "a", "en", "ב", "בשעה")

    @cached_property
    def _first_detail(self) -> int:
        return self._cursor.first(lambda mark: not _DETAILS.isdisjoint(mark.text.split()))

    @cached_property
    def _first_revision(self) -> int:
        return self._cursor.first(lambda mark: mark.text in ("make it", "make", "change", "cambia", "ponlo"))

    def _list(self, index: int, first: int) -> Phrase:
        numbers: list[int] = []
        last = index
        lettered = is_letter(self._cursor.at(index))
        while True:
            mark = self._cursor.at(index)
            if is_letter(mark) and not lettered:
                break
            if mark.has("marker") and self._cursor.at(index + 1).has("cardinal", "label"):
                index += 1
                mark = self._cursor.at(index)
            value = self._value(mark)
            if value is None:
                break
            numbers.append(value)
            last = index + 1
            index += 1
            if (
                (self._cursor.at(index).has("range") or self._cursor.at(index).text in ("a", "al"))
                and self._cursor.at(index).text != ","
                and self._value(self._past_marker(index + 1)) is not None
            ):
                end = self._value(self._past_marker(index + 1)) or value
                if value < end <= value + 50:
                    numbers.extend(range(value + 1, end + 1))
                    index += 2 if self._cursor.at(index + 1).has("cardinal", "label") else 3
                    last = index
            joined = False
            while (
                self._cursor.at(index).has("and")
                or self._cursor.at(index).text in (",", "&", "/", "y el", "y la")
                or (joined and self._cursor.at(index).text == "-")
            ):
                index += 1
                joined = True
            if self._cursor.at(index).has("the") and joined:
                index += 1
            if not joined and not self._cursor.at(index).has("label", "digit"):
                break
        self._cursor.index = last
        start, end = self._cursor.span(first, last)
        return Phrase(
            "numbers", start, end, tuple(dict.fromkeys(numbers)), nouns=self._cursor.nouns(last), lettered=lettered
        )

    def _past_marker(self, index: int) -> Mark:
        return self._cursor.at(index + 1) if self._cursor.at(index).has("marker") else self._cursor.at(index)

    @staticmethod
    def _value(mark: Mark) -> int | None:
        for kind in ("label", "cardinal", "ordinal"):
            if mark.has(kind):
                return mark.number(kind)
        return letter_number(mark)
