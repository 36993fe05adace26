"""Each result says what put it where it is, and what was not kept says why."""

import json
from dataclasses import fields

import pytest

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.recall import explain_for, recall_for, search_for, share
from langmem_plugin.memory.models import Candidate, Filter
from tests.cases import for_each

ANNA = "+972501234567"
BOB = "+972507654321"


@pytest.fixture
def told(memory):
    memory.remember(ANNA, "Dana is allergic to peanuts", tags=["health"], confidence=0.9)
    memory.remember(ANNA, "Dana plays the violin")
    memory.remember(ANNA, "The car is in the garage")
    return memory


def of_json(candidates):
    return json.loads(json.dumps([each.to_dict() for each in candidates]))


@pytest.mark.spec("M-7", "M-8")
@for_each("mode", ["hybrid", "text", "semantic"])
def test_the_terms_of_every_result_add_up_to_its_score(told, mode):
    found = told.search(ANNA, "what is Dana allergic to?", mode=mode, min_relevance=0.0)
    assert found
    for each in found:
        why = each.explanation
        assert sum(why.terms.values()) * why.weight == pytest.approx(each.score, abs=1e-5)
        assert (why.similarity, why.bound, why.question) == (each.similarity, 0.0, "what is Dana allergic to?")
        assert (why.cosine is None, why.relevance is None) == ((mode == "text"),) * 2
        assert (why.bm25 is None, why.coverage is None) == ((mode == "semantic"),) * 2
        assert why.confidence == pytest.approx(each.memory.confidence)
        assert why.uses == each.memory.access_count


@pytest.mark.spec("M-7")
def test_the_numbers_are_those_that_the_ranking_used(told, clock):
    clock.forward(days=3)
    [first, *_] = told.search(ANNA, "what is Dana allergic to?")
    why, embedder = first.explanation, told.embedder
    [vector] = embedder.texts([first.memory.text])
    cosine = float(embedder.query("what is Dana allergic to?") @ vector)
    assert why.cosine == pytest.approx(cosine, abs=1e-4)
    curve = embedder.calibration_of("what is Dana allergic to?")
    assert why.relevance == pytest.approx(curve.relevance(cosine), abs=1e-3)
    assert why.terms["meaning"] == pytest.approx(cosine * curve.slope / 20, abs=1e-4)
    assert (why.days, why.uses) == (3.0, 0)
    assert why.terms["words"] == pytest.approx(0.75 * why.coverage, abs=1e-5)
    assert why.bm25 > 0 < why.coverage


@pytest.mark.spec("M-9")
def test_recall_says_what_the_message_before_the_last_weighs(told):
    asked = ["what is Dana allergic to?", "and where is the car?"]
    found = recall_for(told, ANNA, "client", asked, min_similarity=0.3)
    weights = {each.memory.text: each.explanation.weight for each in found}
    assert weights["The car is in the garage"] == 1.0
    assert weights["Dana is allergic to peanuts"] < 1.0
    for each in found:
        assert sum(each.explanation.terms.values()) * each.explanation.weight == pytest.approx(each.score, abs=1e-5)


@pytest.mark.spec("M-7")
def test_candidates_begin_with_what_search_gives_and_say_why_the_rest_was_left(told, clock):
    memory, bounds = told, {"limit": 1, "min_relevance": 0.5}
    memory.remember(ANNA, "Dana is allergic to bees", expires_at=clock() + (clock() - clock().replace(hour=1)))
    clock.forward(days=1)
    found = memory.search(ANNA, "what is Dana allergic to?", **bounds)
    candidates = memory.explain(ANNA, "what is Dana allergic to?", **bounds)
    kept = [each for each in candidates if each.kept]
    assert [(each.memory_id, each.score) for each in kept] == [(each.memory.id, each.score) for each in found]
    assert kept == candidates[: len(kept)]
    left = {each.text: each.left for each in candidates if not each.kept}
    assert left["The car is in the garage"] == "below the bound"
    assert left["Dana is allergic to bees"] == "expired"
    [more] = [each.left for each in memory.explain(ANNA, "Dana", limit=1, min_relevance=0.0) if "violin" in each.text]
    assert more in {"beyond the limit", None}
    filtered = memory.explain(ANNA, "what is Dana allergic to?", min_relevance=0.0, where=Filter(tags=["health"]))
    assert {each.left for each in filtered if "health" not in each.tags} == {"left out by the filter", "expired"}


