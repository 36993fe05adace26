"""`langmem recall`: what the memory would answer a question with, and by which signals it was found."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Url, memory_of, note_read
from langmem_plugin.cli.printing import Json, print_json, print_table
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.recall import RELEVANT, explain_for
from langmem_plugin.memory.models import Candidate

_MEASURED = ("cosine", "relevance", "bm25", "coverage", "days", "uses", "confidence")
_MOST = 10
_LEFT = 50  # that are shown beside what was kept


def recall(
    question: Annotated[str, typer.Argument(help='what is asked, such as "what is Leo allergic to?"')],
    *,
    phone: Annotated[str, typer.Option("--phone", help="whose memory")],
    limit: Annotated[int | None, typer.Option(min=1, help="default: the setting recall_limit, or 10")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=0, max=1, help="default: the setting min_similarity, or 0.7; 0 shows all")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="also what was considered and not kept, with the reason why")
    ] = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Search as a reply would, in all that the person may see; the best first, with the numbers behind each."""
    with memory_of(database, config) as memory:
        if not memory.settings.remembers:
            raise ConfigurationError("the long-term memory is switched off by the settings: nothing is recalled")
        note_read(memory.saver, subject="memories", owner=phone)
        settings, owner = memory.settings, memory.people.typed(phone)
        most = limit or settings.recall_limit or _MOST
        bound = next(each for each in (min_similarity, settings.min_similarity, RELEVANT) if each is not None)
        considered = explain_for(
            memory.service,
            owner,
            memory.person.role(owner),
            question,
            limit=most,
            min_relevance=bound,
            most=most + _LEFT,
        )
    found = [each for each in considered if everything or each.kept]
    if as_json:
        print_json({"question": question, "results": [_as_json(each, owner) for each in found]})
        return
    if found:
        _print_tables(found)
    if not any(each.kept for each in found):
        typer.echo("nothing is similar enough: --min-similarity 0 shows what is nearest", err=True)


def _as_json(candidate: Candidate, owner: OwnerKey) -> dict[str, Any]:
    return {
        "id": candidate.memory_id,
        "text": candidate.text,
        "similarity": candidate.similarity,
        "score": candidate.score,
        "match": candidate.match_type,
        "kept": candidate.kept,
        "left": candidate.left,
        "shared": candidate.owner != owner,
        "explanation": candidate.explanation.to_dict(),
    }


def _print_tables(found: Sequence[Candidate]) -> None:
    """Show what was found, what was measured of it, and what its score is made of, under one number each."""
    numbered = list(enumerate(found, 1))
    rows = [(number, f"{each.similarity:.2f}", each.text, each.memory_id) for number, each in numbered]
    print_table(("no", "similarity", "text", "id"), rows)
    typer.echo()
    told = [(number, each.match_type, each.explanation) for number, each in numbered]
    print_table(
        ("no", *_MEASURED, "match", "aliases"),
        [
            (number, *(_rounded(getattr(why, name)) for name in _MEASURED), match, ", ".join(why.aliases))
            for number, match, why in told
        ],
        folded=("aliases",),
    )
    typer.echo()
    terms = list(dict.fromkeys(name for each in found for name in each.explanation.terms))
    print_table(
        ("no", *terms, "= score", "bound", "kept"),
        [
            (
                number,
                *(_rounded(each.explanation.terms.get(name), 3) for name in terms),
                _rounded(each.score, 3),
                _rounded(each.explanation.bound),
                each.left or "yes",
            )
            for number, each in numbered
        ],
        folded=("kept",),
    )


def _rounded(value: float | None, places: int = 2) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.{places}f}"
