"""Any chat model may read what people say, and is believed only as far as it can be checked."""

import json
import threading
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult

from langmem_plugin import PhoneMemory
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.calls_with_timeout import GivenUp
from langmem_plugin.writing.extracted_fact import RuleExtraction
from langmem_plugin.writing.extraction_input import Said
from langmem_plugin.writing.model_extraction import ModelExtraction, found_in
from tests.cases import for_each
from tests.writing.extraction.conftest import BY_HAND, Extracting, fact, kept

ERIN = "+972501234567"
AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def said(text, before="", row=1, **more):
    return Said(row, f"m{row}", ERIN, text, AT, before, **more)


def read(model, *texts, **arguments):
    messages = tuple(each if isinstance(each, Said) else said(each, row=row) for row, each in enumerate(texts, 1))
    return ModelExtraction(model, **arguments).facts_in(messages)


@pytest.mark.spec("W-3", "W-5")
def test_a_fact_that_its_sentence_does_not_plainly_say_waits_for_the_persons_word(extracting):
    model = extracting([fact("Owns a boat", "I own a boat"), fact("Keeps goats", "we keep goats")])
    made = read(model, "my accountant swears I own a boat. And we keep goats")

    assert {each.text: each.fields("one")["status"] for each in made} == {
        "Owns a boat": "pending",
        "Keeps goats": "active",
    }


@pytest.mark.spec("W-3")
@for_each("by_tool", [True, False])
def test_a_fact_comes_with_all_that_is_known_of_it(extracting, by_tool):
    model = extracting(
        [
            fact(
                "Works at TestCorp with Sarah from 2026-03-09",
                "I start at TestCorp next Monday, with Sarah",
                type="company",
                about="self",
                attribute="Employer",
                single=True,
                category="work",
                people=["Sarah"],
                companies=["TestCorp"],
                projects=[],
                relationships=["colleague"],
                holds_from="2026-03-09",
            )
        ],
        by_tool=by_tool,
    )
    [made] = read(model, "I start at TestCorp next Monday, with Sarah!")

    assert made.model_dump() | {"said_at": AT} == {
        "owner": ERIN,
        "text": "Works at TestCorp with Sarah from 2026-03-09",
        "quote": "I start at TestCorp next Monday, with Sarah",
        "source_id": "m1",
        "said_at": AT,
        "slot": "self/employer",
        "fact_type": "company",
        "confidence": 0.95,
        "sensitive": False,
        "category": "work",
        "tags": ("sarah", "testcorp", "colleague"),
        "valid_from": datetime(2026, 3, 9, tzinfo=UTC),
        "valid_to": None,
        "advice": None,
    }


@pytest.mark.spec("W-3")
def test_the_model_sees_small_numbers_dates_and_what_the_assistant_had_said_and_no_ids(extracting):
    model = extracting([])
    read(model, said("yes, that's right", before="You live in Haifa?"), said("<b>I like tea</b>", row=2))
    shown = model.asked[0][1].text

    assert shown.splitlines() == [
        "<assistant>You live in Haifa?</assistant>",
        '<message number=1 date="2026-03-01, Sunday">yes, that\'s right</message>',
        '<message number=2 date="2026-03-01, Sunday">‹b›I like tea‹/b›</message>',
    ]
    assert ERIN not in str(model.asked)


@pytest.mark.spec("W-3")
@for_each(
    ("text", "quote", "found"),
    [
        ("I like tea", "I like tea", "I like tea"),
        ("I  like\n tea, really", "I like tea.", "I  like\n tea"),
        ("she said “I’m vegan” yesterday", '"I\'m vegan"', "I’m vegan"),
        ("Actually I moved", "actually i moved", "Actually I moved"),
        ("אני גר ב\u200fחיפה", "אני גר בחיפה", "אני גר ב\u200fחיפה"),
        ("Me gusta el té «verde»", 'el té "verde"', "el té «verde"),
        ("I <3 tea", "I ‹3 tea", "I <3 tea"),
        ("I like tea", "I like coffee", None),
        ("the party was nice", "art", None),
        ("I like tea", "...", None),
        ("I like tea", "", None),
        ("", "I like tea", None),
    ],
)
def test_a_quote_is_what_was_said_but_for_spacing_and_quote_marks(text, quote, found):
    assert found_in(quote, text) == found


