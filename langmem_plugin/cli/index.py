"""`langmem reindex` and `reembed`: what a service does in the background for its search, at once and with progress."""

from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from langmem_plugin.cli.existing import refuse_missing
from langmem_plugin.cli.opening import Config, Url, chosen, memory_of, quiet
from langmem_plugin.cli.printing import Json, print_json
from langmem_plugin.cli.progress import progress
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.memory import MemoryService


def reindex(
    owner: Annotated[str | None, typer.Option(help="only this phone's memories, however few")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="chroma:FOLDER or pgvector; default: $LANGMEM_VECTOR_INDEX"),
    ] = None,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Bring the vector indexes up to date, and make anew what is missing or damaged. Exit code 1 if one fails."""
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config)
    named = store or settings.vector_index
    if named is None:
        raise InvalidInput("say which index: --store chroma:FOLDER or --store pgvector")
    settings = quiet(settings.model_copy(update={"vector_index": named}))
    refuse_missing(settings, database)
    with PhoneMemory(database, settings=settings) as memory, _bar() as bar:
        service = memory.service
        if lacking := service.reembedding.waiting():
            typer.echo(
                f"{lacking} texts have no vector of {service.embedder.model}: `langmem reembed` embeds them", err=True
            )
        owners = service.large_owners() if owner is None else [memory.people.typed(owner)]
        failed = [each for each in owners if not _indexed(service, each, bar)]
    whole = len(owners) - len(failed)
    if as_json:
        print_json({"store": named, "owners": len(owners), "up_to_date": whole, "without_a_vector": lacking})
    else:
        typer.echo(f"{whole} of {len(owners)} indexes are up to date in {named}")
    if failed and not as_json:
        typer.echo("a running service keeps its Chroma folder to itself, and up to date: stop it, or see the warnings")
    if failed:
        raise typer.Exit(1)


def reembed(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Embed what has no vector of the present model, as after a change of it, and drop the vectors of other models."""
    with memory_of(database, config) as memory, _bar() as bar:
        work = memory.service.reembedding
        waiting = work.waiting()
        task = bar.add_task("embedding", total=waiting)
        work.run(lambda done: bar.update(task, completed=done))
        left, model = work.waiting(), memory.service.embedder.model
    if as_json:
        print_json({"model": model, "embedded": waiting - left, "left": left})
    else:
        typer.echo(f"{waiting - left} texts embedded by {model}, {left} left")
    if left:
        raise typer.Exit(1)


def _indexed(service: MemoryService, owner: OwnerKey, bar: Progress) -> bool:
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
    return progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )
