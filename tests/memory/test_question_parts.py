"""A question that asks for several things is taken apart, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.memory.search.question_parts import MOST_PARTS, parts_of

APART = {
    "what do I owe TestCorp and when is Dana's birthday?": ("what do I owe TestCorp", "when is Dana's birthday"),
    "when is Dana's birthday and Mia's?": ("when is Dana's birthday", "when is Mia's birthday"),
    "when is Dana's birthday? and what about Mia's?": ("when is Dana's birthday", "when is Mia's birthday"),
    "my sister's and my brother's addresses?": ("my sister's addresses", "my brother's addresses"),
    "remind me of my dentist, my gym and my plumber": (
        "remind me of my dentist",
        "remind me of my gym",
        "remind me of my plumber",
    ),
    "who is my accountant? where did I put the tax papers?": ("who is my accountant", "where did I put the tax papers"),
    "how much is the rent and when is it due?": ("how much is the rent", "when is the rent due"),
    "what size does Leo wear and what's his number?": ("what size does Leo wear", "what's Leo's number"),
    "tell me the name of the shop and the alarm code": ("tell me the name of the shop", "tell me the alarm code"),
    "give me the names of the baker and the vet": ("give me the names of the baker", "give me the names of the vet"),
    "hi! how are you? where do I park and who has the key? thanks!": ("where do I park", "who has the key"),
    "מה אני חייב לטסטקורפ ומתי יום ההולדת של דנה?": ("מה אני חייב לטסטקורפ", "מתי יום ההולדת של דנה"),
    "מתי יום ההולדת של דנה ושל מיה?": ("מתי יום ההולדת של דנה", "מתי יום ההולדת של מיה"),
    "תזכיר לי את הרופא שלי, חדר הכושר והאינסטלטור": (
        "תזכיר לי את הרופא שלי",
        "תזכיר לי את חדר הכושר",
        "תזכיר לי את האינסטלטור",
    ),
    "¿cuánto le debo a TestCorp y cuándo es el cumpleaños de Dana?": (
        "cuánto le debo a TestCorp",
        "cuándo es el cumpleaños de Dana",
    ),
    "¿cuándo es el cumpleaños de Dana y el de Mia?": (
        "cuándo es el cumpleaños de Dana",
        "cuándo es el cumpleaños de Mia",
    ),
    "¿quién le da física a Elif? ¿y a Kenji?": ("quién le da física a Elif", "quién le da física a Kenji"),
    "cuál es mi número de pasaporte y cuándo caduca": (
        "cuál es mi número de pasaporte",
        "cuándo caduca mi número de pasaporte",
    ),
}
WHOLE = (
    "where is the salt and pepper?",
    "which Ben and Jerry's flavour does Dana like?",
    "where is the black and white photo?",
    "when is mom and dad's anniversary?",
    "what do Nina and Paul do?",
    "how do the dog and the cat get along?",
    "what is the difference between the kayak and the canoe?",
    "how and when do I pay the rent?",
    "when can I come and pick up the car?",
    "what should I do if the alarm rings and nobody is home?",
    "what did Ruth say about the house, which is in Rome?",
    'who sells the "salt and what pepper" shirt?',
    "is https://shop.example/?a=1&b=2 the page, and nothing else?",
    "Hi, Dana here, what's the code of the gate?",
    "remember that my dentist is Dr Adler and my gym is Iron House",
    "remind me to buy milk, eggs and bread",
    "I bought milk, eggs and bread",
    "¿dónde guardo la sal y la pimienta?",
    "¿quién redactó los términos y condiciones?",
    "necesito comprar leche, huevos y pan",
    "איפה המלח והפלפל?",
    "מה הפרש המחיר בין הקיאק והקאנו?",
    "תזכיר לי לקנות חלב, ביצים ולחם",
    "wo wohne ich und wann ist Danas Geburtstag?",
    "où est ma clé et quand est mon rendez-vous ?",
    "and and and",
    "who? what? when?",
    "?",
    "",
)


@pytest.mark.spec("M-5")
@pytest.mark.parametrize(("question", "parts"), APART.items())
def test_a_compound_question_is_taken_apart_and_each_part_says_what_it_asks(question, parts):
    assert parts_of(question) == parts


@pytest.mark.spec("M-5")
@pytest.mark.parametrize("question", WHOLE)
def test_what_asks_for_one_thing_stays_as_it_is(question):
    assert parts_of(question) == (question,)


@pytest.mark.spec("M-5")
def test_what_is_more_than_four_parts_goes_into_the_last():
    asked = " and ".join(f"what do I owe {name}" for name in ("Acme", "Ben", "Carl", "Dan", "Eve"))
    *first, last = parts_of(asked)
    assert first == ["what do I owe Acme", "what do I owe Ben", "what do I owe Carl"]
    assert last == "what do I owe Dan, what do I owe Eve"


@pytest.mark.spec("M-5", "P-7")
@given(
    st.lists(
        st.sampled_from(
            [
                *"?!.,;\n\"'¿’ ",
                "and",
                "what",
                "is",
                "my",
                "Dana's",
                "y",
                "qué",
                "de",
                "el",
                "tell me",
                "what about",
                "it",
                "ומתי",
                "של",
                "ו",
                "תזכיר לי",
                "את",
                "dime",
                "a",
                "\u200f",
                "🎂",
                "\x00",
                "to",
                "as well as",
                "if",
            ]
        ),
        max_size=25,
    ).map(" ".join)
    | st.text(max_size=60)
)
def test_any_text_has_one_to_four_parts_none_of_them_blank_unless_it_is(text):
    parts = parts_of(text)
    assert parts == (text,) or (1 < len(parts) <= MOST_PARTS and all(part.strip() for part in parts))
    assert parts == parts_of(text)