@pytest.mark.spec("W-3", "W-7")
def test_what_nobody_said_is_dropped(extracting, caplog):
    model = extracting(
        [
            fact("Likes coffee", "I like coffee"),
            fact("Lives in Haifa", "You live in Haifa"),
            fact("Likes tea", "I like tea", message=99),
            fact("Likes tea", "I like tea", message=-1),
        ]
    )
    made = read(model, said("ok then, I like tea", before="You live in Haifa, I think."))

    assert [(each.text, each.source_id) for each in made] == [("Likes tea", "m1"), ("Likes tea", "m1")]


@pytest.mark.spec("W-3")
def test_a_quote_is_believed_in_the_message_that_holds_it_and_not_where_two_do(extracting):
    model = extracting([fact("Likes tea", "I like tea", message=1), fact("Says yes", "of course", message=1)])
    made = read(model, "hello there", "I like tea, of course", "of course I do")

    assert [(each.text, each.source_id) for each in made] == [("Likes tea", "m2")]


@pytest.mark.spec("W-3", "W-7")
@for_each(
    ("question", "answer", "is_known"),
    [
        ("You live in Haifa?", "yes, that's right", True),
        ("You live in Haifa?", "כן", True),
        ("You live in Haifa?", "sí", True),
        ("You live in Haifa?", "no", False),
        ("You live in Haifa?", "maybe", False),
        ("You live in Haifa.", "yes", False),
        ("Shall I book it?", "yes", False),
        ("", "yes", False),
    ],
)
def test_a_plain_yes_confirms_what_the_assistant_asked_and_nothing_else(extracting, question, answer, is_known):
    model = extracting([fact("Lives in Haifa", answer, question="You live in Haifa")])
    made = read(model, said(answer, before=question))

    assert [(each.text, each.quote, each.confidence) for each in made] == (
        [("Lives in Haifa", f"You live in Haifa? {answer}", 0.9)] if is_known else []
    )


@pytest.mark.spec("W-3", "W-7")
def test_a_yes_alone_states_nothing(extracting):
    model = extracting([fact("Lives in Haifa", "yes")])

    assert read(model, said("yes", before="You live in Haifa?")) == []


@pytest.mark.spec("W-3")
@for_each(
    ("text", "quote", "is_stated"),
    [
        ("Has 3 children", "my kids Mia, Noa and Tom", False),
        ("Has three children", "my kids Mia, Noa and Tom", False),
        ("Has 3 children", "my three kids", True),
        ("Tiene 3 hijos", "mis tres hijos", True),
        ("יש לה 3 ילדים", "שלושה ילדים", True),
        ("Owes 5000 shekels", "owe him 5,000", True),
        ("Spends 700 a week", "100 a day", False),
        ("Moves on 2026-03-09", "next Monday", True),
    ],
)
def test_a_count_that_was_worked_out_is_not_a_fact(extracting, text, quote, is_stated):
    assert bool(read(extracting([fact(text, quote)]), quote)) is is_stated


@pytest.mark.spec("W-3")
def test_a_model_is_shown_all_that_was_said_in_one_call_and_no_thumbs_alone(extracting):
    model = extracting([])
    read(model, "hello", "what's the weather?", "im off sugar since the accident")
    read(model, "👍", "❤️")

    [asked] = model.asked
    assert all(text in asked[1].text for text in ("hello", "what's the weather?", "im off sugar since the accident"))


@pytest.mark.spec("W-3")
@for_each("by_tool", [True, False])
@for_each(
    "more",
    [
        {"people": None},
        {"companies": "Acme"},
        {"holds_from": ""},
        {"holds_until": "soon"},
        {"type": "place"},
        {"category": {"name": "tea"}},
        {"about": None},
        {"sensitive": "perhaps"},
        {"confidence": "high"},
        {"message": "the first"},
    ],
)
def test_a_field_that_may_be_missing_and_is_mistyped_costs_that_field_and_not_the_fact(extracting, more, by_tool):
    [made] = read(extracting([fact("Likes tea", "I like tea") | more], by_tool=by_tool), "I like tea")

    assert (made.text, made.source_id) == ("Likes tea", "m1")


