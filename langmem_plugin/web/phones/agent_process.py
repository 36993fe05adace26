"""The agent in a process of its own, which can be killed at any moment; an unanswered request is sent again."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from langmem_plugin.errors import ConfigurationError

_TRIES = 3


class AgentProcess:
    """Runs `command`, which reads a request as a line of JSON and writes its answer as one.

    The first line that it writes says whether it is ready. One request at a time; `kill` waits for none.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = [*command]
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._killed: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def start(self) -> None:
        """Start the process. Raises ConfigurationError, with the process's own words, if it cannot serve."""
        with self._turn:
            self._running()

    def ask(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """The answer, and how many times the request was sent: more than once if the process was killed meanwhile."""
        with self._turn:
            for tries in range(1, _TRIES + 1):
                process = self._running()
                answer = _exchanged(process, request)
                if answer is not None:
                    return answer, tries
                process.wait()  # it ends soon: its pipes are closed
        raise ConfigurationError(f"the agent's process ended {_TRIES} times without an answer: look at the terminal")

    def kill(self) -> None:
        """Kill the process as a crash does: it cannot tidy up."""
        if self._process is not None:
            self._killed = self._process
            self._killed.kill()
            self._killed.wait()

    def close(self) -> None:
        """End the process, once the request in progress has been given up."""
        self.kill()
        with self._turn:
            _closed(self._process)
            self._process = None

    def _running(self) -> "subprocess.Popen[str]":
        while self._process is None or self._process.poll() is not None:
            _closed(self._process)
            self._process = process = subprocess.Popen(  # noqa: S603 - our own module
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
            ready = _line_of(process)
            if process is self._killed:  # killed before it was ready: another one starts
                continue
            if ready is None or not ready.get("ready"):
                process.kill()
                process.wait()
                raise ConfigurationError((ready or {}).get("error") or "the agent's process did not start")
        return self._process


def _closed(process: "subprocess.Popen[str] | None") -> None:
    for pipe in () if process is None else (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):  # for text that was not written yet
            if pipe is not None:
                pipe.close()


def _exchanged(process: "subprocess.Popen[str]", request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The process's answer; None if it ended before it had answered."""
    with contextlib.suppress(BrokenPipeError):
        assert process.stdin is not None  # noqa: S101 - as it was started
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return _line_of(process)
    return None


def _line_of(process: "subprocess.Popen[str]") -> dict[str, Any] | None:
    assert process.stdout is not None  # noqa: S101 - as it was started
    line = process.stdout.readline()
    answer: dict[str, Any] | None = json.loads(line) if line.endswith("\n") else None
    return answer
