"""`langmem analytics`: a person's memories, or everybody's, in numbers, as a process."""

import csv
import json

import pytest

from tests.cli.conftest import langmem

ERIN = "+972501234567"


@pytest.fixture
def fact(memory):
    memory.service.remember(ERIN, "Erin lives in Haifa", category="my own place")
    made = memory.service.remember(ERIN, "Erin is allergic to peanuts", source_type="extracted_from_chat")
    memory.service.note_access(ERIN, {made.id: 0.9}, "cited")
    return made


@pytest.mark.spec("A-6", "U-5")
def test_of_one_person_with_texts_and_of_everybody_without(command, fact):
    person = command("analytics", "050-123-4567", "--json", LANGMEM_DEFAULT_REGION="IL").json
    assert person["summary"]["total_memories"] == 2
    assert person["usage_stats"]["most_accessed_memories"][0]["fact"] == "Erin is allergic to peanuts"
    everybody = command("analytics", "--json").out
    assert json.loads(everybody)["summary"]["people"] == 1
    assert "peanuts" not in everybody
    assert "my own place" not in everybody


@pytest.mark.spec("A-6", "U-5")
def test_as_a_table_of_numbers_and_for_people(command, fact):
    rows = list(csv.reader(command("analytics", ERIN, "--csv", "--days", "1").out.splitlines()))
    assert ["summary", "", "active_memories", "2"] in rows
    assert len([row for row in rows if row[0] == "growth_trend" and row[2] == "new_memories"]) == 1
    told = command("analytics", ERIN).out
    assert "2 memories: 2 active" in told
    assert "source\textracted_from_chat\t1\t50.0%" in told


@pytest.mark.spec("A-6", "U-5", "P-5")
def test_that_an_operator_looked_is_noted_and_what_contradicts_itself_is_refused(command, fact):
    command("analytics")
    assert command("audit", "--json").json["entries"][-1]["action"] != "operator.read"
    command("analytics", ERIN)
    assert command("audit", "--json").json["entries"][-1]["action"] == "operator.read"
    assert "--json or --csv" in command("analytics", "--json", "--csv", code=1).err
    command("analytics", "--days", "367", code=2)


@pytest.mark.spec("U-5")
def test_a_database_that_is_not_there_is_not_made(tmp_path):
    ended = langmem("analytics", "--database", f"sqlite:///{tmp_path}/none.db", code=1)
    assert "there is no database" in ended.err
    assert list(tmp_path.iterdir()) == []
