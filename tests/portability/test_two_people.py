"""Laws of two people in one database: each export holds all of one person and nothing of the other."""

import contextlib
import itertools
import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.memory.find.past_messages import PastMessage
from tests.portability.conftest import ANNA, BEN, new_memory, same

_THREAD = "8c5a1f0e-1c2d-4e3f-9a4b-5c6d7e8f9a0b"
_words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=10).map(lambda text: f"{text} x")
_verbs = st.sampled_from(
    ["remember", "pend", "forget", "update", "instruct", "say", "answer", "end", "elsewhere", "use", "incoming", "zone"]
)
_steps = st.lists(st.tuples(st.sampled_from([ANNA, BEN]), _verbs, _words), min_size=1, max_size=14)


def _do(memory, clock, who, verb, text):  # noqa: C901 - a case for each verb
    service, held = memory.service, memory.service.list_memories(who)
    marked = f"{text} of {who}"  # the text is both people's, this is one's
    match verb:
        case "remember":
            service.remember(who, text, session_id="shared", metadata={"whose": marked})
        case "pend":
            service.remember(who, marked, status="pending", quote=text)
        case "forget" if held:
            service.forget(who, held[0].id)
        case "update" if held:
            service.update(who, held[-1].id, text=marked, tags=["a", text])
        case "instruct" if len(memory.instructions.list_instructions(who)) < 3:
            memory.instructions.add(who, marked, priority=2)
        case "say":
            memory.sessions.record(who, HumanMessage(text, additional_kwargs={"whose": who}))
        case "answer":
            memory.sessions.record(who, AIMessage(marked))
        case "end":
            memory.saver.end_session(who)
        case "elsewhere":
            service.history.add(who, [PastMessage(f"m-{text}", "shared", "user", text, clock())])
        case "use" if held:
            service.note_access(who, {held[0].id: 0.5}, "viewed", session_id="shared")
        case "incoming":
            memory.command(who, "/memories")
        case "zone":
            memory.people.set_time_zone(who, "Asia/Jerusalem")
    clock.forward(minutes=7)


@pytest.fixture
def databases(request, database_url, tmp_path, offline_model, clock):
    """New pairs of empty memories on one engine, as many as wanted."""
    numbers = itertools.count()

    def pair(stack):
        made = []
        for _ in range(2):
            number = next(numbers)
            if database_url.startswith("sqlite"):
                (tmp_path / str(number)).mkdir()
                shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / f"{number}/langmem.db")
                url = f"sqlite:///{tmp_path}/{number}/langmem.db"
            else:
                name = f"law_{abs(hash(str(tmp_path)))}_{number}"
                url = stack.enter_context(request.getfixturevalue("postgresql_server").copy(name))
            made.append(stack.enter_context(new_memory(url, offline_model, clock)))
        return made

    return pair


@pytest.mark.slow
@pytest.mark.spec("P-3")
@settings(max_examples=5, suppress_health_check=[*HealthCheck])
@given(steps=_steps)
def test_an_export_holds_one_person_whole_and_nobody_else(databases, clock, steps):
    with contextlib.ExitStack() as stack:
        one, other = databases(stack)
        for who, verb, text in steps:
            _do(one, clock, who, verb, text)
        exports = {who: one.export(who) for who in (ANNA, BEN)}
        for who, another in ((ANNA, BEN), (BEN, ANNA)):
            assert another not in json.dumps(json.loads(exports[who].to_json()), ensure_ascii=False)
            report = other.import_person(json.loads(exports[who].to_json()))
            assert report.skipped == report.doubted == []
            assert same(other.export(who), exports[who])
            assert not +other.import_person(exports[who]).stored
        assert same(other.export(ANNA), exports[ANNA])
        assert same(one.export(BEN), exports[BEN])


@pytest.mark.spec("P-3")
def test_a_document_never_writes_into_another_persons_conversation(memory, clock):
    memory.sessions.add_message(BEN, "user", "of Ben")
    memory.sessions.add_message(ANNA, "user", "of Anna")
    held = json.loads(memory.export(ANNA).to_json())
    [session] = held["sessions"]
    held["sessions"] = [
        session | {"session_id": "a", "conversation": BEN},
        session | {"session_id": "b", "conversation": "+972509999999"},
        session | {"session_id": "c", "conversation": _THREAD},
        session | {"session_id": memory.export(BEN).sessions[0].session_id},
    ]
    memory.import_person(held)
    assert [each.text for one in memory.export(BEN).sessions for each in one.messages] == ["of Ben"]
    assert not memory.exporter.holdings("+972509999999").is_something
    places = {each.session_id: each.conversation for each in memory.export(ANNA).sessions}
    assert (places["a"], places["b"], places["c"]) == (None, None, _THREAD)
    assert len(places) == 5
    assert [each.ended_at is None for each in memory.export(ANNA).sessions].count(
        True
    ) == 2  # Anna's own, and the server's


@pytest.mark.spec("P-3")
def test_a_persons_conversation_on_a_server_goes_along(memory, empty):
    from langmem_plugin.conversation.sessions import imported_sessions
    from langmem_plugin.conversation.sessions.imported_sessions import PastMessageOf, PastSession

    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [PastMessageOf(HumanMessage("on the server", id="m1"), at, 7)]
    past = PastSession(_THREAD, "s-server", at, at + timedelta(hours=1), None, said, owner=ANNA)
    assert imported_sessions.store(memory.saver, past)
    assert not imported_sessions.store(memory.saver, past)
    document = memory.export(ANNA)
    assert [(each.conversation, each.messages[0].tokens) for each in document.sessions] == [(_THREAD, 7)]
    empty.import_person(document)
    assert same(empty.export(ANNA), document)
    state = empty.saver.get_tuple({"configurable": {"thread_id": _THREAD}})
    assert [each.content for each in state.checkpoint["channel_values"]["messages"]] == ["on the server"]
    assert not empty.export(BEN).sessions
