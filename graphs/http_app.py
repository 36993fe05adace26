"""What langgraph.json names beside the graphs: the memory's own API and pages at /memory of the same server.

It is mounted, so that its rules for browsers are those of /memory alone. Tokens are made by `langmem token new`.
"""

from starlette.applications import Starlette
from starlette.routing import Mount

from graphs import family_assistant
from graphs.served import household, memory, model

app = Starlette(routes=[Mount("/memory", app=memory.app(graph=family_assistant.build(memory, model, household)))])
