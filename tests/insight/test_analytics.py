"""What is known of an owner's memories, in numbers: exact, by the person's calendar, and of everybody without a text."""

import csv
import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.memory_types import FACT_TYPES
from tests.cases import for_each
from tests.memory.encrypted_services import encrypted_service

pytestmark = pytest.mark.both_engines

ERIN, MOM = "+972501234567", "+972509999999"  # in Israel: two hours before UTC in March


@pytest.fixture
def some(memory, clock):
    """Of Erin: what was used, extracted, expired, pending, archived and forgotten; of her mother one."""
    service = memory.service
    texts = {}
    clock.forward(days=-40)
    texts["old"] = service.remember(ERIN, "Erin plays the violin", category="life")
    clock.forward(days=35)
    texts["sold"] = service.remember(ERIN, "Erin sold her bicycle", expires_at=clock() + timedelta(days=1))
    texts["tea"] = service.remember(
        ERIN, "I only drink tea", source_type="extracted_from_chat", fact_type="preference", confidence=0.9
    )
    texts["maybe"] = service.remember(
        ERIN, "Erin may move to Oslo", source_type="extracted_from_chat", status="pending", confidence=0.6
    )
    clock.forward(days=5)
    texts["plan"] = service.remember(ERIN, "We will open a second shop", fact_type="strategic", private=True)
    texts["gone"] = service.remember(ERIN, "My locker is number 12")
    service.forget(ERIN, texts["gone"].id)
    service.remember(MOM, "Mom's therapist is called Griselda", category="griselda's hours")
    return {name: each.id for name, each in texts.items()}


@pytest.mark.spec("A-2")
def test_a_summary_counts_each_state_once(memory, some):
    summary = memory.insight.analytics(ERIN).summary
    assert summary.total_memories == 5
    assert (summary.active_memories, summary.pending_memories, summary.expired_memories) == (3, 1, 1)
    assert (summary.memories_this_week, summary.memories_this_month) == (4, 4)
    assert (summary.high_confidence, summary.strategic_memories, summary.private_memories) == (3, 1, 1)
    assert summary.avg_confidence == pytest.approx((1 + 0.9 + 1) / 3)
    assert (summary.unique_categories, summary.people) == (1, 1)


@pytest.mark.spec("A-2")
def test_shares_are_of_all_that_is_kept(memory, some):
    found = memory.insight.analytics(ERIN)
    assert [(each.category, each.count, each.percentage) for each in found.category_distribution] == [
        ("uncategorized", 4, 80.0),
        ("life", 1, 20.0),
    ]
    assert {each.fact_type for each in found.fact_type_distribution} <= set(FACT_TYPES)
    assert found.extraction.automatic_share == 0.4


@pytest.mark.spec("A-2")
def test_growth_is_told_for_each_day_of_the_persons_calendar(memory, clock):
    clock.instant = clock.instant.replace(hour=21, minute=59)
    memory.service.remember(ERIN, "Erin lives in Haifa")
    clock.forward(minutes=1)
    memory.service.remember(ERIN, "Erin is allergic to peanuts", source_type="extracted_from_chat")
    clock.forward(days=1)
    growth = memory.insight.analytics(ERIN, days=3).growth_trend
    assert [(f"{each.date}", each.new_memories, each.cumulative_count) for each in growth] == [
        ("2026-03-01", 1, 1),
        ("2026-03-02", 1, 2),
        ("2026-03-03", 0, 2),
    ]
    assert [each.new_memories for each in memory.insight.analytics(days=2).growth_trend] == [
        2,
        0,
    ]  # of everybody by UTC


@pytest.mark.spec("A-2")
def test_what_grew_before_the_days_asked_for_is_in_the_sum(memory, some):
    found = memory.insight.analytics(ERIN, days=30)
    assert len(found.growth_trend) == 30
    assert sum(each.new_memories for each in found.growth_trend) == 4
    assert found.growth_trend[-1].cumulative_count == found.summary.total_memories == 5


@pytest.mark.spec("A-2", "C-1")
def test_of_everybody_there_is_no_text_and_no_category_that_somebody_made_up(memory, some):
    service = memory.service
    service.note_access(ERIN, {some["tea"]: 0.9}, "cited")
    found = memory.insight.analytics()
    assert found.summary.people == 2
    assert found.summary.total_memories == 6
    assert {each.category: each.count for each in found.category_distribution} == {
        "uncategorized": 4,
        "life": 1,
        "of their own": 1,
    }
    [used] = found.usage_stats.most_accessed_memories
    assert (used.memory_id, used.fact, used.access_count) == (some["tea"], None, 1)
    told = json.dumps(found.to_dict()) + found.to_csv()
    for word in ("tea", "griselda", "Griselda", ERIN[1:7], MOM[1:7], "violin"):
        assert word not in told


@pytest.mark.spec("A-2", "A-6")
def test_the_most_and_the_last_used_are_told_with_how_often_a_reply_cited_them(memory, some, clock):
    service = memory.service
    service.note_access(ERIN, {some["tea"]: 0.9, some["old"]: 0.8}, "injected")
    clock.forward(minutes=1)
    service.note_access(ERIN, {some["tea"]: 0.9}, "cited")
    clock.forward(minutes=1)
    service.note_access(ERIN, {some["old"]: 0.7}, "injected")
    clock.forward(minutes=1)
    service.note_access(ERIN, {some["old"]: 0.7}, "injected")
    found = memory.insight.analytics(ERIN)
    assert [(each.fact, each.access_count) for each in found.usage_stats.most_accessed_memories] == [
        ("Erin plays the violin", 3),
        ("I only drink tea", 2),
    ]
    by_id = {each.memory_id: each for each in found.usage_stats.recently_accessed}
    assert (by_id[some["tea"]].injected, by_id[some["tea"]].cited, by_id[some["tea"]].effectiveness) == (1, 1, 0.5)
    assert by_id[some["old"]].effectiveness == 0.0
    assert found.to_dict()["usage_stats"]["most_accessed_memories"][0]["fact"] == "Erin plays the violin"


