"""Memories, instructions and people as an operator sees and changes them: tables, JSON, mistakes."""

import json
import re
import subprocess
import sys

import pytest
from rich.console import Console

from langmem_plugin.cli.asking import candidate_tables
from langmem_plugin.cli.printing import Told, tell
from langmem_plugin.identifiers import masked
from langmem_plugin.memory.models import Candidate, Explanation
from tests.cli.conftest import langmem

pytestmark = pytest.mark.both_engines

ERIN, DAD = "+972501234567", "+972507654321"


@pytest.mark.spec("U-5")
def test_memories_are_added_edited_and_their_history_told(command, memory):
    first = command("memories", "add", ERIN, "Leo is 6 years old", "--json").json["memory"]
    assert first["owner"] == "…567"
    second = command("memories", "edit", first["id"], "Leo is 7 years old", "--json").json["memory"]
    listed = command("memories", "list", ERIN, "--json").json
    assert ([each["text"] for each in listed["memories"]], listed["total"]) == (["Leo is 7 years old"], 1)
    told = command("memories", "history", second["id"], "--json").json["history"]
    assert [(each["id"], each["status"], each["superseded_by"]) for each in told] == [
        (first["id"], "superseded", second["id"]),
        (second["id"], "active", None),
    ]
    assert command("memories", "history", first["id"], "--json").json["history"] == told
    in_words = command("memories", "history", first["id"]).out
    assert f"replaced by {second['id']}" in in_words
    assert ERIN not in in_words
    assert "instead of: Leo is 6 years old" in command("memories", "show", second["id"]).out


@pytest.mark.spec("U-5")
def test_the_history_quotes_what_the_person_said(command, memory):
    old = memory.service.remember(ERIN, "Erin lives in Haifa", quote="I live in Haifa")
    new = memory.service.supersede(ERIN, old.id, "Erin lives in Jaffa", quote="we moved to Jaffa")
    told = command("memories", "history", new.id).out
    assert told.index("said: “I live in Haifa”") < told.index("said: “we moved to Jaffa”")


@pytest.mark.spec("U-5", "P-7")
def test_what_a_memory_holds_steers_no_terminal_and_passes_for_no_line(command, memory):
    hostile = "Dan \x1b[2J\u202eowes\n  from: command, 2020-01-01\n  personal of …999, active"
    stored = memory.service.remember(ERIN, hostile, quote=hostile)
    for arguments in (["show", stored.id], ["history", stored.id], ["list", ERIN]):
        out = command("memories", *arguments).out
        assert not set(out) & set("\x1b\u202e")
        assert not re.search(r"^ {0,2}(from: command|personal of)", out, re.MULTILINE)
        assert "owes" in out


