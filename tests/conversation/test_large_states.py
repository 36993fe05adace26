"""Looking through a state for messages costs little beside storing it, however much is in it."""

import time

import pytest

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.storage import codec


def seconds(work):
    """Of this thread's own computing, the best of three."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        work()
        taken.append(time.thread_time() - started)
    return min(taken)


@pytest.mark.spec("C-8")
@pytest.mark.parametrize("place", ["database", "leave"])
@pytest.mark.parametrize("row", [list(range(1_000)), ["a word"] * 1_000], ids=["numbers", "texts"])
def test_a_table_of_numbers_or_texts_is_looked_through_in_no_time(place, row):
    media, table = Media(place), [list(row) for _ in range(200)]
    assert media.reduced_state(table) is table
    serde = codec.StrictSerializer()
    assert seconds(lambda: media.reduced_state(table)) < 5 * seconds(lambda: codec.dump(serde, table))
