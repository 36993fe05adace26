"""How long the verbs take and how often they fail: counted cheaply, added up over processes, kept for seven days."""

import math
import os
import statistics
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from sqlalchemy import func, select, update

from langmem_plugin import PhoneMemory
from langmem_plugin import telemetry as measuring
from langmem_plugin.database.operations_tables import operation as table
from langmem_plugin.errors import (
    EmbeddingUnavailable,
    InvalidInput,
    MemoryNotFound,
    StoreUnavailable,
)
from langmem_plugin.insight.timings_and_alerts import OperationFlusher
from langmem_plugin.telemetry import Latencies, OperationTimes, timed, timing
from tests.chat_graph import chat_graph
from tests.log_events import events
from tests.unreliable import Unreliable

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


def _figures(memory, **asked):
    return {each.operation: each for each in memory.insight.performance(**asked)}


def _rows(memory):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _noted(memory, operation, milliseconds, failed=False):
    memory.database.operations.note(operation, milliseconds / 1_000, failed=failed)


@pytest.mark.spec("A-3")
@settings(max_examples=40)
@given(st.lists(st.floats(0.001, 200_000), min_size=1, max_size=200), st.sampled_from([0.5, 0.95]))
def test_a_quantile_is_off_by_a_tenth_at_most(taken, share):
    latencies = Latencies()
    for each in taken:
        latencies.note(each, failed=False)
    exact = min(sorted(taken)[math.ceil(share * len(taken)) - 1], measuring._BOUNDS[-1])
    found = latencies.quantile_ms(share)
    assert exact / 1.1 - measuring._SHORTEST_MS <= found <= exact * 1.1 + measuring._SHORTEST_MS
    assert latencies.average_ms == pytest.approx(statistics.fmean(taken))


@pytest.mark.spec("A-3")
@settings(max_examples=40)
@given(st.lists(st.floats(0.001, 10_000), max_size=30), st.lists(st.floats(0.001, 10_000), max_size=30))
def test_two_halves_add_up_to_the_whole(ours, theirs):
    one, other, whole = Latencies(), Latencies(), Latencies()
    for latencies, taken in ((one, ours), (other, theirs), (whole, ours + theirs)):
        for each in taken:
            latencies.note(each, failed=each > 5_000)
    one.add(other)
    assert (one.calls, one.failures, one.buckets) == (whole.calls, whole.failures, whole.buckets)
    assert one.quantile_ms(0.95) == whole.quantile_ms(0.95)


@pytest.mark.spec("A-3")
def test_each_verb_is_counted_under_its_operation(memory):
    service = memory.service
    made = service.remember(ERIN, "Erin is allergic to peanuts")
    service.update(ERIN, made.id, category="health")
    new = service.supersede(ERIN, made.id, "Erin is allergic to walnuts")
    service.search(ERIN, "what must Erin not eat?")
    service.recall(ERIN, "walnuts")
    service.forget(ERIN, new.id)
    graph = chat_graph(memory, lambda _: {"messages": AIMessage("noted")})
    memory.reply(graph, ERIN, "good morning")
    found = _figures(memory)
    assert {name: each.count for name, each in found.items()} == {
        "store": 1,
        "change": 2,
        "search": 2,
        "forget": 1,
        "reply": 1,
        "inject": found["inject"].count,
    }
    assert all(each.success_rate == 1.0 for each in found.values())
    assert {name: each.threshold_ms for name, each in found.items() if each.threshold_ms} == {
        "store": 100,
        "search": 200,
        "inject": 50,
    }


@pytest.mark.spec("A-3")
def test_a_caller_who_errs_is_no_failure_and_a_model_that_is_down_is(database_url, clock, offline_model):
    from tests.insight.conftest import QUIET

    model = Unreliable(offline_model)
    with PhoneMemory(database_url, settings=QUIET, embeddings=model, now=clock) as memory:
        with pytest.raises(InvalidInput):
            memory.service.remember(ERIN, "  ")
        with pytest.raises(MemoryNotFound):
            memory.service.forget(ERIN, "none")
        model.way = "raises ValueError"
        with pytest.raises(EmbeddingUnavailable):
            memory.service.remember(ERIN, "Erin is allergic to peanuts")
        found = _figures(memory)
    assert (found["store"].count, found["store"].success_rate, found["store"].ok) == (2, 0.5, False)
    assert (found["forget"].count, found["forget"].success_rate) == (1, 1.0)


@pytest.mark.spec("A-3")
def test_a_reply_that_only_says_what_failed_is_a_failure(memory):
    def fail(_):
        raise RuntimeError("the model is gone")

    memory.reply(chat_graph(memory, fail), ERIN, "good morning")
    assert _figures(memory)["reply"].success_rate == 0.0


@pytest.mark.spec("A-3", "A-5")
def test_what_several_processes_noted_adds_up(opened, clock):
    one, other = opened(), opened()
    for taken, memory in ((10, one), (20, other), (40, other)):
        _noted(memory, "search", taken)
    one.insight._flusher.flush()
    clock.forward(minutes=1)
    _noted(one, "search", 300, failed=True)
    other.insight._flusher.flush()
    [found] = one.insight.performance()
    assert (found.operation, found.count, found.success_rate) == ("search", 4, 0.75)
    assert found.average_ms == pytest.approx(92.5)
    assert found.p95_ms > 200
    assert not found.ok
    assert _rows(one) == 2  # a row for each minute


