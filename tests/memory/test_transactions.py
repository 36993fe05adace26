"""Nothing slow or foreign happens while a transaction is held: everybody else would wait for it."""

import inspect

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from sqlalchemy import delete, event

from langmem_plugin.database.memory_tables import history_message
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.message_search import MessageHistory
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.recall_and_visibility import ReplyMemory, search_for, share
from langmem_plugin.memory.instructions.standing_instructions import StandingInstructions
from langmem_plugin.memory.keep.changes_and_checksums import begin_removal
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

pytestmark = pytest.mark.slow

ANNA = "+972501234567"


class Watching(Embeddings):
    """Sees to it that the process is in no transaction of the memory's database when a vector is asked for."""

    model = "watching"  # unknown, so that what its cosines mean is measured too

    def __init__(self, inner):
        self.inner, self.asked, self.then = inner, 0, lambda: None
        self.within = 0

    def watch(self, engine):
        for name, step in (("begin", 1), ("commit", -1), ("rollback", -1)):
            event.listen(engine, name, lambda connection, step=step: self._count(connection, step))

    def _count(self, connection, step):
        if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":  # a lock, and no transaction
            self.within += step

    def embed_documents(self, texts):
        self.looked()
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        self.looked()
        return self.inner.embed_query(text)

    def looked(self):
        self.asked += 1
        assert self.within == 0
        self.then()


class WatchedStore(InMemoryVectorStore):
    watching: Watching

    def similarity_search_by_vector(self, *arguments, **named):
        self.watching.looked()
        return super().similarity_search_by_vector(*arguments, **named)

    def add_texts(self, *arguments, **named):
        self.watching.looked()
        return super().add_texts(*arguments, **named)

    def delete(self, *arguments, **named):
        self.watching.looked()
        return super().delete(*arguments, **named)

    def get_by_ids(self, *arguments, **named):
        self.watching.looked()
        return super().get_by_ids(*arguments, **named)


@pytest.fixture
def watching(offline_model):
    return Watching(offline_model)


@pytest.fixture
def opened(database_url, clock, watching):
    """With an index, to which every question goes; nothing runs in the background, which has its own transactions."""
    stores = {}

    def store(name, embeddings):
        made = stores.setdefault(name, WatchedStore(embeddings))
        made.embedding, made.watching = embeddings, watching
        return made

    def again():
        memory = MemoryService(
            database_url, embeddings=watching, now=clock, open_collection=store, index_after=1, sleep=lambda _: None
        )
        watching.watch(memory.database.engine)
        memory.background.close()
        memory.background.closing.clear()
        memory.background.ask = lambda *_: None
        return memory

    return again


def said(number, clock):
    return PastMessage(f"m{number}", "s1", "user", f"message {number} is about the garden", clock())


