"""After an erasure no file holds a trace: searched byte by byte, in every form in which anything is written."""

import contextlib
import json
import sys
import zlib

import pytest
from sqlalchemy import LargeBinary, select, text

from langmem_plugin.conversation.storage.codec import decompress
from langmem_plugin.database import Database
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import DamagedSession
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from tests.conftest import Clock
from tests.privacy.conftest import (
    ANNA,
    ANNAS_OTHER,
    ANNAS_TELEGRAM,
    BEN,
    BENS_OTHER,
    BENS_TELEGRAM,
    FACTS,
    PICTURE,
    SAID,
    live,
    opened,
    rows,
)
from tests.warm_process import ran

pytestmark = pytest.mark.slow

_NUMBER = 972_501_234_567


def _phones():
    yield from ("972501234567", "501234567", "50-1234567", "50-123-4567", "50 123 4567", "050-123-4567", "4567@c.us")
    yield from (ANNAS_TELEGRAM.partition(":")[2], ANNAS_OTHER.partition(":")[2])


def _needles():
    """All that is Anna's and nobody else's, in every encoding that anything of ours, or of a library, writes."""
    words = [
        *_phones(),
        *FACTS[ANNA],
        *SAID[ANNA],
        *("Grünspan", "Griselda", "Eulalia", "salchicha", "יהונתן", "הגפן", "peanuts", "Anna Gr"),
    ]
    for word in words:
        yield word, word.encode()
        yield word, word.encode("utf-16-le")
        yield word, word.encode("utf-16-be")
        yield word, json.dumps(word)[1:-1].encode()
        yield word, json.dumps(word)[1:-1].replace("\\u", "\\U").encode()
        yield word, word.encode()[::-1]
    for bytes_of_number in (5, 8):
        for order in ("little", "big"):
            yield str(_NUMBER), _NUMBER.to_bytes(bytes_of_number, order)
    yield "the picture", PICTURE[ANNA]


def _found(haystack: bytes):
    return {name for name, needle in _needles() if needle in haystack}


def live_and_erase(url, vector_index):
    clock = Clock()
    with opened(url, OfflineEmbeddings(), clock, vector_index=vector_index, index_after=3) as memory:
        live(memory, clock, BEN, BENS_TELEGRAM, BENS_OTHER)
        live(memory, clock, ANNA, ANNAS_TELEGRAM, ANNAS_OTHER)
        bens = rows(memory, [BEN, BENS_TELEGRAM, BENS_OTHER])
        receipt = memory.erase("0501234567", now=True)
        after = rows(memory, [BEN, BENS_TELEGRAM, BENS_OTHER])
        memory.audit.settle()
    sys.stdout.write(json.dumps([receipt.as_dict(), bens == after]))


def _live_and_erase(url, vector_index):
    """In a process that then ends. A fork of this one would not do: it inherits what this one has of Chroma."""
    code = f"from tests.privacy.test_erased_traces import live_and_erase as do; do({url!r}, {vector_index!r})"
    return json.loads(ran(code).splitlines()[-1])


def _payloads(url):
    """Everything in the tables, what is compressed in them unpacked."""
    with Database(url) as database, database.read() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)):
                for column, value in zip(table.columns, row, strict=True):
                    if value is None:
                        continue
                    if not isinstance(column.type, LargeBinary):
                        yield str(value).encode(), table.name
                        continue
                    yield bytes(value), table.name
                    with contextlib.suppress(DamagedSession, zlib.error, IndexError, UnicodeDecodeError):
                        yield decompress(bytes(value))[1], table.name


@pytest.mark.spec("P-4")
def test_the_search_finds_what_is_there(memory, anna, tmp_path):
    """Else the tests below could not fail."""
    memory.audit.settle()
    if memory.database.is_sqlite:
        memory.database.engine.dispose()
        held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert {"972501234567", "the picture", FACTS[ANNA][0], FACTS[ANNA][1]} <= _found(held)


@pytest.mark.spec("P-4")
def test_no_file_holds_a_trace_of_who_was_erased(migrated_file, tmp_path):
    (tmp_path / "langmem.db").write_bytes(migrated_file.read_bytes())
    url = f"sqlite:///{tmp_path}/langmem.db"

    receipt, bens_is_untouched = _live_and_erase(url, f"chroma:{tmp_path}/index")

    assert receipt["state"] == "done"
    assert receipt["verified"]
    assert receipt["remains"] == receipt["left"] == []
    assert bens_is_untouched
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"langmem.db", "chroma.sqlite3"}
    assert any(path.match("langmem-audit.2???-??-??.jsonl") for path in files)
    for path in files:
        assert _found(path.read_bytes()) == set(), path
        assert _found(path.name.encode()) == set()
    for payload, table in _payloads(url):
        assert _found(payload) == set(), table
    held = b"".join(payload for payload, _ in _payloads(url))
    for words in (*FACTS[BEN], *SAID[BEN]):
        assert words.encode() in held or json.dumps(words)[1:-1].encode() in held
    assert any(PICTURE[BEN] == path.read_bytes() for path in files)


@pytest.mark.spec("P-4")
def test_no_table_and_no_file_of_the_server_holds_a_trace(postgresql_server):
    with postgresql_server.copy("erased_traces") as url:
        receipt, bens_is_untouched = _live_and_erase(url, "pgvector")

        assert (receipt["state"], receipt["left"]) == ("done", [])
        assert receipt["remains"] == ["write-ahead log, planner statistics and backups of the server"]
        assert bens_is_untouched
        for payload, table in _payloads(url):
            assert _found(payload) == set(), table
        with Database(url) as database, database.read() as connection:
            oid = connection.execute(text("SELECT oid FROM pg_database WHERE datname = current_database()")).scalar()
            where = "SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't')"
            known = {path: name for name, path in connection.execute(text(where)) if path}
        postgresql_server.psql("CHECKPOINT")
        files = [path for path in (postgresql_server.pgdata / "base" / str(oid)).iterdir() if path.is_file()]
        assert len(files) > 100
        for path in files:
            name = known.get(f"base/{oid}/{path.name}", path.name)
            if name != "pg_statistic":  # the planner's samples: what the receipt says remains
                assert _found(path.read_bytes()) == set(), name
