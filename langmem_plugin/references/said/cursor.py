"""A place in the marks of an utterance, and what stands around it."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from langmem_plugin.references.said.tagger import Mark


class Cursor:
    """The marks of one utterance and the place `index` where they are being read; shared by the readers of phrases."""

    def __init__(self, marks: Sequence[Mark], language: str) -> None:
        self.marks = list(marks)
        self.language = language
        self.index = 0

    def at(self, index: int) -> Mark:
        return self.marks[index] if 0 <= index < len(self.marks) else Mark("", 0, 0, frozenset({"end"}))

    def first(self, fits: Callable[[Mark], bool]) -> int:
        """The place of the first mark that fits; past the end where none does."""
        return next((place for place, mark in enumerate(self.marks) if fits(mark)), len(self.marks))

    def skip_punctuation(self, index: int, step: int = 1) -> Mark:
        while self.at(index).has("punctuation") and self.at(index).text not in "-–":
            index += step
        return self.at(index)

    def span(self, first: int, last: int) -> tuple[int, int]:
        return self.marks[first].start, self.marks[min(last, len(self.marks)) - 1].end

    def nouns(self, index: int) -> tuple[str, ...]:
        """Content words that follow a determiner, up to three."""
        words: list[str] = []
        while index < len(self.marks) and len(words) < 3:
            mark = self.marks[index]
            if mark.has("one"):
                index += 1
                continue
            if not mark.text[:1].isalpha() or mark.has(
                "not", "and", "preposition", "polite", "idiom", "this", "these", "it", "the", "question"
            ):
                break
            words.append(mark.text)
            index += 1
        return tuple(words)


def marks_before(marks: Sequence[Mark], place: int, count: int) -> Sequence[Mark]:
    """The last few marks that end at or before a place in the text."""
    following = bisect_right(marks, place, key=lambda mark: mark.end)
    return marks[max(following - count, 0) : following]


_LETTERS = ("abcdefghij", "אבגדהוזחטי")


def letter_number(mark: Mark) -> int | None:
    """1 of "a" or "א", up to 10; None where it is no such letter."""
    return next((each.index(mark.text) + 1 for each in _LETTERS if len(mark.text) == 1 and mark.text in each), None)


def is_letter(mark: Mark) -> bool:
    return letter_number(mark) is not None
