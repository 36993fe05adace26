"""`langmem analytics`: what is known of one person's memories, or of everybody's, in numbers."""

import sys
from typing import Annotated

import typer

from langmem_plugin.cli.opening import Config, Url, memory_of, note_read
from langmem_plugin.cli.printing import Json, minute, print_json, print_table, say
from langmem_plugin.errors import InvalidInput
from langmem_plugin.insight.analytics import Analytics, Share
from langmem_plugin.terminal import visible


def analytics(
    phone: Annotated[
        str | None, typer.Argument(help="whose; left out, everybody's: counts alone, and no texts")
    ] = None,
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="of the growth")] = 30,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print one table of numbers, for spreadsheets")] = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """How many memories of what kind there are, since when, from where, and which of them are used."""
    if as_json and as_csv:
        raise InvalidInput("say --json or --csv, not both")
    with memory_of(database, config, embeds=False) as memory:
        if phone is not None:
            note_read(memory.saver, subject="analytics", owner=phone)
        found = memory.insight.analytics(phone, days=days)
    if as_json:
        print_json(found.to_dict())
    elif as_csv:
        sys.stdout.write(visible(found.to_csv()))
    else:
        _print(found)


def _print(found: Analytics) -> None:
    summary, asked = found.summary, found.extraction
    rate = "nothing was decided" if asked.approval_rate is None else f"{asked.approval_rate:.0%} confirmed"
    say(
        f"{summary.total_memories} memories: {summary.active_memories} active, {summary.pending_memories} waiting, "
        f"{summary.expired_memories} expired; {summary.memories_this_week} of the last 7 days, "
        f"{summary.memories_this_month} of the last 30",
        f"asked {asked.asked} times whether to remember: {rate}, {asked.lapsed} not answered",
    )
    shares: dict[str, tuple[Share, ...]] = {
        "category": found.categories,
        "type": found.fact_types,
        "source": found.sources,
        "state": found.statuses,
    }
    rows = [(kind, each.name, each.count, f"{each.percentage}%") for kind, of in shares.items() for each in of]
    print_table(("", "name", "memories", "share"), rows, folded=("name",))
    print_table(
        ("day", "new", "in all"), [(f"{each.date}", each.new, each.cumulative) for each in found.growth if each.new]
    )
    print_table(
        ("most used", "times", "cited", "last", "text"),
        [
            (each.memory_id, each.access_count, each.uses.cited, minute(each.last_accessed), each.text)
            for each in found.most_used
        ],
    )