@pytest.mark.spec("A-2")
def test_what_people_were_asked_and_said_is_the_approval_rate(memory):
    asked = [memory.service.remember(ERIN, text, status="pending") for text in ("I like jazz", "I like opera", "I ski")]
    memory.confirmations.confirm(ERIN, asked[0].id)
    memory.confirmations.confirm(ERIN, asked[1].id)
    memory.confirmations.decline(ERIN, asked[2].id)
    for who in (ERIN, None):
        told = memory.insight.analytics(who).extraction
        assert (told.approval_rate, told.confirmed, told.declined) == (pytest.approx(2 / 3), 2, 1)


@pytest.mark.spec("A-2")
def test_of_nobody_everything_is_zero(memory):
    told = memory.insight.analytics(ERIN).to_dict()
    assert told["summary"]["total_memories"] == 0
    assert told["summary"]["avg_confidence"] is None
    assert told["category_distribution"] == []
    assert told["extraction"]["automatic_share"] is None


@pytest.mark.spec("A-2")
@for_each("days", [0, -1, 367, True, "7", 1.5])
def test_days_that_cannot_be_told_are_refused(memory, days):
    with pytest.raises(InvalidInput, match="1 to 366 days"):
        memory.insight.analytics(ERIN, days=days)


@pytest.mark.spec("A-6")
def test_a_spreadsheet_gets_numbers_and_no_formula(memory):
    made = memory.service.remember(ERIN, "=HYPERLINK(1) is what Erin types")
    memory.service.note_access(ERIN, {made.id: 1.0}, "injected")
    rows = list(csv.reader(memory.insight.analytics(ERIN, days=1).to_csv().splitlines()))
    assert rows[0] == ["measure", "value"]
    assert ["summary.total_memories", "1"] in rows
    used = f"usage_stats.most_accessed_memories.{made.id}.fact"
    assert [used, "'=HYPERLINK(1) is what Erin types"] in rows
    assert all(len(row) == 2 for row in rows)


@pytest.mark.spec("A-2", "P-3")
def test_encrypted_categories_are_told_to_their_owner_alone(database_url, clock, offline_model, memory):
    from langmem_plugin.insight.memory_analytics import MemoryAnalytics

    key = "k1:" + "A" * 43 + "="
    with encrypted_service(database_url, key, embeddings=offline_model, now=clock) as service:
        service.remember(ERIN, "Erin sees Dr. Okafor", category="griselda", private=True)
        analytics = MemoryAnalytics(service, lambda _: clock().tzinfo)
        assert {each.category: each.count for each in analytics.of(ERIN).category_distribution} == {"griselda": 1}
        assert {each.category: each.count for each in analytics.of(None).category_distribution} == {"encrypted": 1}


@pytest.mark.spec("A-2")
def test_what_a_clock_that_ran_ahead_has_stored_counts_as_of_today(memory, clock):
    clock.forward(days=3)
    memory.service.remember(ERIN, "Erin lives in Haifa")
    clock.forward(days=-3)
    found = memory.insight.analytics(ERIN, days=2)
    assert [each.new_memories for each in found.growth_trend] == [0, 1]
    assert found.growth_trend[-1].cumulative_count == found.summary.total_memories


@pytest.mark.spec("A-2")
@for_each("phone", ["+972501234567", "+9779812345678", "+14155550123", "+61491570006"])
def test_each_memory_is_on_one_day_of_any_calendar(memory, clock, phone):
    with memory.database.write() as connection:
        vector = memory.service.embedder.texts(["x"])[0]
        drafts = [
            (
                memory.service.repository.draft(
                    phone, "x", {"created_at": clock() - timedelta(minutes=37 * each)}, now=clock()
                ),
                vector,
            )
            for each in range(200)
        ]
        memory.service.repository.insert(connection, phone, drafts)
    zone = memory.person_settings.time_zone(phone)
    days = [draft.created_at.astimezone(zone).date() for draft, _ in drafts]
    growth = memory.insight.analytics(phone, days=10).growth_trend
    assert {each.date: each.new_memories for each in growth if each.new_memories} == {
        each: days.count(each) for each in days
    }


@pytest.mark.spec("A-2")
def test_damaged_rows_are_counted_and_break_nothing(tmp_path, migrated_file, clock, offline_model):
    import shutil

    from langmem_plugin import PhoneMemory
    from tests.insight.conftest import QUIET

    file = shutil.copy(migrated_file, tmp_path / "langmem.db")
    with PhoneMemory(f"sqlite:///{file}", settings=QUIET, embeddings=offline_model, now=clock) as memory:
        made = memory.service.remember(ERIN, "Erin lives in Haifa", category="place")
        memory.service.remember(ERIN, "Erin is allergic to peanuts")
        memory.service.note_access(ERIN, {made.id: 0.9}, "cited")
        with memory.database.write() as connection:
            damage = "UPDATE langmem_memory SET category = CAST(x'70ff' AS TEXT), text = 'other', created_at = 'soon' WHERE memory_id = :id"
            connection.execute(text(damage), {"id": made.id})
        found = memory.insight.analytics(ERIN)
        assert found.summary.total_memories == 2
        assert {each.category for each in found.category_distribution} == {"p\ufffd", "uncategorized"}
        assert [each.fact for each in found.usage_stats.most_accessed_memories] == [None]
        json.dumps(found.to_dict()).encode()
        assert memory.insight.recommendations(ERIN) == []
