"""A reply without memory beats no reply: each thing that can fail is made to fail."""

import asyncio
import threading
import time
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from sqlalchemy import make_url, text

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.log_events import events
from tests.stated import stated
from tests.unreliable import WAYS, Unreliable
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972501234568"
QUESTION = "What about TestCorp?"
CANNOT_EMBED = "/remember failed: Unable to generate embedding. Please try again."


@pytest.fixture
def outage(request, database_url, memory):
    """Takes the database away from every process, and gives it back with what was in it."""
    if memory.database.is_sqlite:
        return _Damaged(memory)
    return _Closed(memory, request.getfixturevalue("postgresql_server"), make_url(database_url).database)


class _Damaged:
    def __init__(self, memory):
        self.memory, self.path = memory, memory.database.path

    def __enter__(self):
        self.memory.database.engine.dispose()  # the last connection folds the log into the file
        self.content = self.path.read_bytes()
        self.path.write_bytes(b"no database " * (len(self.content) // 12))

    def __exit__(self, *_):
        self.memory.database.engine.dispose()
        self.path.write_bytes(self.content)


class _Closed:
    def __init__(self, memory, server, name):
        self.memory, self.server, self.name = memory, server, name

    def __enter__(self):
        self.server.psql(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS false;")
        self.server.psql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}';")

    def __exit__(self, *_):
        self.server.psql(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS true;")
        self.memory.database.engine.dispose()


@pytest.mark.spec("M-14", "C-14")
def test_when_the_database_is_away_the_reply_goes_out_with_a_notice_and_later_all_is_as_before(
    memory, clock, outage, graph_of, scripted, caplog
):
    memory.service.remember(ERIN, "TestCorp owes me ₪5000")
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "hello")
    sent = []

    with outage:
        answer = memory.reply(graph, ERIN, QUESTION, send=sent.append)
        old = memory.reply(graph, ERIN, "old news", sent_at=clock() - timedelta(days=3), send=sent.append)
        listed = memory.reply(graph, ERIN, "/memories")
        remembered = memory.reply(graph, ERIN, "/remember I like tea")

    assert answer == f"heard 2\n\n{ENGLISH.without_memory} {ENGLISH.without_history}"
    assert sent == [answer]
    assert old == ""
    assert listed == "⚠️ Memory system temporarily unavailable. Please try again."
    assert remembered == "❌ Failed to store memory. Please try again."
    assert "recall.skipped" in events(caplog)
    assert ERIN not in caplog.text

    model = scripted()
    assert memory.reply(graph_of(model), ERIN, QUESTION) == "heard 4"
    assert "TestCorp owes me" in model.stated


@pytest.mark.spec("M-14")
def test_when_the_database_goes_away_in_mid_run_nothing_is_done_twice(memory, outage, graph_of, scripted):
    if memory.database.is_sqlite:
        pytest.skip("a file cannot be taken away from the process that has it open")
    orders = []

    def order(what: str) -> str:
        """Order it."""
        orders.append(what)
        outage.__enter__()
        return "ordered"

    def script(messages):
        if messages[-1].type == "tool":
            return AIMessage("It is ordered.")
        return AIMessage("", tool_calls=[{"name": "order", "args": {"what": "pizza"}, "id": "1"}])

    try:
        answer = memory.reply(graph_of(scripted(script), [order]), ERIN, "order pizza")
    finally:
        outage.__exit__()

    assert answer == ENGLISH.not_kept
    assert orders == ["pizza"]


@pytest.mark.spec("M-14")
def test_when_the_database_goes_away_once_the_answer_is_kept_nobody_is_told_that_it_is_not(
    memory, outage, graph_of, scripted
):
    graph, sent = graph_of(scripted()), []

    def send(text):
        sent.append(text)
        outage.__enter__()

    try:
        answer = memory.reply(graph, ERIN, "hello", message_id="m", send=send)
    finally:
        outage.__exit__()

    assert [answer] == sent == ["heard 2"]
    assert memory.reply(graph, ERIN, "hello", message_id="m") == "heard 2"


@pytest.mark.spec("M-14")
def test_when_embedding_fails_recall_gives_nothing_and_the_reply_goes_out(database_url, clock, breaking, caplog):
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        memory.service.embedder._sleep = lambda _: None  # nobody waits between the tries
        memory.service.remember(ERIN, "TestCorp owes me ₪5000")
        memory.instructions.add(ERIN, "Answer in French")
        breaking.failing = True
        state = {"messages": [HumanMessage("What is the matter with TestCorp these days?")]}

        assert memory.recall(state, phone=ERIN) == []

        assert "Answer in French" in stated(memory.prompt({**state, "recalled": []}, "", phone=ERIN))
    assert events(caplog).count("embedding.retry") == 3
    assert "recall.skipped" in events(caplog)


@pytest.mark.spec("M-14")
def test_with_the_embedding_model_away_one_reply_waits_for_it_once(database_url, clock, breaking, scripted):
    waits = []
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        memory.service.embedder._sleep = waits.append
        memory.service.remember(ERIN, "TestCorp owes me ₪5000")
        graph = _reminded(memory, scripted())
        breaking.failing = True
        for said in ("what is the matter with TestCorp?", "and with Dana?", "and the shop?"):
            assert memory.reply(graph, ERIN, said).startswith("heard")
        assert waits == [1.0, 2.0, 4.0]

        breaking.failing = False
        state = {"messages": [HumanMessage("What about TestCorp now?")]}
        assert len(memory.recall(state, phone=ERIN)) == 1  # as soon as it answers again


@pytest.mark.spec("M-9", "M-4")
def test_a_language_that_the_model_does_not_know_is_told_once_with_what_would(memory, graph_of, scripted, caplog):
    graph = graph_of(scripted())
    for said in ("where is my car?", "¿dónde está mi coche?", "¿y las llaves de la casa?", "איפה המפתחות שלי?"):
        memory.reply(graph, ERIN, said)

    told = [each for each in caplog.records if getattr(each, "event", "") == "embedding.language_unknown"]
    assert [each.language for each in told] == ["spanish", "hebrew"]
    assert all("phone-memory[multilingual]" in each.getMessage() for each in told)


@pytest.mark.spec("M-4", "M-5")
def test_after_a_change_of_the_embedding_model_words_find_and_all_is_embedded_anew(
    database_url, clock, offline_model, caplog
):
    class Other(type(offline_model)):
        model = "another model"

        def vector(self, text):
            return super().vector(text)[::-1]

    with PhoneMemory(database_url, embeddings=Other(), now=clock) as memory:
        memory.service.remember(ERIN, "TestCorp owes me ₪5000")
        assert "embedding.model_changed" not in events(caplog)
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        assert "embedding.model_changed" in events(caplog)
        assert [each.memory.text for each in memory.service.recall(ERIN, "what does TestCorp owe me?")]
        until(lambda: not memory.service.reembedding.waiting())
        assert [each.signals["semantic"] > 0.5 for each in memory.service.recall(ERIN, "who is in debt to me?")] == [
            True
        ]


@pytest.mark.spec("C-9")
def test_who_writes_while_the_turn_before_hangs_is_told_so(database_url, clock, offline_model, graph_of, scripted):
    settings = Settings(turn_timeout=timedelta(milliseconds=200))
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        hangs, goes_on = threading.Event(), threading.Event()

        def hold():
            with memory.turn(ERIN):
                hangs.set()
                goes_on.wait(60)

        holder = threading.Thread(target=hold)
        holder.start()
        hangs.wait(60)
        try:
            assert memory.reply(_one_node(memory), ERIN, "hello?") == ENGLISH.busy
            assert memory.reply(_one_node(memory), JASON, "hello?") == "I hear you."
        finally:
            goes_on.set()
            holder.join()
        assert memory.reply(_one_node(memory), ERIN, "hello?") == "I hear you."


def _one_node(memory):
    from langgraph.graph import START, MessagesState, StateGraph

    return (
        StateGraph(MessagesState)
        .add_node("agent", lambda _: {"messages": AIMessage("I hear you.")})
        .add_edge(START, "agent")
        .compile(checkpointer=memory.saver)
    )


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da63fcff1f0002eb01f5"
    "4d8b2f4a0000000049454e44ae426082"
)


@pytest.mark.spec("C-8", "C-19")
@for_each("way", ["sync", "async"])
def test_after_an_interrupt_the_model_sees_the_picture_again(memory, scripted, way):
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Command, interrupt

    model = scripted(lambda _: AIMessage("a dot"))

    def agent(state):
        model.invoke(memory.prompt(state, ""))
        return {"messages": AIMessage(f"{interrupt('Shall I look closer?')}: a dot")}

    graph = (
        StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    )
    assert memory.reply(graph, ERIN, "what is this?", image=PNG) == "Shall I look closer?"
    if way == "sync":
        assert memory.reply(graph, ERIN, "yes") == "yes: a dot"
    else:

        async def answer():
            async with memory.turn(ERIN) as config:
                await graph.ainvoke(Command(resume="yes"), config)

        asyncio.run(answer())

    first, again = (messages[-1].content for messages in model.seen)
    assert again == first
    stored = memory.saver.get_tuple({"configurable": {"thread_id": ERIN}}).checkpoint["channel_values"]["messages"]
    assert "base64" not in str(stored[0].content)

    memory.reply(graph, ERIN, "and now?")
    assert "base64" not in str(model.seen[-1]), "an earlier turn's picture stays a line"


@pytest.mark.spec("C-8")
def test_a_picture_whose_file_is_gone_stays_a_line(memory, graph_of, scripted):
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "what is this?", image=PNG)
    stored = memory.saver.get_tuple({"configurable": {"thread_id": ERIN}}).checkpoint["channel_values"]["messages"][:1]
    for file in memory.media.folder.iterdir() if memory.media.folder else ():
        file.unlink()
    with memory.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_media SET payload = NULL")

    assert memory.prompt({"messages": stored}, "", phone=ERIN) == stored
    typed = [HumanMessage(stored[0].content[1]["text"])]
    assert memory.prompt({"messages": typed}, "", phone=ERIN) == typed


