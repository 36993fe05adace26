"""The referring phrases of an utterance, by grammar alone, before anyone looks at the items."""

from collections.abc import Sequence
from dataclasses import replace

from langmem_plugin.references.said.number_phrases import read_numbers
from langmem_plugin.references.said.order_phrases import read_comparison, read_order
from langmem_plugin.references.said.phrase import Cursor, Phrase
from langmem_plugin.references.said.pronoun_phrases import read_group, read_pronoun
from langmem_plugin.references.said.tagger import Mark

_READERS = (read_numbers, read_order, read_comparison, read_group, read_pronoun)
"""Asked at each place in this order, the surest first."""
_FARTHEST_EXCEPTION = 300
"""Words of an utterance in which "all but …" is looked for."""
_GROUP = ("all", "both", "them", "these")
_EVERY = (
    "rest",
    "resto",
    "anything",
    "anywhere",
    "any",
    "every",
    "evry",
    "whatever",
    "whoever",
    "cualquiera",
    "anyone",
    "everyone",
    "everybody",
    "todos",
    "todas",
)


def read_phrases(marks: Sequence[Mark], language: str, *, lettered: bool = False) -> list[Phrase]:
    """Referring phrases from left to right; [] when the utterance points at nothing. `lettered` says that letters stand
    beside what was shown.
    """
    return _read(Cursor(marks, language, lettered=lettered), exceptions=True)


def _read(cursor: Cursor, *, exceptions: bool) -> list[Phrase]:
    """`exceptions` says whether "all but …" is read."""
    found: list[Phrase] = []
    while cursor.index < len(cursor.marks):
        mark = cursor.marks[cursor.index]
        if not mark.has("idiom", "greeting"):
            exception = _all_but(cursor, mark) if exceptions and cursor.index < _FARTHEST_EXCEPTION else None
            if exception is not None:
                return [*(each for each in found if each.kind not in _GROUP or each.end <= exception.start), exception]
            phrase = next((phrase for read in _READERS if (phrase := read(cursor, mark)) is not None), None)
            if phrase is not None:
                found.append(phrase)
                continue
        cursor.index += 1
    return found


_ARTICLES = ("el", "la", "los", "las", "lo")
_LACKING = frozenset(("without", "sin", "בלי", "ללא"))


def _all_but(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "all but the first": what stands after the exception is its `inner` phrases. Reads to the end."""
    if not mark.has("except") or (mark.text == "menos" and cursor.near(1).has("of")):
        return None
    if mark.text == "menos" and cursor.near(-1).text in _ARTICLES:
        return None  # "el menos picante"
    if mark.text == "menos" and cursor.near(-1).has("cardinal") and cursor.near(1).has("cardinal", "ordinal"):
        return None  # "las 5 menos cuarto"
    before, rest = cursor.marks[: cursor.index], cursor.marks[cursor.index + 1 :]
    every = (
        place
        for place, each in enumerate(before)
        if each.has(*_GROUP)
        or each.text in _EVERY
        or each.text == "ones"
        or (mark.text != "sin" and each.text.split()[0] in ("los", "las"))
    )
    first = next(every, None)
    between = before[first:] if first is not None else []
    if (mark.text.startswith("save") and not before) or any(
        each.text in ("is", "are", "was", "were") for each in between
    ):
        return None  # "save for a rainy day", "everything is fine but …"
    if mark.text in _LACKING and (first is None or not before[first].has("all")):
        return None  # "the ones without a lift", which lack something
    counted = len(before) > 1 and before[0].has("the", "these") and before[1].count > 1
    if counted or (first is not None and before[first].text == "ones"):
        first = 0  # "the roth ones except disney", "the three on sunday minus pilates"
    if first is None and not all(each.has("polite", "punctuation", "choose") for each in before):
        return None
    if not rest or (mark.text == "skip" and not any(each.text == "rest" for each in rest)):
        return None
    inner = tuple(
        replace(each, explicit=True)
        for each in _read(Cursor(rest, cursor.language, lettered=cursor.lettered), exceptions=False)
    )
    nouns = tuple(each.text for each in rest if each.text[:1].isalnum())
    start = cursor.index if first is None else first
    return cursor.cut("all_but", start, len(cursor.marks), inner=inner, nouns=nouns)
