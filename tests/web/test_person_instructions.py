"""Standing instructions on the person's page: added, switched, ranked, deleted, and never a change lost."""

import pytest

from tests.cases import for_each
from tests.web.conftest import Visitor, hidden
from tests.web.sample_person import BEN, ERIN

pytestmark = pytest.mark.spec("U-10", "I-4")


def held(memory, who=ERIN):
    return [
        (each.text, each.priority, each.active)
        for each in memory.instructions.list_instructions(who, active_only=False)
    ]


def only(memory):
    [one] = memory.instructions.list_instructions(ERIN, active_only=False)
    return one


def test_one_is_added_as_it_would_be_in_the_chat(memory, erin):
    assert "No instructions yet" in erin.see("instructions")
    assert "From now on it is done so" in erin.do("instructions", text=" Answer in short ")
    assert "asked for that already" in erin.do("instructions", text="answer in short.")
    assert held(memory) == [("Answer in short", 1, True)]
    assert [each.actor for each in memory.audit.newest(50) if each.action == "instruction.added"] == ["person"]


def test_a_condition_in_words_becomes_one(memory, erin):
    page = erin.do("instructions", text="if day is weekend then say good morning twice")
    assert only(memory).condition == "day is weekend"
    assert 'Only if <code dir="ltr">day is weekend</code>' in page
    memory.person_settings.set_language(ERIN, "he")
    assert '<code dir="rtl">היום הוא סוף השבוע</code>' in erin.see("instructions")


@for_each(("text", "told"), [("", "no text in it"), ("x" * 1_001, "too long")])
def test_what_is_none_is_explained_and_stays_in_the_form(memory, erin, text, told):
    page = erin.do("instructions", status=422, text=text)
    assert told in page
    assert f"{text}</textarea>" in page
    assert held(memory) == []


def test_more_than_there_may_be_are_refused(memory, erin, monkeypatch):
    monkeypatch.setattr("langmem_plugin.memory.instructions.standing_instructions.MOST_INSTRUCTIONS", 1)
    erin.do("instructions", text="Answer in short")
    page = erin.do("instructions", status=422, text="Say it in rhymes")
    assert "instructions already" in page
    assert "Say it in rhymes</textarea>" in page


def test_it_is_switched_ranked_and_deleted(memory, erin):
    erin.do("instructions", text="Answer in short")
    one = only(memory)

    def do(what, **fields):
        seen = hidden(erin.see("instructions"), "seen")
        memory.service.now.forward(seconds=1)
        return erin.do(f"instructions/{one.id}/{what}", seen=seen, **fields)

    assert "Importance: 2 of 10" in do("rank", priority="2")
    do("rank", priority="99")
    assert held(memory) == [("Answer in short", 10, True)]
    assert "Switched off" in do("switch", on="no")
    assert held(memory) == [("Answer in short", 10, False)]
    assert "Switched on" in do("switch", on="yes")
    assert "Deleted" in do("delete")
    assert held(memory) == []


def test_of_two_pages_the_second_sees_what_the_first_did(memory, erin, clock):
    erin.do("instructions", text="Answer in short")
    other, one = Visitor(memory, ERIN), only(memory)
    seen = hidden(other.see("instructions"), "seen")
    clock.forward(seconds=1)
    erin.do(f"instructions/{one.id}/rank", seen=seen, priority="7")

    for what, fields in (("switch", {"on": "no"}), ("rank", {"priority": "2"}), ("delete", {})):
        page = other.do(f"instructions/{one.id}/{what}", status=409, seen=seen, **fields)
        assert "changed elsewhere" in page
        assert "<output>7</output>" in page
    assert held(memory) == [("Answer in short", 7, True)]


def test_another_persons_is_not_there(memory, erin):
    one = memory.instructions.add(BEN, "Answer Ben in short")
    assert "Answer Ben" not in erin.see("instructions")
    seen = one.updated_at.isoformat()
    for what, fields in (("switch", {"on": "no"}), ("rank", {"priority": "2"}), ("delete", {})):
        assert "Answer Ben" not in erin.do(f"instructions/{one.id}/{what}", status=409, seen=seen, **fields)
    assert held(memory, BEN) == [("Answer Ben in short", 1, True)]
