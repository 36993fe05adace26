"""A fact that was corrected or forgotten does not come back into a conversation, whatever is read, run or said again."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from sqlalchemy import delete

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.memory_tables import extraction_job
from langmem_plugin.memory.find.past_messages import PastMessage, as_it_stands
from langmem_plugin.writing.extraction_worker import ExtractionWorker
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.stated import stated
from tests.writing.extraction.conftest import Extracting, fact

ERIN, TELEGRAM = "+972501234567", "telegram:4242"
OLD, NEW = "I live in Haifa", "I live in Tel Aviv"


@pytest.fixture
def opened(database_url, clock, offline_model, monkeypatch):
    """Opens a memory whose background work is done when the test says so, of a person who agreed to be remembered."""
    memories = []

    def make(**arguments):
        settings = Settings(sweep_every=None, **arguments.pop("settings", {}))
        with monkeypatch.context() as patch:
            patch.setattr(ExtractionWorker, "start", lambda _: None)
            memory = PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock, **arguments)
        memory.extraction.worker.closing.set()
        memory.past_sessions.close()
        memory.past_sessions.worker.closing.clear()
        memories.append(memory)
        memory.consent.switch_on(ERIN)
        return memory

    yield make
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened):
    return opened()


@pytest.fixture
def graph_with(scripted):
    def build(memory, script=lambda _: AIMessage("ok"), tools=()):
        model = scripted(script)
        graph = chat_graph(
            memory, lambda state: {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))}, tools
        )
        return graph, model

    return build


def texts(memory, who=ERIN):
    return sorted(each.text for each in memory.service.list_memories(memory.people.resolve(who)))


def _forget_all(memory, who=ERIN):
    for each in memory.service.list_memories(who, statuses=("active", "pending")):
        memory.service.forget(who, each.id)


def _read_again(memory, graph, clock):
    """As if nothing had been read yet of all the sessions, with another message in each."""
    with memory.database.write() as connection:
        connection.execute(delete(extraction_job))
    for each in memory.sessions.sessions(ERIN):
        memory.sessions.restore(each.session_id)
        memory.reply(graph, ERIN, "and another thing")
        clock.forward(hours=1)
    return memory.extract(ERIN)


@pytest.mark.spec("W-6", "W-4")
def test_an_old_message_that_is_extracted_late_changes_nothing(memory, graph_with, clock):
    graph, _ = graph_with(memory)
    memory.reply(graph, ERIN, OLD)
    clock.forward(minutes=1)
    memory.command(ERIN, f"/remember {NEW}")

    memory.extract(ERIN)

    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6", "W-4")
def test_what_is_extracted_again_after_it_was_forgotten_or_corrected_stays_so(memory, graph_with, clock):
    graph, _ = graph_with(memory)
    memory.reply(graph, ERIN, OLD)
    memory.reply(graph, ERIN, "I am allergic to peanuts")
    memory.extract(ERIN)
    assert len(texts(memory)) == 2
    clock.forward(hours=1)
    _forget_all(memory)
    clock.forward(hours=1)

    assert _read_again(memory, graph, clock) == []
    assert texts(memory) == []


@pytest.mark.spec("W-6", "W-4")
def test_nor_does_a_model_bring_it_back_in_other_words(memory, opened, graph_with, clock):
    graph, _ = graph_with(memory)
    memory.reply(graph, ERIN, OLD)
    memory.extract(ERIN)
    clock.forward(hours=1)
    _forget_all(memory)
    clock.forward(hours=1)
    reworded = Extracting(
        script=lambda shown: [fact("Has a home by the bay of Haifa", OLD, attribute="city")] if OLD in shown else [],
        asked=[],
    )
    other = opened(extraction_model=reworded)

    assert _read_again(other, graph_with(other)[0], clock) == []
    assert reworded.asked
    assert texts(other) == []


@pytest.mark.spec("W-6", "W-4")
def test_what_the_assistant_repeats_of_the_past_is_not_taken_for_the_persons_word(memory, graph_with, clock):
    graph, _ = graph_with(memory, lambda _: AIMessage("You live in Haifa, so the bus is the 37."))
    made = memory.service.remember(ERIN, OLD)
    clock.forward(hours=1)
    memory.service.remember(ERIN, NEW)
    memory.reply(graph, ERIN, "which bus do I take?")
    memory.reply(graph, ERIN, "thanks, that is great")
    memory.extract(ERIN)

    assert memory.service.get(ERIN, [made.id]) == []
    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6", "M-9")
@for_each("change", ["correct", "forget"])
def test_what_another_process_corrects_within_a_turn_is_not_in_its_prompt(memory, opened, graph_with, clock, change):
    other = opened()
    made = memory.service.remember(ERIN, OLD)
    told = []

    def agent(state):
        told.append(stated(memory.prompt(state, "S")))
        if change == "correct":
            other.service.remember(ERIN, NEW)
        else:
            other.service.forget(ERIN, made.id)
        told.append(stated(memory.prompt(state, "S")))
        return {"messages": AIMessage("ok")}

    clock.forward(hours=1)
    memory.reply(chat_graph(memory, agent), ERIN, "where in Haifa do I live?")

    assert OLD in told[0]
    assert OLD not in told[1]


def _remembering(text):
    def script(messages):
        if messages[-1].type == "tool":
            return AIMessage("done")
        return AIMessage("", tool_calls=[{"name": "remember_fact", "args": {"text": text}, "id": "1"}])

    return script


@pytest.mark.spec("W-6", "M-15")
@for_each(
    ("said", "kept"),
    [
        ("what is the weather like?", [NEW]),
        ("I moved back: Haifa is home again, remember that", [OLD]),
    ],
)
def test_a_model_remembers_what_was_corrected_only_where_the_person_says_it_anew(memory, graph_with, clock, said, kept):
    memory.service.remember(ERIN, OLD)
    clock.forward(hours=1)
    memory.service.remember(ERIN, NEW)
    clock.forward(hours=1)
    graph, model = graph_with(memory, _remembering(OLD), memory.tools())

    memory.reply(graph, ERIN, said)

    assert texts(memory) == kept
    assert ("has corrected this" in model.seen[-1][-1].text) == (kept == [NEW])


@pytest.mark.spec("W-6", "M-15")
def test_what_was_just_corrected_is_not_remembered_again_by_the_same_message(memory, graph_with, clock):
    memory.service.remember(ERIN, OLD)
    clock.forward(hours=1)

    def script(messages):
        done = sum(each.type == "tool" for each in messages)
        if done == 2:
            return AIMessage("done")
        call = {"name": "remember_fact", "args": {"text": (NEW, OLD)[done]}, "id": str(done)}
        return AIMessage("", tool_calls=[call])

    memory.reply(graph_with(memory, script, memory.tools())[0], ERIN, "Not Haifa any more: I live in Tel Aviv")

    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6", "M-15")
def test_a_yes_to_the_assistants_question_says_it_anew(memory, graph_with, clock):
    made = memory.service.remember(ERIN, OLD)
    memory.service.forget(ERIN, made.id)
    memory.sessions.add_message(ERIN, "assistant", "Shall I remember that you live in Haifa?")

    memory.reply(graph_with(memory, _remembering(OLD), memory.tools())[0], ERIN, "yes")

    assert texts(memory) == [OLD]


@pytest.mark.spec("W-6", "M-7")
def test_a_past_session_shows_the_correction_and_nothing_that_was_forgotten(memory, graph_with, clock):
    graph, _ = graph_with(memory)
    memory.reply(graph, ERIN, OLD)
    memory.reply(graph, ERIN, "I am allergic to peanuts")
    memory.extract(ERIN)
    clock.forward(hours=1)
    memory.index_past_sessions()
    memory.service.remember(ERIN, NEW)
    memory.command(ERIN, "/forget allergic to peanuts")
    assert texts(memory) == [NEW]
    [search] = [each for each in memory.tools() if each.name == "search_conversations"]
    results = []

    def agent(state):
        results.append(str(search.invoke({"query": "what did I say about Haifa and peanuts?"})))
        return {"messages": AIMessage("ok")}

    memory.reply(chat_graph(memory, agent), ERIN, "what did I say?")

    assert f"{OLD} (corrected since: {NEW})" in results[0]
    assert "peanuts" not in results[0]
    searched = memory.command(ERIN, "/search live in Haifa").replace("*", "")
    assert f"{OLD} (corrected since: {NEW})" in searched
    assert "peanuts" not in memory.command(ERIN, "/search allergic to").replace("“allergic to”", "")


@pytest.mark.spec("W-6", "C-7")
def test_the_summary_of_what_fell_out_of_the_window_is_made_without_it(opened, scripted, clock):
    asked = scripted(lambda messages: AIMessage(messages[-1].text.partition("\n\n")[2]))
    memory = opened(settings={"window_turns": 1}, summarise=asked)
    said = ["I am allergic to peanuts", OLD, "hello", "good morning", "fine"]
    talk = [
        each
        for number, text in enumerate(said)
        for each in (HumanMessage(text, id=f"h{number}"), AIMessage(f"say {number}", id=f"a{number}"))
    ]

    def earlier():
        return stated(memory.prompt({"messages": [*talk, HumanMessage("now?", id="now")]}, "S", phone=ERIN))

    nuts = memory.service.remember(ERIN, said[0], source_id="h0", session_id="s")
    memory.service.remember(ERIN, OLD, source_id="h1", session_id="s")
    assert "peanuts" in earlier()
    assert "corrected" not in earlier()
    clock.forward(hours=1)

    memory.service.forget(ERIN, nuts.id)
    memory.service.remember(ERIN, NEW)

    assert "peanuts" not in earlier()
    assert f"{OLD} (corrected since: {NEW})" in earlier()


@pytest.mark.spec("W-6", "U-2")
def test_undo_brings_back_no_fact_that_was_told_anew_otherwise(memory, clock):
    memory.command(ERIN, f"/remember {OLD}")
    memory.command(ERIN, f"/forget {OLD}")
    clock.forward(minutes=1)
    memory.command(ERIN, f"/remember {NEW}")

    assert memory.command(ERIN, "/undo").startswith("I have forgotten nothing")
    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6", "U-2")
def test_undo_after_a_correction_brings_back_only_what_was_forgotten(memory, clock):
    memory.command(ERIN, f"/remember {OLD}")
    clock.forward(minutes=1)
    memory.command(ERIN, f"/remember {NEW}")
    assert memory.command(ERIN, "/undo").startswith("I have forgotten nothing")
    memory.command(ERIN, f"/forget {NEW}")

    memory.command(ERIN, "/undo")

    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6", "C-3")
def test_a_conversation_that_is_run_again_from_an_older_point_brings_nothing_back(memory, graph_with, clock):
    graph, _ = graph_with(memory)
    with memory.turn(ERIN) as config:
        graph.invoke({"messages": [HumanMessage(OLD, id="h1")]}, config)
    memory.extract(ERIN)
    assert len(texts(memory)) == 1
    clock.forward(hours=1)
    _forget_all(memory)
    memory.sessions.restore(memory.sessions.sessions(ERIN)[0].session_id)
    config = {"configurable": {"thread_id": ERIN}}
    older = next(each for each in graph.get_state_history(config) if each.next == ("agent",))

    graph.invoke(None, older.config)
    memory.extract(ERIN)

    assert texts(memory) == []


@pytest.mark.spec("W-6", "C-3")
def test_a_copy_of_the_conversation_brings_nothing_back(memory, graph_with, clock):
    graph, _ = graph_with(memory)
    memory.reply(graph, ERIN, OLD)
    memory.extract(ERIN)
    clock.forward(minutes=1)
    _forget_all(memory)
    clock.forward(minutes=1)
    copy = "3f2c1f0a-6a39-4a1c-9d62-3f6f2f0a9b11"
    memory.saver.copy_thread(ERIN, copy)
    config = {"configurable": {"thread_id": copy}, "metadata": {"phone": ERIN}}

    graph.invoke({"messages": [HumanMessage("I am allergic to peanuts")]}, config)
    assert memory.sessions.messages(memory.sessions.sessions(copy)[0].session_id)[0].content == OLD
    clock.forward(hours=1)
    while memory.extraction.work.next_done():
        pass

    assert [each.casefold().partition("allergic to ")[2] for each in texts(memory)] == ["peanuts"]


@pytest.mark.spec("W-6")
def test_what_is_in_doubt_is_shown_as_that(memory, graph_with):
    made = memory.service.remember(ERIN, "I take the train to work")
    with memory.database.write() as connection:
        memory.service.repository.change(
            connection, ERIN, made.id, {"doubted_at": memory.service.now()}, now=memory.service.now()
        )
    graph, model = graph_with(memory)

    memory.reply(graph, ERIN, "which train do I take to work?")

    assert "I take the train to work (may be out of date)" in model.stated


@pytest.mark.spec("W-6", "C-20")
def test_of_two_people_who_become_one_what_was_said_last_holds_and_undo_gives_back_both(memory, clock):
    service = memory.service
    service.remember(TELEGRAM, OLD)
    service.remember(TELEGRAM, "I like green tea")
    clock.forward(hours=1)
    service.remember(ERIN, "I like green tea")
    service.forget(ERIN, service.list_memories(ERIN)[0].id)
    service.remember(ERIN, NEW)
    clock.forward(hours=1)

    merged = memory.people.merge(ERIN, 4242)
    assert texts(memory) == [NEW]

    memory.people.unlink(merged)
    assert texts(memory) == [NEW]
    assert texts(memory, 4242) == ["I like green tea", OLD]


@pytest.mark.spec("W-6", "C-20")
def test_what_the_other_said_last_replaces_what_was_there(memory, clock):
    memory.service.remember(ERIN, OLD)
    clock.forward(hours=1)
    memory.service.remember(TELEGRAM, NEW)

    merged = memory.people.merge(ERIN, 4242)
    assert texts(memory) == [NEW]

    memory.people.unlink(merged)
    assert (texts(memory), texts(memory, 4242)) == ([OLD], [NEW])


@pytest.mark.spec("W-6")
def test_what_stands_in_place_of_a_fact_is_looked_up_once_however_often_it_was_said(opened, clock, monkeypatch):
    memory, looked_up = opened(), []
    memory.service.remember(ERIN, OLD, source_id="h0", session_id="s")
    clock.forward(hours=1)
    memory.service.remember(ERIN, NEW)
    said = [PastMessage(f"h{number}", "s", "user", OLD, clock().replace(year=2025)) for number in range(8)]
    repository, look_up = memory.service.repository, memory.service.repository.instead_of
    monkeypatch.setattr(repository, "instead_of", lambda *which: looked_up.append(which) or look_up(*which))

    with memory.database.read() as connection:
        shown = as_it_stands(connection, repository, ERIN, said)

    assert [each.corrected_by for each in shown.values()] == [NEW] * 8
    assert len(looked_up) == 1
