"""In a group, what the account's owner told the assistant alone is for a message of theirs, and only with a setting."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import PhoneMemory, Settings
from tests.cases import for_each
from tests.people.conftest import ANNA, BEN
from tests.stated import stated

FAMILY, OTHER = "120363041234567890@g.us", "telegram:-1001234567890"
BOAT = "The boat is in Haifa"


def by(sender, said):
    return HumanMessage(said, response_metadata={"langmem": {"sender": sender}} if sender else {})


@pytest.fixture(params=[True, False], ids=["with the setting", "without"])
def opened(request, database_url, offline_model):
    settings = Settings(database=database_url, godfather_phone=ANNA, godfather_in_groups=request.param)
    with PhoneMemory(settings=settings, embeddings=offline_model) as memory:
        memory.service.remember(ANNA, BOAT)
        memory.service.remember(BEN, "Ben's boat is in Jaffa")
        memory.service.remember(FAMILY, "The family meets on Fridays")
        yield memory, request.param


def _told(memory, messages, group=FAMILY, recalled=None):
    recalled = memory.recall({"messages": messages}, phone=group) if recalled is None else recalled
    return stated(memory.prompt({"messages": messages, "recalled": recalled}, "You are Mom Bot.", phone=group))


@pytest.mark.spec("M-16")
@for_each("group", [FAMILY, OTHER])
def test_the_godfathers_own_memories_come_along_only_with_the_setting(opened, group):
    memory, allowed = opened
    told = _told(memory, [by(ANNA, "where is the boat?")], group)
    assert (BOAT in told) is allowed
    assert "Jaffa" not in told
    assert memory.person.role(group) == "client"


@pytest.mark.spec("M-16", "P-6")
@for_each("sender", [BEN, None, "", "telegram:1", 7, [ANNA]])
def test_for_any_other_sender_they_never_do(opened, sender):
    memory, _ = opened
    earlier = [by(ANNA, "hello all"), AIMessage("hello")]
    for messages in (
        [by(sender, "where is the boat?")],
        [*earlier, by(sender, "where is the boat?")],
        [by(ANNA, "hello"), by(sender, "where is the boat?")],
        [by(sender, "where is the boat?"), by(ANNA, "where is the boat?")],
    ):
        assert BOAT not in _told(memory, messages)


@pytest.mark.spec("M-16", "P-6")
def test_what_was_recalled_for_the_godfather_is_not_shown_for_the_next_sender(opened):
    memory, allowed = opened
    asked = [by(ANNA, "where is the boat?")]
    recalled = memory.recall({"messages": asked}, phone=FAMILY)
    assert (BOAT in _told(memory, asked, recalled=recalled)) is allowed
    later = [*asked, AIMessage("somewhere"), by(BEN, "where?")]
    assert BOAT not in _told(memory, later, recalled=recalled)
    cited = memory.context.citations(
        {"messages": [*later, AIMessage("there [Memory: 1]")], "recalled": recalled}, phone=FAMILY
    )
    assert BOAT not in [each.memory.text for each in cited]


@pytest.mark.spec("M-16", "P-6")
def test_what_another_asked_before_asks_nothing_of_the_godfathers_memories(opened):
    memory, _ = opened
    messages = [by(BEN, "where is the boat?"), AIMessage("who knows"), by(ANNA, "who brings a cake on Friday?")]
    assert BOAT not in _told(memory, messages)


@pytest.mark.spec("M-16", "C-20")
def test_the_godfather_is_known_by_every_identifier(opened):
    memory, allowed = opened
    memory.people.link(4242, ANNA)
    assert memory.people.resolve(4242) == ANNA  # the account's owner keeps their key
    assert (BOAT in _told(memory, [by("telegram:4242", "where is the boat?")])) is allowed
    assert memory.person.role(memory.person.owner("telegram:4242")) == "godfather"


@pytest.mark.spec("M-16", "P-6")
def test_alone_with_another_person_the_setting_means_nothing(opened):
    memory, _ = opened
    assert BOAT not in _told(memory, [by(ANNA, "where is the boat?")], BEN)
