"""An index that is gone, damaged, locked, old or in use: recall stays right, says so, and mends it."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import chroma
from tests.cases import for_each
from tests.log_events import events
from tests.memory.index.conftest import ANNA, EVERYWHERE, MANY, answers, collection_of, found
from tests.waiting import until

pytestmark = [pytest.mark.spec("M-4", "M-14"), pytest.mark.timeout(300, method="thread"), pytest.mark.slow]

in_chroma = pytest.mark.parametrize("place", [EVERYWHERE[2]], ids=" ".join, indirect=True)
in_postgres = pytest.mark.parametrize("place", [EVERYWHERE[4]], ids=" ".join, indirect=True)


def delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def write_garbage(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"garbage" * 1_000)


def damage_the_middle(folder: Path) -> None:
    file = folder / "chroma.sqlite3"
    stored = bytearray(file.read_bytes())
    stored[4_096:] = b"x" * (len(stored) - 4_096)
    file.write_bytes(stored)


def empty_folder(folder: Path) -> None:
    for each in folder.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name != "in-use.lock":
            each.unlink()


def cut_in_half(folder: Path) -> None:
    for file in files_in(folder):
        os.truncate(file, file.stat().st_size // 2)


def flip_bits(folder: Path) -> None:
    chance = random.Random(7)
    for file in files_in(folder):
        stored = bytearray(file.read_bytes())
        for _ in range(100):
            stored[chance.randrange(len(stored))] ^= 1 << chance.randrange(8)
        file.write_bytes(stored)


def files_in(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file() and each.stat().st_size and each.suffix != ".lock"]


DAMAGES = [delete_folder, write_garbage, damage_the_middle, empty_folder, cut_in_half, flip_bits]


@in_chroma
@for_each("damage", DAMAGES)
def test_damage_between_two_runs_is_found_before_anything_is_believed(memory, many, place, opened, damage, caplog):
    memory.reindex(ANNA)
    memory.close()
    damage(place[2])
    memory = opened()
    assert found(memory) == ["My assistant is David"]
    until(lambda: answers(memory))
    assert {"index.incomplete", "index.damaged", "index.failed"} & set(events(caplog))
    assert len(memory.stores.held()) == MANY + 2


@in_chroma
def test_ids_without_their_vectors_are_no_index(memory, many, place, opened, caplog):
    """Chroma then answers with nothing, or with something else, and calls it no error."""
    texts = [(f"ticket {number}", {}) for number in range(1_000)]  # so many that Chroma writes its vectors to disk
    memory.remember_many(ANNA, texts, embeddings=np.random.default_rng(4).standard_normal((1_000, 384)).tolist())
    memory.reindex(ANNA)
    memory.close()
    for each in place[2].iterdir():
        if each.is_dir():
            shutil.rmtree(each)
    memory = opened()
    assert found(memory) == ["My assistant is David"]
    until(lambda: answers(memory))
    assert "index.incomplete" in events(caplog)


@in_chroma
@for_each("damage", [delete_folder, write_garbage, empty_folder])
def test_damage_under_a_running_process_is_mended(memory, many, place, damage, caplog):
    memory.reindex(ANNA)
    damage(place[2])
    memory.remember(ANNA, "I park on level 3")
    assert found(memory) == ["My assistant is David"]
    memory.reindex(ANNA)
    until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 3
    assert "index.failed" in events(caplog)


@in_chroma
@for_each("when", ["between two runs", "under a running process"])
def test_a_file_where_the_folder_was_stops_nothing_and_without_it_the_index_is_made_anew(
    memory, many, place, opened, when
):
    memory.reindex(ANNA)
    if when == "between two runs":
        memory.close()
    shutil.rmtree(place[2])
    place[2].write_text("not a folder")
    if when == "between two runs":
        memory = opened()
    memory.remember(ANNA, "I park on level 3")
    assert found(memory, "where do I park?") == ["I park on level 3"]
    assert memory.reindex(ANNA) is False
    assert found(memory) == ["My assistant is David"]
    place[2].unlink()
    memory.index._not_before.clear()
    until(lambda: answers(memory))


@in_chroma
def test_an_old_copy_of_the_index_is_not_believed(memory, many, place, opened, tmp_path, caplog):
    memory.reindex(ANNA)
    memory.close()
    shutil.copytree(place[2], tmp_path / "copy")
    memory = opened()
    memory.remember(ANNA, "I park on level 3")
    memory.reindex(ANNA)
    memory.close()
    shutil.rmtree(place[2])
    shutil.copytree(tmp_path / "copy", place[2])
    memory = opened()
    assert found(memory, "where do I park?") == ["I park on level 3"]
    until(lambda: answers(memory))
    assert "index.incomplete" in events(caplog)
    assert len(memory.stores.held()) == MANY + 3


@contextlib.contextmanager
def elsewhere(code: str):
    """Another process, which has done `code` when the block begins, and ends with it."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint('done', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "done\n"
        yield
        process.stdin.close()


