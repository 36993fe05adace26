"""`langmem recall`: what the memory would answer a question with, and by which signals it was found."""

from typing import Annotated

import typer

from langmem_plugin.cli.opening import Config, Url, memory_of, note_read
from langmem_plugin.cli.printing import Json, print_json, print_table
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.recall_query import search_for


def recall(
    question: Annotated[str, typer.Argument(help='what is asked, such as "what is Leo allergic to?"')],
    *,
    phone: Annotated[str, typer.Option("--phone", help="whose memory")],
    limit: Annotated[int | None, typer.Option(min=1, help="default: the setting recall_limit")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=0, max=1, help="default: the setting min_similarity; 0 shows all")
    ] = None,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Search as a reply would, in all that the person may see; each result with its signals, the best first."""
    with memory_of(database, config) as memory:
        if not memory.settings.remembers:
            raise ConfigurationError("the long-term memory is switched off by the settings: nothing is recalled")
        note_read(memory.saver, subject="memories", owner=phone)
        settings, owner = memory.settings, memory.people.resolve(phone)
        found = search_for(
            memory.service,
            owner,
            memory.role_of(owner),
            question,
            limit=limit or settings.recall_limit,
            min_relevance=settings.min_similarity if min_similarity is None else min_similarity,
        )
    if as_json:
        results = [
            {
                "id": each.memory.id,
                "text": each.memory.text,
                "similarity": each.similarity,
                "score": each.score,
                "match": each.match_type,
                "signals": each.signals,
                "part": each.part,
                "shared": each.memory.owner != owner,
            }
            for each in found
        ]
        print_json({"question": question, "results": results})
        return
    print_table(
        ("similarity", "text", "signals", "match", "id"),
        [
            (
                f"{each.similarity:.2f}",
                each.memory.text,
                " ".join(f"{name}={value:.2f}" for name, value in each.signals.items()),
                each.match_type,
                each.memory.id,
            )
            for each in found
        ],
        folded=("text", "signals"),
    )
    if not found:
        typer.echo("nothing is similar enough: --min-similarity 0 shows what is nearest", err=True)
