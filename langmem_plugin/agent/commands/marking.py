"""Marks in a found line what was searched for, with *stars*, which WhatsApp shows as bold."""

from collections.abc import Iterator

from langmem_plugin.memory.find.exact_query import Span, matched_spans

_OF_FORMATS = frozenset("*`")
_OF_LINKS = ("://", "www.", "@")


def marked(line: str, query: str) -> str:
    """Whole words, so that no letter is parted from its marks or its prefix; those side by side together.

    A line with stars or code of its own stays as it is: they would pair with ours. So does a link, which would be
    broken.
    """
    if not _OF_FORMATS.isdisjoint(line):
        return line
    made, at = "", 0
    for start, end in _together(line, [each for each in matched_spans(query, line) if _can_be_marked(line, each)]):
        made += f"{line[at:start]}*{line[start:end]}*"
        at = end
    return made + line[at:]


def _together(line: str, spans: list[Span]) -> Iterator[Span]:
    while spans:
        (start, end), *spans = spans
        while spans and line[end : spans[0][0]].isspace():
            end = spans.pop(0)[1]
        yield start, end


def _can_be_marked(line: str, span: Span) -> bool:
    """Whether it stands apart from other letters, and in no link."""
    start, end = span
    beside = line[start - 1 : start] + line[end : end + 1]
    word = line[:start].rpartition(" ")[2] + line[start:end] + line[end:].partition(" ")[0]
    return not any(each.isalnum() or each == "_" for each in beside) and not any(each in word for each in _OF_LINKS)