@in_chroma
def test_a_locked_chroma_delays_no_reply_for_long_and_is_used_again_when_free(memory, many, place, caplog):
    memory.reindex(ANNA)
    made = collection_of(memory)
    lock = f"import sqlite3; c = sqlite3.connect({str(place[2] / 'chroma.sqlite3')!r}); c.execute('BEGIN EXCLUSIVE')"
    with elsewhere(lock):
        assert found(memory) == ["My assistant is David"]
        assert "index.failed" in events(caplog)
        assert not answers(memory)
    memory.index._not_before.clear()
    until(lambda: answers(memory))
    assert collection_of(memory) == made


@in_postgres
def test_a_locked_table_delays_no_reply_for_long_and_is_used_again_when_free(memory, many, caplog):
    memory.reindex(ANNA)
    made = collection_of(memory)
    with memory.stores.inner.database.write() as connection:
        for each in memory.stores.tables(connection):
            connection.execute(text(f"LOCK TABLE {each} IN ACCESS EXCLUSIVE MODE"))
        assert found(memory) == ["My assistant is David"]
        assert "index.failed" in events(caplog)
    memory.index._not_before.clear()
    until(lambda: answers(memory))
    assert collection_of(memory) == made


@in_postgres
def test_an_emptied_table_is_filled_again(memory, many, caplog):
    memory.reindex(ANNA)
    with memory.stores.inner.database.write() as connection:
        for each in memory.stores.tables(connection):
            connection.execute(text(f"DELETE FROM {each}"))
    assert found(memory) == ["My assistant is David"]
    assert "index.empty" in events(caplog)
    until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 2


@in_chroma
def test_a_folder_in_use_by_another_process_is_left_to_it(memory, many, place, clock, offline_model, caplog):
    memory.reindex(ANNA)
    made = collection_of(memory)
    with MemoryService(
        place[0], embeddings=offline_model, now=clock, open_collection=chroma(place[2]), index_after=10
    ) as second:
        assert found(second) == ["My assistant is David"]
        assert second.reindex(ANNA) is False
        assert "index.failed" in events(caplog)
        assert found(second) == ["My assistant is David"]
    assert collection_of(memory) == made
    assert answers(memory)


@in_postgres
def test_two_processes_share_one_index(memory, many, place, clock):
    code = (
        "from langmem_plugin.database import Database; from langmem_plugin.memory import MemoryService\n"
        "from langmem_plugin.memory.index.stores import pgvector\n"
        f"database = Database({place[0]!r})\n"
        "memory = MemoryService(database, open_collection=pgvector(database), index_after=10)\n"
        f"assert memory.reindex({ANNA!r})\n"
        f"memory.remember({ANNA!r}, 'I park on level 3')\n"
        f"assert memory.reindex({ANNA!r})"
    )
    with elsewhere(code):
        made = collection_of(memory)
        assert memory.reindex(ANNA) is True
    assert collection_of(memory) == made
    assert found(memory, "where do I park?") == ["I park on level 3"]
    until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 3
