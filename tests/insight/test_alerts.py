"""A verb that is slow or fails often is told once, by one process, in numbers; and once when it is well again."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pydantic import SecretStr

from langmem_plugin import Settings
from langmem_plugin.database import one_process
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.insight.webhook import Webhook
from tests.log_events import events


def _noted(memory, operation, milliseconds, times, failed=False):
    for _ in range(times):
        memory.database.operations.note(operation, milliseconds / 1_000, failed=failed)
    memory.insight._flusher.flush()


def _told(memory):
    return [(each.event, each.operation, each.measure) for each in memory.insight.alerts.look()]


class Receiver:
    """A server on this machine that keeps what is posted to it and answers with each of `statuses` in turn."""

    def __init__(self, *statuses):
        self.statuses, self.posted, self.reached = list(statuses), [], threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.posted.append((self.path, self.headers["Content-Type"], json.loads(body)))
                status = receiver.statuses.pop(0) if receiver.statuses else 204
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                receiver.reached.set()

            def do_GET(self):
                raise AssertionError("a redirect was followed")

            def log_message(self, *_):
                """Nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/alerts?token=s3cret"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.mark.spec("A-6")
def test_an_alert_is_raised_once_and_cleared_once_whoever_looks(opened, clock, caplog):
    one, other = opened(), opened()
    _noted(one, "search", 300, 20)
    assert _told(one) == [("alert.raised", "search", "p95_ms")]
    assert _told(other) == _told(one) == []
    clock.forward(minutes=6)
    _noted(other, "search", 10, 20)
    assert _told(other) == [("alert.cleared", "search", "p95_ms")]
    assert _told(one) == []
    raised, cleared = (each for each in caplog.records if each.msg.startswith("alert."))
    assert (raised.levelname, raised.operation, raised.bound, raised.calls) == ("WARNING", "search", 200, 20)
    assert raised.value == pytest.approx(300, rel=0.1)
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
def test_one_in_twenty_may_be_slow_and_settings_say_what_slow_is(opened):
    memory = opened(thresholds_ms={"search": 20.0}, least_success=0.5)
    _noted(memory, "search", 10, 19)
    _noted(memory, "search", 500, 1, failed=True)
    assert _told(memory) == []
    _noted(memory, "search", 500, 1)
    assert _told(memory) == [("alert.raised", "search", "p95_ms")]


@pytest.mark.spec("A-6", "A-5")
def test_while_another_process_looks_nobody_else_does(memory):
    _noted(memory, "search", 300, 20)
    with one_process.alone(memory.database, "alerts"):
        assert _told(memory) == []
    assert _told(memory) == [("alert.raised", "search", "p95_ms")]


@pytest.mark.spec("A-6")
def test_an_alert_is_posted_in_numbers_alone(opened, clock):
    with Receiver() as receiver:
        memory = opened(alert_url=SecretStr(receiver.url))
        memory.service.remember("+972501234567", "Erin is allergic to peanuts")
        _noted(memory, "search", 300, 20)
        memory.insight.alerts.look()
    [(_, kind, posted)] = receiver.posted
    assert kind == "application/json"
    assert posted.pop("value") == pytest.approx(300, rel=0.1)
    assert posted == {
        "event": "alert.raised",
        "operation": "search",
        "measure": "p95_ms",
        "bound": 200.0,
        "calls": 20,
        "at": clock().isoformat(),
    }


@pytest.mark.spec("A-6")
def test_an_alert_is_raised_by_itself_some_seconds_after_the_calls(opened):
    with Receiver() as receiver:
        memory = opened(alert_url=SecretStr(receiver.url))
        memory.insight._flusher.every = 0.01
        for _ in range(25):
            memory.database.operations.note("search", 0.3, failed=False)
        assert receiver.reached.wait(20)
        memory.close()
    assert [posted["event"] for *_, posted in receiver.posted] == ["alert.raised"]


@pytest.mark.spec("A-6")
def test_a_post_is_tried_three_times_and_follows_nobody(caplog):
    with Receiver(500, 503) as receiver:
        assert Webhook(receiver.url, pauses=(0.0, 0.0)).post({"calls": 1})
        assert len(receiver.posted) == 3
    with Receiver(302, 302, 302) as receiver:
        assert not Webhook(receiver.url, pauses=(0.0, 0.0)).post({"calls": 1})
        assert {path for path, *_ in receiver.posted} == {"/alerts?token=s3cret"}
    assert not Webhook(receiver.url, pauses=(0.0,)).post({"calls": 1})  # nobody is there any more
    assert events(caplog) == ["alert.not_delivered"] * 2
    assert "s3cret" not in caplog.text


@pytest.mark.spec("A-6")
def test_who_closes_does_not_wait_for_a_post(caplog):
    hook = Webhook("http://127.0.0.1:9/", pauses=(600.0,))
    posting = threading.Thread(target=hook.post, args=({"calls": 1},))
    posting.start()
    hook.close()
    posting.join(20)
    assert not posting.is_alive()


@pytest.mark.spec("A-6")
@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "http://localhost@example.com/",
        "http://10.0.0.1/",
        "http://127.0.0.1.example.com/",
        "ftp://example.com",
        "file:///etc/passwd",
        "https://",
        "https://example.com:99999/",
        "example.com",
        "",
    ],
)
def test_an_address_that_would_be_told_in_plain_is_refused(url, monkeypatch):
    with pytest.raises(ConfigurationError):
        Settings(alert_url=url)
    monkeypatch.setenv("LANGMEM_ALERT_URL", url)
    with pytest.raises(ConfigurationError, match="LANGMEM_ALERT_URL holds what cannot be used"):
        Settings()


@pytest.mark.spec("A-6")
def test_an_address_over_https_or_of_this_machine_is_taken_and_not_shown():
    for url in ("https://example.com/hook?token=s3cret", "http://localhost:9/s3cret", "http://[::1]:9/s3cret"):
        settings = Settings(alert_url=url)
        assert settings.alert_url.get_secret_value() == url
        assert "s3cret" not in repr(settings)
