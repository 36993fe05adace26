"""Row numbers in order, kept as runs of neighbours: a conversation is mostly one run, however long it is.

A negative number is the same row read without its message id: a message enters the graph before `add_messages`
names it, and naming it must not store it twice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """Runs of (start, length), none of which goes on where the one before ends.

    What is asked of it takes time by its runs, not by its numbers.
    """

    runs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        return cls.joined((number, 1) for number in numbers)

    @classmethod
    def joined(cls, runs: Iterable[tuple[int, int]]) -> Self:
        joined: list[tuple[int, int]] = []
        for start, length in runs:
            if joined and sum(joined[-1]) == start:
                joined[-1] = joined[-1][0], joined[-1][1] + length
            else:
                joined.append((start, length))
        return cls(tuple(joined))

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The inverse of `packed`."""
        return cls.joined(_runs(_varints(packed)))

    def packed(self) -> bytes:
        """Each run as its start, relative to the end of the run before, and its length, as varints."""
        out = bytearray()
        end = 0
        for start, length in self.runs:
            step = start - end
            _varint(out, (step << 1) ^ (step >> 63))
            _varint(out, length)
            end = start + length
        return bytes(out)

    def __len__(self) -> int:
        size = 0
        for _, length in self.runs:
            size += length
        return size

    def __iter__(self) -> Iterator[int]:
        for start, length in self.runs:
            yield from range(start, start + length)

    def __getitem__(self, index: int) -> int:
        for start, length in self.runs:
            if index < length:
                return start + index
            index -= length
        raise IndexError("there are not so many rows")

    def __add__(self, other: "RowNumbers") -> "RowNumbers":
        return RowNumbers.joined((*self.runs, *other.runs))

    def first(self, count: int) -> "RowNumbers":
        return RowNumbers(tuple(self._cut(0, count)))

    def after(self, count: int) -> "RowNumbers":
        """Without the first so many."""
        return RowNumbers(tuple(self._cut(count, len(self))))

    def in_common(self, other: "RowNumbers") -> int:
        """How many numbers both begin with."""
        count = 0
        for (start, length), (other_start, other_length) in zip(self.runs, other.runs, strict=False):
            if start != other_start:
                break
            count += min(length, other_length)
            if length != other_length:
                break
        return count

    def _cut(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        at = 0
        for start, length in self.runs:
            first, last = max(begin - at, 0), min(end - at, length)
            if first < last:
                yield start + first, last - first
            at += length


NO_ROWS = RowNumbers()


def _runs(numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    end = 0
    for zigzag in numbers:
        start = end + ((zigzag >> 1) ^ -(zigzag & 1))
        length = next(numbers)
        yield start, length
        end = start + length


def _varint(out: bytearray, number: int) -> None:
    while number > 0x7F:  # noqa: PLR2004 - seven bits a byte, the eighth says that more follow
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _varints(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield number
            number = shift = 0
