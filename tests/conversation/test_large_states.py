"""Looking through a state for messages costs little, however much is in it."""

import sys

import pytest

from langmem_plugin.conversation.media.inline_media import state_without_inline
from langmem_plugin.conversation.media.media_store import Media
from tests.cases import for_each


def python_calls(work):
    """How many functions written in Python it calls: what the work costs, on any machine."""
    called = 0

    def count(_frame, event, _argument):
        nonlocal called
        called += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return called


@pytest.mark.spec("C-8", "C-17")
@for_each("row", [list(range(1_000)), ["a word"] * 1_000], ids=["numbers", "texts"])
def test_the_numbers_and_texts_of_a_table_are_not_looked_at_one_by_one(row):
    media, table = Media("database"), [list(row) for _ in range(20)]
    assert state_without_inline(table, media.describe) is table

    assert python_calls(lambda: state_without_inline(table, media.describe)) < 20 * len(table)
