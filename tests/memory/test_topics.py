"""Whether a message is about a topic. `topics/judge.tsv` was written before the rule, of topics that are not in `seen.tsv`."""

from pathlib import Path

import pytest

from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.instructions.conditions import Situation, Topics, asks, parsed
from tests.cases import for_each

CASES = {
    half: [
        line.split("\t") for line in (Path(__file__).parent / "topics" / f"{half}.tsv").read_text("utf-8").splitlines()
    ]
    for half in ("seen", "judge")
}


@pytest.fixture(scope="module")
def topics(offline_model):
    return Topics(Embedder(offline_model))


@pytest.mark.spec("I-3")
@for_each("half", CASES)
def test_a_topic_is_told_from_others_by_meaning(topics, half):
    wrong = [(topic, text) for about, topic, text in CASES[half] if topics.of([text])(topic) != (about == "yes")]
    invented = [each for each in wrong if ["no", *each] in CASES[half]]

    assert invented == []
    assert len(wrong) <= 2, wrong


def test_half_of_sixty_cases_are_unseen_and_of_other_topics():
    assert len(CASES["seen"]) == len(CASES["judge"]) == 30
    assert not {case[1] for case in CASES["seen"]} & {case[1] for case in CASES["judge"]}


@pytest.mark.spec("I-3")
def test_a_few_words_have_the_topic_of_what_they_follow(topics):
    assert topics.of(["any ideas for dinner with chicken?", "and for two?"])("recipes")
    assert not topics.of(["any ideas for dinner with chicken?", "when does the train to the airport leave?"])("recipes")
    assert asks([]) == ""
    assert not topics.of([])("recipes")


@pytest.mark.spec("I-3")
def test_where_the_model_does_not_know_the_language_the_words_decide(topics):
    assert topics.of(["יש לך מתכון לחומוס?"])("מתכונים")
    assert topics.of(["¿tienes una receta de hummus?"])("recetas")
    assert not topics.of(["מתי הרכבת יוצאת?"])("מתכונים")


@pytest.mark.spec("I-3", "M-12")
def test_the_topics_and_the_message_are_embedded_once(offline_model):
    asked = []

    class Counted(type(offline_model)):
        def embed_query(self, text):  # for each text of embed_documents too
            asked.append(text)
            return super().embed_query(text)

    topics = Topics(Embedder(Counted()))
    named = [f"{kind} {number}" for kind in ("cars", "law", "food", "songs", "pets") for number in range(10)]
    for _ in range(3):
        about = topics.of(["my engine makes a strange noise"])
        for each in named:
            about(each)

    assert len(asked) == len(set(asked))
    assert len(asked) == 1 + len(named) + 24  # and topics in general


@pytest.mark.spec("M-10")
def test_while_the_model_is_out_of_reach_the_words_decide_and_it_is_asked_once(topics, monkeypatch):
    calls = []

    def down(text):
        calls.append(text)
        raise EmbeddingUnavailable("down")

    monkeypatch.setattr(topics._embedder, "query", down)
    for _ in range(2):
        about = topics.of(["my boss wants the report, for work"])
        assert about("work")
        assert not about("cars")

    assert len(calls) == 1


@pytest.mark.spec("I-3")
def test_a_condition_on_a_topic_asks_what_the_talk_is_about(topics, clock):
    dinner = "any ideas for dinner with chicken?"
    told = Situation(clock(), message=dinner, topic=dinner, is_about=topics.of([dinner]))

    assert parsed('topic is "recipes"')(told)
    assert not parsed('topic is not "recipes"')(told)
    assert not parsed('topic contains "recipes"')(told)
    assert not parsed('topic is "recipes"')(Situation(clock(), message=dinner, topic=dinner))
