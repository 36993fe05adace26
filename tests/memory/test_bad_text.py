"""Texts that no database stores, and texts that are too long to look for: refused by name, the same on both engines."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings

from langmem_plugin.errors import InvalidInput, LangMemError
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.recall_and_visibility import ReplyMemory, search_for, share
from langmem_plugin.memory.instructions.conditions import Situation
from langmem_plugin.memory.memory_types import Filter
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

ERIN = "+972501234567"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
BAD = ("\x00", "a\x00b", "\ud83d", "a\ude00b", "", " ", "\n")
TOO_LONG = "k" * 1_001
_anything = st.text(st.characters(exclude_categories=()), max_size=20)
texts = st.one_of(
    _anything, st.sampled_from((*BAD, TOO_LONG, "😀" * 300, "%_\\", "'; --")), _anything.map(lambda t: t * 300)
)


class Letters(Embeddings):
    """Vectors that cost nothing, and that cannot be made of halves of characters."""

    model = "letters"
    dimension = 4

    def embed_query(self, text):
        text.encode()
        return [1.0, float(len(text) % 7), float(text.count("a")), 1.0]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def fields_of(made):
    return made.key, made.category, made.tags, made.session_id, made.source_id, made.summary_text


def fresh():
    """A text that is not stored yet: of a known one nothing is looked at but the text."""
    return f"tea {next(_numbers)}"


_numbers = itertools.count()


DOORS = {
    "text": lambda service, text: service.remember(ERIN, text).text,
    "owner": lambda service, text: fields_of(service.remember(text, fresh())),
    "key": lambda service, text: fields_of(service.remember(ERIN, fresh(), key=text)),
    "category": lambda service, text: fields_of(service.remember(ERIN, fresh(), category=text)),
    "tag": lambda service, text: fields_of(service.remember(ERIN, fresh(), tags=[text])),
    "source": lambda service, text: fields_of(service.remember(ERIN, fresh(), source_id=text)),
    "session": lambda service, text: fields_of(service.remember(ERIN, fresh(), session_id=text)),
    "summary": lambda service, text: fields_of(service.remember(ERIN, fresh(), summary_text=text)),
    "metadata": lambda service, text: service.remember(ERIN, fresh(), metadata={text: text}).metadata is not None,
    "kind": lambda service, text: fields_of(service.remember(ERIN, fresh(), fact_type=text)),
    "entry": lambda service, text: fields_of(service.create_memory(text, "tea")),
    "entries": lambda service, text: len(service.get_memories_by_session(text)),
    "collection": lambda service, text: (service.collection_exists(text), service.get_collection_size(text)),
    "dropped": lambda service, text: (service.delete_collection(text), service.collection_dropped_at(text) is not None),
    "similar": lambda service, text: len(service.query_similar_memories(text, owner=ERIN)),
    "supersede": lambda service, text: fields_of(service.supersede(ERIN, text, fresh())),
    "update": lambda service, text: service.update(ERIN, service.remember(ERIN, fresh()).id, text=text).text,
    "update key": lambda service, text: fields_of(service.update(ERIN, service.remember(ERIN, fresh()).id, key=text)),
    "get": lambda service, text: len(service.get(ERIN, [text])),
    "get of": lambda service, text: len(service.get(text, ["a"])),
    "forget": lambda service, text: service.forget(ERIN, text).text,
    "restore": lambda service, text: service.restore(ERIN, text).text,
    "recall": lambda service, text: len(service.recall(ERIN, text)) >= 0,
    "search": lambda service, text: len(service.search(ERIN, text, mode="text")) >= 0,
    "list of": lambda service, text: len(service.list_memories(text)),
    "tagged": lambda service, text: len(service.list_memories(ERIN, where=Filter(tags=[text]))),
    "categorised": lambda service, text: service.count(ERIN, where=Filter(categories=[text])),
    "of session": lambda service, text: service.count(ERIN, where=Filter(sessions=[text])),
    "of kind": lambda service, text: service.count(ERIN, where=Filter(fact_types=[text])),
    "access": lambda service, text: service.note_access(ERIN, {text: 0.5}, "cited", session_id=text),
    "erase": lambda service, text: service.erase(text),
    "instruction": lambda service, text: service.instructions.add(ERIN, text).text,
    "condition": lambda service, text: service.instructions.add(ERIN, "greet", condition=f'message contains "{text}"').text,
    "instructions of": lambda service, text: len(service.instructions.list_instructions(text)),
    "one instruction": lambda service, text: service.instructions.get(ERIN, text).text,
    "no instruction": lambda service, text: service.instructions.remove(ERIN, text).text,
    "situation": lambda service, text: len(service.instructions.applicable(ERIN, Situation(NOW, text, text, text))) >= 0,
    "said": lambda service, text: service.history.add(ERIN, [PastMessage("m1" + text, "s", "user", "tea", NOW)]),
    "said in": lambda service, text: service.history.add(ERIN, [PastMessage("m2" + text[:1], text, text, text, NOW)]),
    "asked": lambda service, text: len(service.history.search(ERIN, text)) >= 0,
    "asked of": lambda service, text: len(service.history.search(text, "tea")),
    "saved": lambda service, text: KeyValueMemory(service, ERIN).save_memory(text, text)["success"],
    "deleted": lambda service, text: KeyValueMemory(service, ERIN).delete_memory(text)["success"],
    "looked up": lambda service, text: KeyValueMemory(service, ERIN).search_memory(text)["success"],
    "kept for": lambda service, text: KeyValueMemory(service, text).list_memory()["success"],
    "shared": lambda service, text: share(service, text).text,
    "recalled for": lambda service, text: len(ReplyMemory(service).recall(ERIN, "client", [text, text])) >= 0,
    "searched for": lambda service, text: len(search_for(service, ERIN, "client", text)) >= 0,
    "told": lambda service, text: len(ReplyMemory(service).told(ERIN, "client", [text]).memories),
}  # fmt: skip


@pytest.fixture(scope="module")
def services(postgresql_server, tmp_path_factory):
    with postgresql_server.copy("bad_text") as url:
        urls = f"sqlite:///{tmp_path_factory.mktemp('bad')}/langmem.db", url
        opened = [MemoryService(url, embeddings=Letters(), now=lambda: NOW) for url in urls]
        yield opened
        for service in opened:
            service.close()


def outcome(door, service, text):
    try:
        return "done", DOORS[door](service, text)
    except LangMemError as error:
        return type(error).__name__, str(error)


@pytest.mark.spec("C-13", "A-5")
@settings(max_examples=30)
@given(door=st.sampled_from(sorted(DOORS)), text=texts)
def test_whatever_the_text_both_engines_do_the_same_and_refuse_by_name(services, door, text):
    of_sqlite, of_postgresql = (outcome(door, service, text) for service in services)

    assert of_sqlite == of_postgresql


@pytest.mark.spec("C-13", "A-5")
@for_each("text", ["a\x00b", "a\ud83d"], ids=["NUL", "half an emoji"])
@for_each("door", ["text", "owner", "key", "category", "tag", "said", "instruction", "tagged", "get"])
def test_what_no_database_stores_is_refused_and_nothing_is_stored(services, door, text):
    for service in services:
        before = service.count(ERIN), service.history.count(ERIN), len(service.instructions.list_instructions(ERIN))
        with pytest.raises(InvalidInput):
            DOORS[door](service, text)
        after = service.count(ERIN), service.history.count(ERIN), len(service.instructions.list_instructions(ERIN))
        assert after == before


@pytest.mark.spec("C-13", "A-5")
@for_each("door", ["owner", "key", "category", "session", "said", "entry"])
def test_a_key_that_no_index_holds_is_refused_by_name(services, door):
    for service in services:
        with pytest.raises(InvalidInput, match="1000 bytes"):
            DOORS[door](service, "k" * 3_000)
        DOORS[door](service, "k" * 900)


@pytest.mark.spec("M-7", "C-13")
def test_a_filter_of_thousands_is_refused_and_one_of_hundreds_answers(services):
    for service in services:
        with pytest.raises(InvalidInput, match="in parts"):
            Filter(tags=[f"tag {number}" for number in range(2_000)])
        assert service.list_memories(ERIN, where=Filter(tags=[f"tag {number}" for number in range(500)])) == []


@pytest.mark.spec("M-1")
@for_each("levels", [60, 500, 900, 5_000])
def test_metadata_nested_without_end_is_left_out_and_the_memory_stored(services, levels):
    nested: list[object] = []
    for _ in range(levels):
        nested = [nested]
    for service in services:
        made = service.remember(ERIN, fresh(), metadata={"deep": nested, "by": "me"})
        assert service.get(ERIN, [made.id])[0].metadata == {"by": "me"}
