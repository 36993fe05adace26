"""Many messages of one person at once: each is answered, and all are in the conversation."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory, Settings
from tests.chat_graph import chat_graph

pytestmark = pytest.mark.both_engines

ERIN, MANY = "+972501234567", 150


@pytest.mark.slow
@pytest.mark.spec("C-21")
@pytest.mark.timeout(300)
def test_of_many_messages_at_once_each_is_answered_and_none_is_lost(database_url, offline_model):
    settings = Settings(turn_timeout=timedelta(minutes=4), extraction="off", search_past_sessions=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as memory:
        graph = chat_graph(memory, lambda state: {"messages": AIMessage(f"heard {state['messages'][-1].text}")})
        with ThreadPoolExecutor(MANY) as pool:
            told = list(pool.map(lambda text: memory.reply(graph, ERIN, text, message_id=text), map(str, range(MANY))))

        assert told == [f"heard {number}" for number in range(MANY)]
        said = graph.get_state({"configurable": {"thread_id": ERIN}}).values["messages"]
        assert sorted(each.text for each in said if each.type == "human") == sorted(map(str, range(MANY)))
