"""Whatever is done, in whatever order: an encrypted memory answers as one without encryption does."""

import contextlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import LangMemError
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.memory_types import Filter, Memory
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from langmem_plugin.memory.write.memory_merge import OwnerMerge
from tests.conftest import Clock
from tests.memory.encrypted_services import encrypted_service

OWNERS = ("+972501234567", "+972507654321")
ALL = ["pending", "active", "superseded", "archived", "forgotten"]
TEXTS = (
    *("I live in Haifa", "I moved to Jaffa", "my wifi password is kiwi4477", "my wifi password is mango 12"),
    *(
        "I like green tea",
        "I don't like green tea any more",
        "I take insulin",
        "my dog is called Rex",
        "Rex is my dog.",
    ),
    *("אני גרה בחיפה", "vivo en Madrid", "trabajo en un banco"),
)
QUESTIONS = ("where do I live?", "what is my wifi password?", "tea", "my dog", "insulina")
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "private": st.booleans(),
        "key": st.sampled_from(["home", "pin"]),
        "category": st.sampled_from(["place", "health"]),
        "tags": st.lists(st.sampled_from(["one", "two", "tag three"]), max_size=2),
        "metadata": st.sampled_from([{"a": 1}, {"b": ["c"]}]),
        "source_id": st.sampled_from(["m1", "m2"]),
        "session_id": st.sampled_from(["s1", "s2"]),
        "status": st.sampled_from(["pending", "active"]),
        "quote": st.sampled_from(["Haifa!", "tea"]),
    },
)
_FILTERS = (Filter(), Filter(tags=["one"]), Filter(categories=["place"]), Filter(tags=["tag three"], sessions=["s1"]))
_OWNER, _TEXT, _ONE = st.sampled_from(OWNERS), st.sampled_from(TEXTS), st.integers(0, 9)
VERBS = st.one_of(
    st.tuples(st.just("remember"), _OWNER, _TEXT, FIELDS),
    st.tuples(st.just("create_memory"), _OWNER, _TEXT, FIELDS),
    st.tuples(st.just("update"), _OWNER, _ONE, FIELDS | st.fixed_dictionaries({"text": _TEXT})),
    st.tuples(st.just("supersede"), _OWNER, _ONE, _TEXT),
    st.tuples(st.sampled_from(["forget", "restore", "take_back"]), _OWNER, _ONE),
    st.tuples(
        st.just("save"), _OWNER, st.sampled_from(["home", "pin", "door_code"]), st.sampled_from(["4477", "blue"])
    ),
    st.tuples(st.just("delete"), _OWNER, st.sampled_from(["home", "pin", "door_code"])),
    st.tuples(
        st.just("instruct"),
        _OWNER,
        st.sampled_from(["Be brief", "Stop being brief", "if message contains tea then sing"]),
    ),
    st.tuples(st.just("say"), _OWNER, _TEXT, st.sampled_from(["m1", "m2", "m3"])),
    st.tuples(st.just("merge")),
    st.tuples(st.just("take apart")),
)


class Told:
    """One service, asked by the numbers of its memories: ids are drawn by chance."""

    def __init__(self, service: MemoryService, clock: Clock) -> None:
        self.service, self.clock = service, clock
        self.numbers: dict[str, int] = {}
        self.merged = None

    def do(self, verb, *asked):
        try:
            return self.named(getattr(self, f"_{verb.replace(' ', '_')}")(*asked))
        except LangMemError as error:
            return type(error).__name__

    def _remember(self, owner, text, fields):
        return self.service.remember(owner, text, **fields)

    def _create_memory(self, owner, text, fields):
        fields = {name: value for name, value in fields.items() if name != "session_id"}
        return self.service.create_memory("s1", text, owner=owner, **fields)

    def _update(self, owner, one, changes):
        return self.service.update(owner, self._id(owner, one), **changes)

    def _supersede(self, owner, one, text):
        return self.service.supersede(owner, self._id(owner, one), text)

    def _forget(self, owner, one):
        return self.service.forget(owner, self._id(owner, one))

    def _restore(self, owner, one):
        return self.service.restore(owner, self._id(owner, one))

    def _take_back(self, owner, one):
        return self.service.restore(owner, self._id(owner, one), unless_replaced=True)

    def _save(self, owner, key, value):
        return KeyValueMemory(self.service, owner).save_memory(key, value)

    def _delete(self, owner, key):
        return KeyValueMemory(self.service, owner).delete_memory(key)

    def _instruct(self, owner, text):
        return self.service.instructions.take(owner, text).outcome

    def _say(self, owner, text, message_id):
        return self.service.history.add(owner, [PastMessage(message_id, "s1", "user", text, self.clock())])

    def _merge(self):
        if self.merged is None:
            with self.service.database.write() as connection:
                merge = OwnerMerge(self.service.repository)
                self.merged = merge.merge(connection, *OWNERS, self.clock())

    def _take_apart(self):
        if self.merged is not None:
            with self.service.database.write() as connection:
                merge = OwnerMerge(self.service.repository)
                merge.take_back(connection, self.merged, OWNERS[1], OWNERS[0], self.clock())
            self.merged = None

    def everything(self):
        """What all the readings of both owners answer."""
        service = self.service
        for owner in OWNERS:
            for where in _FILTERS:
                yield self.named(service.list_memories(owner, where=where, statuses=ALL))
                yield service.count(owner, where=where, statuses=ALL)
            for question, mode in itertools.product(QUESTIONS, ("text", "semantic", "hybrid")):
                found = service.search(owner, question, mode=mode, min_relevance=0.3)
                yield sorted((self.named(each.memory), round(each.score, 4), each.match_type) for each in found)
            yield KeyValueMemory(service, owner).load_memory()
            yield [(each.text, each.condition, each.active) for each in service.instructions.list_instructions(owner)]
            for question in QUESTIONS:
                yield [
                    (each.message.text, each.corrected_by, round(each.score, 4))
                    for each in service.history.search(owner, question)
                ]

    def named(self, answer):
        if isinstance(answer, list):
            return [self.named(each) for each in answer]
        if not isinstance(answer, Memory):
            return answer
        stored = answer.model_dump(exclude={"concerned"})
        by = stored["superseded_by"]
        return str(stored | {"id": self._number(answer.id), "superseded_by": None if by is None else self._number(by)})

    def _number(self, memory_id):
        return self.numbers.setdefault(memory_id, len(self.numbers))

    def _id(self, owner, one):
        """Of the last one that was told of, where there are no more."""
        return list(self.numbers)[: one + 1][-1] if self.numbers else "none"


@pytest.mark.spec("P-1")
@pytest.mark.slow
@settings(max_examples=20)
@given(verbs=st.lists(VERBS, min_size=4, max_size=14))
def test_encrypted_or_not_the_answers_are_the_same(offline_model, verbs):
    with contextlib.ExitStack() as opened:
        told = []
        for made in (
            lambda clock: MemoryService("sqlite://", embeddings=offline_model, now=clock),
            lambda clock: encrypted_service("sqlite://", new_master_key(), embeddings=offline_model, now=clock),
        ):
            clock = Clock()
            told.append(Told(opened.enter_context(made(clock)), clock))
        plain, encrypted = told
        for verb in verbs:
            for each in told:
                each.clock.forward(minutes=1)
            assert plain.do(*verb) == encrypted.do(*verb), verb
        assert list(plain.everything()) == list(encrypted.everything())
