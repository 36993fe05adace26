"""A verb that is slow or fails often is told once, by one process, in numbers; and once when it is well again."""

from functools import partial

import pytest

from langmem_plugin.database import process_lease
from tests.cases import for_each
from tests.log_events import events
from tests.waiting import until

pytestmark = pytest.mark.both_engines


def _noted(memory, operation, milliseconds, times, failed=False):
    memory.database.operations.noted = lambda: None  # else the flusher looks too where a test takes its ten seconds
    for _ in range(times):
        memory.database.operations.note(operation, milliseconds / 1_000, failed=failed)
    memory.insight._flusher.flush()


def _told(memory):
    return [(each.event, each.operation, each.measure) for each in memory.insight.alerts.look()]


@pytest.mark.spec("A-6")
def test_an_alert_is_raised_once_and_cleared_once_whoever_looks(opened, clock, caplog):
    caplog.set_level("INFO", "langmem_plugin")
    one, other = opened(), opened()
    _noted(one, "search", 1_500, 20)
    assert _told(one) == [("alert.raised", "search", "p95_ms")]
    assert _told(other) == _told(one) == []
    clock.forward(minutes=6)
    _noted(other, "search", 10, 20)
    assert _told(other) == [("alert.cleared", "search", "p95_ms")]
    assert _told(one) == []
    raised, cleared = (each for each in caplog.records if each.msg.startswith("alert."))
    assert (raised.levelname, raised.operation, raised.bound, raised.calls) == ("WARNING", "search", 1_000, 20)
    assert raised.value == pytest.approx(1_500, rel=0.1)
    assert cleared.levelname == "INFO"  # nobody has to do anything
    assert cleared.value == pytest.approx(10, rel=0.1)


@pytest.mark.spec("A-6")
def test_failures_are_an_alert_of_any_verb_and_few_calls_are_none(memory, clock):
    _noted(memory, "forget", 1, 18)
    _noted(memory, "forget", 1, 1, failed=True)
    assert _told(memory) == []
    _noted(memory, "forget", 9_000, 1, failed=True)  # it has no threshold of time
    assert _told(memory) == [("alert.raised", "forget", "success_rate")]
    clock.forward(minutes=6)
    _noted(memory, "forget", 1, 19)
    assert _told(memory) == []  # too few to say that it is well again
    _noted(memory, "forget", 1, 1)
    assert _told(memory) == [("alert.cleared", "forget", "success_rate")]


@pytest.mark.spec("A-6")
def test_one_in_twenty_may_be_slow(memory):
    _noted(memory, "search", 10, 19)
    _noted(memory, "search", 2_000, 1)
    assert _told(memory) == []
    _noted(memory, "search", 2_000, 1)
    assert _told(memory) == [("alert.raised", "search", "p95_ms")]


@pytest.mark.spec("A-6", "A-5")
def test_while_another_process_looks_nobody_else_does(memory):
    _noted(memory, "search", 1_500, 20)
    with process_lease.alone(memory.database, "alerts"):
        assert _told(memory) == []
    assert _told(memory) == [("alert.raised", "search", "p95_ms")]


@pytest.mark.spec("A-6")
def test_an_alert_is_logged_by_itself_some_seconds_after_the_calls_in_numbers_alone(opened, caplog):
    memory = opened()
    flusher = memory.insight._flusher
    flusher.every = 0.01  # ten seconds elsewhere
    memory.database.operations.noted = partial(flusher._worker.start, flusher.every)
    memory.service.remember("+972501234567", "Erin is allergic to peanuts")
    for _ in range(25):
        memory.database.operations.note("search", 1.5, failed=False)
    until(lambda: "alert.raised" in events(caplog))
    memory.close()
    [raised] = [each for each in caplog.records if each.getMessage().startswith("alert.raised")]
    assert (raised.operation, raised.measure, raised.bound, raised.calls) == ("search", "p95_ms", 1_000, 25)
    assert "972501234567" not in str(vars(raised))


@pytest.mark.spec("A-3", "A-6")
@for_each("operation", ["inject", "store"])
def test_a_small_machine_misses_the_target_and_alerts_nobody(memory, clock, operation):
    _noted(memory, operation, 250, 25)
    [found] = [each for each in memory.insight.performance() if each.operation == operation]
    assert not found.ok
    assert _told(memory) == []


@pytest.mark.spec("A-6")
def test_alerts_that_are_over_are_kept_with_their_times_the_last_fifty(memory, clock):
    alerts, times = memory.insight.alerts, []
    for _ in range(52):
        _noted(memory, "search", 1_500, 20)
        began = clock()
        assert _told(memory) == [("alert.raised", "search", "p95_ms")]
        assert alerts.raised() == [("search p95_ms", began)]
        clock.forward(minutes=6)
        _noted(memory, "search", 10, 20)
        assert _told(memory) == [("alert.cleared", "search", "p95_ms")]
        assert alerts.raised() == []
        times.append(("search p95_ms", began, clock()))
        clock.forward(minutes=6)
    assert alerts.over() == times[::-1][:50]
