"""The assistant of the examples as a service: `uvicorn deploy.service:app --workers 2`; your own graph goes here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from examples.assistant import open_assistant

memory, graph = open_assistant()


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with memory:  # a turn that runs when the service is told to stop is let to its end
        yield


app = FastAPI(lifespan=lifespan, openapi_url=None)
app.mount("/", memory.app(graph=graph))
