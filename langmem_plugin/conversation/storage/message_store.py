"""The message rows of a session in the database: which row a message is, and the message of a row.

A row is immutable but for its message id, which is filled in once. Whoever reads gets copies, so that a node
that changes a message in place changes its copy; when that comes back it is another version, a new row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, bindparam, insert, select, update

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.checkpoint_format import Stored
from langmem_plugin.conversation.storage.message_cache import (
    NOTHING,
    Conversation,
    Line,
    Version,
    VersionCache,
    copied,
    lean,
    same,
    unnamed,
    weight,
)
from langmem_plugin.conversation.storage.row_allocator import Standing, Standings
from langmem_plugin.conversation.storage.row_numbers import NO_ROWS, RowNumbers
from langmem_plugin.database.conversation_tables import media as media_table
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession, NotSerializable

_BLOCK = 16  # row numbers reserved at once: a few turns of a conversation

CountTokens = Callable[[BaseMessage], int]


@dataclass
class Rows:
    """The rows of one session inside one transaction: finds, adds and reads them.

    What was added reaches the cache by `publish`, to be called once the transaction is on disk.
    """

    connection: Connection
    thread: str
    session: int
    serde: SerializerProtocol
    cache: VersionCache
    standings: Standings
    media: Media
    next_row: int
    now: datetime | None = None
    count_tokens: CountTokens | None = None
    _added: dict[int, Version] = field(default_factory=dict)
    _stored: list[tuple[Line, RowNumbers, list[Version]]] = field(default_factory=list)
    _inserts: list[dict[str, Any]] = field(default_factory=list)
    _files: set[str] = field(default_factory=set)
    _newest: tuple[str, Stored] | None = None
    _before: list[Version] | None = None

    def __post_init__(self) -> None:
        self._conversation: Conversation = (self.thread, self.session)
        self._began_at = self.next_row
        self._standing = self.standings.of(self._conversation, self.next_row)
        self._free = self._standing.free

    def expect(self, rows: Iterable[int]) -> None:
        """Notes rows read as pending writes: the list that comes next holds their messages."""
        self.standings.expect(self._conversation, self._began_at, rows)

    def take_number(self) -> int:
        """A row number nobody else has, reserved in blocks so that most steps leave the session's row as it is."""
        if not self._free:
            self._free = range(self.next_row, self.next_row + _BLOCK)
            self.next_row += _BLOCK
        number, self._free = self._free[0], self._free[1:]
        return number

    def parent(self, namespace: str, checkpoint_id: str) -> Stored | None:
        """The checkpoint, if this process stored it last and nobody has touched the session's past since."""
        match self._standing.newest:
            case (known, stored) if known == namespace and stored.checkpoint_id == checkpoint_id:
                return stored
        return None

    def await_parent(self, namespace: str, checkpoint_id: str) -> None:
        """Notes that a child is stored before this checkpoint: the calls of a run come from several threads."""
        self.standings.await_parent(self._conversation, namespace, checkpoint_id)

    def was_awaited(self, namespace: str, checkpoint_id: str) -> bool:
        return self.standings.was_awaited(self._conversation, namespace, checkpoint_id)

    def stored(self, namespace: str, stored: Stored) -> None:
        """Notes the checkpoint, for the one that continues it."""
        self._newest = namespace, stored

    def disturb(self) -> None:
        """Tells every process that what it remembers of the session may not be so any more."""
        self.next_row += 1

    def store(self, messages: Sequence[BaseMessage], previous: RowNumbers = NO_ROWS) -> RowNumbers:
        """The row of each message, negative where it has no id; new rows for what is new. Automated ones have none.

        `previous` are the rows of the list this one grew from: most messages are where they were.
        """
        before = self._line(previous) if previous else NOTHING
        known = before if before.begins(messages) else NOTHING
        rows: list[int] = []  # of what comes after the known beginning
        versions: list[Version] = []
        for index in range(len(known.rows), len(messages)):
            message = messages[index]
            if codec.is_automated(message):
                continue
            if index < len(before.rows) and same(before.known.messages[index], message):
                row, version = before.rows[index], before.known.versions[index]
            else:
                # The graph keeps the picture for the rest of its run; what is stored, and known here, is a reference.
                message = self.media.reduced(message, self._files)
                version = self._find(message, before) or self._add(message)
                row = version.row if message.id is not None else -version.row
            rows.append(row)
            versions.append(version)
        more = RowNumbers.of(rows)
        self._stored.append((known, more, versions))
        return known.rows + more

    def messages(self, rows: RowNumbers) -> list[BaseMessage]:
        """Copies of the messages of these rows, in this order.

        Raises DamagedSession if a row is missing or its bytes are not those that were stored.
        """
        return self._line(rows).copies()

    def check(self, rows: RowNumbers) -> None:
        """Raises DamagedSession as `messages` does; what it reads is decoded for the next who asks."""
        self._line(rows)

    def reduced(self, value: Any) -> Any:
        """What is no message as it is to be stored: see Media.reduced_value. The files it brings are the session's."""
        return self.media.reduced_value(value, self._files)

    def flush(self) -> None:
        """Sends what `store` and `reduced` gathered to the database."""
        if self._files:
            of_session = {"thread": self.thread, "session": self.session}
            _NEW_FILE.run_each(self.connection, [{**of_session, "sha256": each} for each in sorted(self._files)])
            self._files.clear()
        if self._inserts:
            _ADD_ROWS.run_each(self.connection, self._inserts)
            self._inserts = []

    def forget(self) -> None:
        """Of a transaction that failed: no number it reserved is given again, nothing it read is relied on."""
        self.standings.forget(self._conversation)

    def publish(self) -> None:
        """Lets later transactions find what this one added; only after it is on disk."""
        self.cache.put(self._conversation, self._added.values())
        left = Standing(self.next_row, self._free, tuple(self._added), self._newest or self._standing.newest)
        self.standings.wrote(self._conversation, self._began_at, left)
        for known, rows, versions in self._stored:
            # A row named later in this transaction has another version by now.
            latest = [self._added.get(version.row, version) for version in versions]
            self.cache.put_line(self._conversation, known.extended(rows, latest), known)

    def _line(self, rows: RowNumbers) -> Line:
        line = self.cache.line(self._conversation, rows)
        if line is None:
            versions = self._read(rows)
            line = NOTHING.extended(rows, [versions[abs(row)] for row in rows])
            self.cache.put_line(self._conversation, line)
        return line

    def _read(self, rows: RowNumbers) -> dict[int, Version]:
        """The versions of these rows, by row without its sign."""
        named = {row for row in rows if row > 0}
        wanted = named | {-row for row in rows if row < 0}
        found = self.cache.get(self._conversation, wanted)
        # Another process may have named a row since it was cached here.
        fresh = {row: each for row, each in found.items() if row not in named or each.message.id is not None}
        if missing := wanted - fresh.keys():
            loaded = self._load(missing)
            self.cache.put(self._conversation, loaded.values())
            fresh |= loaded
        return fresh

    def _find(self, message: BaseMessage, before: Line) -> Version | None:
        """The known row that is this message: one a task wrote lately, or one elsewhere in the list before."""
        for version in self._lately():
            if (version.written or version.message).content != message.content:
                continue
            if version.is_version_of(message):
                return version
            unnamed_yet = version.message.id is None and version.is_version_of(unnamed(message))
            if unnamed_yet and self._name(version, message):
                return self._added[version.row]
        return before.find(message)

    def _name(self, version: Version, message: BaseMessage) -> bool:
        """The graph has given an id to a message stored before without one. False if it has another id by now."""
        for waiting in self._inserts:
            if waiting["row"] == version.row:
                waiting["message_id"] = message.id
                break
        else:
            of_row = {"of_thread": self.thread, "of_session": self.session, "of_row": version.row}
            if not _NAME_ROW.run(self.connection, {**of_row, "new_id": message.id}):
                return False
        named = copied(version.message)
        named.id = message.id
        written = copied(message) if version.written is not None else None
        self._remember(Version(version.row, lean(named), written, version.size))
        return True

    def _add(self, message: BaseMessage) -> Version:
        assert self.now is not None and self.count_tokens is not None  # noqa: S101, PT018 - a reader adds nothing
        row = self.take_number()
        anonymous = unnamed(message)
        kind, payload = codec.dump(self.serde, anonymous)
        decoded = codec.load(self.serde, (kind, payload))
        if not isinstance(decoded, BaseMessage):
            raise NotSerializable(
                f"the serializer reads a {type(message).__name__} back as {type(decoded).__name__}: allow its type"
            )
        written = None if same(decoded, anonymous) else copied(message)
        decoded.id = message.id
        self._inserts.append(
            {
                "thread": self.thread,
                "session": self.session,
                "row": row,
                "message_id": message.id,
                "tokens": self.count_tokens(message),
                "created_at": self.now,
                "payload": codec.compress(kind, payload),
            }
        )
        return self._remember(Version(row, lean(decoded), written, weight(payload)))

    def _lately(self) -> Iterator[Version]:
        """What was added in this transaction or lately before it, the newest first."""
        if self._before is None:
            self._before = [*reversed(self.cache.get(self._conversation, self._standing.expected).values())]
        added = [*reversed(self._added.values())]
        return chain(added, (version for version in self._before if version.row not in self._added))

    def _remember(self, version: Version) -> Version:
        self._added[version.row] = version
        return version

    def _load(self, rows: set[int]) -> dict[int, Version]:
        loaded = {}
        stored = _LOAD_ROWS.all(
            self.connection,
            {"thread": self.thread, "session": self.session, "first": min(rows), "last": max(rows)},
        )
        for row, message_id, payload in stored:
            if row in rows:
                kind, framed = codec.decompress(payload)
                message = codec.load(self.serde, (kind, framed))
                if not isinstance(message, BaseMessage):
                    raise DamagedSession(f"message row {row} holds no message: run `langmem doctor`")
                message.id = message_id
                loaded[row] = Version(row, lean(message), None, weight(framed))
        if missing := rows - loaded.keys():
            raise DamagedSession(f"message rows {sorted(missing)} are missing: run `langmem doctor`")
        return loaded


_ADD_ROWS = Prepared(insert(message_table))
_LOAD_ROWS = Prepared(
    select(message_table.c.row, message_table.c.message_id, message_table.c.payload).where(
        message_table.c.thread == bindparam("thread"),
        message_table.c.session == bindparam("session"),
        message_table.c.row.between(bindparam("first"), bindparam("last")),
    )
)
_NEW_FILE = Prepared(insert_unless_there(media_table))
_NAME_ROW = Prepared(
    update(message_table)
    .where(
        message_table.c.thread == bindparam("of_thread"),
        message_table.c.session == bindparam("of_session"),
        message_table.c.row == bindparam("of_row"),
        message_table.c.message_id.is_(None),
    )
    .values(message_id=bindparam("new_id"))
)
