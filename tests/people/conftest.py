"""A memory of several people on each engine, and all that can be seen of one."""

import pytest

from langmem_plugin import PhoneMemory

ANNA, ANNAS_TELEGRAM, BEN = "+972501234567", "telegram:4242", "+972507654321"


def redeemed(memory, who, code):
    """Whether the code that the identifier texted linked it to the person who was given it, with both agreeing."""
    giver = memory.people.giver(who, code)
    return giver is not None and memory.people.link_agreed(giver, who)


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        # Its background work does not run by itself: the test says when.
        opened.past_sessions.close()
        opened.past_sessions.worker.closing.clear()
        yield opened


@pytest.fixture
def texts(memory):
    """What is remembered of an identifier's person, sorted."""

    def listed(who, statuses=("active",)):
        return sorted(each.text for each in memory.service.list_memories(memory.people.resolve(who), statuses=statuses))

    return listed


@pytest.fixture
def said(memory):
    """What was said in each of an identifier's sessions, the current one marked."""

    def listed(who):
        return {
            tuple(each.content for each in memory.sessions.messages(found.session_id)): found.ended_at is None
            for found in memory.sessions.sessions(who)
        }

    return listed
