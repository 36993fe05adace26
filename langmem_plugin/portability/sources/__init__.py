"""A file for each format: its records, as portability/imported_records.py has them."""

from types import ModuleType

from langmem_plugin.portability.sources import denidin, jarvis, mem0, onyx

SOURCES: dict[str, ModuleType] = {"denidin": denidin, "onyx": onyx, "mem0": mem0, "jarvis": jarvis}
"""By the name that a person gives it, what is told apart most surely first. `records(path)` yields what a file or
folder holds, and `recognises(path)` tells whether it is of this format, without reading all of it where it can.
"""