@pytest.mark.spec("W-3")
@for_each("missing", ["fact", "quote"])
def test_a_fact_without_its_words_is_none(extracting, missing):
    told = {name: value for name, value in fact("Likes tea", "I like tea").items() if name != missing}
    assert read(extracting([told]), "I like tea") == []


@pytest.mark.spec("W-3")
def test_what_is_said_of_somebody_else_is_believed_of_them_and_not_of_the_person(extracting):
    quote = "vive en Lugo"
    of_aunt, of_self = fact("Tía Berta vive en Lugo", quote, about="tía Berta"), fact("Vive en Lugo", quote)
    made = read(extracting([of_aunt, of_self]), "mi tía Berta no viene, vive en Lugo")

    assert {each.text: each.fields("one")["status"] for each in made} == {
        "Tía Berta vive en Lugo": "active",
        "Vive en Lugo": "pending",
    }


@pytest.mark.spec("W-3")
def test_a_model_that_thinks_aloud_is_understood(extracting):
    answer = json.dumps({"facts": [fact("Likes tea", "I like tea")]})
    thought = f'<think>A set {{tea}} or {{"facts": [1]}}?</think>\nHere: {answer} as {{asked}}.'
    [made] = read(extracting(thought, by_tool=False), "I like tea")

    assert made.text == "Likes tea"


@pytest.mark.spec("W-3")
@for_each(
    "answer",
    [
        '{"facts": [{"fact": "Likes tea", "quote": "I like tea",},]}',
        '{"facts": {"fact": "Likes tea", "quote": "I like tea"}}',
        'Here:\n```json\n[\n{"fact": "Likes tea",\n"quote": "I like tea" ,\n} ,\n]\n```',
        'A list [1, 2,] as in a 5" one, {"facts": [{"fact": "Likes\ntea", "quote": "I like tea"}], }',
    ],
)
@for_each("by", ["text", "tool that cannot be read"])
def test_small_slips_of_a_models_json_cost_no_fact(extracting, answer, by):
    broken = AIMessage("", invalid_tool_calls=[invalid_tool_call(name="StatedFacts", args=answer)])
    model = extracting(answer if by == "text" else broken, by_tool=by != "text")
    [made] = read(model, "I like tea")

    assert (made.text, len(model.asked)) == ("Likes tea", 1)


@pytest.mark.spec("W-3")
@for_each("answer", ["[]", "None.\n```json\n[ ]\n```", '{"facts": []}'])
def test_a_model_that_finds_nothing_is_not_asked_again(extracting, answer):
    model = extracting(answer, by_tool=False)
    assert (read(model, "I like tea"), len(model.asked)) == ([], 1)


@pytest.mark.spec("W-3")
@pytest.mark.timeout(60)
@for_each("answer", ['{"facts": [' + '\\"' * 40_000, "{," * 50_000, '"' * 50_001 + ",]", "[{" * 50_000])
def test_an_answer_of_brackets_and_quotes_alone_is_given_up_at_once(extracting, answer):
    assert read(extracting(answer, by_tool=False), "I like tea") == []


@pytest.mark.spec("W-8")
def test_a_day_is_the_one_of_the_persons_own_clock(extracting):
    night = datetime(2026, 3, 2, 1, 30, tzinfo=UTC).astimezone(ZoneInfo("America/New_York"))
    model = extracting([fact("Moved to Ghent on 2026-02-28", "I moved to Ghent yesterday", holds_from="2026-02-28")])
    [made] = read(model, Said(1, "m1", ERIN, "I moved to Ghent yesterday", night))

    assert 'date="2026-03-01, Sunday"' in model.asked[0][1].text
    assert made.valid_from == datetime(2026, 2, 28, tzinfo=ZoneInfo("America/New_York"))


@pytest.mark.spec("W-3")
def test_what_cannot_be_read_is_asked_for_again_with_the_reason(extracting):
    answers = iter(["no JSON at all", [fact("Likes tea", "")], [fact("Likes tea", "I like tea")]])
    model = extracting(lambda _: next(answers))
    [made] = read(model, "I like tea")

    assert made.text == "Likes tea"
    assert [len(messages) for messages in model.asked] == [2, 3, 3]
    assert "no JSON object" in model.asked[1][2].text
    assert "fact 1: quote" in model.asked[2][2].text


