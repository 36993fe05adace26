"""A conversation with something in every column that is encrypted, and how each of them is read again."""

import base64
import contextlib
import sqlite3
import zlib
from datetime import timedelta

import psycopg
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import SessionManager
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.conversation.config_keys import SESSION
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.session_repair import examine_beside
from langmem_plugin.conversation.turns.interrupt_decisions import Decided, Decisions
from langmem_plugin.conversation.turns.message_claims import Claim, MessageClaims
from langmem_plugin.database.encryption import encrypted_columns as columns
from langmem_plugin.database.schema import insert_unless_there, metadata
from langmem_plugin.errors import DamagedSession, SessionRefused
from langmem_plugin.writing.extraction_jobs import ExtractionJobs

MOM, DAD = "+972501234567", "+972507654321"
WORDS = {MOM: "lemon chicken", DAD: "grilled salmon"}
_ACKNOWLEDGED = columns.ACKNOWLEDGED.column.table
PNG = b"\x89PNG\r\n\x1a\n" + b"picture of "


class Talk(MessagesState):
    note: str
    shown: list


def picture_of(person):
    return PNG + WORDS[person].encode() + bytes(60)


def graph_of(saver, words):
    def agent(state):
        if state["messages"][-1].text == "crash":
            raise RuntimeError("the model is gone")
        call = {"name": "recipes", "args": {"wanted": f"{words} in a call"}, "id": "c1"}
        return {
            "messages": [
                AIMessage("", tool_calls=[call]),
                ToolMessage(f"{words} in a result", tool_call_id="c1"),
                AIMessage(f"{words} in a reply"),
            ],
            "note": f"{words} in a note",
            "shown": [f"{words} in row {number} of a table" for number in range(60)],
        }

    return StateGraph(Talk).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)


def claims_of(saver):
    return MessageClaims(saver.database, saver.sessions, lambda: saver.serde)


def jobs_of(saver, clock):
    return ExtractionJobs(saver.database, quiet=timedelta(0), now=clock)


def talk(saver, clock, person):
    """Two turns, the second of which crashes, and all that is kept beside them."""
    words, manager, claims = WORDS[person], SessionManager(saver), claims_of(saver)
    graph, of = graph_of(saver, words), {"configurable": {"thread_id": person}}
    picture = {"type": "image", "base64": base64.b64encode(picture_of(person)).decode(), "mime_type": "image/png"}
    with saver.turn(person) as config:
        said = [{"type": "text", "text": f"{words} in a message"}, picture]
        graph.invoke({"messages": [HumanMessage(said)]}, config)
    manager.add_message(person, "user", f"{words} in a record", client_name=f"{words} the cook")
    with saver.database.write() as connection:
        row = connection.execute(columns.CLIENT_PHONE.column.table.select().filter_by(thread=person)).one()
        key = person, row.number
        phone = columns.CLIENT_PHONE.encrypted(connection, key, f"{words} by phone")
        update = columns.CLIENT_PHONE.column.table.update().filter_by(thread=person)
        connection.execute(update.values(client_phone=phone))
    with contextlib.suppress(RuntimeError), saver.turn(person) as config:
        graph.invoke({"messages": [HumanMessage("crash")]}, config)
    saver.put_writes(saver.get_tuple(of).config, [("note", f"{words} in a write")], "another task")
    claim = Claim(claims, HumanMessage(f"{words} that is answered"), "wamid.1")
    with saver.turn(person, claim) as config:
        answer = f"{words} in an answer"
        saver.write_now(config, lambda connection: claims.answered(connection, person, ["wamid.1"], answer))
    claims.refuse(person, Claim(claims, HumanMessage(f"{words} that waits"), "wamid.2"))
    Decisions(saver.database, saver.sessions, lambda: saver.serde).keep(of, Decided({"i": [f"{words} is decided"]}))
    OpenQuestions(saver.database, now=clock).ask(person, "forget", {"texts": [f"{words} in a question"]})
    with saver.database.write() as connection:
        payload = columns.ACKNOWLEDGED.encrypted(connection, (person, f"of {person}"), f"{words} is pending".encode())
        values = {"identifier": person, "delivery_id": f"of {person}", "channel": "whatsapp", "payload": payload}
        connection.execute(insert_unless_there(_ACKNOWLEDGED)[connection.dialect.name], values | _now(clock))
    jobs = jobs_of(saver, clock)
    with saver.database.write() as connection:
        jobs.mark(connection, person, row.number)
    job = jobs.claim(person)
    with saver.database.write() as connection:
        jobs.note(connection, job, [{"text": f"{words} is a fact"}])
    jobs.fail(job, f"{words} in an error")


def _session_id(saver, person):
    return SessionManager(saver).sessions(person)[0].session_id


