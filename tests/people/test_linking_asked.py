"""/link asks whoever gives something, names the channel, is shown on both sides, and can be taken back by either."""

import pytest
from starlette.testclient import TestClient

from langmem_plugin.agent.replying.reply_texts import ENGLISH, replies_in
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, BEN

pytestmark = pytest.mark.spec("C-20", "P-6", "U-2")

OFF = "/link off"


@pytest.fixture
def link(memory):
    def begin(giver, other, *answers):
        """The code of one texted by the other, and what both answer to it: the last reply."""
        reply = memory.command(other, f"/link {memory.command(giver, '/link').split()[-1]}")
        for who, text in answers:
            reply = memory.command(who, text)
        return reply

    return begin


def are_one(memory):
    return memory.people.resolve(ANNA) == memory.people.resolve(ANNAS_TELEGRAM)


def test_who_gives_something_is_told_what_to_which_channel_and_nothing_is_linked_before_a_yes(memory, link):
    memory.service.remember(ANNA, "Anna's PIN is 4711")
    asked = link(ANNAS_TELEGRAM, ANNA)

    assert "Telegram …4242" in asked
    assert "remembered: 1" in asked
    assert not are_one(memory)
    assert memory.command(ANNA, "no") == ENGLISH.not_linked
    assert memory.command(ANNAS_TELEGRAM, "/memories") == ENGLISH.no_memories
    assert memory.command(ANNA, "yes") is None


@for_each("said", ["what?", "/memories", "later"])
def test_what_is_no_yes_links_nobody(memory, link, said):
    link(ANNAS_TELEGRAM, ANNA, (ANNA, said), (ANNA, "yes"))

    assert not are_one(memory)


def test_an_empty_channel_gives_nothing_and_is_not_asked(memory, link):
    memory.service.remember(ANNA, "Anna has a boat")

    assert link(ANNAS_TELEGRAM, ANNA, (ANNA, "yes")) == ENGLISH.linked.format(off=OFF)
    assert "boat" in memory.command(ANNAS_TELEGRAM, "/memories")


def test_whose_code_was_talked_out_of_them_is_asked_too(memory, link):
    memory.service.remember(ANNA, "Anna's PIN is 4711")
    told = link(ANNA, ANNAS_TELEGRAM, (ANNAS_TELEGRAM, "yes"))

    assert told == ENGLISH.link_there.format(link="/link", channel="…4567")
    assert memory.command(ANNAS_TELEGRAM, "/memories") == ENGLISH.no_memories
    assert memory.command(ANNA, "yes") is None  # nothing was asked there yet
    assert "Telegram …4242" in memory.command(ANNA, "/link")
    assert not are_one(memory)


def test_both_agree(memory, link):
    memory.service.remember(ANNA, "Anna has a boat")
    memory.service.remember(ANNAS_TELEGRAM, "Anna is allergic to nuts")
    yes = (ANNAS_TELEGRAM, "yes"), (ANNA, "/link"), (ANNA, "yes")

    assert link(ANNA, ANNAS_TELEGRAM, *yes) == ENGLISH.linked.format(off=OFF)
    assert are_one(memory)
    assert "boat" in memory.command(ANNAS_TELEGRAM, "/memories")


def test_a_no_of_the_second_ends_it(memory, link):
    memory.service.remember(ANNA, "Anna has a boat")
    link(ANNA, ANNAS_TELEGRAM, (ANNAS_TELEGRAM, "yes"), (ANNA, "/link"), (ANNA, "no"), (ANNA, "/link"), (ANNA, "yes"))

    assert not are_one(memory)


def test_nobody_waits_for_longer_than_ten_minutes(memory, link, clock):
    memory.service.remember(ANNA, "Anna has a boat")
    link(ANNA, ANNAS_TELEGRAM, (ANNAS_TELEGRAM, "yes"))
    clock.forward(minutes=10)

    assert "Give this code to nobody" in memory.command(ANNA, "/link")
    assert memory.command(ANNA, "yes") is None


