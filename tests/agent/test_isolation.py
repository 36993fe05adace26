"""Nothing of one person shows in what another is given, however alike all that names them is."""

import itertools
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langgraph.config import get_config

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.memory.find.recall_and_visibility import share
from tests.chat_graph import chat_graph

pytestmark = [pytest.mark.both_engines, pytest.mark.slow]

_PHONE = itertools.count(1)
_ACTIONS = ["tell", "list", "list alike", "choose", "revise", "remember", "ask", "reset", "restart"]
_DOORS = ["store", "named value", "instruct", "link", "export", "erase", "restore"]


class Handbook(BaseRetriever):
    """Gives everybody the very same documents, as many retrievers do."""

    documents: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


class Household:
    """A few people who say the same words at the same instants under the same ids; each knows a secret."""

    def __init__(self, memory):
        self.memory = memory
        self.phones = [f"+97250{next(_PHONE):07}" for _ in range(3)]
        self.secrets = {phone: f"secret{phone[-7:]}" for phone in self.phones}
        self.counts = dict.fromkeys(self.phones, 0)
        self.linked = {}
        self.given = []  # (phone, text that this phone's turn was given)
        self.graph = self._graph()

    def _graph(self):
        @tool
        def look_up(alike: bool) -> list[dict]:
            """Looks up this person's things."""
            mine = "one like all others" if alike else self.secrets[_phone()]
            return [{"id": f"r{number}", "title": f"thing {number}", "of": mine} for number in range(1, 4)]

        def agent(state):
            said, last = state["messages"], state["messages"][-1]
            resolution = self.memory.resolved(state)
            cited = self.memory.context.citations(
                {**state, "messages": [*said, AIMessage("[Document: 1-9] [Memory: 1-9]")]}
            )
            prompt = self.memory.prompt(state, "You are Mom Bot.")
            self._note(_phone(), [resolution, cited, [message.content for message in prompt]])
            note = {"note": self.secrets[_phone()]}  # what a careless tool adds to whatever it is given
            for item in [*resolution.items, *resolution.candidates]:
                item.update(note)
            if resolution.previous_call:
                resolution.previous_call.arguments.update(note)
            for each in cited:
                (each.document or each.memory).metadata.update(note)
            if "list" in last.text and not isinstance(last, ToolMessage):
                call = {"name": "look_up", "args": {"alike": "alike" in last.text}, "id": f"c{len(said)}"}
                return {"messages": AIMessage("", tool_calls=[call], id=f"a{len(said)}")}
            last.additional_kwargs |= note
            return {"messages": AIMessage("All right. [Memory: 1] [Document: 1]", id=f"a{len(said)}")}

        return chat_graph(self.memory, agent, [look_up])

    def do(self, phone, action):
        secret = self.secrets[phone]
        match action:
            case "tell":
                self._say(phone, f"my diagnosis is {secret}")
            case "list":
                self._say(phone, "list my things")
            case "list alike":
                self._say(phone, "list my things that are alike")
            case "choose":
                self._say(phone, "save number 2")
            case "revise":
                self._say(phone, "what about those with milk instead?")
            case "remember":
                self.memory.command(phone, f"/remember I own {secret}")
            case "ask":
                self._note(phone, [self.memory.command(phone, f"/search {word}") for word in ("secret", "diagnosis")])
            case "reset":
                self.memory.command(phone, "/reset")
            case _:
                self._through(action, phone)
        self._note(phone, self.graph.get_state({"configurable": {"thread_id": phone}}).values)
        self._note(
            phone, [self.memory.sessions.messages(each.session_id) for each in self.memory.sessions.sessions(phone)]
        )

    def _through(self, door, phone):
        """The same people by the doors that are not the conversation; every one of them puts the same keys."""
        memory, secret, mine = self.memory, self.secrets[phone], ("notes", phone)
        match door:
            case "store":
                memory.store.put(mine, "same key", {"content": f"a note of {secret}"})
                memory.store.put(("memories", phone), "same key", {"content": f"a fact of {secret}"})
            case "named value":
                memory.key_value(phone).save_memory("same_name", secret)
            case "instruct":
                memory.instructions.add(phone, f"Call me {secret}")
            case "link":
                self.linked[phone] = f"telegram:{phone[-7:]}"
                memory.people.link(phone, self.linked[phone])
            case "erase":
                memory.erase(phone)
            case "restore" if memory.erasure.can_restore(phone):
                memory.restore_erased(phone)
        who = self.linked.get(phone, phone)
        found = [memory.store.get(mine, "same key"), memory.store.search(("memories", phone), query="secret", limit=50)]
        values = memory.key_value(who)
        self._note(phone, [each and each.dict() for each in (found[0], *found[1])])
        self._note(phone, [values.load_memory(), values.search_memory("secret"), memory.exporter.holdings(phone)])
        self._note(phone, [memory.instructions.list_instructions(phone), memory.confirmations.waiting(who)])
        self._note(phone, memory.export(who).to_json())
        self._note(phone, [memory.service.search(phone, "secret"), memory.service.history.search(phone, "diagnosis")])

    def _say(self, phone, text):
        count = self.counts[phone] = self.counts[phone] + 1
        with self.memory.turn(phone) as config:
            self.graph.invoke({"messages": [HumanMessage(text, id=f"h{count}")]}, config)

    def _note(self, phone, shown):
        self.given.append((phone, str(shown)))

    def leaks(self):
        return [
            (phone, self.secrets[other], text)
            for phone, text in self.given
            for other in self.phones
            if other != phone and self.secrets[other] in text
        ]


