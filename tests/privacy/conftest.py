"""One person with everything that can be kept of anybody, beside a neighbour with the same."""

import base64
import shutil

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import interrupt
from sqlalchemy import insert, select

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.sessions import session_rows, sessions_to_index
from langmem_plugin.database.conversation_tables import acknowledged, incoming, value
from langmem_plugin.database.memory_tables import extraction_job
from langmem_plugin.database.people_tables import new_link
from langmem_plugin.database.personal_tables import personal_tables
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.keep.usage_and_verdicts import Verdicts, count_verdicts
from langmem_plugin.people.access_tokens import AccessTokens
from tests.chat_graph import chat_graph
from tests.conftest import Clock

ANNA, ANNAS_TELEGRAM, ANNAS_OTHER = "+972501234567", "telegram:4242777", "telegram:5353888"
BEN, BENS_TELEGRAM, BENS_OTHER = "+972508884488", "telegram:99887766", "telegram:10203040"  # not hers backwards
FACTS = {
    ANNA: ["Anna Grünspan is allergic to peanuts", "אנה גרה ברחוב הגפן בחיפה", "Ana cría perros salchicha"],
    BEN: ["Ben Oldfield plays the oboe", "בן גר ברחוב התאנה ביפו", "Benito cultiva azafrán"],
}
SAID = {
    ANNA: ["my sister Griselda visits in March", "הבן שלי יהונתן התגייס", "mi abuela Eulalia cumple años"],
    BEN: ["my cousin Roderick visits in April", "הבת שלי אביגיל התחתנה", "mi tío Fulgencio cumple años"],
}
PICTURE = {
    who: base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    + who.encode()
    for who in (ANNA, BEN)
}


def graph_of(memory):
    def agent(state):
        last = state["messages"][-1].text
        if last == "order it":
            return {"messages": AIMessage(f"done: {interrupt({'question': 'which one?', 'options': ['a', 'b']})}")}
        return {"messages": AIMessage(f"I heard {last}")}

    return chat_graph(memory, agent)


def opened(url, model, clock, **settings):
    said = {"sweep_every": None, "search_past_sessions": False, "extraction": "off", "default_region": "IL"} | settings
    return PhoneMemory(url, settings=Settings(**said), embeddings=model, now=clock)


def live(memory, clock, who, telegram, other):
    """Everything there may be of one person; the graph they talk to."""
    graph = graph_of(memory)
    memory.people.link(who, telegram)  # nothing there yet: a link
    memory.service.remember(other, f"{FACTS[who][0]} and sails")
    memory.reply(graph, other, f"{SAID[who][0]} from elsewhere", message_id="m0")
    memory.people.merge(who, other)
    memory.people.set_time_zone(who, "Jerusalem")
    memory.people.set_name(who, FACTS[who][0][:40])
    memory.consent.switch_on(who, text="yes, remember me", version=1)
    for text in FACTS[who]:
        memory.service.remember(who, text, quote=text, session_id="s", tags=("home",), metadata={"from": who})
    memory.service.remember(who, f"{FACTS[who][0]} as well", status="pending")
    old = memory.service.remember(who, f"{FACTS[who][1]} until May")
    memory.service.supersede(who, old.id, f"{FACTS[who][1]} from June")
    memory.service.note_access(who, {old.id: 0.5}, "cited", session_id="s")
    memory.service.delete_collection("old trip", owner=who)
    home = memory.service.categories.create(who, f"home of {FACTS[who][0].split()[0]}", description=SAID[who][1])
    memory.service.categories.create(who, "cellar", parent_id=home.category_id)
    memory.instructions.add(who, f"call me by my name, {FACTS[who][0].split()[0]}")
    memory.service.history.add(who, [PastMessage("p1", "s", "user", SAID[who][1], memory.service.now())])
    for number, text in enumerate(SAID[who]):
        memory.reply(graph, who, text, message_id=f"m{number + 1}", image=PICTURE[who] if number == 0 else None)
    memory.sessions.add_message(who, "user", f"{SAID[who][2]} today", client_name=FACTS[who][0][:12])
    clock.forward(hours=2)
    memory.index_past_sessions()
    memory.reply(graph, who, f"{SAID[who][0]} again", message_id="m8")
    memory.reply(graph, who, "order it", message_id="m9")
    memory.reply(graph, who, "a and b maybe", message_id="m10")
    memory.command(who, "/forget " + FACTS[who][0].split()[0])
    AccessTokens(memory.database).new(who)
    memory.people.link_code(telegram)
    memory.people.giver(telegram, "wrong")
    with memory.database.write() as connection:
        sessions_to_index.claim(connection, on_server_of(who), who, memory.service.now())
    memory.sessions.add_message(on_server_of(who), "user", f"{SAID[who][0]} from Studio")
    with memory.database.write() as connection:
        connection.execute(insert(new_link).values(identifier=telegram, linked_at=memory.service.now()))
        count_verdicts(connection, who, Verdicts(asked=3, confirmed=2))
        claims = memory.channel.claims  # a turn of a process that was killed
        payload = claims.packed(HumanMessage(f"{SAID[who][1]} cut short", id="cut"))
        row = {"thread": who, "message_id": "cut", "position": 1, "ticket": 999_999, "attempts": 1}
        received = {"received_at": memory.service.now(), "payload": payload, "sent": False}
        connection.execute(insert(incoming), {**row, **received})
        connection.execute(insert(acknowledged), _left_by_a_webhook(who, memory.service.now()))
        newest = session_rows.newest(connection, who)
        large = {"thread": who, "session": newest.number, "row": 99_999, "payload": SAID[who][0].encode()}
        connection.execute(insert(value), large)
        facts = [{"owner": who, "text": FACTS[who][2]}]
        connection.execute(
            insert(extraction_job).values(
                thread=who,
                session=newest.number,
                state="pending",
                again=False,
                claim=0,
                beats=0,
                attempts=0,
                facts=facts,
            )
        )
    if memory.service.index is not None:
        assert memory.service.reindex(who)


