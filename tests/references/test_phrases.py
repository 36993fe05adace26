"""The phrases read in an utterance, before anyone looks at the items."""

import pytest

from langmem_plugin.references.said.utterance import Utterance


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("text", "words", "numbers"),
    [
        ("get a to c delivered", "a to c", (1, 2, 3)),
        ("options b to d please", "options b to d", (2, 3, 4)),
        ("numbers 2 to 4 please", "numbers 2 to 4", (2, 3, 4)),
        ("save 1, 3 and the 5", "1, 3 and the 5", (1, 3, 5)),
        ("מספר 2 ו 3", "מספר 2 ו 3", (2, 3)),
        ("borra la dos y la tres", "dos y la tres", (2, 3)),
    ],
)
def test_a_list_of_numbers_ends_where_it_ends(text, words, numbers):
    utterance = Utterance(text)
    [phrase] = utterance.phrases
    assert (utterance.words(phrase), phrase.numbers) == (words, numbers)


@pytest.mark.slow
@pytest.mark.spec("R-1")
@pytest.mark.parametrize("word", ["skip", "except", "less", "less than", "ו", "and", "a", "#", "\ud83d"])
def test_sixty_thousand_letters_of_one_word_are_read_and_leave_nothing_out(word):
    assert not [phrase for phrase in Utterance(f"{word} " * (64_000 // (len(word) + 1))).phrases if phrase.inner]
