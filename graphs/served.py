"""What langgraph.json names: both assistants for `langgraph dev` and Studio, the checkpointer and the store they share.

The server keys a conversation by its own thread id; say whose it is with `context={"phone": "+12025550123"}`.
`LANGMEM_DATABASE`, `LANGMEM_MODEL` and `HOUSEHOLD_DB` are read when this module is imported.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphs import family_agent, family_assistant
from graphs.household import Household
from langmem_plugin import ConversationSaver, PhoneMemory
from langmem_plugin.agent.models import chat_model

# The server imports this in a thread of its own, where opening files blocks nobody.
memory = PhoneMemory()
model = chat_model()
household = Household()

# Under ("memories", "+12025550123") lies all that is remembered of that person, for whoever may reach the server.
store = memory.store

assistant = family_assistant.build(memory, model, household, own_checkpointer=False)
agent = family_agent.build(memory, model, household, own_checkpointer=False)


@asynccontextmanager
async def checkpointer() -> AsyncIterator[ConversationSaver]:
    yield memory.saver
