"""What the offline model writes it has read whole, in three languages; of anything else it asks, in the person's language."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from langmem_plugin.offline.chat_model import OfflineChatModel
from tests.cases import for_each


@tool
def add_to_packing_list(items: list[str]) -> dict:
    """Add to the packing list: the items named."""
    return {"items": items}


@tool
def swap_shift(day: str, person: str) -> dict:
    """Swap who works on a day for another person, or put a person on that day."""
    return {"day": day, "person": person}


@pytest.fixture(scope="module")
def model():
    return OfflineChatModel().bind_tools([add_to_packing_list])


@pytest.mark.spec("R-6")
@for_each(
    ("text", "items"),
    [
        ("add socks, a towel and tin of beans to the packing list", ["socks", "towel", "tin of beans"]),
        ("תוסיף לרשימה מגבת וגרביים", ["מגבת", "גרביים"]),
        ("תוסיף לרשימה וניל", ["וניל"]),
    ],
)
def test_items_are_written_as_they_were_counted_up(model, text, items):
    [call] = model.invoke(text).tool_calls

    assert [each.removeprefix("a ") for each in call["args"]["items"]] == items


@pytest.mark.spec("R-6")
@for_each("text", ["add a page from grandma to the packing list", "add socks for Anna to the packing list"])
def test_what_says_more_than_a_name_is_not_torn_into_items(model, text):
    answer = model.invoke(text)

    assert not any(call["args"].get("items") for call in answer.tool_calls)
    assert answer.text.endswith("?") or not answer.tool_calls


@pytest.mark.spec("R-6")
@for_each(
    ("text", "asked"),
    [
        ("delete number 9", "Nothing that I have shown you is “number 9”. Which one do you mean?"),
        ("borra el número 9", "Nada de lo que te he mostrado es “número 9”. ¿A cuál te refieres?"),
        ("תמחק את מספר 9", "שום דבר ממה שהראיתי הוא לא “מספר 9”. למה הכוונה?"),
    ],
)
def test_words_that_fit_nothing_are_asked_about_in_the_language_of_who_wrote_them(text, asked):
    @tool
    def delete_task(task_id: str) -> dict:
        """Delete one task."""
        return {"deleted": task_id}

    shown = [
        HumanMessage("show my tasks"),
        AIMessage("", tool_calls=[{"name": "list_tasks", "args": {}, "id": "1"}]),
        ToolMessage('[{"task_id": "t1", "title": "Tax"}, {"task_id": "t2", "title": "Dentist"}]', tool_call_id="1"),
        AIMessage("1. Tax\n2. Dentist"),
    ]

    answer = OfflineChatModel().bind_tools([delete_task]).invoke([*shown, HumanMessage(text)])

    assert answer.text == asked
    assert not answer.tool_calls
