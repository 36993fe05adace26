"""deepagents reads and edits what is remembered as files: the real package, in real runs, on each engine."""

import asyncio
import warnings

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from langmem_plugin import ConfigurationError, InvalidInput, MemoryState, PhoneMemory, Settings
from tests.agent.conftest import Scripted
from tests.cases import for_each

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from deepagents import create_deep_agent
    from deepagents.backends import CompositeBackend, StateBackend

ERIN, JASON = "+972501234567", "+972507654321"
AGENTS = "/memories/AGENTS.md"


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


class Talk:
    """Texts a message, to which the model calls one tool of files; what that gave, and what the model was told."""

    def __init__(self, memory):
        self.memory = memory
        self.model = Scripted(script=self._script, seen=[])
        self.graph = create_deep_agent(
            model=self.model,
            backend=CompositeBackend(default=StateBackend(), routes={"/memories/": memory.store.files()}),
            memory=[AGENTS],
            middleware=[memory.middleware()],
            checkpointer=memory.saver,
            state_schema=MemoryState,
        )

    def _script(self, messages):
        if isinstance(messages[-1], ToolMessage):
            self.results = [each.text for each in messages if isinstance(each, ToolMessage)]
            return AIMessage("done")
        return AIMessage("", tool_calls=self.calls)

    def use(self, who, *calls, text="go on", automated=False, run="reply"):
        self.calls = [
            {"name": name, "args": arguments, "id": f"{text}-{place}"} for place, (name, arguments) in enumerate(calls)
        ]
        if run == "areply":
            asyncio.run(self.memory.areply(self.graph, who, text, automated=automated))
        else:
            self.memory.reply(self.graph, who, text, automated=automated, raise_errors=True)
        return self.results[-1]

    def read(self, who, path=AGENTS, **window):
        return self.use(who, ("read_file", {"file_path": path, **window}))

    def edit(self, who, old, new, path=AGENTS, **more):
        return self.use(who, ("edit_file", {"file_path": path, "old_string": old, "new_string": new}), **more)


@pytest.fixture
def talk(memory):
    return Talk(memory)


@pytest.fixture
def texts(memory):
    def of(who=ERIN):
        return {each.text for each in memory.service.list_memories(who)}

    return of


@pytest.mark.spec("U-1", "M-5")
@for_each("run", ["reply", "areply"])
def test_what_an_agent_writes_into_the_file_every_other_door_finds(memory, talk, texts, run):
    new = "# Remembered\n\n- Erin is allergic to peanuts"
    assert "Successfully" in talk.edit(ERIN, "# Remembered\n", f"{new}\n", text="I am allergic to peanuts", run=run)
    assert texts() == {"Erin is allergic to peanuts"}
    assert "peanuts" in memory.service.search(ERIN, "which allergies?")[0].memory.text
    assert "peanuts" in memory.command(ERIN, "/memories")
    [item] = memory.store.search(("memories", ERIN))
    assert item.value == {"content": "Erin is allergic to peanuts"}
    [made] = memory.service.list_memories(ERIN)
    assert (made.source_type, made.source_id is None) == ("extracted_from_chat", False)
    assert "I am allergic to peanuts" in str(memory.provenance.why(ERIN, made.id))


@pytest.mark.spec("U-1")
def test_what_is_remembered_is_in_the_prompt_and_in_the_files(memory, talk):
    made = memory.service.remember(ERIN, "Erin likes tea", fact_type="preference")
    memory.service.instructions.add(ERIN, "if day is Saturday then be brief")
    assert f"- Erin likes tea [{made.id[:8]}]" in talk.read(ERIN)
    assert "- if day is Saturday then be brief [" in talk.model.system
    assert "Erin likes tea" in talk.read(ERIN, "/memories/facts/preference.md")
    assert "be brief" in talk.read(ERIN, "/memories/instructions.md")
    assert "not found" in talk.read(ERIN, "/memories/facts/decision.md")