@pytest.mark.spec("A-3", "A-5")
def test_of_those_that_store_at_once_nothing_is_lost(opened):
    memories = [opened(), opened()]

    def work(memory):
        for taken in range(15):
            _noted(memory, "search", taken)
            _noted(memory, "store", taken)
            memory.insight._flusher._look()

    threads = [threading.Thread(target=work, args=(each,)) for each in memories for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    for each in memories:
        each.insight._flusher.flush()
    assert {name: each.count for name, each in _figures(memories[0]).items()} == {"search": 60, "store": 60}


@pytest.mark.spec("A-3")
def test_figures_are_of_the_hours_asked_for_and_go_after_seven_days(memory, clock):
    _noted(memory, "search", 10)
    memory.insight._flusher.flush()
    clock.forward(hours=2)
    assert memory.insight.performance(hours=1) == []
    assert [each.count for each in memory.insight.performance(hours=3)] == [1]
    clock.forward(days=6)
    assert memory.housekeeping.sweep()["figures_deleted"] == 0
    clock.forward(days=1)
    assert memory.housekeeping.sweep()["figures_deleted"] == 1
    assert _rows(memory) == 0
    for hours in (0, 169, True, "1"):
        with pytest.raises(InvalidInput, match="1 to 168 hours"):
            memory.insight.performance(hours=hours)


@pytest.mark.spec("A-3")
def test_a_database_that_is_down_costs_no_verb_and_what_was_noted_waits(memory, monkeypatch, caplog):
    def down(**_):
        raise StoreUnavailable("down")

    flusher = memory.insight._flusher
    _noted(memory, "search", 10)
    with monkeypatch.context() as outage:
        outage.setattr(memory.database, "write", down)
        flusher._look()
        _noted(memory, "search", 20)
        flusher._look()
    assert events(caplog).count("operations.not_stored") == 1
    assert [each.count for each in memory.insight.performance()] == [2]


@pytest.mark.spec("A-3")
def test_figures_are_stored_in_the_background_and_at_the_end(database_url, memory, clock, offline_model):
    stored = threading.Event()
    flusher = OperationFlusher(memory.database, now=clock, stored=stored.set, every=0.01)
    _noted(memory, "search", 10)
    assert stored.wait(60)
    assert _rows(memory) == 1
    _noted(memory, "store", 10)
    flusher.close()
    assert _rows(memory) == 2


@pytest.mark.spec("A-3")
def test_nothing_is_counted_where_the_memory_is_switched_off(opened, clock):
    memory = opened(enable_memory_system=False)
    with timing(memory.database.operations, "search"):
        memory.service.list_memories(ERIN)
    assert memory.insight.performance() == []
    assert memory.database.operations.take() == {}


@pytest.mark.spec("A-3", "A-5")
def test_a_forked_child_begins_with_nothing_and_counts_its_own(memory):
    _noted(memory, "search", 10)
    if (pid := os.fork()) == 0:
        held = memory.database.operations.take()
        _noted(memory, "store", 10)
        memory.insight.close()
        os._exit(len(held))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert {name: each.count for name, each in _figures(memory).items()} == {"search": 1, "store": 1}


@pytest.mark.spec("A-3")
def test_open_telemetry_gets_each_latency_and_nothing_of_whom(monkeypatch):
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(
        measuring, "_duration", provider.get_meter("test").create_histogram("langmem.operation.duration")
    )
    times = OperationTimes()
    with timing(times, "search"):
        pass
    with pytest.raises(StoreUnavailable), timing(times, "search"):
        raise StoreUnavailable("down")
    [metric] = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    points = {each.attributes["outcome"]: each for each in metric.data.data_points}
    assert {outcome: each.count for outcome, each in points.items()} == {"ok": 1, "failed": 1}
    assert all(set(each.attributes) == {"operation", "outcome"} for each in points.values())


@pytest.mark.spec("A-3")
def test_what_is_cancelled_is_not_counted_and_a_name_and_docstring_stay():
    class Verbs:
        operations = OperationTimes()

        @timed("search")
        def search(self, error):
            """Finds."""
            raise error

    for error in (KeyboardInterrupt(), GeneratorExit()):
        with pytest.raises(type(error)):
            Verbs().search(error)
    assert Verbs.operations.take() == {}
    assert (Verbs.search.__name__, Verbs.search.__doc__) == ("search", "Finds.")


@pytest.mark.spec("A-3")
def test_a_row_that_another_version_wrote_is_read_as_far_as_it_goes(memory, clock):
    _noted(memory, "search", 10)
    memory.insight._flusher.flush()
    with memory.database.write() as connection:
        connection.execute(update(table).values(name="sing", buckets={"0": 1, "500": 1}, calls=2))
    [found] = memory.insight.performance()
    assert (found.operation, found.count, found.threshold_ms) == ("sing", 2, None)
    assert found.p95_ms <= measuring._BOUNDS[-1]
    clock.forward(minutes=1)
    assert memory.insight.performance(hours=1)[0].count == 2
