"""A bound of 0.7 means the same whatever the model's cosines look like."""

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.calibration import KNOWN, PAIRS, fitted
from langmem_plugin.memory.keep.vectors import unit

ANNA = "+972501234567"


class Squeezed(Embeddings):
    """The offline model with every vector drawn towards one point: all its cosines are above 0.8."""

    model = "squeezed"

    def __init__(self, inner):
        self.inner = inner

    def embed_query(self, text):
        vector = np.array(self.inner.embed_query(text))
        vector[0] += 2.0
        return vector.tolist()

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


@pytest.mark.spec("M-5", "M-7")
def test_recall_keeps_what_is_relevant_and_nothing_else_with_a_model_of_other_cosines(offline_model, clock):
    with MemoryService("sqlite://", embeddings=Squeezed(offline_model), now=clock) as memory:
        for text in ("My assistant is David", "I park on level 3", "The launch is on 15 December"):
            memory.remember(ANNA, text)
        assert [each.memory.text for each in memory.recall(ANNA, "who helps me at work?")] == ["My assistant is David"]
        assert memory.recall(ANNA, "what is the capital of France?") == []


@pytest.mark.spec("M-5")
def test_fitting_the_offline_model_finds_about_what_was_measured_on_many_pairs(offline_model):
    vectors = [unit(offline_model.embed_query(text)) for pair in PAIRS for text in pair]
    curve = fitted(vectors[::2], vectors[1::2])
    assert curve.midpoint == pytest.approx(KNOWN[offline_model.model].midpoint, abs=0.02)
    assert curve.slope == pytest.approx(KNOWN[offline_model.model].slope, rel=0.2)


@pytest.mark.spec("M-5")
def test_a_model_that_tells_nothing_apart_finds_nothing_relevant():
    same = [unit([1.0, 2.0, 3.0])] * len(PAIRS)
    assert fitted(same, same).relevance(0.9) < 0.5
