"""`langmem worker`: takes what people say into their memories, beside the services or instead of them."""

import signal
import threading
from typing import Annotated

import typer

from langmem_plugin.cli.existing import refuse_missing
from langmem_plugin.cli.opening import Config, Url, chosen
from langmem_plugin.cli.printing import Json, print_json
from langmem_plugin.errors import InvalidInput


def worker(
    once: Annotated[bool, typer.Option("--once", help="work on what is due now, and end")] = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Read what people said in conversations that are quiet, and store the facts. Any number may run at once.

    SIGTERM or SIGINT lets it do the conversation it is at to its end; killed, another one goes on where it was.
    """
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config)
    if not settings.extracts:
        raise InvalidInput('nothing is extracted by these settings: set extraction to "rules" or to a model\'s name')
    refuse_missing(settings, database)
    settings = settings.model_copy(update={"sweep_every": None, "search_past_sessions": False})
    stopped = threading.Event()
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with PhoneMemory(database, settings=settings) as memory:
            extraction = memory.extraction
            assert extraction is not None  # noqa: S101 - the settings say so
            typer.echo("ready", err=as_json)
            if once:
                extraction.work_through()
            else:
                extraction.wake()
                stopped.wait()
            extraction.stop()
            extraction.wait()
            jobs = extraction.jobs.states()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if as_json:
        print_json({"jobs": dict(jobs)})
        return
    typer.echo(", ".join(f"{many} {state}" for state, many in sorted(jobs.items())) or "nothing waits to be taken in")
