"""A reply reads all it needs of the memory at once, and writes all it used at once."""

import threading

import pytest
from sqlalchemy import event, select

from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.database.memory_tables import memory_access, memory_owner
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.recall_and_visibility import RELEVANT, ReplyMemory, scopes_of, share
from tests.cases import for_each

ANNA, BEN = OwnerKey("+972501234567"), OwnerKey("+972507654321")
SAID = ["what about the office of TestCorp?", "and who helps me there?"]


@pytest.fixture
def reply_memory(memory):
    return ReplyMemory(memory)


@pytest.fixture
def transactions(memory):
    """One entry for each transaction that begins, but for those of the background."""
    begun = []

    def begin(connection):
        if not threading.current_thread().daemon:
            begun.append(connection)

    event.listen(memory.database.engine, "begin", begin)
    return begun


@pytest.fixture
def facts(memory):
    share(memory, "The office of TestCorp opens at nine", with_clients=True)
    share(memory, "The office of TestCorp costs 5,000 a month")
    memory.remember(BEN, "The office of TestCorp is in Berlin")
    memory.instructions.add(ANNA, "Be brief", priority=2)
    memory.instructions.add(ANNA, "Answer in French", priority=9)
    return [memory.remember(ANNA, "The office of TestCorp is in Haifa"), memory.remember(ANNA, "My assistant is David")]


def texts(found):
    return [each.text for each in found]


@pytest.mark.spec("M-9", "M-16")
def test_all_a_reply_needs_is_read_in_one_transaction_and_written_in_one(memory, reply_memory, facts, transactions):
    found = reply_memory.recall(ANNA, "client", SAID)
    ids = [each.id for each, _ in found]
    told = reply_memory.told(ANNA, "client", ids, as_last=True)
    assert len(transactions) == 1
    assert {"The office of TestCorp is in Haifa", "The office of TestCorp opens at nine"} <= set(texts(told.memories))
    assert "The office of TestCorp costs 5,000 a month" not in texts(told.memories)
    assert [each.id for each in told.memories] == ids
    assert texts(told.instructions) == ["Answer in French", "Be brief"]

    assert reply_memory.told(ANNA, "client", ids) == told
    assert len(transactions) == 1  # that nothing has changed is asked by one statement

    uses = {each.id: ("cited", similarity) for each, similarity in found}
    scopes = [scope.owner for scope in scopes_of(ANNA, "client")]
    with memory.database.write() as connection:
        memory.note_used(connection, scopes, uses, followed=[each.id for each in told.instructions], session_id="s1")
    assert len(transactions) == 2

    assert reply_memory.told(ANNA, "client", ids) == told
    assert len(transactions) == 2  # to be used is no change: nothing is read anew
    assert [each.usage_count for each in memory.instructions.list_instructions(ANNA)] == [1, 1]
    with memory.database.read() as connection:
        assert len(connection.execute(select(memory_access)).all()) == len(ids)
        used = select(memory_table.c.access_count).where(memory_table.c.memory_id.in_(ids))
        assert list(connection.execute(used).scalars()) == [1] * len(ids)


@pytest.mark.spec("M-9")
def test_with_no_topic_the_foremost_come_in_the_same_read(memory, reply_memory, facts, transactions):
    found = reply_memory.recall(ANNA, "client", ["good morning"])
    assert {each.text for each, _ in found} == {"The office of TestCorp is in Haifa", "My assistant is David"}
    assert {similarity for _, similarity in found} == {0.0}
    assert len(transactions) == 1


@pytest.mark.spec("M-5", "M-15", "M-16")
def test_what_another_process_changed_is_told_as_it_is_now(
    memory, reply_memory, facts, database_url, offline_model, clock
):
    found = reply_memory.recall(ANNA, "client", SAID)
    ids = [each.id for each, _ in found]
    [shared] = [each for each, _ in found if each.owner != ANNA]
    dinner = memory.remember(ANNA, "Dinner is at seven", expires_at=clock().replace(hour=18))
    assert texts(reply_memory.told(ANNA, "client", [dinner.id]).memories) == ["Dinner is at seven"]
    with MemoryService(database_url, embeddings=offline_model, now=clock) as elsewhere:
        elsewhere.forget(ANNA, facts[0].id)
        elsewhere.update(ANNA, facts[1].id, text="My assistant is Dana")
        elsewhere.update(shared.owner, shared.id, tags=[])
        elsewhere.instructions.add(ANNA, "Use metric units")
        told = reply_memory.told(ANNA, "client", [*ids, dinner.id])
        assert set(texts(told.memories)) == {"My assistant is Dana", "Dinner is at seven"}
        assert "Use metric units" in texts(told.instructions)

        [brief] = [each for each in told.instructions if each.text == "Be brief"]
        elsewhere.instructions.update(ANNA, brief.id, expires_at=clock().replace(hour=18))
        assert brief.id in [each.id for each in reply_memory.told(ANNA, "client", [dinner.id]).instructions]
        elsewhere.instructions.remove(ANNA, told.instructions[0].id)
        clock.forward(hours=12)
        later = reply_memory.told(ANNA, "client", [dinner.id])
        assert (texts(later.memories), texts(later.instructions)) == ([], ["Use metric units"])


