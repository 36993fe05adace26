"""The chain of the audit log: each entry's hash covers the entry and the hash before it. Pure functions, no I/O."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

BEGINNING = bytes(32)
"""The hash that stands before the first entry."""

What = Literal["changed", "removed", "inserted", "unreadable"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An action that was noted. `owner` and `content` are keyed hashes, in hexadecimal digits."""

    position: int
    at: datetime
    actor: str
    action: str
    subject: str | None
    owner: str | None
    content: str | None
    previous: bytes
    hash: bytes

    def as_dict(self) -> dict[str, Any]:
        return {**self._body(), "previous": self.previous.hex(), "hash": self.hash.hex()}

    def as_line(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=True)

    def hashed(self) -> bytes:
        """Return the hash that the entry should have."""
        body = json.dumps(self._body(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(self.previous + body.encode()).digest()

    def _body(self) -> dict[str, Any]:
        return {
            "position": self.position,
            "at": self.at.isoformat(),
            "actor": self.actor,
            "action": self.action,
            "subject": self.subject,
            "owner": self.owner,
            "content": self.content,
        }


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the chain: the entry at this position has this hash."""

    position: int = 0
    hash: bytes = BEGINNING


@dataclass(frozen=True, slots=True)
class Flaw:
    """The first entry that is not as it was written, and where: in the table or in a file."""

    position: int
    what: What
    where: str

    def __str__(self) -> str:
        return f"entry {self.position} was {self.what} in {self.where}"


def read_line(line: str) -> Entry | None:
    """Read an entry from a line of a file; None for a line that is no entry, or has further fields."""
    try:
        found: Mapping[str, Any] = json.loads(line)
        entry = Entry(
            int(found["position"]),
            datetime.fromisoformat(found["at"]),
            found["actor"],
            found["action"],
            found["subject"],
            found["owner"],
            found["content"],
            bytes.fromhex(found["previous"]),
            bytes.fromhex(found["hash"]),
        )
        return entry if entry.as_line() == line.rstrip("\n") else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def flaw_of_chain(entries: Iterable[Entry | None], begin: Mark | None, where: str) -> tuple[Flaw | None, Mark]:
    """Return the first entry that does not follow from the one before it, and how far the chain holds.

    `begin` is the link that the first entry must follow from; None accepts any.
    """
    mark = begin
    for entry in entries:
        if entry is None:
            return Flaw(1 if mark is None else mark.position + 1, "unreadable", where), mark or Mark()
        if mark is None:
            mark = Mark(entry.position - 1, entry.previous)
        if entry.position > mark.position + 1:
            return Flaw(mark.position + 1, "removed", where), mark
        if entry.position <= mark.position:
            return Flaw(entry.position, "inserted", where), mark
        if entry.previous != mark.hash or entry.hashed() != entry.hash:
            return Flaw(entry.position, "changed", where), mark
        mark = Mark(entry.position, entry.hash)
    return None, mark or Mark()


def first_difference(table: Sequence[Entry], file: Sequence[Entry | None], after: int, head: int) -> Flaw | None:
    """Return the first place where the table, which begins behind position `after` and was chained up to `head`,
    differs from the files, as far as they reach.
    """
    of_file = {entry.position: entry for entry in file if entry is not None}
    if not of_file:
        return None
    of_table = {entry.position: entry for entry in table}
    first = max(min(of_file), after + 1)
    last = max(of_file)
    for position in range(first, last + 1):
        ours, theirs = of_table.get(position), of_file.get(position)
        if ours is None and theirs is None:
            continue
        if theirs is None:
            return Flaw(position, "removed", "the files")
        if ours is None:
            return (
                Flaw(position, "inserted", "the files") if position > head else Flaw(position, "removed", "the table")
            )
        if _said(ours) != _said(theirs):
            return Flaw(position, _became(ours, theirs, of_table, of_file), "the table or the files")
    return None


def _became(ours: Entry, theirs: Entry, table: Mapping[int, Entry], file: Mapping[int, Entry]) -> What:
    """Tell what became of an entry by what follows: the rest of the table is one position further on, or one back."""
    position = ours.position
    later, earlier = table.get(position + 1), file.get(position + 1)
    if later is not None and _said(later) == _said(theirs):
        return "inserted"
    if earlier is not None and _said(earlier) == _said(ours):
        return "removed"
    return "changed"


def _said(entry: Entry) -> tuple[Any, ...]:
    return entry.at, entry.actor, entry.action, entry.subject, entry.owner, entry.content


def chained(entries: Iterable[Entry], after: Mark) -> Iterator[Entry]:
    """Return the entries with new positions and hashes; the old ones are ignored."""
    for each in entries:
        bare = Entry(
            after.position + 1,
            each.at,
            each.actor,
            each.action,
            each.subject,
            each.owner,
            each.content,
            after.hash,
            b"",
        )
        made = replace(bare, hash=bare.hashed())
        after = Mark(made.position, made.hash)
        yield made