@pytest.fixture
def unreliable(offline_model):
    model = Unreliable(offline_model)
    yield model
    model.goes_on.set()


@pytest.fixture
def opened(database_url, clock, unreliable):
    with PhoneMemory(database_url, embeddings=unreliable, now=clock) as memory:
        memory.service.embedder._sleep = lambda _: None  # nobody waits between the tries
        memory.command(ERIN, "/remember TestCorp owes me ₪5000")
        yield memory


def _reminded(memory, model):
    """A graph that is given what is remembered."""
    return chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))})


@pytest.mark.slow
@pytest.mark.spec("M-14")
@for_each("way", WAYS)
def test_whatever_the_embedding_model_does_every_message_is_answered(opened, unreliable, scripted, way):
    graph = _reminded(opened, scripted())
    unreliable.way = WAYS[way]

    assert opened.reply(graph, ERIN, "What is the matter with TestCorp these days?") == "heard 2"
    assert opened.reply(graph, ERIN, "/remember I like tea") == CANNOT_EMBED
    found = opened.reply(graph, ERIN, "/search what about TestCorp")
    assert found.startswith("(by words only") or way == "one vector too many"
    assert "TestCorp owes me ₪5000" in found


@pytest.mark.spec("M-14")
def test_an_embedding_model_that_hangs_keeps_nobody_waiting_for_ever_and_the_memory_closes(
    opened, unreliable, scripted
):
    graph = _reminded(opened, scripted())
    opened.service.embedder._timeout = timedelta(seconds=0.3)
    unreliable.hold()
    began = time.monotonic()

    assert opened.reply(graph, ERIN, "What is the matter with TestCorp these days?") == "heard 2"
    assert opened.reply(graph, ERIN, "/remember I like tea") == CANNOT_EMBED
    assert opened.reply(graph, ERIN, "/search what about TestCorp").startswith("(by words only")
    opened.close()

    assert time.monotonic() - began < 30


