"""Laws of merging: whatever two people have, one has all of it after a merge, and undo gives each their own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin import Settings
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database import Database
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings

pytestmark = pytest.mark.slow

OWNERS = [OwnerKey(f"user:{each}") for each in (1, 2, 3)]  # whose rows, whoever is linked
facts = st.tuples(
    st.sampled_from(OWNERS),
    st.sampled_from(["Anna has a boat", "anna has a  boat", "Ben sails", "the key is blue", "🚤 חיפה"]),
    st.sampled_from([None, "boat", "home city"]),
    st.sampled_from(["active", "pending"]),
)
steps = st.lists(st.tuples(st.sampled_from(OWNERS), st.sampled_from(OWNERS)), max_size=3)


def _held(service):
    return {
        owner: sorted(
            (each.text, each.key or "", each.status, each.id)
            for each in service.list_memories(owner, limit=1_000, statuses=("active", "pending", "superseded"))
        )
        for owner in OWNERS
    }


def _live(service, owner):
    return {
        (" ".join(each.text.lower().split()), each.key)
        for each in service.list_memories(owner, limit=1_000, statuses=("active", "pending"))
    }


@pytest.mark.spec("C-20")
@settings(max_examples=50)
@given(told=st.lists(facts, max_size=8), links=steps)
def test_merges_lose_nothing_and_undo_is_exact(told, links, offline_model, clock):
    with (
        Database("sqlite://") as database,
        ConversationSaver(database, now=clock) as saver,
        MemoryService(database, embeddings=offline_model, now=clock) as service,
    ):
        people = People(database, saver, service, person_settings=PersonSettings(database, Settings()), now=clock)
        for owner, text, key, status in told:
            service.remember(owner, text, key=key, status=status)
        before, live = _held(service), {owner: _live(service, owner) for owner in OWNERS}
        merged = [other for pair in links if (other := people.link(*pair))]
        for owner in OWNERS:
            all_theirs = set().union(*(live[each] for each in people.identifiers(owner)))
            assert _live(service, people.resolve(str(owner))) == all_theirs
        for other in reversed(merged):
            people.unlink(other)
        assert _held(service) == before
