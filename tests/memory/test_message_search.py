"""What was said stays searchable, message by message, after its session has ended."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.memory import Filter, MemoryService
from langmem_plugin.memory.find.bm25 import WordIndex
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.tokenizer import terms
from tests.cases import for_each

ANNA, BEN = "+972501234567", "+972507654321"

TALK = [
    ("s1", "Gina", "Hey Jon, how was the weekend?"),
    ("s1", "Jon", "We hiked up to the old monastery"),
    ("s1", "Gina", "Was it far?"),
    ("s1", "Jon", "Four hours, and my knee still hurts"),
    ("s2", "Gina", "I started a pottery course"),
    ("s2", "Jon", "I got the job at the bakery"),
    ("s2", "Gina", "Jon, that is wonderful! When do you start?"),
    ("s2", "Jon", "Next Monday at five in the morning"),
]


@pytest.fixture
def talk(memory, clock):
    messages = [
        PastMessage(f"m{number}", session, speaker, text, clock() + timedelta(minutes=number))
        for number, (session, speaker, text) in enumerate(TALK)
    ]
    assert memory.history.add(ANNA, messages) == len(TALK)
    return messages


@pytest.mark.spec("M-7", "M-11")
def test_a_question_finds_who_said_what_in_an_earlier_session(memory, talk):
    found = memory.history.search(ANNA, "Which job did Jon get?", limit=1)
    assert [each.message for each in found] == [talk[5]]
    assert [each.message for each in memory.history.search(ANNA, "what course does Gina take?", limit=1)] == [talk[4]]


@pytest.mark.spec("M-7")
def test_an_answer_is_found_through_the_message_before_it(memory, talk):
    found = memory.history.search(ANNA, "When does Jon start at the bakery?", limit=3)
    assert talk[7] in [each.message for each in found]
    assert {"semantic", "text", "session"} == set(found[0].signals)


@pytest.mark.spec("M-7")
@for_each(
    ("question", "speaker"),
    [
        ("what did I say about the pasta?", "user"),
        ("what did you tell me about the pasta?", "assistant"),
        ("¿qué me recomendaste de pasta?", "assistant"),
        ("מה אמרתי על pasta?", "user"),
    ],
)
def test_i_and_you_tell_who_said_it(offline_model, clock, question, speaker):
    with MemoryService("sqlite://", embeddings=offline_model, now=clock) as memory:
        for number, who in enumerate(["assistant", "user", "assistant", "user"]):
            memory.history.add(ANNA, [PastMessage(f"m{number}", f"s{number}", who, "The pasta was too salty", clock())])
        found = memory.history.search(ANNA, question, limit=2)
        assert [each.message.speaker for each in found] == [speaker, speaker]


@pytest.mark.spec("M-7")
def test_sessions_and_dates_filter_messages(memory, talk):
    one = memory.history.search(ANNA, "Jon", where=Filter(sessions=["s1"]))
    assert {each.message.session_id for each in one} == {"s1"}
    late = memory.history.search(ANNA, "Jon", where=Filter(created_after=talk[6].said_at))
    assert {each.message.message_id for each in late} == {"m6", "m7"}


@pytest.mark.spec("C-5")
def test_a_message_is_stored_once_however_often_it_is_handed_over(memory, talk, clock):
    late = PastMessage("m8", "s2", "Gina", "Congratulations!", clock())
    assert memory.history.add(ANNA, [*talk, late, PastMessage("m9", "s2", "Gina", "  ", clock())]) == 1
    assert memory.history.count(ANNA) == len(TALK) + 1


@pytest.mark.spec("P-6")
def test_nobody_finds_another_owners_messages_and_memories_stay_apart(memory, talk):
    assert memory.history.search(BEN, "Where did Jon find work?") == []
    assert memory.search(ANNA, "Where did Jon find work?", min_relevance=0.0) == []
    assert memory.history.search(ANNA, "  ") == []


WORDS = st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "elk"]), max_size=6)


@pytest.mark.spec("M-7")
@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_removing_rows_leaves_the_scores_of_an_index_that_never_held_them(texts, data):
    removed = data.draw(st.sets(st.sampled_from(range(len(texts)))))
    kept = [row for row in range(len(texts)) if row not in removed]
    whole, fresh = WordIndex(), WordIndex()
    for text in texts:
        whole.add(text)
    for row in removed:
        whole.remove(row)
    for row in kept:
        fresh.add(texts[row])
    scores, ceiling = whole.scores(["ant", "cat", "yak"])
    expected, expected_ceiling = fresh.scores(["ant", "cat", "yak"])
    assert np.allclose(scores[kept], expected)
    assert ceiling == pytest.approx(expected_ceiling)


@pytest.mark.spec("M-7")
@given(st.lists(WORDS, min_size=1, max_size=8))
def test_groups_of_one_row_score_as_the_rows_do(texts):
    index = WordIndex()
    for text in texts:
        index.add(text or ["none"])
    groups = np.arange(len(texts), dtype=np.int32)
    grouped, ceiling = index.grouped_scores(["ant", "bee"], groups, np.ones(len(texts), dtype=bool))
    scores, expected_ceiling = index.scores(["ant", "bee"])
    assert np.allclose(grouped, scores)
    assert ceiling == pytest.approx(expected_ceiling)


@pytest.mark.spec("M-7")
@for_each(
    ("one", "other"),
    [
        ("I am meeting the lawyers", "the meetings with my lawyer"),
        ("¿Cuáles son mis alergias?", "Tengo una alergia"),
        ("המשפחה שלי", "משפחה"),
        ("הילדים בבית הספר", "ילד בית ספר"),
        ("It costs 5,000", "5000 was the cost"),
        ("Dana's car", "the cars of Dana"),
    ],
)
def test_forms_of_a_word_are_one_search_word(one, other):
    assert set(terms(one)) & set(terms(other)) == set(terms(other)) - {"tengo"}


@pytest.mark.spec("M-7")
def test_stop_words_are_not_searched():
    assert terms("what is it that you have for me") == []
    assert terms("¿qué es lo que tengo?") == []
    assert terms("מה זה של מי") == []
