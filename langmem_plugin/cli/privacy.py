"""`langmem erase`, `restore` and `audit`: deletes a person, undoes that, and proves what was done."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from langmem_plugin.cli.opening import Config, Url, chosen, memory_of, refuse_missing
from langmem_plugin.cli.printing import Json, Yes, confirm, print_json, print_table
from langmem_plugin.database.opening import open_database
from langmem_plugin.errors import InvalidInput
from langmem_plugin.privacy.audit import AuditLog
from langmem_plugin.privacy.receipts import ErasureReceipt, receipt_of, row_of
from langmem_plugin.terminal import visible

audit_app = typer.Typer(no_args_is_help=True, help="What was done, by whom and to whom: without contents.")


def erase(  # noqa: PLR0917 - the options of a command
    phone: Annotated[str | None, typer.Argument(help="whom: a phone, a chat id, a group")] = None,
    now: Annotated[bool, typer.Option("--now", help="for good, at once: it cannot be undone")] = False,
    yes: Yes = False,
    receipt: Annotated[str | None, typer.Option("--receipt", help="show the receipt with this id instead")] = None,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Delete everything of a person. Without --now it can be undone for some time by `langmem restore`.

    Exit code 1 while traces are left in files, which the next sweep, or the same command again, deletes.
    """
    settings = chosen(config)
    if (phone is None) == (receipt is None):
        raise InvalidInput("say whom to erase, or which receipt to show: PHONE or --receipt ID")
    if receipt is not None:
        refuse_missing(settings, database)
        with open_database(settings, database) as opened, opened.read() as connection:
            found = receipt_of(row_of(connection, receipt))
        _show_receipt(found, as_json=as_json)
        return
    refuse_missing(settings, database)
    confirm(f"Delete everything of {phone} {'for good, at once' if now else 'from every door'}?", yes=yes)
    with memory_of(database, config) as memory:
        _show_receipt(memory.erase(str(phone), now=now), as_json=as_json)


def restore(
    phone: Annotated[str, typer.Argument(metavar="PHONE_OR_RECEIPT", help="who was erased, or the receipt's id")],
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Undo an erasure whose time is not over."""
    refuse_missing(chosen(config), database)
    confirm(f"Bring back everything of {phone}?", yes=yes)
    with memory_of(database, config) as memory:
        found = memory.restore_erased(phone)
    if as_json:
        print_json(found.as_dict())
    else:
        typer.echo(f"everything of erasure {found.id} is there again")


@audit_app.command()
def verify(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Chain what was noted and look at every entry, in the table and in the files. Exit code 1 if one is not as it was
    written.
    """
    with _log(database, config) as log:
        proof = log.verify()
    if as_json:
        print_json({"holds": proof.holds, **asdict(proof)})
    elif proof.flaw is not None:
        typer.echo(str(proof.flaw))
    else:
        files = f", and the files say the same ({proof.in_files})" if proof.in_files else ""
        typer.echo(f"{proof.entries} entries are as they were written{files}")
        if proof.busy:
            typer.echo("another process is chaining the newest ones just now")
    if not proof.holds:
        raise typer.Exit(1)


@audit_app.command("list")
def list_entries(
    limit: Annotated[int, typer.Option(min=1, help="the newest so many")] = 50,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """List what was done, the newest last."""
    with _log(database, config) as log:
        found = log.newest(limit)
    if as_json:
        print_json({"entries": [json.loads(each.as_line()) for each in found]})
        return
    columns = ("number", "when (UTC)", "who", "what", "of", "whose")
    print_table(
        columns,
        [
            (
                each.position or "-",
                each.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
                each.actor,
                each.action,
                each.subject,
                (each.owner or "")[:8],
            )
            for each in found
        ],
        folded=("who", "what", "of"),
    )


@contextmanager
def _log(database: str | None, config: Path | None) -> Iterator[AuditLog]:
    settings = chosen(config)
    refuse_missing(settings, database)
    with open_database(settings, database) as opened:
        yield AuditLog.from_settings(settings, opened, lambda: datetime.now(UTC))


def _show_receipt(found: ErasureReceipt, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_dict())
    else:
        rows = sum(many for name, many in found.counts.items() if name != "files")
        typer.echo(f"erasure {found.id}: {found.state}")
        typer.echo(f"{rows} rows of {len(found.counts)} kinds, {found.counts.get('files', 0)} files")
        if found.can_be_undone:
            typer.echo(f"until {found.due_at:%Y-%m-%d %H:%M} UTC it can be undone: langmem restore {found.id}")
        if found.verified:
            typer.echo(f"for good since {found.done_at:%Y-%m-%d %H:%M} UTC; nothing of it is left, as was looked for")
        for each in found.left:
            typer.echo(visible(f"left to be deleted: {each}"))
        for each in found.remains:
            typer.echo(visible(f"bytes may remain, until they are overwritten, in: {each}"))
        for each in found.not_covered:
            typer.echo(f"not covered: {each}")
    if found.state == "erased":
        raise typer.Exit(1)
