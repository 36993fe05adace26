"""A file for each format: its records, as portability/records.py has them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from langmem_plugin.portability.records import ImportedRecord
from langmem_plugin.portability.sources import denidin, jarvis, mem0, onyx


@dataclass(frozen=True, slots=True)
class Source:
    """`recognises` says whether a file or folder is of this format, without reading all of it where it can."""

    records: Callable[[Path], Iterator[ImportedRecord]]
    recognises: Callable[[Path], bool]


SOURCES: dict[str, Source] = {
    "denidin": Source(denidin.records, denidin.recognises),
    "onyx": Source(onyx.records, onyx.recognises),
    "mem0": Source(mem0.records, mem0.recognises),
    "jarvis": Source(jarvis.records, jarvis.recognises),
}
"""By the name that a person gives it, what is told apart most surely first."""
