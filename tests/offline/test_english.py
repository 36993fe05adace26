"""Requests of other languages, in the English words by which tools are named."""

import pytest

from langmem_plugin.offline.english import in_english
from langmem_plugin.references.said.utterance_words import language_of
from tests.cases import for_each


@pytest.mark.spec("R-1")
@for_each(
    ("text", "english"),
    [
        ("תוסיף את המצרכים לרשימת הקניות", "add the ingredients to the grocery list"),
        ("אל תזמין", "not order"),
        ("מה ביומן השבוע?", "what in the calendar this week?"),
        ("añade los ingredientes a la lista", "add the ingredients to the list"),
        ("pídelo", "order it"),
        ("muéstrame el presupuesto", "show me the budget"),
        ("sí, guárdala", "yes, save it"),
        ("si lo pido", "if pido"),
        ("cambia el miércoles por tacos", "swap the Wednesday for tacos"),
        ("save number 2, señor", "save number 2, señor"),
    ],
)
def test_known_words_are_english_and_others_stay(text, english):
    assert " ".join(in_english(text, language_of(text)).split()) == english


@pytest.mark.spec("R-6")
def test_a_thing_that_is_not_asked_for_keeps_its_name():
    text = "añade leche y pan a la lista de la compra"
    read = in_english(text, language_of(text), lambda name: "list" in name)
    assert read.split() == ["add", "leche", "and", "pan", "to", "the", "grocery", "list"]
