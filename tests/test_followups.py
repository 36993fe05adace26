"""The benchmark of follow-ups: its data can be played, and it counts as right what is right."""

import pytest
from langchain_core.messages import AIMessage

from benchmarks import followups
from langmem_plugin.offline.chat_model import OfflineChatModel
from tests.cases import for_each

PHONE = "+12025550199"


@pytest.fixture
def household(tmp_path):
    return followups.opened(tmp_path / "household.db")


@pytest.fixture
def tools(household):
    return followups.tools_of(household, PHONE)


def call(name, **arguments):
    return [name, arguments]


def one_of(*calls, says=None):
    return {"calls": list(calls), **({"says": says} if says else {})}


SOUP, PIE = call("save_recipe", recipe_id="minestrone"), call("save_recipe", recipe_id="cottage-pie")


@pytest.mark.slow
@pytest.mark.spec("R-3")
@for_each(
    ("made", "expected", "right", "wrong_write"),
    [
        ([SOUP], [one_of(SOUP)], True, False),
        ([SOUP], [one_of(PIE), one_of(SOUP)], True, False),
        ([], [one_of()], True, False),
        ([], [one_of(SOUP)], False, False),
        ([PIE], [one_of(SOUP)], False, True),
        ([SOUP, PIE], [one_of(SOUP)], False, True),
        ([SOUP], [one_of()], False, True),
        ([SOUP, SOUP], [one_of(SOUP)], True, False),
        ([call("get_recipe", recipe_id="minestrone"), SOUP], [one_of(SOUP)], True, False),
        ([call("save_recipe", recipe_id="no-such-soup")], [one_of()], False, False),
        ([call("push_grocery_list")], [one_of()], False, False),
    ],
)
def test_a_write_is_right_when_just_that_is_written(household, tools, made, expected, right, wrong_write):
    score = followups.Score(household, PHONE)
    for name, arguments in made:
        tools[name].invoke(arguments)
    assert score.of(expected, made, "") == (right, wrong_write)


@pytest.mark.spec("R-3")
def test_what_is_written_already_is_right_only_if_it_is_written_again(household, tools):
    tools["save_recipe"].invoke(SOUP[1])
    score = followups.Score(household, PHONE)
    assert score.of([one_of(SOUP)], [], "") == (False, False)
    assert score.of([one_of(SOUP)], [SOUP], "") == (True, False)


@pytest.mark.spec("R-3")
def test_an_order_is_meant_of_what_was_on_the_list_before(household, tools):
    tools["add_to_grocery_list"].invoke({"items": ["bread"]})
    score = followups.Score(household, PHONE)
    tools["push_grocery_list"].invoke({})
    assert score.of([one_of(call("push_grocery_list"))], [call("push_grocery_list")], "") == (True, False)
    assert score.of([one_of()], [call("push_grocery_list")], "") == (False, True)


@pytest.mark.spec("R-3")
@for_each(
    ("made", "expected", "right"),
    [
        ([call("get_calendar")], call("get_calendar", week="this week"), True),
        ([call("get_calendar", week="this week")], call("get_calendar"), True),
        ([call("get_calendar")], call("get_calendar", week="next week"), False),
        ([call("get_budget_summary", category="groceries")], call("get_budget_summary", category="Groceries"), True),
        ([call("get_budget_summary")], call("get_budget_summary", category="Groceries"), False),
        ([], call("get_budget_summary"), False),
        ([call("no_such_tool")], call("get_budget_summary"), False),
    ],
)
def test_a_question_is_right_when_the_data_for_it_were_read(household, made, expected, right):
    assert followups.Score(household, PHONE).of([one_of(expected)], made, "") == (right, False)


@pytest.mark.spec("R-3")
def test_a_reply_that_says_it_is_right_without_a_call(household):
    score = followups.Score(household, PHONE)
    assert score.of([one_of(says=["70"])], [], "It takes 70 minutes.") == (True, False)
    assert score.of([one_of(says=["70"])], [], "No idea.") == (False, False)


@pytest.mark.slow
@pytest.mark.spec("R-3")
def test_two_conversations_are_played_with_the_memory_and_without():
    conversations = [
        {
            "name": "soups",
            "turns": [
                {"say": "a soup for tonight", "given": [call("search_recipes", query="soup")]},
                {"say": "save number 3", "kind": "number", "any": [one_of(SOUP)]},
                {"say": "hello there", "kind": "chat", "any": [one_of()]},
            ],
        },
        {
            "name": "beef",
            "turns": [
                {
                    "say": "beef?",
                    "given": [call("search_recipes", query="beef")],
                    "reply": "1. Slow beef chili\n2. Cottage pie",
                },
                {"say": "save number 2", "kind": "number", "any": [one_of(PIE)]},
            ],
        },
    ]
    model = followups.Watched(under_test=OfflineChatModel())
    ways = {
        way: list(followups.play_all(conversations, model, with_memory=way == "with")) for way in ("with", "without")
    }
    for turns in ways.values():
        assert [(turn.said, turn.right) for turn in turns] == [
            ("save number 3", True),
            ("hello there", True),
            ("save number 2", True),
        ]
        assert turns[0].calls == [("save_recipe", {"recipe_id": "minestrone"})]
        assert len(turns[0].new_tokens) == 2
        assert followups.measures(turns)["model calls a turn"] <= 2
    table = followups.table(ways)
    assert "right, %                           100.0     100.0    1.00" in table


@pytest.mark.spec("R-3")
def test_what_the_server_kept_of_a_prompt_is_not_counted_as_new():
    def told(metadata, timings=()):
        model = followups.Watched.model_construct(under_test=OfflineChatModel(), timings=list(timings))
        return model._new([], AIMessage("", usage_metadata=metadata))

    usage = {"input_tokens": 90, "output_tokens": 1, "total_tokens": 91, "input_token_details": {"cache_read": 80}}
    assert told(usage) == 10
    assert told(usage, [{"prompt_n": 7}]) == 7


@pytest.mark.spec("R-3")
def test_every_conversation_of_the_benchmark_can_be_played(household, tools):
    conversations = followups.read()
    turns = [turn for conversation in conversations for turn in conversation["turns"]]
    referring = [turn for turn in turns if turn.get("kind", "plain") not in followups.NOT_REFERRING]
    assert len(conversations) >= 40
    assert len(referring) >= 0.6 * len(turns)
    assert len({conversation["name"] for conversation in conversations}) == len(conversations)
    for conversation in conversations:
        assert 3 <= len(conversation["turns"]) <= 5
    for turn in turns:
        for name, arguments in [*turn.get("given", ()), *(each for of in turn.get("any", ()) for each in of["calls"])]:
            recipe = arguments.get("recipe_id")
            assert set(arguments) <= set(tools[name].args)
            assert recipe is None or tools["get_recipe"].invoke({"recipe_id": recipe})