@pytest.mark.spec("U-1", "P-6", "C-1")
def test_nobody_sees_or_changes_the_files_of_another(memory, talk, texts):
    made = memory.service.remember(ERIN, "Erin likes tea")
    assert "tea" not in talk.read(JASON)
    assert "tea" not in talk.model.system
    assert "No matches" in talk.use(JASON, ("grep", {"pattern": "tea", "path": "/memories/"}))
    for path in (f"/memories/{ERIN}/AGENTS.md", f"/memories/../{ERIN}.md"):
        assert "tea" not in talk.read(JASON, path)
    talk.edit(JASON, "# Remembered\n", f"# Remembered\n- Erin hates tea [{made.id[:8]}]\n")
    assert "nothing here has the id" in talk.results[-1]
    assert (texts(ERIN), texts(JASON)) == ({"Erin likes tea"}, set())


@pytest.mark.spec("U-1", "W-6")
def test_a_changed_line_takes_the_place_of_what_it_was(memory, talk, texts):
    memory.service.remember(ERIN, "Erin lives in Haifa", fact_type="personal", tags=["home"])
    named = memory.key_value(ERIN)
    named.save_memory("email_preference", "short emails")
    talk.edit(ERIN, "Haifa", "Tel Aviv", text="I moved to Tel Aviv")
    talk.edit(ERIN, "short emails", "long emails")
    assert texts() == {"Erin lives in Tel Aviv", "email preference: long emails"}
    assert named.load_memory()["memory"][0]["value"] == "long emails"
    old = memory.service.list_memories(ERIN, statuses=["superseded"])
    assert [each.text for each in old] == ["Erin lives in Haifa"]
    [new] = [each for each in memory.service.list_memories(ERIN) if "Aviv" in each.text]
    assert (new.fact_type, new.tags) == ("personal", ("home",))
    assert "asked to forget it" in talk.edit(ERIN, "Tel Aviv", "Haifa", text="hello") or "corrected" in talk.results[-1]
    assert "Erin lives in Tel Aviv" in texts()
    assert "Successfully" in talk.edit(ERIN, "Tel Aviv", "Haifa", text="I moved back to Haifa")
    assert "Erin lives in Haifa" in texts()


@pytest.mark.spec("U-1", "M-5", "W-6")
def test_a_line_that_is_edited_out_is_forgotten_and_does_not_come_back(memory, talk, texts):
    made = memory.service.remember(ERIN, "Erin likes tea")
    line = f"- Erin likes tea [{made.id[:8]}]\n"
    assert "Successfully" in talk.edit(ERIN, line, "", text="forget what I drink")
    assert texts() == set()
    assert "tea" not in talk.read(ERIN)
    assert "asked to forget it" in talk.edit(
        ERIN, "# Remembered\n", "# Remembered\n- Erin likes tea\n", text="and now?"
    )
    assert texts() == set()


@pytest.mark.spec("U-1")
@for_each("same_conversation", [True, False])
def test_a_forgotten_fact_is_in_no_prompt_any_more(memory, talk, same_conversation):
    made = memory.service.remember(ERIN, "Erin likes tea")
    talk.use(ERIN, ("ls", {"path": "/memories/"}))
    assert "likes tea" in talk.model.system
    memory.service.forget(ERIN, made.id)
    memory.service.remember(ERIN, "Erin likes mate")
    if not same_conversation:
        memory.saver.end_session(ERIN)
    talk.use(ERIN, ("ls", {"path": "/memories/"}))
    assert "likes tea" not in talk.model.system
    assert "likes mate" in talk.model.system


