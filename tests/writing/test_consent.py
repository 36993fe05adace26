"""What may be remembered: what a person asks for always, all else by their leave and only from then on."""

import pytest

from langmem_plugin import ConfigurationError, InvalidInput, PhoneMemory, Settings
from langmem_plugin.people.consent_records import Given
from tests.cases import for_each

ERIN, ERINS_TELEGRAM, JASON = "+972501234567", "telegram:4242", "+972501234568"

pytestmark = [pytest.mark.both_engines, pytest.mark.spec("P-2")]


def test_nobody_has_agreed_before_they_were_asked(memory):
    assert not memory.consent.allowed(ERIN)
    assert not memory.consent.allowed(ERIN, "personal", True)
    assert memory.consent.of(ERIN).extraction == Given(None, None)


def test_what_a_person_asks_for_is_always_allowed(memory):
    memory.consent.set(ERIN, extraction=False, personal=False, sensitive=False)

    assert memory.consent.allowed(ERIN, "personal", True, explicit=True)


@for_each(
    ("permissions", "plain", "personal", "sensitive"),
    [
        ({"extraction": True}, True, False, False),
        ({"extraction": True, "personal": True}, True, True, False),
        ({"extraction": True, "sensitive": True}, True, False, True),
        ({"extraction": True, "personal": True, "sensitive": True}, True, True, True),
        ({"personal": True, "sensitive": True}, False, False, False),
        ({"extraction": False, "personal": True, "sensitive": True}, False, False, False),
    ],
)
def test_each_kind_of_fact_needs_its_own_leave(memory, permissions, plain, personal, sensitive):
    memory.consent.set(ERIN, **permissions)

    assert memory.consent.allowed(ERIN, "preference") is plain
    assert memory.consent.allowed(ERIN, "personal") is personal
    assert memory.consent.allowed(ERIN, "preference", True) is sensitive
    assert memory.consent.allowed(ERIN, "personal", True) is (personal and sensitive)
    assert not memory.consent.allowed(JASON, "preference")


def test_what_was_said_before_they_agreed_is_not_remembered_by_it(memory, clock):
    before = clock()
    clock.forward(minutes=1)
    memory.consent.set(ERIN, extraction=True)
    agreed = clock()
    clock.forward(minutes=1)
    memory.consent.set(ERIN, extraction=True, sensitive=True)

    assert [memory.consent.allowed(ERIN, said_at=at) for at in (before, agreed, clock())] == [False, True, True]
    # The leave for sensitive facts came later than that for all others, and takes nothing from it.
    assert [memory.consent.allowed(ERIN, "fact", True, said_at=at) for at in (agreed, clock())] == [False, True]


def test_who_agrees_again_has_not_agreed_for_the_time_between(memory, clock):
    memory.consent.switch_on(ERIN)
    clock.forward(minutes=1)
    memory.consent.switch_off(ERIN)
    between = clock()
    clock.forward(minutes=1)
    memory.consent.switch_on(ERIN)

    assert not memory.consent.allowed(ERIN, said_at=between)
    assert memory.consent.allowed(ERIN, said_at=clock())


def test_switching_on_never_allows_the_sensitive_and_keeps_a_no_to_the_personal(memory):
    memory.consent.set(ERIN, personal=False, sensitive=True)
    memory.consent.switch_off(ERIN)
    held = memory.consent.switch_on(ERIN)

    assert (held.extraction.allowed, held.personal.allowed, held.sensitive.allowed) == (True, False, None)
    assert memory.consent.switch_on(JASON).personal.allowed is True


def test_another_process_hears_a_stop_at_once(memory, database_url, offline_model, clock):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as other:
        memory.consent.switch_on(ERIN)
        assert other.consent.allowed(ERIN)
        memory.consent.switch_off(ERIN)
        assert not other.consent.allowed(ERIN)