def test_who_waits_cannot_be_taken_for_another(memory, link):
    memory.service.remember(ANNA, "Anna has a boat")
    code = memory.command(ANNA, "/link").split()[-1]
    memory.command(ANNAS_TELEGRAM, f"/link {code}")
    memory.command(ANNAS_TELEGRAM, "yes")
    memory.command(ANNA, "/link")

    assert memory.command(BEN, f"/link {code}") == ENGLISH.link_wrong
    assert memory.command(ANNA, "yes") == ENGLISH.linked.format(off=OFF)
    assert memory.people.identifiers(ANNA) == [ANNA, ANNAS_TELEGRAM]


@pytest.mark.slow
@for_each("side", [ANNA, ANNAS_TELEGRAM])
@for_each("off", [OFF, "/link off 2", "/link undo", "/link off 1", "/קישור בטל", "/vincular quitar"])
def test_both_see_it_and_either_takes_it_back(memory, link, texts, side, off):
    memory.service.remember(ANNA, "Anna has a boat")
    memory.service.remember(ANNAS_TELEGRAM, "Anna is allergic to nuts")
    link(ANNA, ANNAS_TELEGRAM, (ANNAS_TELEGRAM, "yes"), (ANNA, "/link"), (ANNA, "yes"))

    assert memory.command(side, "/link").splitlines()[:3] == [ENGLISH.links, "1. …4567", "2. Telegram …4242"]
    language = "he" if "קישור" in off else "es" if "vincular" in off else "en"
    assert memory.command(side, off) == replies_in(language).link_parted.format(channel="Telegram …4242")
    assert not are_one(memory)
    assert (texts(ANNA), texts(ANNAS_TELEGRAM)) == (["Anna has a boat"], ["Anna is allergic to nuts"])


@for_each("off", ["/link off 3", "/link off 0", "/link off x", "/link off ²", "/link off 99999999999"])
def test_a_channel_that_is_none_is_not_parted(memory, link, off):
    link(ANNAS_TELEGRAM, ANNA, (ANNA, "yes"))

    assert memory.command(ANNA, off) == ENGLISH.link_unknown
    assert are_one(memory)


@for_each("side", [ANNA, ANNAS_TELEGRAM])
def test_for_a_day_nothing_is_erased_or_exported_on_either_side(memory, link, clock, side):
    memory.service.remember(ANNA, "Anna has a boat")
    link(ANNAS_TELEGRAM, ANNA, (ANNA, "yes"))
    refused = ENGLISH.linked_lately.format(off=OFF)

    assert memory.command(side, "/privacy erase") == refused
    assert memory.command(side, "/export") == refused
    assert memory.command(side, "yes") is None
    clock.forward(days=1)
    assert "boat" in memory.command(side, "/export")
    assert "Shall I delete" in memory.command(side, "/privacy erase")


def test_who_parted_it_need_not_wait_and_who_linked_by_code_of_the_service_neither(memory, link):
    memory.service.remember(ANNA, "Anna has a boat")
    link(ANNAS_TELEGRAM, ANNA, (ANNA, "yes"), (ANNA, OFF))
    memory.people.link(BEN, "telegram:9")

    assert "Shall I delete" in memory.command(ANNA, "/privacy erase")
    assert "Shall I delete" in memory.command(BEN, "/privacy erase")


def test_no_other_door_erases_or_exports_for_them(memory, link, clock):
    memory.service.remember(ANNA, "Anna has a boat")
    tokens = AccessTokens(memory.database, now=clock)
    link(ANNAS_TELEGRAM, ANNA, (ANNA, "yes"))
    token, _ = tokens.new(ANNAS_TELEGRAM)
    client = TestClient(memory.app(), base_url="http://127.0.0.1", raise_server_exceptions=False)
    asked = {"headers": {"Authorization": f"Bearer {token}"}}

    assert client.get("/api/memory/export", **asked).status_code == 403
    assert client.post("/api/erasure", json={}, **asked).status_code == 403
    clock.forward(days=1)
    assert client.get("/api/memory/export", **asked).status_code == 200


def test_a_group_links_nobody(memory):
    for said in ("/link", "/link 1234-5678", OFF):
        assert memory.command("120363040000000000@g.us", said) == ENGLISH.link_not_here
