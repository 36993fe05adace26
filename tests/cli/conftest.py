"""Commands as processes: forked from this one, which has everything loaded, so that each takes milliseconds."""

import functools
import io
import json
import os
import signal
import sys
import tempfile
from dataclasses import dataclass

import pytest

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.cli import COMMANDS, app, loaded
from langmem_plugin.facts import statement_of
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

QUIET = Settings(sweep_every=None, search_past_sessions=False, extraction="off")
_SECONDS = 180


@functools.cache
def _warm():
    """Before the fork: what a command imports, its model, and the grammar of what it is told."""
    for name in COMMANDS:
        loaded(name)
    OfflineEmbeddings()
    for text in ("I like tea", "Me gusta el té", "אני אוהבת תה"):
        statement_of(text)


@dataclass(frozen=True)
class Ended:
    """What a process printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def rows(self):
        return [line.split("\t") for line in self.out.splitlines()]


def langmem(*arguments, code=0, stdin="", **variables):
    """Runs the command in a process whose streams are files: nobody can be asked."""
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        _warm()
        if (pid := os.fork()) == 0:
            _run(arguments, (given, out, err), variables)
        _, status = os.waitpid(pid, 0)
        for stream in (out, err):
            stream.seek(0)
        ended = Ended(os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode())
    assert ended.code == code, ended
    assert "Traceback" not in ended.err, ended.err
    return ended


def _run(arguments, streams, variables):
    code = 99
    try:
        signal.alarm(_SECONDS)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        encoding = variables.pop("encoding", "utf-8")
        sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding=encoding)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, "w"), encoding=encoding, write_through=True) for number in (1, 2)
        )
        os.environ.update(variables)
        app(list(arguments), prog_name="langmem")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter would
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


@pytest.fixture
def command(database_url):
    """A command on the database, as a process."""

    def run(*arguments, code=0, **more):
        return langmem(*arguments, "--database", database_url, code=code, **more)

    return run


@pytest.fixture
def memory(database_url, offline_model):
    """The same database, as a service has it."""
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model) as opened:
        yield opened
