"""Checks that a person can hold the house in their head: `python -m tests.house`, a part of `make lint`.

Each room has a limit of code lines (neither blank, comment nor docstring) and the package one of files. No file is over
600 lines and no folder over 20 files; no two files beside each other have names that differ by an ending alone; a
docstring begins with a verb or names its thing. What is still over a rule has a limit of its own below, which may only
fall: whoever makes a room grow raises it here, where a reviewer sees it.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "langmem_plugin"
MOST_FILES, MOST_LINES, MOST_IN_A_FOLDER = 350, 600, 20
ROOMS = {
    "agent": 4300,
    "channels": 751,
    "cli": 1706,
    "conversation": 4998,
    "database": 2872,
    "facts": 2999,
    "identifiers": 256,
    "insight": 585,
    "languages": 199,
    "mcp_server": 450,
    "memory": 6996,
    "offline": 598,
    "people": 1000,
    "portability": 2200,
    "privacy": 593,
    "references": 3205,
    "root": 1500,
    "store": 280,
    "web": 3_560,
    "writing": 1563,
}

_ENDINGS = ("s", "er", "or", "ing", "ion", "ation", "ed")
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def faults() -> Iterator[str]:
    """Says each fault in a line."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))}
    if len(files) > MOST_FILES:
        yield f"the package has {len(files)} files: {MOST_FILES} are allowed"
    yield from _of_files(files)
    yield from _of_rooms(files)
    yield from _of_folders({file.parent for file in files})
    for file, source in files.items():
        yield from _riddles(file, source)


def _of_files(files: dict[Path, str]) -> Iterator[str]:
    for file, source in files.items():
        if (length := source.count("\n")) > MOST_LINES:
            yield f"{file.relative_to(PACKAGE)} has {length} lines: {MOST_LINES} are allowed"


def _of_rooms(files: dict[Path, str]) -> Iterator[str]:
    lines = Counter[str]()
    for file, source in files.items():
        room = file.relative_to(PACKAGE).parts[0]
        lines["root" if room.endswith(".py") else room] += code_lines(source)
    for room, held in sorted(lines.items()):
        if held > ROOMS.get(room, 0):
            yield f"{room} has {held} code lines: {ROOMS.get(room, 0)} are allowed"


def _of_folders(folders: set[Path]) -> Iterator[str]:
    for folder in sorted(folders):
        stems, name = sorted(each.stem for each in folder.glob("*.py")), str(folder.relative_to(PACKAGE))
        if len(stems) > MOST_IN_A_FOLDER:
            yield f"{name} has {len(stems)} files: {MOST_IN_A_FOLDER} are allowed"
        for one, other in pairwise(stems):
            if other.startswith(one) and other.removeprefix(one) in _ENDINGS:
                yield f"{name}: {one}.py and {other}.py differ by an ending alone"


def _riddles(file: Path, source: str) -> Iterator[str]:
    for text in _docstrings(ast.parse(source)):
        first = str(text.value.value).split(maxsplit=1)[:1] if isinstance(text.value, ast.Constant) else []
        if first and first[0] in ("What", "Whether"):
            yield f"{file.relative_to(PACKAGE)}:{text.lineno} begins with {first[0]}: begin with a verb, or name the thing"


def code_lines(source: str) -> int:
    """Counts the lines that hold code: neither blank, comment nor docstring."""
    held = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    for text in _docstrings(ast.parse(source)):
        held.difference_update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(held)


def _docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Gives those of modules, classes and functions, and of values that one stands below."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield from (each for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))


def main() -> int:
    """Prints the faults; the exit status is 1 where there is one."""
    found = list(faults())
    sys.stdout.write("\n".join(found or ["the house is in order"]) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
