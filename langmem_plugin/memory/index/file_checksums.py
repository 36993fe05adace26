"""Notices files whose bits flipped on disk: there are libraries that end the process when they read such."""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from langmem_plugin import process_forks

_AT_ONCE = 2**20


class FileChecksums:
    """Of the folders inside `folder` that are `watched`, with their files; the notes are kept beside them."""

    def __init__(self, folder: Path, watched: Callable[[Path], bool]) -> None:
        self._folder = folder
        self._watched = watched
        self._notes = folder / "checksums.json"
        self._seen: dict[str, tuple[tuple[int, int], int]] = {}  # file -> size and time of change, checksum
        self._lock = process_forks.Lock()

    def note(self) -> None:
        """What the files hold now is what they should hold. Costs the reading of those that changed since."""
        with self._lock:
            present = {name: self._checksum(name) for name in self._names()}
            self._seen = {name: self._seen[name] for name in present}
            made = self._notes.with_suffix(".new")
            made.touch(mode=0o600)
            made.write_text(json.dumps(present))
            made.replace(self._notes)

    def damaged(self) -> list[Path]:
        """The folders that do not hold what was noted of them. One of which nothing was noted is believed."""
        with self._lock:
            self._seen = {}
            try:
                noted: dict[str, int] = json.loads(self._notes.read_text()) if self._notes.exists() else {}
            except ValueError:
                noted = {}
            present = {name: self._checksum(name) for name in self._names()}
        differing = {
            Path(name).parent for name in noted.keys() | present.keys() if noted.get(name) != present.get(name)
        }
        known = {Path(name).parent for name in noted} & {Path(name).parent for name in present}
        return [self._folder / each for each in sorted(differing & known)]

    def _names(self) -> Iterator[str]:
        folders = [each for each in self._folder.iterdir() if each.is_dir() and self._watched(each)]
        for folder in folders:
            yield from (str(file.relative_to(self._folder)) for file in folder.iterdir())

    def _checksum(self, name: str) -> int:
        file = self._folder / name
        state = file.stat()
        at = (state.st_size, state.st_mtime_ns)
        if name not in self._seen or self._seen[name][0] != at:
            checksum = 0
            with file.open("rb") as opened:
                while part := opened.read(_AT_ONCE):
                    checksum = zlib.crc32(part, checksum)
            self._seen[name] = at, checksum
        return self._seen[name][1]