@pytest.mark.spec("P-6", "M-16")
def test_nobody_is_told_by_id_what_they_may_not_see(memory, reply_memory, facts):
    [bens] = memory.list_memories(BEN)
    secret = share(memory, "The safe is behind the painting")
    asked = [bens.id, secret.id, facts[0].id]
    assert texts(reply_memory.told(ANNA, "godfather", asked).memories) == [secret.text, facts[0].text]
    assert texts(reply_memory.told(ANNA, "client", asked).memories) == [facts[0].text]
    assert reply_memory.told(BEN, "client", [facts[0].id], as_last=True).memories == ()
    assert reply_memory.told(BEN, "client", asked).instructions == ()


@pytest.mark.spec("M-10")
def test_noting_what_is_not_there_keeps_nothing_of_anybody(memory):
    with memory.database.write() as connection:
        memory.note_used(connection, ["somebody", "another"], {"no such id": ("cited", 1.0)}, followed=["no such id"])
    with memory.database.read() as connection:
        assert connection.execute(select(memory_owner)).all() == []


@pytest.mark.spec("M-9")
@for_each(
    ("illness", "about_it", "elsewhere"),
    [
        ("I have been diabetic since 2019", "what could we cook on Friday?", "when is the match on?"),
        ("Tengo diabetes desde 2019", "¿qué receta hago el viernes?", "¿a qué hora juega el equipo?"),
        ("יש לי סוכרת מ-2019", "איזה מתכון מתאים ליום שישי?", "באיזו שעה המשחק?"),
    ],
)
def test_what_must_not_be_eaten_is_recalled_where_there_is_talk_of_eating(
    memory, reply_memory, illness, about_it, elsewhere
):
    memory.remember(ANNA, illness)
    assert texts(each for each, _ in reply_memory.recall(ANNA, "client", [about_it])) == [illness]
    assert reply_memory.recall(ANNA, "client", [elsewhere]) == []


@pytest.mark.spec("M-9")
def test_a_sensitive_memory_comes_where_the_one_it_names_is_spoken_of(memory, reply_memory):
    stroke = "my brother-in-law Gary had a stroke last fall, right side's weak"
    memory.remember(ANNA, stroke)
    quiz = "planning a quiz for {} and the boys with questions about trains, planes and castles"
    assert reply_memory.recall(ANNA, "client", [quiz.format("marc")]) == []
    [(found, similarity)] = reply_memory.recall(ANNA, "client", [quiz.format("gary")])
    assert found.text == stroke
    assert similarity < RELEVANT


@pytest.mark.spec("M-9")
@for_each(
    ("illness", "of_them", "of_nobody"),
    [
        (
            "my mum Maureen was diagnosed with dementia in autumn",
            "mum wanted the car keys again",
            "which planet is the largest?",
        ),
        ("a mi madre le han detectado un cáncer", "mi mamá no coge el teléfono", "¿cuál es el planeta más grande?"),
    ],
)
def test_a_sensitive_memory_comes_where_there_is_talk_of_the_relative_it_is_about(
    memory, reply_memory, illness, of_them, of_nobody
):
    memory.remember(ANNA, illness)
    assert texts(each for each, _ in reply_memory.recall(ANNA, "client", [of_them])) == [illness]
    assert reply_memory.recall(ANNA, "client", [of_nobody]) == []


@pytest.mark.spec("M-9")
def test_of_texts_that_differ_by_figures_alone_the_talk_is_told_one_before_what_else_there_is(memory, reply_memory):
    for week in range(8):
        memory.remember(ANNA, f"The choir sang {week + 20} songs in the town hall")
    memory.remember(ANNA, "The choir needs a new piano")
    told = texts(each for each, _ in reply_memory.recall(ANNA, "client", ["how is the choir doing?"], limit=2))
    assert "The choir needs a new piano" in told
    assert len(reply_memory.recall(ANNA, "client", ["how is the choir doing?"])) == 9


@pytest.mark.spec("M-10")
def test_what_is_held_for_replies_is_bounded_in_bytes_however_long_memories_are(offline_model):
    with MemoryService("sqlite://", embeddings=offline_model) as memory:
        reply_memory, made = ReplyMemory(memory), memory.remember(ANNA, "long")
        for number in range(10):
            phone = OwnerKey(f"+97250{number:07}")
            memory.take_in(phone, [made.memory.model_copy(update={"id": f"m{number}", "text": "long " * 50_000})])
            (told,) = reply_memory.told(phone, "client", [f"m{number}"]).memories
            assert len(told.text) > 200_000

    entries = [held for held, _ in reply_memory._held._entries.values()]
    held = sum(len(each.text) for entry in entries for each in entry.memories.values())
    assert 0 < 4 * held <= 8 * 2**20
