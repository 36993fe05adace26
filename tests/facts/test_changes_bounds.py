"""Comparing two texts takes a bounded time, whatever is in them."""

import pytest

from langmem_plugin.facts.changes import says_the_same


@pytest.mark.spec("W-6")
def test_texts_that_are_no_sentences_are_not_compared_word_by_word():
    assert not says_the_same("[" * 5_000, "[" * 4_000)
    assert says_the_same("My dentist is Dr. Levi", "Dr. Levi is my dentist")
