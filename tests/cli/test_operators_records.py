"""Memories, instructions and people as an operator sees and changes them: tables, JSON, mistakes."""

import json
import re
import subprocess
import sys

import pytest

from tests.cli.conftest import langmem

ERIN, DAD = "+972501234567", "+972507654321"


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_memories_are_added_and_edited_and_what_they_replaced_is_shown(command, memory):
    first = command("memories", "add", ERIN, "Leo is 6 years old", "--json").json["memory"]
    assert first["owner"] == "…567"
    second = command("memories", "edit", first["id"], "Leo is 7 years old", "--json").json["memory"]
    listed = command("memories", "list", ERIN, "--json").json
    assert ([each["text"] for each in listed["memories"]], listed["total"]) == (["Leo is 7 years old"], 1)
    shown = command("memories", "show", second["id"], "--json").json
    assert [each["id"] for each in shown["instead_of"]] == [first["id"]]
    assert command("memories", "show", first["id"], "--json").json["replaced_by"]["id"] == second["id"]
    assert "instead of: Leo is 6 years old" in command("memories", "show", second["id"]).out


@pytest.mark.spec("U-5", "P-7")
def test_what_a_memory_holds_steers_no_terminal_and_passes_for_no_line(command, memory):
    hostile = "Dan \x1b[2J\u202eowes\n  from: command, 2020-01-01\n  personal of …999, active"
    stored = memory.service.remember(ERIN, hostile, quote=hostile)
    for arguments in (["show", stored.id], ["list", ERIN]):
        out = command("memories", *arguments).out
        assert not set(out) & set("\x1b\u202e")
        assert not re.search(r"^ {0,2}(from: command|personal of)", out, re.MULTILINE)
        assert "owes" in out


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_a_memory_is_forgotten_after_a_yes_and_its_text_is_shown_no_more(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes coriander")
    refused = command("memories", "forget", stored.id, code=1, stdin="y\n")
    assert "say --yes" in refused.err
    assert command("memories", "forget", stored.id, "--yes", "--json").json == {"forgotten": stored.id}
    assert "coriander" not in command("memories", "list", ERIN).out
    assert "there is no memory" in command("memories", "show", stored.id, code=1).err


@pytest.mark.spec("U-5")
def test_in_a_pipe_a_row_is_one_line_with_nothing_cut(command, memory):
    text = "Erin's grandmother's recipe: " + "flour and sugar and butter, " * 12 + "עוגה"
    stored = memory.service.remember(ERIN, text + "\nand\ta pinch of salt")
    [head, row] = command("memories", "list", ERIN, COLUMNS="40").rows
    assert head == ["id", "text", "type", "state", "told"]
    assert (row[0], row[1]) == (stored.id, " ".join(stored.text.split()))


@pytest.mark.spec("U-5")
def test_a_terminal_without_the_letters_gets_escapes_and_json_stays_json(command, memory):
    memory.service.remember(ERIN, "לאו אוהב תה 🫖")
    assert r"\u05dc" in command("memories", "list", ERIN, encoding="ascii").out
    told = command("memories", "list", ERIN, "--json", encoding="ascii").json
    assert told["memories"][0]["text"] == "לאו אוהב תה 🫖"


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_a_question_is_answered_with_signals(command, memory):
    memory.service.remember(ERIN, "Leo is allergic to peanuts")
    memory.service.remember(ERIN, "The car is in the garage")
    memory.service.remember(DAD, "Dad is allergic to cats")
    told = command("recall", "what is Leo allergic to?", "--phone", ERIN, "--json", "--min-similarity", "0.3").json
    assert told["results"][0]["text"] == "Leo is allergic to peanuts"
    assert told["results"][0]["signals"]["text"] > 0
    assert "cats" not in json.dumps(told)
    [head, first] = command("recall", "Leo allergic peanuts", "--phone", ERIN).rows
    assert head == ["similarity", "text", "id"]
    assert first[1] == "Leo is allergic to peanuts"
    nothing = command("recall", "who won the cup?", "--phone", ERIN, "--min-similarity", "0.99")
    assert "nothing is similar enough" in nothing.err


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_people_are_listed_masked_linked_and_parted(command, memory):
    memory.service.remember(ERIN, "Erin likes tea")
    memory.sessions.add_message(DAD, "user", "hello")
    assert [row[0] for row in command("people", "list").rows[1:]] == ["…567", "…321"]
    listed = command("people", "list", "--reveal", "--json").json["people"]
    assert [(each["key"], each["memories"], each["sessions"]) for each in listed] == [(ERIN, 1, 0), (DAD, 0, 1)]
    assert "say --yes" in command("people", "link", ERIN, DAD, code=1).err
    assert command("people", "link", ERIN, DAD, "--yes", "--json").json == {"merged": True}
    shown = command("people", "show", DAD, "--reveal", "--json").json
    assert shown["identifiers"] == [ERIN, DAD]
    assert (shown["stored"]["memories"], shown["stored"]["sessions"]) == (1, 1)
    assert "a person of its own" in command("people", "unlink", DAD).out
    assert [row[0] for row in command("people", "list").rows[1:]] == ["…567", "…321"]
    assert command("people", "link", ERIN, "telegram:55", "--yes", "--json").json == {"merged": False}
    assert command("people", "unlink", "telegram:55", "--json").json == {"unlinked": True}
    assert "nothing is stored of this person" in command("people", "show", "+972509999999", code=1).err
    assert "--after" in command("people", "list", "--help").out
    assert [row[0] for row in command("people", "list", "--after", ERIN, "--reveal").rows[1:]] == [DAD]


@pytest.mark.spec("U-5", "C-20")
def test_nobody_is_linked_to_or_moved_to_an_identifier_that_is_mistyped(command, memory):
    memory.service.remember(ERIN, "Erin likes tea")
    for verb in ("link", "moved"):
        assert "no phone and no chat id" in command("people", verb, ERIN, "garbage", "--yes", code=1).err
        assert "without its country" in command("people", verb, "0501234567", DAD, "--yes", code=1).err
    assert memory.people.identifiers(ERIN) == [ERIN]


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_a_number_that_no_database_can_hold_is_a_mistake_in_one_line(command):
    huge = "9" * 25
    for arguments in (["people", "list"], ["memories", "list", ERIN], ["sessions", "list"], ["audit"]):
        assert "is not in the range" in command(*arguments, "--limit", huge, code=2).err
    assert "is not in the range" in command("memories", "list", ERIN, "--offset", huge, code=2).err
    command("recall", "tea", "--phone", ERIN, "--limit", huge)


@pytest.mark.slow
@pytest.mark.spec("U-5", "P-5")
def test_whoever_reads_a_person_is_noted(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes tea")
    for arguments in (["memories", "list", ERIN], ["recall", "tea", "--phone", ERIN], ["people", "show", ERIN]):
        command(*arguments)
    command("memories", "show", stored.id)
    read = [each for each in command("audit", "--json").json["entries"] if each["action"] == "operator.read"]
    assert [each["subject"] for each in read] == ["memories", "memories", "person", stored.id]
    assert len({each["owner"] for each in read}) == 1


@pytest.mark.spec("U-5")
def test_an_id_that_two_people_have_needs_the_phone(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes tea")
    memory.service.take_in(DAD, [stored.memory])
    assert "--phone" in command("memories", "show", stored.id, code=1).err
    assert "Erin likes tea" in command("memories", "show", stored.id, "--phone", DAD).out


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_the_version_the_help_and_the_completion_are_there():
    assert langmem("--version").out.startswith("langmem ")
    assert "--install-completion" in langmem("--help").out
    completed = langmem(_LANGMEM_COMPLETE="complete_bash", COMP_WORDS="langmem memo", COMP_CWORD="1")
    assert completed.out.split() == ["memories"]
    assert langmem("no-such-command", code=2).out == ""


@pytest.mark.slow
@pytest.mark.spec("U-5", "C-15")
def test_sessions_and_their_health_are_told_to_programs(command, memory):
    memory.sessions.add_message(ERIN, "user", "find me a chicken dinner")
    [session] = command("sessions", "list", "--json").json["sessions"]
    assert (session["whatsapp_chat"], session["message_counter"]) == ("…567", 1)
    shown = command("sessions", "show", session["session_id"], "--json")
    assert shown.json["messages"][0]["content"] == "find me a chicken dinner"
    assert ERIN not in shown.out
    assert command("doctor", "--json").json["sound"] is True
    assert "langmem keys new" in command("doctor", "--json").json["in_the_open"]
    assert "no keys: whoever reads the database's files" in command("doctor").out
    with memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_checkpoint SET payload = substr(payload, 1, 20)")
    damaged = command("doctor", "--json", code=1).json
    assert (damaged["sound"], damaged["sessions"][0]["id"]) == (False, session["session_id"])
    assert command("doctor", "--rebuild", "--json").json["rebuilt"] == [session["session_id"]]
    assert "say --yes" in command("sessions", "purge", session["session_id"], code=1).err
    assert command("sessions", "purge", session["session_id"], "--yes", "--json").json["messages"] == 1
    assert command("resolve", "number 2", "--phone", ERIN, "--json").json["references"] == []
    assert command("expire", "--json").json["sessions_archived"] == 0


@pytest.mark.slow
@pytest.mark.spec("U-5", "M-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_command_that_embeds_nothing_begins_to_embed_nothing(database_url, memory):
    memory.service.remember(ERIN, "Erin likes coriander")
    command = [sys.executable, "-c", "from langmem_plugin.cli import app; app()", "memories", "list", ERIN]
    ended = subprocess.run([*command, "--database", database_url], capture_output=True, text=True, check=True)
    assert "coriander" in ended.stdout
    assert ended.stderr == ""
