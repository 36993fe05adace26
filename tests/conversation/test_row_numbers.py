"""Row numbers as runs: whatever is asked of them is what a list of the numbers would answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.conversation.storage.codec import RowNumbers


def _walk(parts):
    found = []
    for part in parts:
        if isinstance(part, int):
            found.append(part)
        else:
            start = found[-1] + 1 if found else 1
            found.extend(range(start, start + len(part)))
    return found


# Neighbours are common, signs occur (a message without its id), and so do gaps, repetitions and steps back.
numbers = st.lists(
    st.one_of(st.integers(-5, 30), st.integers(-(2**40), 2**40)) | st.lists(st.just(1), min_size=1, max_size=9),
    max_size=12,
).map(_walk)


@pytest.mark.spec("C-2")
@given(numbers)
def test_they_read_back_as_they_were_given_and_as_they_were_packed(given_numbers):
    rows = RowNumbers.of(given_numbers)
    assert list(rows) == given_numbers
    assert RowNumbers.unpacked(rows.packed()) == rows


@pytest.mark.spec("C-2")
@given(numbers, numbers)
def test_joined_they_are_the_same_however_they_came_together(one, other):
    whole = RowNumbers.of(one) + RowNumbers.of(other)
    assert whole == RowNumbers.of(one + other)
    assert hash(whole) == hash(RowNumbers.of(one + other))
    assert whole.first(len(one)) == RowNumbers.of(one)
    assert whole.after(len(one)) == RowNumbers.of(other)


@pytest.mark.spec("C-2")
@given(numbers, numbers, numbers)
def test_what_two_begin_with_is_counted(start, one, other):
    left, right = start + one, start + other
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    assert RowNumbers.of(left).in_common(RowNumbers.of(right)) == same
