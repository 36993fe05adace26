"""Memories and instructions as lines of files, and what a changed text of such a file asks for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from langmem_plugin.errors import InvalidInput
from langmem_plugin.facts import FactType
from langmem_plugin.memory import Memory
from langmem_plugin.memory.instructions.instructions import Instruction
from langmem_plugin.memory.models import FACT_TYPES, bare

Known = Memory | Instruction

AGENTS, INSTRUCTIONS = "/AGENTS.md", "/instructions.md"
FACTS: dict[str, FactType] = {f"/facts/{kind}.md": kind for kind in FACT_TYPES}
_MOST = 100  # memories in AGENTS.md, which stands in the prompt
_SHORT_ID = 8
_LIST_MARK = re.compile(r"(?:[-*+•>]|\d{1,3}[.)])\s++")
_LONGEST, _SHOWN = 2_000, 40  # letters
_DOUBTED = " (may be out of date)"
_ESCAPES = {"<": "‹", ">": "›"}
_REMEMBERED, _STANDING = "# Remembered", "# Standing instructions"
_HOW = "Each line ends with its id. Correct a line to change it, take it out to forget it, add one without id for more."


@dataclass(frozen=True)
class Line:
    """One known memory or instruction; its id is just long enough to tell it from all others of the person."""

    of: Known
    id: str

    @property
    def text(self) -> str:
        """Return the text on one line, in which no tag and no comment can open."""
        text = " ".join(_spoken(self.of).split())
        for written, shown in _ESCAPES.items():
            text = text.replace(written, shown)
        return text + (_DOUBTED if isinstance(self.of, Memory) and self.of.doubted_at is not None else "")

    def __str__(self) -> str:
        return f"- {self.text} [{self.id}]"

    def reworded(self, text: str) -> str:
        """Return the text that a line was changed to, with what was escaped in it as it is written."""
        text = text.removesuffix(_DOUBTED)
        for written, shown in _ESCAPES.items():
            if written in self.of.text and shown not in self.of.text:
                text = text.replace(shown, written)
        return text


@dataclass(frozen=True)
class Section:
    """Lines of one kind; `fact_type` is what a new one is taken for."""

    heading: str
    lines: Sequence[Line]
    left_out: str = ""
    of_instructions: bool = False
    fact_type: FactType | None = None


@dataclass(frozen=True)
class File:
    sections: Sequence[Section]

    @property
    def lines(self) -> list[Line]:
        return [line for section in self.sections for line in section.lines]

    @property
    def text(self) -> str:
        shown = [[section.heading, "", *map(str, section.lines), section.left_out] for section in self.sections]
        return "\n\n".join([_HOW, *("\n".join(lines).rstrip() for lines in shown)]) + "\n"

    @property
    def modified_at(self) -> str:
        return max((line.of.updated_at.isoformat() for line in self.lines), default="")


@dataclass
class Changes:
    """The changes that a new text of a file asks for."""

    new: list[tuple[Section, str]] = field(default_factory=list)
    changed: list[tuple[Line, str]] = field(default_factory=list)
    removed: list[Line] = field(default_factory=list)


def with_short_ids(known: Sequence[Known]) -> list[Line]:
    many: dict[str, int] = {}
    for each in known:
        for size in range(_SHORT_ID, len(each.id) + 1):
            many[each.id[:size]] = many.get(each.id[:size], 0) + 1
    return [Line(each, _shortest(each.id, many)) for each in known]


def files_of(memories: Sequence[Line], instructions: Sequence[Line]) -> dict[str, File]:
    """Return every file by its path; lines keep the order given."""
    more = len(memories) - _MOST
    left_out = f"({more} older ones are in the files of facts/.)" if more > 0 else ""
    standing = Section(_STANDING, instructions, of_instructions=True)
    files = {
        AGENTS: File([Section(_REMEMBERED, memories[:_MOST], left_out), standing]),
        INSTRUCTIONS: File([standing]),
    }
    for path in FACTS:
        made = facts_file(path, memories)
        if made.lines:
            files[path] = made
    return files


def is_of_memory(text: str) -> bool:
    """Tell whether the text is one of these files, as it is now or was before."""
    return text.startswith(_HOW)


def facts_file(path: str, memories: Iterable[Line]) -> File:
    kind = FACTS[path]
    lines = [each for each in memories if isinstance(each.of, Memory) and each.of.fact_type == kind]
    return File([Section(_REMEMBERED, lines, fact_type=kind)])


def changes_of(file: File, text: str, known: Mapping[str, Line]) -> Changes:
    """Return the changes from the file to `text`. `known` is every line of the person by its id, in whatever file.
    Headings, rules and blank lines are layout.

    Raises InvalidInput for a line whose id nobody knows or stands there twice, and for one without text or too long.
    """
    layout = set(map(str.strip, file.text.splitlines())) - set(map(str, file.lines))
    section, found, changes = file.sections[0], dict[str, str](), Changes()
    for line in map(str.strip, text.splitlines()):
        section = next((each for each in file.sections if each.heading == line), section)
        if line in layout or line.startswith("#") or not any(map(str.isalnum, line)):
            continue
        said, name = _read(line, known)
        if not said:
            raise InvalidInput(f"the line {line!r} has no text: take all of it out to forget it")
        if name is None:
            changes.new.append((section, said))
        elif name in found:
            raise InvalidInput(f"the id {name} stands on two lines: leave it out of the new one")
        else:
            found[name] = said
    changes.changed = [(known[name], said) for name, said in found.items() if said != known[name].text]
    for _, said in [*changes.new, *changes.changed]:
        if len(said) > _LONGEST:
            raise InvalidInput(
                f"a line holds one sentence, of {_LONGEST} letters at most: {said[:_SHOWN]!r}… is longer"
            )
    _settle_removed(file, found, changes)
    return changes


def _settle_removed(file: File, found: Mapping[str, str], changes: Changes) -> None:
    """Note as removed the lines that are gone from the file; a line that stands there without its id is kept."""
    for line in file.lines:
        if line.id in found:
            continue
        again = next((each for each in changes.new if bare(each[1]) == bare(line.text)), None)
        if again is None:
            changes.removed.append(line)
        else:
            changes.new.remove(again)


def _read(line: str, known: Mapping[str, Line]) -> tuple[str, str | None]:
    """Return (text, id) of a line; the id is None for a new one."""
    mark = _LIST_MARK.match(line)
    text = line[mark.end() :] if mark else line
    before, _, name = text[:-1].rpartition("[") if text.endswith("]") else ("", "", "")
    if name in known:
        return before.strip(), name
    if len(name) >= _SHORT_ID and not set(name) - set("0123456789abcdef-"):
        raise InvalidInput(f"nothing here has the id {name} (any more): read the file again, or leave the id out")
    return text, None


def _spoken(known: Known) -> str:
    """Return an instruction with its condition, in the words that are taken."""
    if isinstance(known, Instruction) and known.condition is not None:
        return f"if {known.condition} then {known.text}"
    return known.text


def _shortest(whole: str, many: Mapping[str, int]) -> str:
    sizes = range(_SHORT_ID, len(whole))
    return next((whole[:size] for size in sizes if many[whole[:size]] == 1), whole)
