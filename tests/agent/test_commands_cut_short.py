"""A command cut short anywhere and delivered again does what it does when nothing is cut short, and says the same."""

import contextlib
import functools
import itertools
import os
import re
import threading
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage
from sqlalchemy import event

from langmem_plugin import PhoneMemory
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.database.conftest import Child

pytestmark = pytest.mark.both_engines

_MOST_CUTS = 8
_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE)", re.IGNORECASE)
_NEW_EACH_TIME = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b|\[[0-9a-f]{8}\]|…\d{4}")


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


@pytest.fixture
def phones():
    return (f"+97250123{number:04d}" for number in itertools.count(1))


@functools.lru_cache(1)
def answering(memory):
    return chat_graph(memory, lambda state: {"messages": AIMessage(f"heard {state['messages'][-1].text}")})


def remembering(*facts, status="active"):
    def prepare(memory, phone, clock):
        for fact in facts:
            memory.service.remember(phone, fact, status=status)
            clock.forward(seconds=1)

    return prepare


def telling(*texts):
    def prepare(memory, phone, clock):
        for text in texts:
            memory.reply(answering(memory), phone, text)
            clock.forward(seconds=1)

    return prepare


def both(*steps):
    def prepare(memory, phone, clock):
        return [step(memory, phone, clock) for step in steps][-1]

    return prepare


def a_code(memory, phone, _clock):
    return memory.people.link_code(f"telegram:{phone[-6:]}")


def a_code_of_somebody_known(memory, phone, clock):
    remembering("I like plums")(memory, f"telegram:{phone[-6:]}", clock)
    remembering("I like green tea")(memory, phone, clock)
    return a_code(memory, phone, clock)


def texting(code):
    def prepare(memory, phone, clock):
        telling(f"/link {code(memory, phone, clock)}")(memory, phone, clock)

    return prepare


TEAS = remembering("I like green tea", "I like black tea")
WAITING = remembering("I moved to Haifa", "My cat is Tom", "I play chess", status="pending")
RULES = telling("/instructions be brief", "/instructions never use emojis", "/instructions call me Ace")
CASES = {
    "/remember I own a canoe": TEAS,
    "remember that I own a canoe": TEAS,
    "/forget I like green tea": TEAS,
    "1": both(TEAS, telling("/forget tea")),
    "no": both(TEAS, telling("/forget tea")),
    "/undo": both(TEAS, telling("/forget I like green tea", "/forget I like black tea")),
    "/confirm 1": WAITING,
    "/confirm no 2, 3": both(WAITING, telling("/confirm")),
    "/confirm all": WAITING,
    "/instructions remove 1": RULES,
    "/instructions off 2": RULES,
    "/instructions priority 3 9": both(RULES, telling("/instructions")),
    "/instructions answer in rhymes": RULES,
    "/privacy on": TEAS,
    "/privacy sensitive on": telling("/privacy on"),
    "/privacy off": telling("/privacy on"),
    "yes": both(TEAS, telling("hello", "/privacy erase")),
    "/privacy restore": both(TEAS, telling("hello", "/privacy erase", "yes")),
    "/timezone Madrid": TEAS,
    "/link {}": a_code_of_somebody_known,
    "Yes": texting(a_code),
    "yes!": both(TEAS, texting(a_code)),
    "Yes!": texting(a_code_of_somebody_known),
    "/link off": both(TEAS, texting(a_code), telling("yes")),
    "/reset": telling("hello"),
    "/memories": TEAS,
    "/search tea": TEAS,
}


def state(memory, phone):
    """All that a command may change of a person."""
    key = memory.people.resolve(phone)
    sessions = memory.sessions.sessions(phone)
    consent = memory.consent.of_owner(key)
    return {
        "memories": sorted(
            (each.text, each.status)
            for each in memory.service.list_memories(key, statuses=("active", "pending", "forgotten"))
        ),
        "rules": sorted(
            (each.text, each.active, each.priority)
            for each in memory.instructions.list_instructions(key, active_only=False)
        ),
        "identifiers": len(memory.people.identifiers(phone)),
        "consent": (consent.extraction.allowed, consent.personal.allowed, consent.sensitive.allowed),
        "zone": str(memory.people.time_zone(phone)),
        "erased": memory.erasure.can_restore(phone) is not None,
        "said": sorted(each.content for one in sessions for each in memory.sessions.messages(one.session_id)),
        "ended": sorted(each.ended_at is not None for each in sessions),
        "verdicts": memory.confirmations.verdicts(key),
    }


class Cuts:
    """Ends the work of this thread at one of its writes or commits; counts them."""

    def __init__(self, engine):
        self.at = self.passed = 0
        self._mine = threading.get_ident()
        event.listen(engine, "commit", lambda _: self._pass())
        event.listen(engine, "before_cursor_execute", lambda _c, _cur, sql, *_: _WRITES.match(sql) and self._pass())

    def _pass(self):
        if threading.get_ident() == self._mine:
            self.passed += 1
            if self.passed == self.at:
                raise KeyboardInterrupt

    @contextlib.contextmanager
    def cutting(self, at):
        self.at, self.passed = at, 0
        try:
            with contextlib.suppress(KeyboardInterrupt):
                yield
        finally:
            self.at = 0


