"""Whom a run serves: the user a server authenticated, and only where there is none whom the run names."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph_sdk.auth.types import StudioUser
from sqlalchemy import delete, insert, select, update
from typing_extensions import TypedDict

from langmem_plugin import MemoryState, NotAuthorized, PhoneMemory, Settings
from langmem_plugin.database.conversation_tables import checkpoint, message, session
from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.find.recall_and_visibility import SHARED, share
from tests.cases import for_each
from tests.stated import stated

ANNA, BEN = "+972501234567", "+972507654321"
SERVER_THREAD = "1f1e6085-c4aa-61b0-8000-00000000000b"


class Person(TypedDict, total=False):
    phone: str


class ServerUser:
    """As a server hands over whom it authenticated."""

    def __init__(self, identity):
        self.identity = identity


def authenticated(identity, **configurable):
    caller = {"langgraph_auth_user": ServerUser(identity), "langgraph_auth_user_id": identity}
    return {"configurable": {"thread_id": SERVER_THREAD} | configurable | caller}


@pytest.fixture
def memory(database_url, clock, offline_model):
    settings = Settings(
        database=database_url, godfather_phone=ANNA, default_region="IL", trusted_callers=frozenset({"backend"})
    )
    with PhoneMemory(settings=settings, embeddings=offline_model, now=clock) as opened:
        opened.service.remember(ANNA, "Anna is allergic to penicillin")
        share(opened.service, "The margin on lamps is 40 percent")
        yield opened


@pytest.fixture
def told(memory):
    """All that a run is told of a person: prompt, role and each tool."""

    def agent(state):
        facts = next(each for each in memory.tools() if each.name == "recall_facts")
        shown = [stated(memory.prompt(state, "You are Mom Bot.")), facts.invoke({"query": "what is the margin?"})]
        return {"messages": AIMessage(f"{memory.person.owner()}: {shown}")}

    graph = (
        StateGraph(MemoryState, context_schema=Person)
        .add_node("recall", memory.recall_node())
        .add_node("agent", agent)
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )

    def ask(config, context=None):
        return graph.invoke({"messages": "is she allergic to penicillin?"}, config, context=context)["messages"][
            -1
        ].text

    return ask


@pytest.mark.slow
@pytest.mark.spec("P-6", "M-16")
@for_each("identity", ["ben", BEN, "501234567", "0501234567", "972501234567", "00972501234567", "shared"])
def test_an_authenticated_user_sees_their_own_and_may_name_nobody_else(told, identity):
    alone = told(authenticated(identity))
    assert alone.startswith(f"{identity}: ")
    assert "allergic" not in alone
    assert "40 percent" not in alone
    with pytest.raises(NotAuthorized, match="trusted_callers") as refused:
        told(authenticated(identity), context={"phone": ANNA})
    assert "501234567" not in str(refused.value).replace(identity, "")
    for config in (
        authenticated(identity, langmem_phone=ANNA),
        authenticated(identity, langmem_phone="050-123-4567"),
        authenticated(identity) | {"metadata": {"phone": ANNA}},
    ):
        with pytest.raises(NotAuthorized):
            told(config)


@pytest.mark.slow
@pytest.mark.spec("P-6", "C-1")
@for_each("identity", [ANNA, "+972 50-123-4567", "972501234567@c.us"])
def test_an_authenticated_phone_is_the_person_of_that_phone_in_any_form(told, identity):
    for config, context in (
        (authenticated(identity), None),
        (authenticated(identity), {"phone": "050-123-4567"}),
        (authenticated(identity, langmem_phone=ANNA), None),
    ):
        assert told(config, context).startswith(f"{ANNA}: ")
    assert "allergic to penicillin" in told(authenticated(identity))
    assert "40 percent" in told(authenticated(identity))


@pytest.mark.slow
@pytest.mark.spec("P-6", "U-6")
@for_each(
    "user",
    [
        {"langgraph_auth_user": ServerUser("backend"), "langgraph_auth_user_id": "backend"},
        {"langgraph_auth_user": StudioUser("developer"), "langgraph_auth_user_id": "developer"},
        {"langgraph_auth_user": {"kind": "StudioUser", "identity": "developer"}, "langgraph_auth_user_id": "developer"},
        {"langgraph_auth_user": ServerUser(""), "langgraph_auth_user_id": ""},
        {},
    ],
    ids=["trusted service", "studio", "studio as a dict", "a server without authentication", "no server"],
)
def test_who_may_speak_for_people_names_the_person_or_nobody_but_the_thread(told, user):
    config = {"configurable": {"thread_id": SERVER_THREAD} | user}
    assert told(config).startswith(f"{SERVER_THREAD}: ")
    assert told(config, {"phone": "050-123-4567"}).startswith(f"{ANNA}: ")
    with pytest.raises(InvalidInput, match="served …567, and this one names nobody"):
        told(config)


@pytest.mark.spec("P-6")
def test_a_key_of_an_applications_own_names_nobody(told):
    own = {"phone": ANNA, "session_id": "s-1", "automated": True}
    assert told({"configurable": {"thread_id": SERVER_THREAD} | own}).startswith(f"{SERVER_THREAD}: ")
    assert told(authenticated("ben", **own)).startswith("ben: ")


class Plain:
    def __init__(self, **named):
        self.__dict__.update(named)


@pytest.fixture
def whose(memory):
    """Whom a run serves, with whatever context it is given."""

    def agent(_state):
        return {"messages": AIMessage(memory.person.owner())}

    graph = StateGraph(MemoryState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)

    def ask(context=None, **configurable):
        config = {"configurable": {"thread_id": SERVER_THREAD} | configurable}
        return graph.invoke({"messages": "hello"}, config, context=context)["messages"][-1].text

    return ask


@pytest.mark.spec("C-20", "P-6")
@for_each("name", ["user_id", "langgraph_user_id", "langgraph_auth_user_id"])
def test_a_user_id_says_whom_a_run_serves(whose, name, caplog):
    assert whose({name: "ben"}) == whose(Plain(**{name: "ben"})) == "ben"
    assert whose({name: 42, "theme": "dark"}) == "42"
    assert whose({name: "+972 50-123-4567"}) == whose({name: "whatsapp:+972501234567"}) == ANNA
    assert whose({name: "501234567"}) == "501234567"  # no phone: it is a number of a user
    assert whose({name: "ben", "phone": "050-123-4567"}) == ANNA
    if name != "langgraph_auth_user_id":
        assert whose(**{name: "ben"}) == "ben"
        assert whose({"theme": "dark"}, **{name: "ben"}) == "ben"
    assert "phone.opaque" not in caplog.text


@pytest.mark.spec("C-20", "P-6")
@for_each("name", ["user_id", "langgraph_user_id", "langgraph_auth_user_id"])
def test_the_authenticated_user_wins_over_every_id_a_client_names(whose, name):
    caller = {"langgraph_auth_user": ServerUser("ben"), "langgraph_auth_user_id": "ben"}
    assert whose({name: "ben"}, **caller) == whose({"theme": "dark"}, **caller) == "ben"
    for context in ({name: "anna"}, Plain(**{name: ANNA})):
        with pytest.raises(NotAuthorized):
            whose(context, **caller)
    service = {"langgraph_auth_user": ServerUser("backend"), "langgraph_auth_user_id": "backend"}
    assert whose({name: "anna"}, **service) == "anna"
    assert whose(user_id="backend", **service) == SERVER_THREAD


@pytest.mark.slow
@pytest.mark.spec("C-20", "P-6")
@for_each(
    "key", ["phon", "Phone", "PHONE", "phones", "phoen", "userid", "user-id", "userId", "User_ID", "langgraph_userid"]
)
@for_each("thread", [SERVER_THREAD, "+972507654321"])
def test_a_key_that_is_nearly_one_of_ours_is_refused_by_its_name(whose, key, thread):
    for context in ({key: ANNA}, Plain(**{key: ANNA})):
        with pytest.raises(InvalidInput, match="phone, user_id, langgraph_user_id") as refused:
            whose(context, thread_id=thread)
        assert key in str(refused.value)
    assert whose({key: BEN, "phone": ANNA}, thread_id=thread) == ANNA


@pytest.mark.spec("C-20", "P-6")
def test_a_context_that_names_nobody_is_refused_where_the_thread_does_not_either(whose):
    for context in ({"theme": "dark"}, {"phone": None}, {"user_id": ""}, {"theme": "dark", "\ud800": 1}, {1: 2}):
        with pytest.raises(InvalidInput, match="names nobody"):
            whose(context)
    assert whose({"theme": "dark"}, thread_id=BEN) == BEN
    assert whose({"theme": "dark"}, thread_id="kitchen") == "kitchen"
    assert whose(Plain(theme="dark")) == whose({}) == whose(Plain(phone=None)) == SERVER_THREAD
    assert whose({"theme": "dark"}, langmem_phone=ANNA) == ANNA


@pytest.mark.spec("C-20", "P-6")
def test_a_linked_identifier_is_the_person_wherever_it_is_named(memory, whose, told):
    memory.people.link(ANNA, 4242)
    memory.people.link(ANNA, "user:7")
    assert whose({"phone": "tg:4242"}) == whose({"user_id": "user:7"}) == whose(thread_id="telegram:4242") == ANNA
    caller = {"langgraph_auth_user": ServerUser("user:7"), "langgraph_auth_user_id": "user:7"}
    assert whose(**caller) == whose({"phone": ANNA}, **caller) == whose({"phone": "tg:4242"}, **caller) == ANNA
    with pytest.raises(NotAuthorized):
        whose({"phone": BEN}, **caller)
    assert "allergic to penicillin" in told({"configurable": {"thread_id": SERVER_THREAD}}, {"phone": "tg:4242"})
    assert "penicillin" in memory.command(4242, "/memories")
    with memory.turn("tg:4242") as config:
        assert config["configurable"]["thread_id"] == ANNA
    assert [each.whatsapp_chat for each in memory.sessions.sessions(4242)] == [ANNA]


@pytest.mark.spec("C-20")
def test_within_a_turn_nobody_is_asked_again_whose_identifier_it_is(memory, monkeypatch):
    def agent(_state):
        return {"messages": AIMessage(memory.person.owner())}

    graph = StateGraph(MemoryState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    memory.people.link(ANNA, 4242)
    with memory.turn(4242) as config, monkeypatch.context() as patched:
        patched.setattr(memory.people, "person_of", None)
        assert graph.invoke({"messages": "hello"}, config)["messages"][-1].text == ANNA


@pytest.mark.spec("P-6")
def test_a_user_given_without_an_id_or_an_id_without_a_user_is_authenticated_all_the_same(told):
    for caller in ({"langgraph_auth_user": ServerUser("ben")}, {"langgraph_auth_user_id": "ben"}):
        config = {"configurable": {"thread_id": SERVER_THREAD} | caller}
        assert told(config).startswith("ben: ")
        with pytest.raises(NotAuthorized):
            told(config, {"phone": ANNA})


@pytest.mark.spec("P-6")
def test_a_graph_within_a_graph_serves_the_same_user(memory):
    def inner(state):
        return {"messages": AIMessage(memory.person.owner())}

    nested = StateGraph(MemoryState).add_node(inner).add_edge(START, "inner").compile()

    def outer(state):
        return nested.invoke(state)

    graph = StateGraph(MemoryState).add_node(outer).add_edge(START, "outer").compile(checkpointer=memory.saver)
    assert graph.invoke({"messages": "hello"}, authenticated("ben"))["messages"][-1].text == "ben"


@pytest.mark.spec("C-1", "P-6")
def test_a_thread_that_looks_like_a_number_is_not_the_person_of_that_phone(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        memory.service.remember("+12345678901", "I am allergic to penicillin")

        def agent(state):
            return {"messages": AIMessage(f"{memory.person.owner()} {stated(memory.prompt(state, 'x'))}")}

        graph = (
            StateGraph(MemoryState)
            .add_node("recall", memory.recall_node())
            .add_node("agent", agent)
            .add_edge(START, "recall")
            .add_edge("recall", "agent")
            .compile(checkpointer=memory.saver)
        )
        for thread in ("0012345678901", "12345678901", "1-234-567-8901"):
            config = {"configurable": {"thread_id": thread}}
            said = graph.invoke({"messages": "am I allergic to penicillin?"}, config)["messages"][-1].text
            assert said.startswith(f"{thread} ")
            assert "allergic" not in said


@pytest.mark.spec("C-13", "P-6")
@for_each("key", ["", "\x1fshared", "bob\0", "\ud83d"])
def test_a_run_of_nobody_and_one_with_a_broken_key_are_refused(told, key):
    for config, context in (
        ({"configurable": {"thread_id": key}}, None),
        ({"configurable": {"thread_id": SERVER_THREAD, "langmem_phone": key or " "}}, None),
        ({"configurable": {"thread_id": SERVER_THREAD}}, {"phone": key or " "}),
        (authenticated(key or " \n"), None),
    ):
        with pytest.raises(InvalidInput):
            told(config, context)


@pytest.mark.spec("P-6", "M-7")
def test_a_conversation_stored_under_what_can_be_nobodys_key_is_nobodys_and_stops_nothing(memory, clock):
    for phone in (BEN, ANNA):
        memory.sessions.add_message(phone, "user", "the boiler leaks again")
        clock.forward(minutes=1)
    with memory.database.write() as connection:
        row = connection.execute(select(session).where(session.c.thread == ANNA)).mappings().one()
        broken = {"thread": str(SHARED), "number": row["number"] + 1, "session_id": "broken"}
        connection.execute(insert(session).values({**row, **broken}))
        for table in (message, checkpoint):
            mine = update(table).where(table.c.thread == ANNA)
            connection.execute(mine.values(thread=broken["thread"], session=broken["number"]))
        connection.execute(delete(session).where(session.c.thread == ANNA))
    clock.forward(hours=1)

    memory.index_past_sessions()
    history = memory.service.history
    assert [history.count(owner) for owner in (BEN, ANNA, SHARED)] == [1, 0, 0]