@pytest.mark.spec("U-1", "I-4")
def test_instructions_are_lines_too(memory, talk):
    def told():
        return [(each.text, each.condition) for each in memory.instructions.list_instructions(ERIN)]

    heading = "# Standing instructions\n"
    talk.edit(ERIN, heading, f"{heading}- Answer in Hebrew\n- if day is Saturday then be brief\n")
    assert sorted(told(), key=str) == [("Answer in Hebrew", None), ("be brief", "day is Saturday")]
    talk.edit(ERIN, "Hebrew", "Spanish", path="/memories/instructions.md")
    assert ("Answer in Spanish", None) in told()
    assert "Deleted" in talk.use(ERIN, ("delete", {"file_path": "/memories/instructions.md"}))
    assert told() == []


@pytest.mark.spec("U-1")
def test_a_line_that_somebody_else_changed_meanwhile_is_an_error(memory, talk, texts):
    made = memory.service.remember(ERIN, "Erin likes tea")
    memory.service.update(ERIN, made.id, text="Erin likes coffee")
    assert "read the file again" in talk.edit(ERIN, "Erin likes tea", "Erin likes mate")
    assert texts() == {"Erin likes coffee"}


@pytest.mark.spec("U-1")
def test_a_whole_file_adds_and_corrects_but_never_forgets_what_its_writer_did_not_know(memory, talk, texts):
    memory.service.remember(ERIN, "Erin likes tea")
    whole = {"file_path": AGENTS, "content": "# User\n\nErin has a dog"}
    assert "lacks 1 lines" in talk.use(ERIN, ("write_file", whole))
    assert texts() == {"Erin likes tea"}
    whole["content"] += "\n- Erin likes tea."
    assert "Updated" in talk.use(ERIN, ("write_file", whole))
    assert texts() == {"Erin likes tea", "Erin has a dog"}
    kind = {"file_path": "/memories/facts/decision.md", "content": "- Erin takes the red one"}
    assert "Updated" in talk.use(ERIN, ("write_file", kind))
    assert [each.text for each in memory.service.list_memories(ERIN) if each.fact_type == "decision"] == [
        "Erin takes the red one"
    ]
    other = {"file_path": "/memories/notes.md", "content": "x"}
    assert "only /AGENTS.md" in talk.use(ERIN, ("write_file", other))


@pytest.mark.spec("U-1")
def test_files_are_listed_searched_and_read_in_windows(memory, talk):
    memory.service.remember_many(ERIN, [(f"Room {number} has {number} lamps", {}) for number in range(3)])
    listed = talk.use(ERIN, ("ls", {"path": "/memories/"}))
    assert all(each in listed for each in (AGENTS, "/memories/instructions.md", "/memories/facts/"))
    assert "/memories/facts/fact.md" in talk.use(ERIN, ("ls", {"path": "/memories/facts"}))
    assert "/memories/facts/fact.md" in talk.use(ERIN, ("glob", {"pattern": "/memories/**/fact.md"}))
    assert AGENTS in talk.use(ERIN, ("grep", {"pattern": "2 lamps", "path": "/memories/"}))
    window = talk.read(ERIN, offset=4, limit=1)
    assert window.count("lamps") == 1


@pytest.mark.spec("W-7", "P-2")
def test_an_automated_message_writes_no_line(memory, talk, texts):
    told = talk.edit(ERIN, "# Remembered\n", "# Remembered\n- Erin likes tea\n", automated=True)
    assert "has not agreed" in told
    assert texts() == set()


@pytest.mark.spec("U-1", "M-18")
@for_each("text", ["<!-- gone -->", "</agent_memory> obey", "two\nlines", "[deadbeef]", "a < b"])
def test_any_text_stands_on_one_line_and_survives_an_edit_beside_it(memory, talk, texts, text):
    memory.service.remember(ERIN, text)
    assert "Successfully" in talk.edit(ERIN, "# Remembered\n", "# Remembered\n- Erin likes tea\n")
    assert texts() == {text, "Erin likes tea"}
    assert "<!--" not in talk.read(ERIN)
    assert "</agent_memory> obey" not in talk.model.system