@pytest.mark.spec("M-18")
def test_a_damaged_memory_is_in_no_prompt_and_no_list_and_every_message_is_answered(opened, scripted):
    opened.command(ERIN, "/remember TestCorp pays on Mondays")
    kept = opened.instructions.add(ERIN, "Answer in French")
    opened.instructions.add(ERIN, "Take 5 mg")
    model = scripted()
    graph = _reminded(opened, model)
    opened.reply(graph, ERIN, QUESTION)
    assert "TestCorp owes me ₪5000" in model.stated
    with opened.database.write() as connection:
        connection.execute(text("UPDATE langmem_memory SET text = 'TestCorp owes me ₪9000' WHERE text LIKE '%5000'"))
        connection.execute(text("UPDATE langmem_standing_instruction SET text = 'Take 9 mg' WHERE text LIKE '%5 mg'"))
        connection.execute(text("UPDATE langmem_memory_owner SET change = change + 1"))

    assert opened.reply(graph, ERIN, QUESTION) == "heard 4"

    assert "TestCorp pays on Mondays" in model.stated
    assert kept.text in model.stated
    assert "₪" not in model.stated
    assert "mg" not in model.stated
    for command in ("/memories", "/search what about TestCorp", "/forget TestCorp owes"):
        assert "₪" not in opened.reply(graph, ERIN, command)