def _state(saver, person):
    found = saver.get_tuple({"configurable": {"thread_id": person, SESSION: _session_id(saver, person)}})
    return found.checkpoint["channel_values"] if found else {}


def _pending(saver, person):
    found = saver.get_tuple({"configurable": {"thread_id": person, SESSION: _session_id(saver, person)}})
    return found.pending_writes


def _picture(saver, person):
    messages = SessionManager(saver).messages(_session_id(saver, person))
    assert messages
    [reference] = {each for message in _state(saver, person)["messages"] for each in references_in(message)}
    return saver.load_media(person, reference)


def _waiting(saver, person):
    claim = Claim(claims_of(saver), HumanMessage("and?"), "wamid.3")
    with saver.turn(person, claim):
        return [each.message.text for each in (*claim.before, *claim.together)]


def _now(clock):
    return {"received_at": clock(), "held_until": clock()}


def _acknowledged(saver, person):
    with saver.database.read() as connection:
        row = connection.execute(_ACKNOWLEDGED.select().filter_by(identifier=person)).one()
        try:
            return columns.ACKNOWLEDGED.decrypted(connection, (row.identifier, row.delivery_id), row.payload).decode()
        except SessionRefused:
            return ""


def _error(saver, person):
    """Nobody reads it but the doctor."""
    found = [
        each for each in examine_beside(saver) if each.thread == person and "langmem_extraction_job.error" in each.why
    ]
    return "" if found else f"{WORDS[person]} in an error"


def unread(saver, clock, owner, person, but=()):
    """The columns out of which the person's words cannot be read as the owner's."""
    lost = set()
    for column, (read, words) in readers(clock).items():
        if str(column.column) not in but:
            found = str(read(saver, owner))
            if words not in found or WORDS[person] not in found:
                lost.add(str(column.column))
    return lost


def readers(clock):
    """By column, what of a person is read out of it, and the words that are to be in that."""

    def client(saver, person):
        return SessionManager(saver).session(_session_id(saver, person))

    def facts(saver, person):
        jobs = jobs_of(saver, clock)
        job = jobs.claim(person)
        jobs.let_go(job)
        return job.facts

    def of(person):
        return {"configurable": {"thread_id": person}}

    return {
        columns.MESSAGE: (
            lambda saver, person: [each.text for each in _state(saver, person)["messages"]],
            "in a result",
        ),
        columns.CHECKPOINT: (lambda saver, person: _state(saver, person).get("note"), "in a note"),
        columns.VALUE: (lambda saver, person: _state(saver, person).get("shown"), "of a table"),
        columns.PENDING: (_pending, "in a write"),
        columns.MEDIA: (_picture, ""),
        columns.DECISION: (
            lambda saver, person: Decisions(saver.database, saver.sessions, lambda: saver.serde).of(of(person)),
            "is decided",
        ),
        columns.INCOMING: (_waiting, "that waits"),
        columns.ACKNOWLEDGED: (_acknowledged, "is pending"),
        columns.REPLY: (lambda saver, person: claims_of(saver).answer_to(person, "wamid.1"), "in an answer"),
        columns.QUESTION: (
            lambda saver, person: OpenQuestions(saver.database, now=clock).look(person),
            "in a question",
        ),
        columns.CLIENT_NAME: (lambda saver, person: client(saver, person).client_name, "the cook"),
        columns.CLIENT_PHONE: (lambda saver, person: client(saver, person).client_phone, "by phone"),
        columns.EXTRACTED_FACTS: (facts, "is a fact"),
        columns.EXTRACTION_ERROR: (_error, "in an error"),
    }


def raw(database_url):
    """All bytes of a database as they lie there, and all of its payloads inflated."""
    found = []
    if database_url.startswith("sqlite"):
        file = database_url.removeprefix("sqlite:///")
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with open(file, "rb") as bytes_of_file:  # noqa: PTH123
            found.append(bytes_of_file.read())
        rows = [row for table in metadata.tables for row in connection.execute(f"SELECT * FROM {table}")]
        connection.close()
    else:
        with psycopg.connect(database_url.replace("postgresql+psycopg", "postgresql")) as connection:
            for table in metadata.tables:
                with connection.cursor().copy(f"COPY {table} TO STDOUT (FORMAT binary)") as copied:
                    found += map(bytes, copied)
            rows = [row for table in metadata.tables for row in connection.execute(f"SELECT * FROM {table}").fetchall()]
    for value in (value for row in rows for value in row if isinstance(value, bytes)):
        try:
            found.append(codec.decompress(value)[1])
        except (DamagedSession, zlib.error, IndexError, UnicodeDecodeError):
            continue
    return b"\n".join(found)
