"""Who is found, who is being erased, and what failed: each with what an operator can do about it."""

import re

import pytest

from langmem_plugin.writing import extraction_jobs as job_records
from tests.web.console.conftest import ERIN, JASON, Operator

pytestmark = pytest.mark.both_engines

RON = "telegram:4242"


@pytest.mark.spec("U-4", "C-20")
def test_people_are_sorted_found_by_their_last_digits_and_stand_in_no_address(memory, operator, clock):
    for who in (JASON, ERIN, RON):
        memory.sessions.add_message(who, "user", "hello")
        clock.forward(minutes=1)
    places = {who: operator.of(who) for who in (ERIN, JASON, RON)}

    def order():
        page = operator.see("people")
        return sorted(places, key=lambda who: page.index(places[who]))

    assert order() == [RON, ERIN, JASON]
    found = operator.do("people/find", status=200, identifier=JASON[-4:]).text
    assert places[JASON] in found
    assert places[ERIN] not in found
    assert "nothing is stored of anybody" in operator.do("people/find", status=422, identifier="0000").text
    opened = operator.do("people/find", identifier="+972 50-765-4321")
    assert opened.headers["location"].endswith(places[JASON])
    page = operator.see("people")
    assert "telegram" in page
    assert not any(who in page for who in (ERIN, JASON, "4242"))


@pytest.mark.spec("U-4", "C-20", "P-1")
def test_a_name_that_an_operator_gave_is_shown_found_and_taken_away(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    memory.service.remember(JASON, "I like coffee")
    operator.do(operator.of(ERIN, "/name"), name="  Erin   Ben-Ami ")
    assert memory.people.name(ERIN) == "Erin Ben-Ami"
    for words in ("ben-ami", "ERIN"):
        found = operator.do("people/find", status=200, identifier=words).text
        assert "Erin Ben-Ami" in found
        assert operator.of(JASON) not in found
    assert 'value="Erin Ben-Ami"' in operator.see(operator.of(ERIN))
    assert "100 letters" in operator.do(operator.of(ERIN, "/name"), status=422, name="x" * 101).text
    operator.do(operator.of(ERIN, "/name"), name=" ")
    assert memory.people.name(ERIN) is None
    noted = [each for each in memory.audit.newest(50) if each.action == "person.named"]
    assert len(noted) == 2
    assert all(each.actor.startswith("operator ") for each in noted)
    assert "Ben-Ami" not in str(noted)


@pytest.mark.spec("U-4", "C-12")
def test_who_is_named_by_their_channel_alone_is_found_by_that_name(memory, operator):
    memory.sessions.add_message(JASON, "user", "hello", client_name="Jason Levi")
    memory.sessions.add_message(ERIN, "user", "hello", client_name="Erin")
    found = operator.do("people/find", status=200, identifier="levi").text
    assert operator.of(JASON) in found
    assert operator.of(ERIN) not in found


@pytest.mark.spec("U-4", "C-13")
def test_what_was_changed_lately_of_everybody_is_listed_and_each_change_is_undone(memory, operator, clock):
    assert "Nothing was changed lately" in operator.see("recent")
    moved = memory.service.remember(ERIN, "I live in Haifa")
    gone = memory.service.remember(JASON, "I like coffee")
    clock.forward(minutes=1)
    memory.service.update(ERIN, moved.id, text="I live in Eilat")
    clock.forward(minutes=1)
    memory.service.forget(JASON, gone.id)
    page = operator.see("recent")
    assert page.index(operator.of(JASON)) < page.index("I live in Haifa") < page.index("I live in Eilat")
    assert "coffee" not in page
    assert memory.audit.newest(1)[0].subject == "recent"
    for action in re.findall(r'action="/console/([^"]+/restore)"', page):
        operator.do(action)
    assert "I live in Haifa" in [each.text for each in memory.service.list_memories(ERIN)]
    assert [each.text for each in memory.service.list_memories(JASON)] == ["I like coffee"]
    clock.forward(days=31)
    later = Operator(memory)
    assert "Nothing was changed lately" in later.see("recent")


@pytest.mark.spec("U-4", "P-4")
def test_an_erasure_under_way_is_listed_and_undone_there(memory, operator):
    memory.service.remember(ERIN, "Likes tea")
    receipt = memory.erase(ERIN)
    assert receipt.id in operator.see("people")
    operator.do(f"people/erasures/{receipt.id}/restore")
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["Likes tea"]
    assert receipt.id not in operator.see("people")
    operator.do("people/erasures/nothing/restore", status=404)


@pytest.mark.spec("U-4", "A-5")
def test_a_failed_job_is_shown_with_its_reason_and_tried_again_and_open_alerts_stand_there(memory, operator, clock):
    memory.sessions.add_message(ERIN, "user", "I live in Haifa")
    [record] = memory.sessions.sessions(ERIN)
    with memory.database.write() as connection:
        session = job_records_session(connection, record.session_id)
        job_records.keep(connection, session, job_records.JobRecord("failed", frozenset(), [], "the <model> timed out"))
    page = operator.see("jobs")
    assert "the &lt;model&gt; timed out" in page
    assert "None is open" in page
    operator.do("jobs/retry", session_id=record.session_id)
    assert "timed out" not in operator.see("jobs")
    operator.do("jobs/retry", status=422, session_id=record.session_id)
    with memory.database.read() as connection:
        assert job_records.of_session(connection, session).state == "pending"
    for _ in range(30):
        memory.database.operations.note("search", 60.0, failed=False)
    memory.insight._flusher.flush()
    memory.insight.alerts.look()
    assert re.search("Open since <time [^>]+>2026-03-01 09:00</time> UTC: <code>search p95_ms<", operator.see("jobs"))
    clock.forward(minutes=6)
    for _ in range(30):
        memory.database.operations.note("search", 0.01, failed=False)
    memory.insight._flusher.flush()
    memory.insight.alerts.look()
    page = operator.see("jobs")
    assert "None is open" in page
    assert page.index("search p95_ms") < page.index("2026-03-01 09:00") < page.index("2026-03-01 09:06")


def job_records_session(connection, session_id):
    from langmem_plugin.conversation.sessions import session_rows

    return session_rows.anywhere(connection, session_id)
