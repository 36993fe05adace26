"""That recall finds what it should, on a small scale; benchmarks/retrieval.py measures it on a large one."""

import subprocess
import sys
from itertools import cycle, islice

import numpy as np
import onnxruntime
import pytest

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding import offline_embeddings
from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.find.fact_ranking import semantic
from tests.cases import for_each

pytestmark = pytest.mark.slow

ANNA = "+972501234567"
COMPANIES = [
    "TestCorp",
    "Nordwind",
    "Marigold",
    "Helios",
    "Pinecrest",
    "Zenith",
    "Kappa",
    "Quill",
    "Harborline",
    "Brightwell",
]


@pytest.fixture(scope="module")
def companies(offline_model):
    with MemoryService("sqlite://", embeddings=offline_model) as memory:
        for number, company in enumerate(COMPANIES):
            memory.remember(ANNA, f"{company} owes ₪5,000 from invoice INV-{number:03}", category=company)
            memory.remember(ANNA, f"The office of {company} is near the old port", category=company)
            memory.remember(ANNA, f"We meet {company} every other Monday", category=company)
        yield memory


@pytest.mark.spec("M-11", "AC-MEMORY-003")
@for_each("question", ["Tell me about {}", "What's the status with {}?", "prepare my call with {}"])
def test_of_ten_companies_the_one_asked_for_comes_before_all_others(companies, question):
    for company in COMPANIES:
        found = [each.memory.category for each in companies.recall(ANNA, question.format(company))]
        assert found[:3] == [company] * 3
        assert found.count(company) / len(found) >= 0.8


@pytest.mark.spec("M-11", "AC-MEMORY-002")
def test_the_documents_own_example_is_recalled_at_its_bound(companies):
    first = companies.recall(ANNA, "What's the status with TestCorp?")[0]
    assert first.similarity >= 0.7
    assert first.memory.category == "TestCorp"


@pytest.mark.spec("M-7")
def test_a_number_is_found_by_its_words_and_what_nobody_told_is_not_found(companies):
    assert companies.search(ANNA, "INV-007", mode="text")[0].memory.text.endswith("INV-007")
    assert companies.search(ANNA, "which invoice is INV-007?")[0].memory.text.endswith("INV-007")
    assert companies.recall(ANNA, "what is the capital of France?") == []
    assert companies.recall(ANNA, "how tall is Mount Everest?") == []


@pytest.mark.spec("M-5", "M-11")
def test_what_is_asked_in_other_words_is_recalled_at_the_usual_bound(offline_model):
    asked = {
        "The vet said Whiskers needs drops twice a day": "which medicine does the cat get?",
        "Our van is at the garage until Friday": "why can't we do deliveries this week?",
        "Aunt Paula moved into a nursing home": "where does my aunt live now?",
        "I ruined the carpet with red wine": "what happened to the rug?",
        "The landlord pays for the heating": "do we have to cover the gas bill?",
        "Marco is only free on weekends": "when could Marco come by?",
    }
    with MemoryService("sqlite://", embeddings=offline_model) as memory:
        memory.remember_many(ANNA, [(fact, {}) for fact in asked])
        for fact, question in asked.items():
            assert fact in [each.memory.text for each in memory.recall(ANNA, question)]


@pytest.mark.spec("M-5")
def test_a_fact_far_behind_the_nearest_is_less_relevant_than_alone():
    curve = Calibration(0.2, 30.0)
    everything = np.ones(3, dtype=bool)
    near = semantic(np.array([0.9, 0.3, 0.0], dtype=np.float32), curve, everything)
    alone = semantic(np.array([0.32, 0.3, 0.0], dtype=np.float32), curve, everything)
    assert alone[1] == pytest.approx(curve.relevance(0.3), abs=1e-5)
    assert near[1] < 0.1
    assert alone[1] > 0.9
    assert near[0] == pytest.approx(curve.relevance(0.9), abs=1e-5)


@pytest.mark.spec("M-11")
def test_a_language_the_model_never_learned_is_searched_by_its_words_and_by_their_english(offline_model):
    with MemoryService("sqlite://", embeddings=offline_model) as memory:
        memory.remember(ANNA, "לכלב קוראים ביסקוויט")
        memory.remember(ANNA, "יום ההולדת של סבא הוא ב-3 באוקטובר")
        found = memory.recall(ANNA, "מתי יום ההולדת של סבא?")
        assert [each.memory.text for each in found] == ["יום ההולדת של סבא הוא ב-3 באוקטובר"]
        assert set(found[0].signals) == {"cosine", "semantic", "text"}
        assert [each.memory.text for each in memory.recall(ANNA, "איך קוראים לכלב?")] == ["לכלב קוראים ביסקוויט"]
        [meant, *_] = memory.search(ANNA, "מה השם של הגור?", mode="semantic", min_relevance=0.0)
        assert meant.memory.text == "לכלב קוראים ביסקוויט"  # a puppy is near a dog
        assert memory.recall(ANNA, "כמה עולה הדירה?") == []


@pytest.mark.spec("M-3")
def test_the_offline_model_gives_unit_vectors_that_do_not_depend_on_their_batch(offline_model):
    texts = ["I park on level 3", "", "word " * 2_000, "שלום", "a"]
    together = np.array(offline_model.embed_documents(texts))
    assert together.shape == (5, 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(np.array(offline_model.embed_query(text)), vector)


@pytest.mark.spec("M-3")
@for_each("words", [0, 1, 2, 5, 12, 60, 254, 2_000])
def test_the_offline_model_says_what_the_graph_of_its_package_says(offline_model, words):
    text = " ".join(islice(cycle(["my", "sister's", "dentist", "moved", "to", "Haifa", "in", "March"]), words))
    ids = np.array([offline_embeddings.wordpiece_tokenizer(256).encode(text).ids])
    package = onnxruntime.InferenceSession(str(offline_embeddings.weights_file()), providers=["CPUExecutionProvider"])
    others = {"attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    [hidden] = package.run(None, {"input_ids": ids, **others})
    expected = hidden[0].mean(axis=0)
    assert np.array(offline_model.embed_query(text)) @ expected / np.linalg.norm(expected) > 0.997


@pytest.mark.spec("M-14")
@for_each("name", ["_WEIGHTS", "_WEIGHTS_SHA256"])
def test_a_model_file_that_is_missing_or_another_is_refused_by_name(monkeypatch, name):
    offline_embeddings._loaded.cache_clear()  # the file is read once a process
    monkeypatch.setattr(offline_embeddings, name, {"_WEIGHTS": ("no_such_package", "model.onnx")}.get(name, "0" * 64))
    with pytest.raises(ConfigurationError, match=r"model\.onnx"):
        offline_embeddings.OfflineEmbeddings()


@pytest.mark.spec("M-10")
def test_nothing_heavy_is_imported_before_it_is_needed_or_after_the_constructor():
    script = """
import sys
from langmem_plugin.memory import MemoryService
assert not {"onnxruntime", "tokenizers", "chromadb", "openai"} & set(sys.modules), "at import"
with MemoryService("sqlite://") as memory:
    memory.remember("anna", "I park on level 3")
    memory.recall("anna", "where do I park?")
    before = set(sys.modules)
    memory.remember("anna", "Dana is allergic to peanuts")
    memory.search("anna", "what must Dana not eat?")
    memory.foremost("anna")
assert not {name for name in set(sys.modules) - before if "." not in name}, "at a later call"
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