def _phone():
    return get_config()["configurable"]["thread_id"]


def _echo(messages):
    """A summary that leaves nothing out."""
    return AIMessage(messages[-1].text)


@pytest.fixture
def at_one_instant(monkeypatch):
    """Every session begins at the same one."""
    instant = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: instant)


@pytest.mark.spec("C-1", "P-6", "R-4", "M-16")
def test_nothing_of_one_person_shows_in_what_another_is_given(database_url, clock, scripted, at_one_instant):
    handbook = Handbook(documents=[Document(page_content="How to keep things", metadata={"source": "handbook"})])

    def opened():
        return PhoneMemory(
            database_url,
            settings=Settings(window_turns=1, min_similarity=0.0),
            embeddings=DeterministicFakeEmbedding(size=8),
            retriever=handbook,
            summarise=scripted(_echo),
            now=clock,
        )

    @settings(
        max_examples=5,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(_ACTIONS)), min_size=4, max_size=10))
    @example([(person, "tell") for _ in range(4) for person in range(2)])
    @example([(person, action) for action in ("list alike", "choose", "revise", "tell") for person in range(3)])
    def nothing_leaks(steps):
        nonlocal memory
        household = Household(memory)
        for person, action in steps:
            if action == "restart":
                memory.close()
                memory = household.memory = opened()
                household.graph = household._graph()
            else:
                household.do(household.phones[person], action)
        assert household.leaks() == []
        assert any(household.secrets[phone] in text for phone, text in household.given) or "tell" not in str(steps)

    memory = opened()
    share(memory.service, "All of us keep things", with_clients=True)
    try:
        nothing_leaks()
    finally:
        memory.close()


@pytest.mark.spec("P-6", "P-3", "P-4", "U-1")
def test_nor_by_the_store_named_values_exports_links_or_an_erasure(database_url, clock, scripted):
    @settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([*_DOORS, "tell", "list", "remember"])), max_size=8))
    @example([(person, action) for action in ("store", "tell", "link", "erase", "named value") for person in range(2)])
    def nothing_leaks(steps):
        household = Household(memory)
        for person, action in steps:
            household.do(household.phones[person], action)
        assert household.leaks() == []
        assert any(household.secrets[phone] in text for phone, text in household.given) or "store" not in str(steps)

    model = DeterministicFakeEmbedding(size=8)
    chosen = Settings(window_turns=1, min_similarity=0.0, extraction="off", sweep_every=None)
    with PhoneMemory(database_url, settings=chosen, embeddings=model, now=clock) as memory:
        nothing_leaks()