@pytest.mark.spec("M-10", "M-14")
def test_no_verb_asks_the_embedding_model_or_the_index_within_a_transaction(opened, watching, clock):
    ids = {}
    memory = opened()

    def remember(text):
        ids[text] = memory.remember(ANNA, text).id
        return ids[text]

    def of_memory():
        return {
            "remember": lambda: [remember(f"note {number} about the garden") for number in range(4)],
            "remember_many": lambda: memory.remember_many(ANNA, [("My assistant is David", {}), ("I like tea", {})]),
            "related": lambda: memory.related(ANNA, "note 1 about the yard"),
            "over": lambda: memory.over(ANNA, "note 1 about the yard"),
            "instead_of": lambda: memory.instead_of(memory.list_memories(ANNA)[0]),
            "supersede": lambda: memory.supersede(ANNA, ids["note 1 about the garden"], "note 5 about the garden"),
            "reindex": lambda: memory.reindex(ANNA),
            "recall": lambda: memory.recall(ANNA, "who helps me?"),
            "foremost": lambda: memory.foremost(ANNA),
            "search": lambda: [memory.search(ANNA, f"who helps {mode}", mode=mode) for mode in ("text", "hybrid")],
            "ask": lambda: memory.ask(ANNA, "who helps us?", limit=5, min_relevance=0.5),
            "get": lambda: memory.get(ANNA, list(ids.values())),
            "fact_history": lambda: memory.fact_history(ANNA, memory.list_memories(ANNA)[0].id),
            "list_memories": lambda: memory.list_memories(ANNA),
            "count": lambda: memory.count(ANNA),
            "update": lambda: memory.update(ANNA, ids["note 0 about the garden"], text="note 6 about the garden"),
            "forget": lambda: memory.forget(ANNA, ids["note 2 about the garden"]),
            "restore": lambda: memory.restore(ANNA, ids["note 2 about the garden"]),
            "take_in": lambda: memory.take_in(ANNA, memory.list_memories(ANNA, limit=1)),
            "create_memory": lambda: memory.create_memory("s1", "an entry", owner=ANNA),
            "get_memories_by_session": lambda: memory.get_memories_by_session("s1", owner=ANNA),
            "query_similar_memories": lambda: memory.query_similar_memories("an entry", owner=ANNA),
            "get_all_sessions": lambda: memory.get_all_sessions(owner=ANNA),
            "collection_exists": lambda: memory.collection_exists("s1", owner=ANNA),
            "get_collection_size": lambda: memory.get_collection_size("s1", owner=ANNA),
            "delete_collection": lambda: memory.delete_collection("s1", owner=ANNA),
            "collection_dropped_at": lambda: memory.collection_dropped_at("s1", owner=ANNA),
            "note_access": lambda: memory.note_access(ANNA, {ids["note 3 about the garden"]: 1.0}, "cited"),
            "note_viewed": lambda: memory.note_viewed(ANNA, [ids["note 3 about the garden"]]),
            "purge": lambda: (clock.forward(days=40), memory.purge()),
            "erase": lambda: memory.erase(ANNA),
        }

    history, keyed, instructions = memory.history, KeyValueMemory(memory, ANNA), memory.instructions
    reply_memory = ReplyMemory(memory)
    verbs = {
        MemoryService: of_memory(),
        MessageHistory: {
            "add": lambda: history.add(ANNA, [said(number, clock) for number in range(3)]),
            "follow": lambda: history.follow(ANNA, "s2", [], lambda _: True),
            "search": lambda: history.search(ANNA, "what about the garden?"),
            "count": lambda: history.count(ANNA),
        },
        KeyValueMemory: {
            "save_memory": lambda: [keyed.save_memory("level", value) for value in ("3", "4")],
            "load_memory": keyed.load_memory,
            "list_memory": keyed.list_memory,
            "search_memory": lambda: keyed.search_memory("level"),
            "delete_memory": lambda: keyed.delete_memory("level"),
            "classify_memory": lambda: keyed.classify_memory("I prefer short emails"),
        },
        StandingInstructions: {
            "add": lambda: ids.update(brief=instructions.add(ANNA, "Be brief").id),
            "take": lambda: instructions.take(ANNA, "Be polite"),
            "take_in": lambda: instructions.take_in("+972507654321", instructions.list_instructions(ANNA)[0]),
            "get": lambda: instructions.get(ANNA, ids["brief"]),
            "list_instructions": lambda: instructions.list_instructions(ANNA),
            "update": lambda: instructions.update(ANNA, ids["brief"], priority=3),
            "release": lambda: instructions.release(ANNA, "to be polite"),
            "remove": lambda: instructions.remove(ANNA, ids["brief"]),
        },
        ReplyMemory: {
            "recall": lambda: reply_memory.recall(ANNA, "client", ["is the garden green?", "and red?"]),
            "told": lambda: reply_memory.told(ANNA, "client", []),
        },
    }
    within = {
        "note_used",
        "in_force",
        "note_use",
        "applicable",
        "of_no_session_here",
        "all_of",
    }  # take the caller's transaction, or none
    for kind, its_verbs in verbs.items():
        shown = memory if kind is MemoryService else kind  # which has verbs of its parts
        public = {name for name, _ in inspect.getmembers(shown, inspect.isroutine) if not name.startswith("_")}
        assert public - its_verbs.keys() - within <= {
            "close",
            "now",
            "adopt_collection",
        }  # which has a store of its own in test_adoption.py
    for kind in (KeyValueMemory, MessageHistory, StandingInstructions, ReplyMemory, MemoryService):
        for verb in verbs[kind].values():
            verb()
    share(memory, "The office opens at nine")
    ReplyMemory(memory).recall(ANNA, "client", ["when does the office open?"])
    search_for(memory, ANNA, "client", "where is the office?")
    assert watching.asked > 30
    memory.close()

    with opened() as memory:
        memory.remember_many(ANNA, [(f"note {number} about the garden", {}) for number in range(4)])
        watching.model = "another"
    with opened() as memory:
        memory.reindex(ANNA)
        assert len(memory.recall(ANNA, "which note is about the garden?")) == 4  # by their words
        assert memory.reembedding.run() == 5


@pytest.mark.spec("M-14")
@for_each("way", ["add", "follow"])
def test_what_vanishes_while_others_are_embedded_is_stored_and_nothing_is_embedded_in_the_transaction(
    opened, watching, database_url, clock, offline_model, way
):
    """The first message was known when it was looked, and is deleted by another process before the write."""
    from langmem_plugin import ConversationSaver, SessionManager

    with opened() as memory, ConversationSaver(database_url) as saver:
        manager = SessionManager(saver)
        manager.add_message(ANNA, "user", "hello")
        session_id = manager.get_session(ANNA).session_id

        def drop():
            with memory.database.write() as connection:
                begin_removal(connection, ANNA)
                connection.execute(delete(history_message).where(history_message.c.owner == ANNA))

        def store(*numbers):
            messages = [said(number, clock) for number in numbers]
            if way == "add":
                return memory.history.add(ANNA, messages)
            return memory.history.follow(ANNA, session_id, messages, lambda _: True)

        assert store(1) == 1
        memory.embedder._latest.clear()
        watching.then = drop
        assert store(1, 2) == 2
        assert memory.history.count(ANNA) == 2
        assert {each.message.message_id for each in memory.history.search(ANNA, "garden", mode="text")} == {"m1", "m2"}