@pytest.mark.spec("M-7")
@for_each("mode", ["hybrid", "text"])
def test_what_stands_beside_a_text_counts_as_its_words(told, mode):
    told.categories.create(ANNA, "Medical")
    told.remember(ANNA, "Nuts are off the table", category="Medical")
    found = {each.memory.text: each for each in told.search(ANNA, "medical health", mode=mode, min_relevance=0.0)}
    for text in ("Nuts are off the table", "Dana is allergic to peanuts"):  # by its category, by a tag
        why = found[text].explanation
        assert why.terms["words"] > 0
        assert why.coverage > 0
        assert sum(why.terms.values()) == pytest.approx(found[text].score, abs=1e-5)
    assert found["Dana plays the violin"].explanation.terms["words"] == 0


@pytest.mark.spec("M-7")
@for_each(("mode", "operators"), [("text", False), ("hybrid", True)])
def test_candidates_of_an_exact_search_are_told_apart_by_its_phrases(told, mode, operators):
    told.remember(ANNA, "Peanuts are what Dana's brother is allergic to")
    asked = {"mode": mode, "operators": operators, "min_relevance": 0.5}
    for limit, query in ((5, '"allergic to peanuts"'), (1, "peanut* Dana"), (0, "peanut*")):
        found = told.search(ANNA, query, limit=limit, **asked)
        candidates = told.explain(ANNA, query, limit=limit, **asked)
        assert [each.memory_id for each in candidates if each.kept] == [each.memory.id for each in found]
        left = {each.text: each.left for each in candidates}
        assert left["The car is in the garage"] == "without the phrase"
        assert "below the bound" not in left.values()
    assert left["Dana is allergic to peanuts"] == "beyond the limit"
    phrase = told.explain(ANNA, '"allergic to peanuts"', **asked)
    assert {each.text: each.left for each in phrase}["Peanuts are what Dana's brother is allergic to"] == (
        "without the phrase"
    )


@pytest.mark.spec("M-7")
def test_candidates_are_plain_data(told):
    candidates = told.explain(ANNA, "what is Dana allergic to?")
    read = of_json(candidates)
    assert [each["memory_id"] for each in read] == [each.memory_id for each in candidates]
    assert {each.name for each in fields(Candidate)} <= read[0].keys()
    assert read[0]["explanation"]["terms"].keys() == {"meaning", "words", "recency", "use", "confidence"}
    assert len(told.explain(ANNA, "Dana", most=2)) == 2
    assert told.explain(ANNA, "  ") == told.explain(BOB, "Dana") == []


@pytest.mark.spec("M-16")
def test_no_candidate_is_anothers_or_shared_with_others(told):
    told.remember(BOB, "Dana is allergic to dust")
    share(told, "Dana is allergic to work")
    share(told, "Dana is allergic to milk", with_clients=True)
    texts = [each.text for each in explain_for(told, ANNA, "client", "Dana is allergic to", min_relevance=0.0)]
    assert "Dana is allergic to milk" in texts
    assert "Dana plays the violin" in texts
    assert not {"Dana is allergic to dust", "Dana is allergic to work"} & set(texts)
    kept = [each.memory_id for each in explain_for(told, ANNA, "client", "Dana", limit=2) if each.kept]
    assert kept == [each.memory.id for each in search_for(told, ANNA, "client", "Dana", limit=2)]


@pytest.mark.spec("M-2")
def test_a_comparison_of_sessions_is_explained_too(told):
    [first, *_] = told.query_similar_memories("what is Dana allergic to?", owner=ANNA)
    assert first.explanation.cosine == pytest.approx(first.score)
    assert first.explanation.relevance == first.similarity


@pytest.mark.spec("M-7")
def test_what_is_found_through_an_index_is_explained_as_well(offline_model, clock):
    """Without vectors in this process."""
    with MemoryService("sqlite://", embeddings=offline_model, now=clock, cache_bytes=1) as memory:
        memory.remember(ANNA, "Dana is allergic to peanuts")
        [found] = memory.search(ANNA, "what is Dana allergic to?")
        assert found.explanation.cosine > 0.3
