"""What is worth storing: what somebody says of themselves and wants for ever, not what they want now."""

import pytest

from langmem_plugin.facts import classify
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

pytestmark = pytest.mark.spec("W-2")


@for_each(
    ("text", "key", "value"),
    [
        ("I prefer short emails", "preference", "short emails"),
        ("my assistant is David", "assistant", "David"),
        ("Remember that the office closes at 4 on Fridays", "note", "the office closes at 4 on Fridays"),
        ("from now on reply in English", "instruction", "reply in English"),
        ("use a formal tone", "instruction", "use a formal tone"),
        ("remind me every morning to drink water", "instruction", "remind me every morning to drink water"),
        ("my daughter Mia is 7", "daughter_mia_age", "7"),
        ("I don't eat pork", "diet", "not pork"),
        ("אני מעדיפה מושב ליד החלון", "preference", "מושב ליד החלון"),
        ("רופא השיניים שלי הוא ד״ר לוי", "dentist", "ד״ר לוי"),
        ("תזכור שהמשרד נסגר בארבע", "note", None),
        ("prefiero correos cortos", "preference", "correos cortos"),
        ("mi asistente se llama David", "assistant", "David"),
        ("recuerda que la oficina cierra a las cuatro", "note", "la oficina cierra a las cuatro"),
    ],
)
def test_what_is_worth_storing_gets_a_key_and_a_value(text, key, value):
    found = classify(text)

    assert (found.should_store, found.key) == (True, key)
    assert value is None or found.value == value
    assert found.reason
    assert found.fact_type is not None


@for_each(
    "text",
    [
        "remind me to call the bank at 3",
        "send an email to Tom",
        "I'm so tired today",
        "stuck in traffic",
        "what is my dentist's name?",
        "am i allergic to nuts",
        "if I were vegan, what would I eat",
        "suppose I lived in Rome, what would it cost",
        'she said "I am allergic to cats"',
        "my neighbor told me he is getting divorced",
        "yeah right and im the queen of england",
        "Fwd: Dear customer, your parcel 88213 has been shipped",
        "the thing with the other one",
        "thanks, that's great",
        "🙂",
        "",
        "תזכיר לי להתקשר לבנק בשלוש",
        "אני גמור היום",
        "מתי יום ההולדת של אמא?",
        "אם הייתי טבעונית מה הייתי אוכלת",
        "recuérdame llamar al banco a las 3",
        "estoy harta de todo hoy",
        "¿cómo se llama mi dentista?",
        "si yo fuera vegano qué comería",
        "don't forget that I need a taxi at 5",
        "remember I have to call Dana by 6pm",
        "Remember that I need a ride tomorrow",
        "recuerda que necesito un taxi a las 5",
        "no olvides que quiero pizza esta noche",
        "אל תשכח שאני צריך מונית ב-5",
        "תזכור שאני צריך מונית בחמש",
        "תזכרי שאני רוצה פיצה הערב",
    ],
)
def test_what_is_of_the_moment_asked_imagined_or_anothers_is_not_stored(text):
    found = classify(text)

    assert found.should_store is False
    assert found.reason
    assert found.key is None


@for_each(
    "text",
    [
        "remember that I need reading glasses",
        "don't forget that my flight is at 5",
        "remember that I want two sugars in my coffee",
        "remember that I need my insulin at 8 every day",
        "don't forget that I need a taxi at 5. From now on use a formal tone.",
        "recuerda que necesito gafas",
        "recuerda que necesito insulina a las 8 todos los días",
        "תזכור שאני צריך משקפיים",
        "תזכור שאני צריך אינסולין כל יום ב-8",
    ],
)
def test_what_is_needed_for_good_or_said_beside_an_errand_is_stored(text):
    assert classify(text).should_store


def test_a_keyed_memory_says_what_it_would_save():
    assert KeyValueMemory.classify_memory("I prefer short emails") == {
        "success": True,
        "should_store": True,
        "type": "preference",
        "key": "short_emails_preference",
        "value": "short emails",
        "reason": "User preference detected",
    }
    refused = KeyValueMemory.classify_memory("send an email to Tom")
    assert refused == {"success": True, "should_store": False, "reason": "Temporary instruction detected"}
    assert KeyValueMemory.classify_memory("  ")["error"] == "EMPTY_DATA"
    assert KeyValueMemory.classify_memory(None)["success"] is False
