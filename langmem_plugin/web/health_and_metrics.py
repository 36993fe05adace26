"""The checks for a monitor of the service: whether it lives and is ready, and its figures for Prometheus."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from langmem_plugin.errors import NotAuthorized, StoreUnavailable
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.app_context import Served
from langmem_plugin.web.authentication import caller_by_header
from langmem_plugin.writing.extraction_jobs import ExtractionJobs

try:
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.core import GaugeMetricFamily
except ImportError:
    HAS_PROMETHEUS = False
else:
    HAS_PROMETHEUS = True

LEAST_BYTES_FREE = 100 * 2**20
_HOURS = 1


def add_health(app: FastAPI) -> None:
    """Add `/health/live` and `/health/ready`, open to all, and `/metrics` for an operator, of the extra `metrics`.

    `/api/health` is `/health/ready` too: clients of the API look for it there.
    """
    app.state.health_threads = CapacityLimiter(2)  # a database that hangs blocks only these threads
    app.add_route("/health/live", _live, include_in_schema=False)
    app.add_route("/health/ready", _ready, include_in_schema=False)
    app.add_route("/api/health", _ready, include_in_schema=False)
    if HAS_PROMETHEUS:
        app.add_route("/metrics", _metrics, include_in_schema=False)


async def _live(_: Request) -> Response:
    """Answer without asking the database: while that is away, a restart of this process would not help."""
    return JSONResponse({"status": "ok"})


async def _ready(request: Request) -> Response:
    served: Served = request.app.state.served
    away = await to_thread.run_sync(_away, served.memory, limiter=request.app.state.health_threads)
    # Without embeddings the service still replies and searches words: a balancer must not take the workers away.
    can_work = not away or away == ["embedding"]
    status = "ok" if not away else "degraded" if can_work else "unavailable"
    return JSONResponse({"status": status, "away": away}, 200 if can_work else 503)


async def _metrics(request: Request) -> Response:
    text = await to_thread.run_sync(_figures, request, limiter=request.app.state.health_threads)
    if text is None:
        return PlainTextResponse("an operator's token is needed: Authorization: Bearer …", 401)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _away(memory: PhoneMemory) -> list[str]:
    checks: dict[str, Callable[[], bool]] = {
        "database": lambda: _answers(memory.database.ask),
        "keys": lambda: _answers(lambda: memory.database.encryption.has_key("")),
        "disk": lambda: all(shutil.disk_usage(each).free >= LEAST_BYTES_FREE for each in _folders(memory)),
        "embedding": lambda: not memory.service.embedder.is_resting,
    }
    return [name for name, is_well in checks.items() if not is_well()]


def _answers(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except StoreUnavailable:
        return False
    return True


def _folders(memory: PhoneMemory) -> Iterator[Path]:
    """The folders on this machine's disk that hold the data; for one that does not exist yet, its nearest parent."""
    for each in (memory.database.path, memory.media.folder):
        if each is not None:
            yield next(parent for parent in each.absolute().parents if parent.exists())


def _figures(request: Request) -> bytes | None:
    """The figures for Prometheus; None without an operator's token."""
    served: Served = request.app.state.served
    try:
        if not caller_by_header(request, served.tokens).is_operator:
            return None
    except NotAuthorized:
        return None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(served.memory))
    return generate_latest(registry)


class _Figures:
    """The gauges over all processes, from the database: every worker gives the same."""

    def __init__(self, memory: PhoneMemory) -> None:
        self._memory = memory

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        memory, by_operation = self._memory, ["operation"]
        calls = GaugeMetricFamily("langmem_calls", "Calls of the last hour.", labels=by_operation)
        failed = GaugeMetricFamily("langmem_failed_ratio", "Which part of them failed.", labels=by_operation)
        seconds = GaugeMetricFamily("langmem_seconds", "How long they took.", labels=[*by_operation, "quantile"])
        for each in memory.insight.performance(hours=_HOURS):
            calls.add_metric([each.operation], each.count)
            failed.add_metric([each.operation], 1 - each.success_rate)
            seconds.add_metric([each.operation, "0.5"], each.p50_ms / 1000)
            seconds.add_metric([each.operation, "0.95"], each.p95_ms / 1000)
        jobs = GaugeMetricFamily("langmem_extraction_jobs", "Conversations by state of extraction.", labels=["state"])
        states = ExtractionJobs(memory.database, quiet=memory.settings.extract_after, now=memory.service.now).states()
        for state, count in states.items():
            jobs.add_metric([state], count)
        away = GaugeMetricFamily("langmem_away", "1 for what /health/ready names.", labels=["what"])
        for what in _away(memory):
            away.add_metric([what], 1)
        yield from (calls, failed, seconds, jobs, away)
