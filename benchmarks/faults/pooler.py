"""PgBouncer in front of the server, with fewer connections than people who text; each transaction gets any of them."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import make_url

from benchmarks.faults.stage import Stage

_SIZE = 4
_WORKERS, _PEOPLE, _ROUNDS = 3, 10, 10
_CONFIGURATION = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 1000
server_reset_query =
"""


def play(stage: Stage) -> str:
    """More processes and people than it has connections; some processes are killed."""
    with pooled(stage.url) as stage.url:
        *workers, killed = stage.workers(_WORKERS + 1)
        people = [(each, stage.oracle.phone()) for each in workers for _ in range(_PEOPLE)]
        stage.wait(*[stage.send(each, stage.oracle.remember(phone)) for each, phone in people])
        rounds = stage.times(_ROUNDS, 2)
        for number in range(rounds):
            said = [stage.send(each, stage.oracle.chat(phone)) for each, phone in people]
            said += [stage.send(each, stage.oracle.remember(phone)) for each, phone in people]
            said += [stage.send(each, stage.oracle.memories(phone)) for each, phone in people]
            if number == rounds // 2:
                stage.send(killed, stage.oracle.chat(stage.oracle.phone(), thinks=5))
                stage.kill(killed)
            stage.wait(*said)
        for some in (people[0::3], people[1::3], people[2::3]):  # as many at once as nobody is kept waiting for
            stage.wait(*[stage.send(each, stage.oracle.chat(phone, undisturbed=True)) for each, phone in some])
    return f"{_WORKERS * _PEOPLE} people behind a pooler of {_SIZE} connections"


def program() -> str | None:
    """Debian's package `pgbouncer` puts it where the path of many users does not lead."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def free_port() -> int:
    """Below those that a system gives out by itself: nobody takes it before it is listened at."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextmanager
def pooled(url: str, size: int = _SIZE) -> Iterator[str]:
    """The URL by which the same database is reached through so many connections, in transactions."""
    found, direct = program(), make_url(url)
    assert found is not None, "PgBouncer is not here: apt-get install pgbouncer"
    host = str(direct.query.get("host") or direct.host or "localhost")
    listen = free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pgbouncer.ini"
        file.write_text(
            _CONFIGURATION.format(
                host=host, port=direct.port or 5432, user=direct.username or "postgres", listen=listen, size=size
            )
        )
        file.parent.chmod(0o755)
        # It refuses to run as root, and has to reach the socket of the server.
        user = Path(host).stat().st_uid if host.startswith("/") and os.geteuid() == 0 else None
        runs = subprocess.Popen([found, "-q", file], user=user, stderr=subprocess.DEVNULL)
        try:
            _wait_for(listen, runs)
            query = {name: value for name, value in direct.query.items() if name != "host"}
            there = direct.set(host="127.0.0.1", port=listen, query=query)
            yield there.render_as_string(hide_password=False)
        finally:
            runs.terminate()
            runs.wait()


def _wait_for(port: int, runs: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and runs.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("PgBouncer did not start")
