"""A phrase: a stretch of an utterance that refers to something, and of which kind."""

from dataclasses import dataclass, field

from langmem_plugin.references.words import Comparison


@dataclass(frozen=True)
class Phrase:
    """A stretch of the utterance that refers, from letter `start` to `end`.

    Kinds: numbers, first, last, all, both, neither, all_but, comparison, other, another, previous, this, these, it,
    them, its, their, there. `numbers` are 1-based, negative from the end; `nouns` the words it governs.
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
    lettered: bool = False