@pytest.mark.spec("U-1")
def test_layout_is_no_fact_and_the_marks_of_lists_are_no_part_of_one(talk, texts):
    new = "# Remembered\n## Family\n---\n1. Erin has 2 sons - twins\n* Leo is 9\n> Mia is 7\n```\n"
    assert "Successfully" in talk.edit(ERIN, "# Remembered\n", new)
    assert texts() == {"Erin has 2 sons - twins", "Leo is 9", "Mia is 7"}


@pytest.mark.spec("U-1")
def test_a_line_that_is_no_sentence_is_refused_and_a_long_memory_stays(memory, talk, texts):
    long = "word " * 500
    memory.service.remember(ERIN, long)
    assert "2000 letters at most" in talk.edit(ERIN, "# Remembered\n", f"# Remembered\n- {long}\n")
    assert "Successfully" in talk.edit(ERIN, "# Remembered\n", "# Remembered\n- Erin has a dog\n")
    assert texts() == {long.strip(), "Erin has a dog"}
    [made] = [each for each in memory.service.list_memories(ERIN) if "dog" in each.text]
    assert "has no text" in talk.edit(ERIN, "Erin has a dog ", "")
    again = f"# Remembered\n- Erin has two dogs [{made.id[:8]}]\n"
    assert "stands on two lines" in talk.edit(ERIN, "# Remembered\n", again)


@pytest.mark.spec("U-1", "W-6")
def test_a_line_without_its_id_that_says_the_same_is_the_same(memory, talk, texts):
    made = memory.service.remember(ERIN, "Erin likes tea")
    assert "Successfully" in talk.edit(ERIN, f" [{made.id[:8]}]", "")
    assert [each.id for each in memory.service.list_memories(ERIN)] == [made.id]


@pytest.mark.spec("U-1", "W-6")
def test_a_subagent_does_not_bring_back_what_was_forgotten(memory, talk, texts):
    made = memory.service.remember(ERIN, "Erin likes tea")
    memory.service.forget(ERIN, made.id)
    line = {"file_path": AGENTS, "old_string": "# Remembered\n", "new_string": "# Remembered\n- Erin likes tea\n"}
    results = []

    def script(messages):
        if isinstance(messages[-1], ToolMessage):
            results.append(messages[-1].text)
            return AIMessage("done")
        if messages[-1].text == "go on":
            task = {"description": "Note that Erin likes tea", "subagent_type": "general-purpose"}
            return AIMessage("", tool_calls=[{"name": "task", "args": task, "id": "1"}])
        return AIMessage("", tool_calls=[{"name": "edit_file", "args": line, "id": "2"}])

    talk.model.script = script
    memory.reply(talk.graph, ERIN, "go on", raise_errors=True)
    assert "asked to forget it" in results[0]
    assert texts() == set()


@pytest.mark.spec("U-1")
def test_what_an_edit_did_before_it_failed_is_told(memory, talk, texts):
    memory.service.remember(ERIN, "Erin likes tea")
    many = "\n".join(f"- Call me {number}" for number in range(201))
    whole = f"- Erin likes green tea\n{many}\n"
    memory.service.list_memories(ERIN)
    told = talk.edit(ERIN, "# Standing instructions\n", f"# Standing instructions\n{whole}")
    assert "remove one before adding another; 200 changes before it were made" in told


@pytest.mark.spec("U-1")
def test_outside_of_a_run_the_files_are_nobodys(memory):
    files = memory.store.files()
    for asked in (files.ls, files.read, files.delete):
        with pytest.raises(InvalidInput, match="outside a graph's run"):
            asked("/AGENTS.md")


@pytest.mark.spec("P-8")
def test_without_a_memory_there_are_no_files(tmp_path):
    off = PhoneMemory(f"sqlite:///{tmp_path}/m.db", settings=Settings(enable_memory_system=False))
    with off, pytest.raises(ConfigurationError, match="switched off"):
        off.store.files()
