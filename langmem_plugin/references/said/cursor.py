"""A place in the marks of an utterance, and the Phrase that readers make of them."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison


@dataclass(frozen=True)
class Phrase:
    """A stretch of the utterance that refers. `numbers` are 1-based, negative from the end; `nouns` the
    words it governs.
    """

    kind: str
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    comparison: Comparison | None = None
    count: int = 0
    nouns: tuple[str, ...] = ()
    inner: tuple["Phrase", ...] = field(default=())
    explicit: bool = True
    negated: bool = False
    one: bool = False


_FROM_THE_END = {"last": -1, "penultimate": -2, "antepenultimate": -3}


def marks_before(marks: Sequence[Mark], place: int, count: int) -> Sequence[Mark]:
    """The last few marks that end at or before a place in the text."""
    following = bisect_right(marks, place, key=lambda mark: mark.end)
    return marks[max(following - count, 0) : following]


class Cursor:
    """The marks of one utterance and where the reader is; readers of phrases build on it."""

    def __init__(self, marks: Sequence[Mark], language: str) -> None:
        self.marks = list(marks)
        self.language = language
        self.index = 0
        self.found: list[Phrase] = []

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


def is_letter(mark: Mark) -> bool:
    return len(mark.text) == 1 and "a" <= mark.text <= "j"


def is_superlative(text: str, language: str) -> bool:
    if language == "en":
        return any(
            word.endswith("est") or word in ("most", "least", "best", "worst", "fewest", "lowest", "highest")
            for word in text.split()
        )
    if language == "he":
        return text.startswith("הכי") or "ביותר" in text
    return text.startswith(("mas ", "menos ", "mejor", "peor", "mayor", "menor"))
