"""What was searched for stands out in what was found."""

import pytest

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.commands.memory_list import marked

ERIN = "+972501234567"


@pytest.mark.spec("U-2")
@pytest.mark.parametrize(
    ("query", "line", "shown"),
    [
        ("one pan salmon", "A one pan salmon, with salmon", "A *one pan salmon*, with *salmon*"),
        ('"one pan"', "A one pan salmon in one pan", "A *one pan* salmon in *one pan*"),
        ("שוקולד", "אכלנו את השוקולד המריר", "אכלנו את *השוקולד* המריר"),
        ("שלום", "שָׁלוֹם עולם", "*שָׁלוֹם* עולם"),
        ("choc*", "אכלנו chocolate בבית", "אכלנו *chocolate* בבית"),
        ("canción", "la canción «canción»", "la *canción* «*canción*»"),
        ("salmon", "2 * 3 salmon * 4", "2 * 3 salmon * 4"),
        ("salmon", "run `salmon` now", "run `salmon` now"),
        ("salmon", "see https://x.com/salmon or me@salmon.com", "see https://x.com/salmon or me@salmon.com"),
        ("salmon", "my_salmon is salmon's", "my_salmon is *salmon*'s"),
        ("unicorn", "A salmon", "A salmon"),
    ],
)
def test_a_line_is_marked_where_it_can_be(query, line, shown):
    assert marked(line, query) == shown


@pytest.mark.spec("U-2", "M-7")
def test_a_search_by_category_phrase_and_beginning_is_answered(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        memory.service.remember(ERIN, "The rent is 4,000", category="housing")
        memory.service.remember(ERIN, "One-pan salmon is our dinner")
        memory.service.remember(ERIN, "Salmon needs a pan")
        memory.sessions.add_message(ERIN, "user", "hello")
        assert "The rent is 4,000 (" in memory.command(ERIN, "/search housing")
        phrase = memory.command(ERIN, '/search "one pan salmon"')
        assert "- *One-pan salmon* is our dinner (2026-03-01) [" in phrase
        assert "needs" not in phrase
        assert "is our *dinner*" in memory.command(ERIN, "/search dinn*")
        assert memory.command(ERIN, "/search unicorn*") == "I found nothing about “unicorn*”."