def test_consent_is_the_persons_by_whatever_identifier(memory):
    memory.people.link(ERIN, ERINS_TELEGRAM)
    memory.consent.switch_on(4242)

    assert memory.consent.allowed(ERIN)
    assert memory.consent.of("050-1234567" if memory.settings.default_region else ERIN).extraction.allowed is True


@pytest.mark.spec("C-20")
def test_of_two_who_become_one_a_no_of_either_counts_and_comes_apart_again(memory, clock):
    memory.people.set_language(ERIN, "he")
    memory.consent.switch_on(ERIN)
    memory.people.set_language(4242, "es")
    memory.consent.switch_off(4242)
    merged = memory.people.merge(ERIN, 4242)

    assert not memory.consent.allowed(ERIN)
    memory.people.unlink(merged)
    assert memory.consent.allowed(ERIN)
    assert memory.consent.of(4242).extraction.allowed is False


@pytest.mark.spec("C-20")
def test_of_two_who_become_one_a_yes_counts_for_both_from_then_on(memory, clock):
    memory.people.set_language(ERIN, "he")
    before = clock()
    clock.forward(minutes=1)
    memory.consent.switch_on(4242)
    clock.forward(minutes=1)
    memory.people.merge(ERIN, 4242)

    assert memory.consent.allowed(ERIN)
    assert not memory.consent.allowed(ERIN, said_at=before)


@pytest.mark.spec("C-20")
@for_each("known", [True, False])
def test_a_yes_of_one_channel_covers_nothing_that_the_other_heard_before_they_were_linked(memory, clock, known):
    if known:
        memory.people.set_language(ERIN, "he")
    memory.service.remember(ERIN, "I drink tea")
    memory.consent.set(4242, extraction=True, personal=True)
    agreed = memory.consent.of(4242)
    clock.forward(minutes=1)
    said_to_the_other = clock()
    clock.forward(minutes=1)
    merged = memory.people.link(ERIN, 4242)

    for fact_type in ("fact", "personal"):
        assert not memory.consent.allowed(ERIN, fact_type, said_at=said_to_the_other)
        assert memory.consent.allowed(ERIN, fact_type, said_at=clock())
    memory.people.unlink(merged)
    assert memory.consent.of(4242) == agreed
    assert not memory.consent.allowed(ERIN)


@pytest.mark.spec("C-20")
def test_of_two_who_both_agreed_the_later_yes_counts_and_the_linking_takes_nothing(memory, clock):
    memory.consent.switch_on(ERIN)
    clock.forward(minutes=1)
    between = clock()
    clock.forward(minutes=1)
    memory.consent.switch_on(4242)
    later = clock()
    clock.forward(minutes=1)
    memory.people.merge(ERIN, 4242)

    assert memory.consent.allowed(ERIN, said_at=later)
    assert not memory.consent.allowed(ERIN, said_at=between)


@pytest.mark.spec("C-20")
def test_what_was_switched_since_a_merge_is_not_undone_with_it(memory):
    for who in (ERIN, 4242):
        memory.people.set_language(who, "he")
    memory.consent.switch_on(4242)
    merged = memory.people.merge(ERIN, 4242)
    memory.consent.switch_off(ERIN)
    memory.people.unlink(merged)

    assert memory.consent.of(ERIN).extraction.allowed is False


def test_a_wrong_permission_is_refused_by_name(memory):
    with pytest.raises(InvalidInput, match="no permission everything"):
        memory.consent.set(ERIN, everything=True)
    with pytest.raises(InvalidInput, match="extraction='yes'"):
        memory.consent.set(ERIN, extraction="yes")


@pytest.mark.spec("P-8")
def test_a_switched_off_memory_is_allowed_nothing(offline_model):
    with PhoneMemory("sqlite://", settings=Settings(enable_memory_system=False), embeddings=offline_model) as memory:
        assert not memory.consent.allowed(ERIN, explicit=True)
        with pytest.raises(ConfigurationError, match="switched off"):
            memory.consent.set(ERIN, extraction=True)
