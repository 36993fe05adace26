"""What somebody does again and again."""

from collections.abc import Sequence

from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subjects import Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end


def routine(reading: Reading, subject: Subject, *, implied: bool = False) -> Finding | None:
    """What somebody does again and again: "I run every morning"."""
    if subject.loose or (subject.end > subject.first and subject.noun):
        return None
    if subject.end == subject.first and not (reading.language.drops_subject or implied):
        return None
    last = value_end(reading, subject.end)
    value = reading.tokens[subject.end : last]
    often = [place for place in range(len(value)) if _often(reading, value, place)]
    if not often or len(value) < 2 or value[0].plain in reading.language.moods:
        return None
    return checked(reading, Finding(subject, "routine", value, subject.first, last))


def _often(reading: Reading, value: Sequence[Token], at: int) -> bool:
    if value[at].plain not in reading.language.frequencies:
        return False
    if value[at].plain not in ("every", "cada", "todos", "todas", "כל"):
        return True
    following = value[at + 1].plain if at + 1 < len(value) else ""
    return following in reading.language.periods or following in reading.language.weekdays or following[:1].isdigit()
