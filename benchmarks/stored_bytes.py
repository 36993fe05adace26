"""Bytes that a turn takes in a SQLite file once its talk can be searched, by table, beside another form of the tables.

    python -m benchmarks.stored_bytes [--turns 400]

The other form is what these tables were until they got row ids: each a single tree in the order of its key, vectors in
float32. The very rows are copied into it in the order in which they came.
"""

import argparse
import contextlib
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.chatting import Chatting
from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.memory.keep.vectors import from_bytes

_A_SESSION = 20  # turns
_PEOPLE = 5
_PAST_TALK = ("history_message", "history_vector")
_TABLES = [f"langmem_{name}" for name in ("message", "value", "media", "memory_vector", *_PAST_TALK)]


def played(file: Path, turns: int) -> None:
    settings = Settings(sweep_every=None, extraction="off")
    with PhoneMemory(f"sqlite:///{file}", settings=settings) as memory:
        chats = [(f"+9725012345{number:02}", Chatting(memory.saver, seed=number)) for number in range(_PEOPLE)]
        for turn in range(1, turns // _PEOPLE + 1):
            for phone, chat in chats:
                chat.turn(phone)
                if turn % _A_SESSION == 0:
                    memory.sessions.clear_session(phone)
                    memory.past_sessions.catch_up()


def taken(file: Path) -> Counter[str]:
    """Bytes of the pages of each table, its indexes among them."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(
            "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) GROUP BY tbl_name"
        )
        return Counter({name.removeprefix("langmem_"): size for name, size in rows})


def in_one_tree(file: Path, copy: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as there, contextlib.closing(sqlite3.connect(copy)) as connection:
        there.backup(connection)
        connection.create_function("float32", 1, lambda stored: from_bytes(stored).tobytes())
        for table in _TABLES:
            made, *indexes = connection.execute(
                "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC", (table,)
            ).fetchall()
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            read = ", ".join(f"float32({name})" if name == "vector" else f'"{name}"' for name in columns)
            connection.execute(made[0].replace(table, "before", 1) + " WITHOUT ROWID")
            connection.execute(f"INSERT INTO before SELECT {read} FROM {table} ORDER BY rowid")
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE before RENAME TO {table}")
            for (index,) in indexes:
                connection.execute(index)
        connection.commit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=400)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        file, copy = Path(folder, "now.db"), Path(folder, "before.db")
        played(file, turns)
        in_one_tree(file, copy)
        now, before = taken(file), taken(copy)
    print(
        f"{turns} turns of {_PEOPLE} people, {_A_SESSION} to a session: bytes a turn\n{'':24}{'now':>10}{'before':>10}"
    )
    for name in sorted(now, key=lambda name: -before[name]):
        if now[name] > 20 * turns:
            print(f"{name:24}{now[name] / turns:10,.0f}{before[name] / turns:10,.0f}")
    for what, names in (("past talk", _PAST_TALK), ("all", now)):
        sums = (sum(each[name] for name in names) / turns for each in (now, before))
        print(f"{what:24}" + "".join(f"{each:10,.0f}" for each in sums))


if __name__ == "__main__":
    main()
