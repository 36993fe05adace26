"""What is under way goes along: unanswered messages, facts that wait to be stored; and /export."""

import json
from dataclasses import asdict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from sqlalchemy import insert, select

from langmem_plugin.agent.replying.reply_texts import replies_in
from langmem_plugin.conversation.storage.codec import compress, dump
from langmem_plugin.database.conversation_tables import incoming, session
from langmem_plugin.database.memory_tables import extraction_job
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.portability.conftest import ANNA, fill, same

FACT = {"text": "Anna is a pilot", "quote": "I am a pilot"}


def _leave_things_open(memory, clock):
    """As a process that was killed leaves them."""
    memory.sessions.add_message(ANNA, "user", "I am a pilot")
    memory.sessions.add_message(ANNA, "assistant", "noted")
    payload = compress(*dump(memory.saver.serde, HumanMessage("are you there?", id="u-1")))
    with memory.database.write() as connection:
        found = connection.execute(select(session).where(session.c.thread == ANNA)).one()
        job = {"thread": ANNA, "session": found.number, "state": "processing", "claim": 4, "beats": 9, "attempts": 1}
        connection.execute(insert(extraction_job).values(**job, taken={1, 77}, facts=[FACT]))
        waits = {"thread": ANNA, "message_id": "w-1", "position": 1, "ticket": 3, "received_at": clock()}
        connection.execute(insert(incoming).values(**waits, payload=payload))


@pytest.mark.spec("P-3")
def test_what_is_open_goes_along(memory, empty, clock):
    _leave_things_open(memory, clock)
    document = memory.export(ANNA)
    [one] = document.sessions
    assert one.extraction.model_dump() == {"state": "pending", "read": [1], "facts": [FACT], "error": None}
    assert [(each.message_id, each.message["data"]["content"]) for each in document.incoming] == [
        ("w-1", "are you there?")
    ]
    report = empty.import_person(json.loads(document.to_json()))
    assert report.skipped == []
    assert same(empty.export(ANNA), document)
    assert not +empty.import_person(document).stored
    with empty.database.read() as connection:
        assert connection.execute(select(incoming.c.ticket)).scalars().all() == [None]


def _answer(_state):
    return {"messages": AIMessage("hello to you")}


@pytest.mark.spec("P-3")
def test_what_was_answered_is_not_answered_again_after_it_moved(memory, empty):
    graph = chat_graph(memory, _answer)
    answer = memory.reply(graph, ANNA, "hello", message_id="wamid-1")
    document = memory.export(ANNA)
    assert [(each.message, each.reply) for each in document.incoming] == [(None, answer)]
    empty.import_person(document)
    again = empty.reply(chat_graph(empty, _answer), ANNA, "hello", message_id="wamid-1")
    assert (again, again.repeated) == (answer, True)


@pytest.mark.spec("P-3")
@for_each(
    ("word", "language", "says"),
    [("/export", "en", "Anna lives in Eilat"), ("/ייצוא", "he", "שיחות: 2"), ("/exportar", "es", "Conversaciones: 2")],
)
def test_export_in_a_chat_tells_what_is_stored(memory, clock, word, language, says):
    fill(memory, clock)
    memory.people.set_language(ANNA, language)
    told = memory.command(ANNA, word)
    assert says in told
    assert told.startswith(replies_in(language).export_holds.format(**asdict(memory.exporter.holdings(ANNA))))
    assert told.endswith(replies_in(language).export_ask)
    assert memory.exporter.holdings(ANNA).sessions == 2
