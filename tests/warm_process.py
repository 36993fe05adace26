"""Processes that are forked from one which has imported what they need: they begin at once, a new interpreter takes seconds.

A test of what an interpreter imports, or of how it ends, starts one.
"""

import multiprocessing
import os
import sys
import textwrap
import threading
import traceback
from importlib.util import find_spec

_IMPORTED = ["langmem_plugin.cli.demo_agent", "langmem_plugin.web.conversation_transcripts"]
assert all(map(find_spec, _IMPORTED)), "the server would pass over a module that is not there, and be cold"
_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(_IMPORTED)

_LONGEST = 240  # seconds; what hangs fails


class WarmProcess:
    """Runs Python code; what is used here of a `subprocess.Popen` with pipes for text."""

    def __init__(self, code, *arguments):
        reads, writes = _server.Pipe(duplex=False)
        hears, tells = _server.Pipe(duplex=False)
        given = (textwrap.dedent(code), [*map(str, arguments)], dict(os.environ), reads, tells)
        self._process = _server.Process(target=_run, args=given, daemon=True)
        self._process.start()
        self.pid = self._process.pid
        self.stdin, self.stdout = _text(writes, "w"), _text(hears, "r")
        reads.close()
        tells.close()

    def poll(self):
        return self._process.exitcode

    def wait(self, seconds=120):
        self._process.join(seconds)
        return self.poll()

    def kill(self):
        self._process.kill()


def ran(code, *arguments, ends_with=0):
    """What the code printed, in a process that ended with that code, or that signal where it is negative."""
    process = WarmProcess(code, *arguments)
    process.stdin.close()
    limit = threading.Timer(_LONGEST, process.kill)
    limit.start()
    with process.stdout:
        told = process.stdout.read()
    limit.cancel()
    assert process.wait() == ends_with, told
    return told


def _text(end, mode):
    with end:
        return os.fdopen(os.dup(end.fileno()), mode, encoding="utf-8")


def _run(code, arguments, environment, reads, tells):
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(reads.fileno(), 0)
    os.dup2(tells.fileno(), 1)
    reads.close()
    tells.close()
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, "")
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except Exception:
        traceback.print_exc(file=sys.stdout)
        raise
    finally:
        sys.stdout.flush()
