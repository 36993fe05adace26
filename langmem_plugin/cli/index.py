"""`langmem reindex`: what a service does for its vector index in the background, at once and with progress."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from langmem_plugin.cli.opening import Config, Url, chosen
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked
from langmem_plugin.memory import MemoryService


def reindex(
    owner: Annotated[str | None, typer.Option(help="only this phone's memories, however few")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="chroma:FOLDER or pgvector; default: $LANGMEM_VECTOR_INDEX"),
    ] = None,
    embed: Annotated[
        bool,
        typer.Option("--embed", help="first embed what has no vector of the present model, and drop the other models'"),
    ] = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Bring the vector indexes up to date, and make anew what is missing or damaged. Exit code 1 if one fails."""
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config)
    named = store or settings.vector_index
    if named is None:
        raise InvalidInput("say which index: --store chroma:FOLDER or --store pgvector")
    settings = settings.model_copy(
        update={"vector_index": named, "search_past_sessions": False, "extraction": "off", "sweep_every": None}
    )
    with PhoneMemory(database, settings=settings) as memory, _bar() as bar:
        service = memory.service
        if embed:
            task = bar.add_task("embedding", total=service.reembedding.waiting())
            service.reembedding.run(lambda done: bar.update(task, completed=done))
        elif lacking := service.reembedding.waiting():
            bar.console.print(
                f"{lacking} texts have no vector of {service.embedder.model}: `langmem reindex --embed` embeds them"
            )
        owners = service.large_owners() if owner is None else [memory.people.resolve(owner)]
        failed = [each for each in owners if not _indexed(service, each, bar)]
    typer.echo(f"{len(owners) - len(failed)} of {len(owners)} indexes are up to date in {named}")
    if failed:
        typer.echo("a running service keeps its Chroma folder to itself, and up to date: stop it, or see the warnings")
        raise typer.Exit(1)


def _indexed(service: MemoryService, owner: str, bar: Progress) -> bool:
    if service.index is None:
        return False
    index, task = service.index, bar.add_task(masked(owner), total=None)

    def show(done: int) -> None:
        bar.update(task, completed=done, total=done + index.waiting(owner))

    whole = service.reindex(owner, show)
    if whole:
        bar.update(task, total=bar.tasks[task].completed)
    return whole


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
