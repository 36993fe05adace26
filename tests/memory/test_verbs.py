"""The five verbs: remember, recall, search, list, forget."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from langmem_plugin.errors import InvalidInput, MemoryNotFound, StaleMemory
from langmem_plugin.memory import Filter, MemoryService
from tests.log_events import events

ANNA, BEN = "+972501234567", "+972507654321"


@pytest.mark.spec("M-5", "M-1")
def test_a_memory_is_recalled_by_a_question_in_other_words(memory):
    stored = memory.remember(ANNA, "My assistant is David", fact_type="relationship", tags=["Work"])
    memory.remember(ANNA, "Dana is allergic to peanuts")
    found = memory.recall(ANNA, "who helps me at work?")
    assert [each.memory for each in found] == [stored]
    assert found[0].similarity >= 0.7
    assert found[0].memory.tags == ("work",)


@pytest.mark.spec("M-5")
def test_recall_from_nothing_is_an_empty_list(memory):
    assert memory.recall(ANNA, "who helps me at work?") == []
    assert memory.search(ANNA, "  ") == []
    assert memory.list_memories(ANNA) == []


@pytest.mark.spec("P-6", "M-16")
def test_no_verb_reaches_another_owners_memory(memory):
    secret = memory.remember(ANNA, "The safe opens with 4711")
    assert memory.recall(BEN, "The safe opens with 4711", min_similarity=0.0) == []
    assert memory.search(BEN, "safe", mode="text", min_relevance=0.0) == []
    assert memory.get(BEN, [secret.id]) == []
    assert memory.list_memories(BEN) == []
    with pytest.raises(MemoryNotFound):
        memory.forget(BEN, secret.id)
    with pytest.raises(MemoryNotFound):
        memory.update(BEN, secret.id, text="The safe is empty")
    assert memory.get(ANNA, [secret.id]) == [secret]


@pytest.mark.spec("M-5")
def test_a_forgotten_memory_is_gone_from_every_verb_and_forgetting_it_again_says_so(memory):
    stored = memory.remember(ANNA, "I park on level 3")
    assert memory.recall(ANNA, "where do I park?")
    assert memory.forget(ANNA, stored.id).text == "I park on level 3"
    assert memory.recall(ANNA, "where do I park?") == []
    assert memory.get(ANNA, [stored.id]) == []
    assert memory.list_memories(ANNA) == []
    with pytest.raises(MemoryNotFound):
        memory.forget(ANNA, stored.id)
    with pytest.raises(MemoryNotFound):
        memory.update(ANNA, stored.id, text="I park on level 4")


@pytest.mark.spec("W-6")
def test_the_same_text_is_not_stored_twice(memory):
    first = memory.remember(ANNA, "I prefer short emails")
    assert memory.remember(ANNA, "  i prefer  short emails ") == first
    assert memory.list_memories(ANNA) == [first]
    assert memory.remember(BEN, "I prefer short emails").id != first.id


@pytest.mark.spec("M-5")
def test_what_was_forgotten_can_be_told_again(memory):
    memory.forget(ANNA, memory.remember(ANNA, "I prefer short emails").id)
    told = memory.remember(ANNA, "I prefer short emails")
    assert [each.memory for each in memory.recall(ANNA, "how long should an email be?")] == [told]


@pytest.mark.spec("M-1")
def test_an_update_is_searched_at_once_and_refused_when_it_was_decided_on_an_older_state(memory, clock):
    stored = memory.remember(ANNA, "The launch is on 15 December")
    clock.forward(hours=1)
    changed = memory.update(ANNA, stored.id, revision=1, text="Dana is allergic to peanuts", confidence=0.5)
    assert (changed.revision, changed.updated_at, changed.created_at) == (2, clock(), stored.created_at)
    assert [each.memory for each in memory.recall(ANNA, "which food is dangerous for Dana?")] == [changed]
    assert memory.recall(ANNA, "when is the launch?") == []
    with pytest.raises(StaleMemory):
        memory.update(ANNA, stored.id, revision=1, text="The launch is on 16 December")
    assert memory.get(ANNA, [stored.id]) == [changed]


@pytest.mark.spec("M-15")
def test_a_memory_is_hidden_from_the_instant_it_expires(memory, clock):
    until = clock().replace(hour=18)
    stored = memory.remember(ANNA, "Dinner is at seven tonight", expires_at=until)
    assert memory.recall(ANNA, "when is dinner?")
    clock.instant = until
    assert memory.recall(ANNA, "when is dinner?") == []
    assert memory.get(ANNA, [stored.id]) == []
    assert memory.list_memories(ANNA) == []
    assert memory.list_memories(ANNA, include_expired=True) == [stored]


@pytest.mark.spec("M-7")
def test_filters_choose_before_the_best_are_taken(memory):
    memory.remember(ANNA, "Acme sells paper", fact_type="company", category="work", tags=["paper", "supplier"])
    memory.remember(ANNA, "Beta sells ink", category="work", tags=["supplier"], session_id="s2")
    for number in range(12):
        memory.remember(ANNA, f"Company {number} sells paper and ink", category="other")
    for where, expected in (
        (Filter(fact_types=["company"]), {"Acme sells paper"}),
        (Filter(categories=["work"]), {"Acme sells paper", "Beta sells ink"}),
        (Filter(tags=["Paper", "supplier"]), {"Acme sells paper"}),
        (Filter(sessions=["s2"]), {"Beta sells ink"}),
        (Filter(categories=["work"], tags=["leather"]), set()),
    ):
        found = memory.search(ANNA, "who sells paper and ink?", limit=2, min_relevance=0.0, where=where)
        assert {each.memory.text for each in found} == expected
        assert {each.text for each in memory.list_memories(ANNA, where=where)} == expected


@pytest.mark.spec("M-7")
def test_dates_filter_the_search(memory, clock):
    memory.remember(ANNA, "We sold the old car")
    noon = clock.instant = clock().replace(hour=12)
    late = memory.remember(ANNA, "We bought a new car")
    after = memory.search(ANNA, "car", min_relevance=0.0, where=Filter(created_after=noon))
    assert [each.memory for each in after] == [late]
    before = memory.list_memories(ANNA, where=Filter(created_before=noon))
    assert [each.text for each in before] == ["We sold the old car"]


@pytest.mark.spec("M-7")
def test_a_result_says_which_signals_found_it(memory):
    memory.remember(ANNA, "The invoice of TestCorp is INV-001")
    text = memory.search(ANNA, "INV-001", mode="text", min_relevance=0.0)[0]
    assert (text.match_type, set(text.signals)) == ("exact", {"text"})
    meaning = memory.search(ANNA, "what was billed by the company?", mode="semantic", min_relevance=0.0)[0]
    assert (meaning.match_type, set(meaning.signals)) == ("semantic", {"semantic", "cosine"})
    both = memory.search(ANNA, "the invoice of TestCorp")[0]
    assert (both.match_type, set(both.signals)) == ("hybrid", {"semantic", "cosine", "text"})


@pytest.mark.spec("M-5")
def test_a_second_process_sees_what_the_first_wrote(database_url, clock, offline_model):
    with (
        MemoryService(database_url, embeddings=offline_model, now=clock) as one,
        MemoryService(database_url, embeddings=offline_model, now=clock) as two,
    ):
        assert two.recall(ANNA, "where do I park?") == []
        stored = one.remember(ANNA, "I park on level 3")
        assert [each.memory for each in two.recall(ANNA, "where do I park?")] == [stored]
        one.forget(ANNA, stored.id)
        assert two.recall(ANNA, "where do I park?") == []


@pytest.mark.spec("M-1")
def test_a_wrong_field_is_refused_and_nothing_is_stored(memory):
    for wrong in ({"confidence": 1.5}, {"fact_type": "rumour"}, {"expires_at": "soon"}):
        with pytest.raises(InvalidInput):
            memory.remember(ANNA, "something", **wrong)
    with pytest.raises(InvalidInput):
        memory.remember(ANNA, "  ")
    assert memory.list_memories(ANNA) == []


@pytest.mark.spec("M-1")
def test_metadata_that_json_cannot_hold_is_left_out_with_a_warning(memory, clock, caplog):
    stored = memory.remember(ANNA, "a note", metadata={"chat": "c1", "when": clock(), "what": object()})
    assert stored.metadata == {"chat": "c1", "when": clock().isoformat()}
    assert memory.get(ANNA, [stored.id]) == [stored]
    assert "memory.metadata_dropped" in events(caplog)


@pytest.mark.spec("M-1")
@settings(max_examples=50)
@given(st.text(alphabet=st.characters(), max_size=30))
@example("\x00")
@example("half \ud83d a smile")
@example("👩‍👧 e\u0301 \u202e'; DROP TABLE memory; --")
def test_any_text_is_stored_as_it_is_or_refused(memory, text):
    memory.search(ANNA, text)
    try:
        stored = memory.remember(ANNA, text)
    except InvalidInput:
        assert not text.strip() or "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text)
        return
    assert memory.get(ANNA, [stored.id]) == [stored]
    assert stored.outcome == "stored"
    assert stored.text == text.strip()
    memory.erase(ANNA)  # else another text that says the same would be known


@pytest.mark.spec("M-5")
def test_odd_limits_and_dates_without_a_zone_are_no_surprise(memory, clock):
    memory.remember(ANNA, "I park on level 3")
    for limit in (0, -1):
        assert memory.search(ANNA, "where do I park?", limit=limit) == []
        assert memory.list_memories(ANNA, limit=limit) == []
    with pytest.raises(InvalidInput, match="time zone"):
        Filter(created_after=clock().replace(tzinfo=None))


@pytest.mark.spec("C-13", "M-7")
@pytest.mark.parametrize("wrong", [{"mode": "exact"}, {"min_relevance": "0.5"}, {"min_relevance": None}])
def test_a_search_by_what_does_not_exist_says_what_there_is(memory, wrong):
    memory.remember(ANNA, "I park on level 3")
    with pytest.raises(InvalidInput, match=r"mode is one of .*text.*, min_relevance a number"):
        memory.search(ANNA, "level", **wrong)


@pytest.mark.spec("M-7")
@pytest.mark.parametrize("bound", [0, 0.5, 1])
def test_a_search_by_words_gives_what_has_one_of_them_whatever_the_bound(memory, bound):
    for text in ("Call Maya back", "Maya has lunch with the team", "Car is a Skoda"):
        memory.remember(ANNA, text)
    found = memory.search(ANNA, "Maya lunch", mode="text", min_relevance=bound)
    assert [each.memory.text for each in found] == ["Maya has lunch with the team", "Call Maya back"]
