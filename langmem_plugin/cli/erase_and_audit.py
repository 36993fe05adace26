"""`langmem erase`, `restore` and `audit`: delete a person, undo that, and show what was done."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from langmem_plugin.cli.command_context import Limit, Where, database_with, memory_of, on, refuse_missing
from langmem_plugin.cli.output import Rows, Told, Yes, confirm, minute
from langmem_plugin.errors import InvalidInput
from langmem_plugin.privacy.audit_log import AuditLog
from langmem_plugin.privacy.erasure_receipts import ErasureReceipt, receipt_of, row_of

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory


@on(nullcontext)
def erase(
    where: Where,
    phone: Annotated[str | None, typer.Argument(help="whom: a phone, a chat id, a group")] = None,
    *,
    now: Annotated[bool, typer.Option("--now", help="for good, at once: it cannot be undone")] = False,
    yes: Yes = False,
    receipt: Annotated[str | None, typer.Option("--receipt", help="show the receipt with this id instead")] = None,
) -> Told:
    """Delete everything of a person. Without --now it can be undone for some time by `langmem restore`.

    Exit code 1 while traces are left in files, which the next sweep, or the same command again, deletes.
    """
    if (phone is None) == (receipt is None):
        raise InvalidInput("say whom to erase, or which receipt to show: PHONE or --receipt ID")
    if receipt is not None:
        with database_with(where) as (database, _), database.read() as connection:
            return _receipt(receipt_of(row_of(connection, receipt)))
    refuse_missing(where.settings(), where.database)
    confirm(f"Delete everything of {phone} {'for good, at once' if now else 'from every door'}?", yes=yes)
    with memory_of(where) as memory:
        return _receipt(memory.erase(memory.people.typed(str(phone)), now=now))


@on(memory_of)
def restore(
    memory: "PhoneMemory",
    phone: Annotated[str, typer.Argument(metavar="PHONE_OR_RECEIPT", help="who was erased, or the receipt's id")],
    *,
    yes: Yes = False,
) -> Told:
    """Undo an erasure whose time is not over."""
    confirm(f"Bring back everything of {phone}?", yes=yes)
    found = memory.restore_erased(phone)
    return Told(found.as_dict(), [f"everything of erasure {found.id} is there again"])


@contextmanager
def _log(where: Where) -> Iterator[AuditLog]:
    with database_with(where) as (database, settings):
        yield AuditLog.from_settings(settings, database, lambda: datetime.now(UTC))


@on(_log)
def audit(log: AuditLog, *, limit: Limit = 50) -> Told:
    """List what was done, by whom and to whom, without contents; the newest last."""
    found = log.newest(limit)
    rows = [
        (
            each.entry,
            f"{each.at:%Y-%m-%d %H:%M:%S}",
            each.actor,
            each.action,
            each.subject,
            (each.owner or "")[:8],
        )
        for each in found
    ]
    columns = ("number", "when (UTC)", "who", "what", "of", "whose")
    return Told(
        {"entries": [each.as_dict() for each in found]},
        [Rows(columns, rows, folded=("who", "what", "of"))],
    )


def _receipt(found: ErasureReceipt) -> Told:
    rows = sum(many for name, many in found.counts.items() if name != "files")
    lines = [
        f"erasure {found.id}: {found.state}",
        f"{rows} rows of {len(found.counts)} kinds, {found.counts.get('files', 0)} files",
    ]
    if found.can_be_undone:
        lines.append(f"until {minute(found.due_at)} it can be undone: langmem restore {found.id}")
    if found.verified:
        lines.append(f"for good since {minute(found.done_at)}; nothing of it is left, as was looked for")
    lines += [f"left to be deleted: {each}" for each in found.left]
    lines += [f"bytes may remain, until they are overwritten, in: {each}" for each in found.remains]
    lines += [f"not covered: {each}" for each in found.not_covered]
    return Told(found.as_dict(), lines, failed=found.state == "erased")