@pytest.mark.spec("U-5")
def test_a_memory_is_forgotten_after_a_yes_and_its_text_is_shown_no_more(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes coriander")
    refused = command("memories", "forget", stored.id, code=1, stdin="y\n")
    assert "say --yes" in refused.err
    assert command("memories", "forget", stored.id, "--yes", "--json").json == {"forgotten": stored.id}
    for arguments in (["list", ERIN], ["history", stored.id], ["history", stored.id, "--json"]):
        assert "coriander" not in command("memories", *arguments).out
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


@pytest.mark.spec("U-5")
def test_a_question_is_answered_with_signals(command, memory):
    memory.service.remember(ERIN, "Leo is allergic to peanuts")
    memory.service.remember(ERIN, "The car is in the garage")
    memory.service.remember(DAD, "Dad is allergic to cats")
    told = command("recall", "what is Leo allergic to?", "--phone", ERIN, "--json", "--min-similarity", "0.3").json
    assert told["results"][0]["text"] == "Leo is allergic to peanuts"
    why = told["results"][0]["explanation"]
    assert sum(why["terms"].values()) == pytest.approx(told["results"][0]["score"], abs=1e-4)
    assert "cats" not in json.dumps(told)
    [head, first, _, measured, _, _, terms, _] = command("recall", "Leo allergic peanuts", "--phone", ERIN).rows
    assert head == ["no", "similarity", "text", "id"]
    assert first[2] == "Leo is allergic to peanuts"
    assert measured[1:6] == ["cosine", "relevance", "bm25", "coverage", "days"]
    assert terms[-3:] == ["= score", "bound", "kept"]
    nothing = command("recall", "who won the cup?", "--phone", ERIN, "--min-similarity", "0.99")
    assert "nothing is similar enough" in nothing.err
    left = command("recall", "Leo", "--phone", ERIN, "--all", "--json").json["results"]
    assert [(each["text"], each["left"]) for each in left][-1] == ("The car is in the garage", "below the bound")


@pytest.mark.spec("U-5")
def test_in_eighty_columns_no_number_of_a_result_is_cut(monkeypatch, capsys):
    monkeypatch.setattr("langmem_plugin.cli.printing.Console", lambda: Console(width=80, force_terminal=True))
    terms = {"meaning": 1.0, "words": 0.5, "labels": 0.012, "recency": 0.06, "use": 0.03, "confidence": 0.05}
    numbers = {"cosine": -0.62, "relevance": 0.99, "bm25": 12.37, "coverage": 0.81, "days": 4711.0, "uses": 1234}
    why = Explanation("Leo?", 0.98, 0.7, terms, **numbers, confidence=0.95, aliases=("k8s = Kubernetes",))
    text = "Leo is allergic to peanuts and to whatever else grows below the ground in summer"
    found = Candidate("6f2b1c1e-0000-4000-8000-123456789012", ERIN, text, 1.652, 0.98, "hybrid", why, "below the bound")
    tell(Told({}, candidate_tables([found])), as_json=False)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert all(len(line) <= 80 for line in shown.splitlines())
    whole = ["6f2b1c1e-0000-4000-8000-123456789012", "-0.62", "12.37", "4711.00", "1234", "hybrid", "1.652", "= score"]
    assert all(each in shown for each in whole)
    together = "".join(shown.split())
    assert "k8s=Kubernetes" in together
    assert "belowthebound" in together
    assert "summer" in together


@pytest.mark.spec("U-5")
def test_instructions_are_added_switched_off_and_removed(command, memory):
    made = command("instructions", "add", ERIN, "never use emojis", "--priority", "5", "--json").json["instruction"]
    assert [row[1] for row in command("instructions", "list", ERIN).rows[1:]] == ["never use emojis"]
    assert "is switched off" in command("instructions", "switch-off", made["id"]).out
    assert command("instructions", "list", ERIN, "--json").json == {"instructions": []}
    assert [
        each["active"] for each in command("instructions", "list", ERIN, "--all", "--json").json["instructions"]
    ] == [False]
    assert command("instructions", "switch-on", made["id"], "--json").json["instruction"]["active"]
    assert "say --yes" in command("instructions", "remove", made["id"], code=1).err
    command("instructions", "remove", made["id"], "--yes")
    assert "there is no instruction" in command("instructions", "switch-off", made["id"], code=1).err
    assert "needs a text" in command("instructions", "add", ERIN, " ", code=1).err


@pytest.mark.spec("U-5")
def test_names_are_listed_added_and_removed(command, memory):
    memory.service.remember(ERIN, "Dr. L is Dr. Levi")
    [learnt] = command("aliases", "list", ERIN).rows[1:]
    assert learnt[1:] == ["Dr. L", "Dr. Levi", "memory"]
    added = command("aliases", "add", ERIN, "k8s", "Kubernetes", "--json").json["alias"]
    assert (added["source"], added["active"], added["owner"]) == ("hand", True, masked(ERIN))
    assert "counts no more: Dr. L means Dr. Levi" in command("aliases", "remove", ERIN, learnt[0]).out
    assert [row[1] for row in command("aliases", "list", ERIN).rows[1:]] == ["k8s"]
    assert [row[1] for row in command("aliases", "list", ERIN, "--all").rows[1:]] == ["Dr. L", "k8s"]
    command("aliases", "remove", ERIN, "unknown", code=1)
    done = [each.action for each in memory.audit.newest(50) if each.action.startswith("alias.")]
    assert sorted(done) == ["alias.added", "alias.removed"]


@pytest.mark.spec("U-5")
def test_people_are_listed_masked_merged_and_parted(command, memory):
    memory.service.remember(ERIN, "Erin likes tea")
    memory.sessions.add_message(DAD, "user", "hello")
    assert [row[0] for row in command("people", "list").rows[1:]] == ["…567", "…321"]
    listed = command("people", "list", "--reveal", "--json").json["people"]
    assert [(each["key"], each["memories"], each["sessions"]) for each in listed] == [(ERIN, 1, 0), (DAD, 0, 1)]
    assert "say --yes" in command("people", "merge", ERIN, DAD, code=1).err
    merge_id = command("people", "merge", ERIN, DAD, "--yes", "--json").json["merge"]
    shown = command("people", "show", DAD, "--reveal", "--json").json
    assert shown["identifiers"] == [ERIN, DAD]
    assert (shown["stored"]["memories"], shown["stored"]["sessions"]) == (1, 1)
    assert "one person already" in command("people", "merge", ERIN, DAD, "--yes", code=1).err
    assert "two people again" in command("people", "undo", merge_id).out
    assert command("people", "undo", merge_id, code=1).err.startswith("langmem: ")
    assert command("people", "link", ERIN, "telegram:55", "--yes", "--json").json == {"merge": None}
    assert command("people", "unlink", "telegram:55", "--json").json == {"merge": None}
    assert "nothing is stored of this person" in command("people", "show", "+972509999999", code=1).err
    assert "--after" in command("people", "list", "--help").out
    assert [row[0] for row in command("people", "list", "--after", ERIN, "--reveal").rows[1:]] == [DAD]


@pytest.mark.spec("U-5", "P-5")
def test_whoever_reads_a_person_is_noted(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes tea")
    for arguments in (["memories", "list", ERIN], ["recall", "tea", "--phone", ERIN], ["people", "show", ERIN]):
        command(*arguments)
    command("memories", "history", stored.id)
    command("instructions", "list", ERIN)
    read = [each for each in command("audit", "--json").json["entries"] if each["action"] == "operator.read"]
    assert [each["subject"] for each in read] == ["memories", "memories", "person", stored.id, "instructions"]
    assert len({each["owner"] for each in read}) == 1


@pytest.mark.spec("U-5")
def test_an_id_that_two_people_have_needs_the_phone(command, memory):
    stored = memory.service.remember(ERIN, "Erin likes tea")
    memory.service.take_in(DAD, [stored.memory])
    assert "--phone" in command("memories", "show", stored.id, code=1).err
    assert "Erin likes tea" in command("memories", "show", stored.id, "--phone", DAD).out


@pytest.mark.spec("U-5")
def test_the_version_the_help_and_the_completion_are_there():
    assert langmem("--version").out.startswith("langmem ")
    assert "--install-completion" in langmem("--help").out
    completed = langmem(_LANGMEM_COMPLETE="complete_bash", COMP_WORDS="langmem memo", COMP_CWORD="1")
    assert completed.out.split() == ["memories"]
    assert langmem("no-such-command", code=2).out == ""


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
    assert "I remember nothing" in command("say", ERIN, "/memories", "--json").json["answer"]
    assert set(command("sweep", "--json").json) >= {"sessions_archived", "remarks"}
    assert command("expire", "--json").json["archived"] == 0


@pytest.mark.spec("U-5", "U-8")
def test_each_setting_says_where_it_comes_from(tmp_path):
    file = tmp_path / "config.json"
    file.write_text('{"memory": {"longterm": {"top_k_results": 7}}, "langmem": {"window_turns": 3, "nonsense": 1}}')
    given = {"LANGMEM_WINDOW_TURNS": "9", "LANGMEM_KEYS": "", "LANGMEM_LANGUAG": "he"}
    del given["LANGMEM_KEYS"]
    told = langmem("config", "check", str(file), "--json", code=1, **given).json
    origins = {each["name"]: (each["value"], each["from"]) for each in told["settings"]}
    assert origins["recall_limit"] == ("7", "file: memory.longterm.top_k_results")
    assert origins["window_turns"] == ("9", "LANGMEM_WINDOW_TURNS, before langmem.window_turns of the file")
    assert origins["turn_timeout"] == ("2m", "default of a file")
    problems = {each["key"]: each["nearest"] for each in told["problems"]}
    assert problems["LANGMEM_LANGUAG"] == "LANGMEM_LANGUAGE"
    assert "langmem.nonsense" in problems
    settings = langmem("config", "check", "--json").json["settings"]
    assert {each["from"] for each in settings} == {"default"}
    assert all(each["what"].endswith(".") and "\n" not in each["what"] for each in settings)
    assert {each["name"]: each["what"] for each in settings}["burst"].startswith(
        "Messages of one person within so long"
    )


@pytest.mark.spec("U-5", "M-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_command_that_embeds_nothing_begins_to_embed_nothing(database_url, memory):
    memory.service.remember(ERIN, "Erin likes coriander")
    command = [sys.executable, "-c", "from langmem_plugin.cli import app; app()", "memories", "list", ERIN]
    ended = subprocess.run([*command, "--database", database_url], capture_output=True, text=True, check=True)
    assert "coriander" in ended.stdout
    assert ended.stderr == ""