def told(memory, phone, text, message_id="the one"):
    return _NEW_EACH_TIME.sub("…", memory.reply(answering(memory), phone, text, message_id=message_id))


@pytest.mark.slow
@pytest.mark.spec("C-21")
@for_each("command", CASES)
def test_cut_short_at_any_write_and_delivered_again_a_command_is_done_once(memory, phones, clock, command):
    cuts = Cuts(memory.database.engine)

    def delivered(cut_at):
        phone = next(phones)
        made = CASES[command](memory, phone, clock)
        text = command.format(made)
        if cut_at:
            with cuts.cutting(cut_at):
                told(memory, phone, text)
        with cuts.cutting(0):
            first = told(memory, phone, text)
        many = cuts.passed
        assert told(memory, phone, text) == first
        return first, state(memory, phone), many

    reply, once, many = delivered(cut_at=0)
    assert not reply.startswith(("heard", "⚠️"))
    for cut_at in range(1, many + 1, -(-many // _MOST_CUTS)):
        assert delivered(cut_at)[:2] == (reply, once), f"cut at {cut_at} of {many}"
    assert delivered(many)[:2] == (reply, once)


@pytest.mark.slow
@pytest.mark.spec("C-21")
@pytest.mark.parametrize("command", ["/undo", "/confirm 1", "/instructions remove 1", "yes", "1", "yes!"])
@pytest.mark.parametrize("after", ["the work", "the answer is kept"])
def test_killed_and_delivered_again_a_command_is_done_once(
    memory, phones, clock, database_url, offline_model, command, after
):
    def prepared():
        phone = next(phones)
        return phone, command.format(CASES[command](memory, phone, clock))

    phone, text = prepared()
    expected = told(memory, phone, text), state(memory, phone)
    phone, text = prepared()

    def killed():
        with PhoneMemory(database_url, embeddings=offline_model, now=clock) as dying:
            if after == "the work":
                answer = dying.commands.answer
                dying.commands.answer = lambda *given, **named: (answer(*given, **named), os._exit(9))
                told(dying, phone, text)
            else:
                told(dying, phone, text)
                os._exit(9)

    with pytest.raises(AssertionError, match="ended with status 2304"):
        Child(killed, 60).result()
    assert (told(memory, phone, text), state(memory, phone)) == expected


@pytest.mark.spec("C-21", "U-2")
def test_a_number_means_the_list_that_was_shown_whatever_was_changed_since(memory, phones, clock):
    phone = next(phones)
    RULES(memory, phone, clock)
    TEAS(memory, phone, clock)
    WAITING(memory, phone, clock)
    told(memory, phone, "/instructions", "l1")
    first = next(line for line in memory.reply(answering(memory), phone, "/memories").splitlines() if "1." in line)
    told(memory, phone, "/confirm", "l3")
    rules = sorted(memory.instructions.list_instructions(phone), key=lambda each: each.created_at)

    memory.instructions.remove(phone, rules[0].id)
    memory.service.remember(phone, "I own a canoe")
    memory.confirmations.confirm(phone, memory.confirmations.waiting(phone)[0].id)

    assert "never use emojis" in told(memory, phone, "/instructions remove 2", "c1")
    assert told(memory, phone, "/instructions remove 2", "c2").startswith("There is no number 2")
    assert first.removeprefix("1. ").rsplit(" (", 1)[0] in told(memory, phone, "/forget 1", "c3")
    assert told(memory, phone, "/confirm 2", "c4") == "✅ Remembered: My cat is Tom"
    assert [each.text for each in memory.instructions.list_instructions(phone)] == ["call me Ace"]


@pytest.mark.spec("C-21")
def test_each_page_of_a_list_keeps_its_numbers(memory, phones, clock):
    phone = next(phones)
    for number in range(12):
        memory.instructions.add(phone, f"rule {number:02d}")
        clock.forward(seconds=1)
    told(memory, phone, "/instructions", "l1")
    told(memory, phone, "/instructions 2", "l2")
    oldest = min(memory.instructions.list_instructions(phone), key=lambda each: each.created_at)
    memory.instructions.remove(phone, oldest.id)

    assert told(memory, phone, "/instructions remove 2", "c1").endswith("rule 01")
    assert told(memory, phone, "/instructions remove 12", "c2").endswith("rule 11")


@pytest.mark.spec("C-21")
def test_what_is_older_than_answered_is_kept_once_however_often_it_is_delivered(memory, phones, clock, monkeypatch):
    phone, sent_at = next(phones), clock() - timedelta(days=9)

    def cut_short(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("langmem_plugin.conversation.turns.message_claims.MessageClaims.once", cut_short)
        with pytest.raises(KeyboardInterrupt):
            memory.reply(answering(memory), phone, "long ago", message_id="m1", sent_at=sent_at)
    for _ in range(2):
        assert memory.reply(answering(memory), phone, "long ago", message_id="m1", sent_at=sent_at) == ""

    assert state(memory, phone)["said"] == ["long ago"]