@pytest.mark.spec("W-3", "C-13")
@for_each(
    "nonsense",
    [
        "",
        "Sure! Here are the facts.",
        "[" * 5_000,
        "{" * 5_000,
        '{"facts": ' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"facts": "none"}',
        '{"facts": [1, null, "I like tea", {}]}',
        "null",
        "\ud800\x00",
    ],
    ids=lambda text: text[:12].encode("ascii", "replace").decode() or "nothing",
)
@for_each("by_tool", [True, False])
def test_of_nonsense_nothing_is_believed(extracting, nonsense, by_tool, caplog):
    model = extracting(nonsense, by_tool=by_tool)

    assert read(model, "I like tea") == []
    assert len(model.asked) == 3


@pytest.mark.spec("W-3", "C-13")
def test_of_an_answer_of_which_a_part_can_be_read_that_part_is_used(extracting):
    model = extracting([fact("Likes tea", "I like tea"), {"fact": 5}, *[fact("Likes tea", "I like tea")] * 100])
    assert {each.text for each in read(model, "I like tea")} == {"Likes tea"}


class NoSchema(Extracting):
    """A server that refuses tools only when it is called."""

    def _generate(self, messages, stop=None, run_manager=None, **given):
        if given.get("tools") or self.by_tool:
            self.by_tool = False
            raise RuntimeError("this model does not support tools")
        return super()._generate(messages)


@pytest.mark.spec("W-3")
def test_a_model_that_takes_no_schema_is_asked_for_json_from_then_on():
    model = NoSchema(script=lambda _: [fact("Likes tea", "I like tea")], asked=[])
    extraction = ModelExtraction(model)
    for _ in range(2):
        assert [each.text for each in extraction.facts_in((said("I like tea"),))] == ["Likes tea"]
    assert len(model.asked) == 2
    assert "JSON" in model.asked[0][0].text


class Hanging(Extracting):
    """Answers when it is let go."""

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.asked.append(messages)
        GO_ON.wait(60)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("{}"))])


GO_ON = threading.Event()


@pytest.mark.spec("W-3", "W-4")
def test_a_model_that_hangs_is_given_up():
    GO_ON.clear()
    try:
        with pytest.raises(GivenUp):
            read(Hanging(script=str, asked=[]), "I like tea", timeout=timedelta(milliseconds=50))
    finally:
        GO_ON.set()


@pytest.mark.spec("W-4")
def test_a_memory_that_is_closed_waits_for_no_model_and_another_goes_on(opened, says, clock, extracting):
    GO_ON.clear()
    try:
        memory = opened(extraction_model=(model := Hanging(script=str, asked=[])))
        says(memory, ERIN, "I like tea")
        clock.forward(minutes=3)
        memory.extraction.worker.closing.clear()
        memory.extraction.start()
        memory.extraction.worker.wake()
        while not model.asked:
            GO_ON.wait(0.01)
        memory.close()
    finally:
        GO_ON.set()
    other = opened(extraction_model=extracting([fact("Likes tea", "I like tea")]))
    assert other.extraction.jobs.states() == {"pending": 1}
    assert other.extraction.work.next_done()
    assert kept(other, ERIN) == ["Likes tea"]


@pytest.mark.spec("W-3")
def test_a_model_is_taken_by_its_name_and_the_offline_one_refused(database_url, offline_model, monkeypatch):
    with pytest.raises(ConfigurationError, match="finds no facts"):
        PhoneMemory(
            database_url, settings=BY_HAND.model_copy(update={"extraction": "offline"}), embeddings=offline_model
        )
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    named = BY_HAND.model_copy(update={"extraction": "openai:gpt-5-mini"})
    with PhoneMemory(database_url, settings=named, embeddings=offline_model) as memory:
        assert memory.extraction.work._extractor._answers._model.model_name == "gpt-5-mini"
    monkeypatch.setenv("LANGMEM_MODEL", "openai:gpt-5-mini")
    with PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model) as memory:
        assert memory.extraction.work._extractor._answers._model.model_name == "gpt-5-mini"
    monkeypatch.setenv("LANGMEM_MODEL", "offline")
    with PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model) as memory:
        assert isinstance(memory.extraction.work._extractor, RuleExtraction)