def _left_by_a_webhook(who, now):
    held = {"identifier": who, "delivery_id": "cut", "channel": "sms", "received_at": now, "held_until": now}
    return held | {"payload": SAID[who][1].encode()}


def both_live(url, model, clock, index):
    """Anna and Ben have everything; four hours later."""
    with _indexed(url, model, clock, index) as memory:
        live(memory, clock, BEN, BENS_TELEGRAM, BENS_OTHER)
        live(memory, clock, ANNA, ANNAS_TELEGRAM, ANNAS_OTHER)


def _indexed(url, model, clock, folder):
    index = f"chroma:{folder}/index" if url.startswith("sqlite") else "pgvector"
    return opened(url, model, clock, vector_index=index, index_after=3)


@pytest.fixture(scope="session")
def lived_in_files(tmp_path_factory, migrated_file, offline_model):
    """A folder to copy: to live takes a second."""
    folder = tmp_path_factory.mktemp("lived")
    shutil.copy(migrated_file, folder / "langmem.db")
    both_live(f"sqlite:///{folder}/langmem.db", offline_model, Clock(), folder)
    return folder


@pytest.fixture(scope="session")
def lived_on_the_server(postgresql_server, offline_model):
    """A database to copy."""
    with postgresql_server.copy("lived") as url:
        both_live(url, offline_model, Clock(), None)
        yield "lived"


@pytest.fixture
def database_url(request, database_url, tmp_path, clock):
    """Where a test asks for Anna, she and Ben have lived there."""
    if "anna" not in request.fixturenames:
        yield database_url
        return
    clock.forward(hours=4)
    if database_url.startswith("sqlite"):
        shutil.copytree(request.getfixturevalue("lived_in_files"), tmp_path, dirs_exist_ok=True)
        yield database_url
    else:
        lived = request.getfixturevalue("lived_on_the_server")
        with request.getfixturevalue("postgresql_server").copy("lived_in", lived) as url:
            yield url


@pytest.fixture
def memory(database_url, clock, offline_model, tmp_path):
    with _indexed(database_url, offline_model, clock, tmp_path) as made:
        yield made


@pytest.fixture
def anna(memory):
    """The graph that both talk to; Anna and Ben have everything."""
    return graph_of(memory)


def rows(memory, keys):
    """Every row of these keys, by table; as the database has them."""
    found = {}
    with memory.database.read() as connection:
        for table, columns in personal_tables():
            mine = [
                tuple(row)
                for row in connection.execute(select(table))
                if any(row._mapping[column.name] in keys for column in columns)
            ]
            if mine:
                found[table.name] = sorted(map(repr, mine))
    return found


def on_server_of(who):
    return f"5f0e6b1c-0000-4000-8000-{who[-12:]}"


ANNAS = (ANNA, ANNAS_TELEGRAM, ANNAS_OTHER, on_server_of(ANNA))
BENS = (BEN, BENS_TELEGRAM, BENS_OTHER, on_server_of(BEN))
