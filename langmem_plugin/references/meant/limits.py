"""Items on one side of a value that is said, or between two: "under 20 euros", "after eight", "40 to 50 quid"."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.said.utterance import Stretch
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.value_words import kinds_of_words, whole_numbers
from langmem_plugin.references.text.values import Value, parts_of_date
from langmem_plugin.references.text.word_nearness import NEAR, nearness
from langmem_plugin.references.words.time_and_money import MEASURES

_DAWN, _EVENING = 360, 1080  # minutes from midnight
_MINOR = 100  # cents of a euro
_MEASURED = frozenset(unit for _, unit in MEASURES.values())
_Fits = tuple[float, ...]
_Shown = Sequence[float | None]


@dataclass(frozen=True, eq=False)
class Limit:
    """A stretch that limits something, the words that say it, and those around it, which may name what it limits."""

    stretch: Stretch
    words: str
    around: Sequence[str]
    language: str

    @cached_property
    def figure(self) -> float | None:
        """The number as it is said, whatever it measures."""
        pieces = whole_numbers(kinds_of_words(self.words), ones=True)
        return next((piece.amount for piece in pieces if piece.code == "n"), None)

    def fits(self, said: Value, shown: _Shown) -> list[bool | None]:
        upto, side = self.stretch.upto, self.stretch.side
        if upto is not None:
            return [None if each is None else said.amount <= each <= upto.amount for each in shown]
        apart = [None if each is None else (each - said.amount) * side for each in shown]
        return [None if each is None else each > 0 or (each == 0 and not self.stretch.strict) for each in apart]

    def nearness(self, called: Iterable[str]) -> float:
        """Of the words around to what a field is called."""
        return nearness(self.around, called, self.language)


def within(limit: Limit, listed: ShownList, label: frozenset[str] = frozenset()) -> _Fits:
    """Which items are on that side of the value, or between the two, by the field that tells them apart; of several the
    one that is called most like the words around, and () where none is. `label` names the fields to look at.

    A time is compared with the first that each item shows; a bare number with prices before other numbers.
    """
    names = list(dict.fromkeys(name for entry in listed.entries for name in entry.values))
    if label:
        names = [name for name in names if any(entry.fields.get(name, frozenset()) & label for entry in listed.entries)]
    ways = _in_measure(limit, listed, names)
    telling = _telling(ways)
    if not telling:
        telling = _in_minor_units(limit, listed, names) or _by_figure(limit, listed, names)
    if not telling:
        return next(iter(ways.values()), ()) if len(set(ways.values())) == 1 else ()
    if len(set(telling.values())) == 1:
        return next(iter(telling.values()))
    near = {name: limit.nearness(_words(listed.entries, name)) for name in telling}
    best = max(near, key=lambda name: near[name])
    clocked = any(said.kind in ("time", "date") for said in limit.stretch.values)
    return telling[best] if near[best] >= NEAR or clocked else ()


def _in_measure(limit: Limit, listed: ShownList, names: Sequence[str]) -> dict[str, _Fits]:
    ways: dict[str, _Fits] = {}
    for said in limit.stretch.values:
        for kind in ("money", "quantity") if said.kind == "quantity" and not said.unit else (said.kind,):
            for name in names:
                shown: _Shown = [_measured(said, kind, entry.values.get(name, ())) for entry in listed.entries]
                if not _mostly(shown):
                    continue
                least = said
                if kind == "time" and limit.stretch.upto is None:
                    amount, shown = _clocked(said, list(shown))
                    least = replace(said, amount=amount)
                ways.setdefault(name, _told(limit.fits(least, shown)))
            if ways:
                break
    return ways


def _in_minor_units(limit: Limit, listed: ShownList, names: Sequence[str]) -> dict[str, _Fits]:
    """Where the data has cents and the reply said euros."""
    ways: dict[str, _Fits] = {}
    for said in (value for value in limit.stretch.values if value.kind == "money" and listed.captions):
        for name in names:
            shown = [_measured(said, "money", entry.values.get(name, ())) for entry in listed.entries]
            minor = [None if each is None else each / _MINOR for each in shown]
            read = zip(minor, listed.captions, strict=True)
            if _mostly(minor) and all(each is None or f"{each:g}" in caption for each, caption in read):
                ways[name] = _told(limit.fits(said, minor))
    return _telling(ways)


def _by_figure(limit: Limit, listed: ShownList, names: Sequence[str]) -> dict[str, _Fits]:
    """By the number alone, whose measure no field tells: "under ten days" of `days_left: 6`."""
    said = next((value for value in limit.stretch.values if value.kind in ("quantity", "duration")), None)
    if said is None:
        return {}
    counts = said.kind == "quantity" and said.unit not in _MEASURED  # "seats"
    figure = said.amount if counts else limit.figure
    if figure is None or (limit.stretch.upto is not None and not counts):
        return {}
    bare = replace(said, kind="quantity", unit="", amount=figure)
    ways: dict[str, _Fits] = {}
    for name in names:
        shown = [_measured(bare, "quantity", entry.values.get(name, ())) for entry in listed.entries]
        if _mostly(shown) and limit.nearness(_words(listed.entries, name)) >= NEAR:
            ways[name] = _told(limit.fits(bare, shown))
    return _telling(ways)


def _telling(ways: Mapping[str, _Fits]) -> dict[str, _Fits]:
    return {name: way for name, way in ways.items() if 0.0 in way and 1.0 in way}


def _words(entries: Sequence[ItemEntry], name: str) -> frozenset[str]:
    return next((entry.fields[name] for entry in entries if name in entry.fields), frozenset())


def _mostly(shown: _Shown) -> bool:
    return sum(each is not None for each in shown) * 2 > len(shown)


def _told(inside: Sequence[bool | None]) -> _Fits:
    return tuple(float(bool(each)) for each in inside)


def _clocked(said: Value, shown: list[float | None]) -> tuple[float, list[float | None]]:
    """A time said and those shown, on one clock: "after 8" of evenings is 8 pm, and what is after midnight is of the
    night.
    """
    known = [each for each in shown if each is not None]
    if max(known) >= _EVENING:  # what is before dawn is of the same night
        shown = [None if each is None else each + 1440 if each < _DAWN else each for each in shown]
        known = [each for each in shown if each is not None]
    if said.amount == 0 and said.exact:
        return 1440, [None if each is None else each + 1440 if each < _DAWN else each for each in shown]
    apart = [reading for reading in (said.amount, said.amount + 720) if reading < 1440]
    telling = [each for each in apart if min(known) <= each <= max(known)]
    return (telling[-1] if not said.exact and len(telling) == 1 else said.amount), shown


def _measured(said: Value, kind: str, shown: Sequence[Value]) -> float | None:
    """What a field shows, in the measure that a value was said in."""
    for value in shown:
        if value.kind != kind:
            continue
        if kind == "date":
            parts = (value.amount,) if value.unit == said.unit else parts_of_date(value).get(said.unit, ())
            if parts:
                return parts[0]
        elif kind == "time" or not said.unit or value.unit == said.unit or (kind == "money" and not value.unit):
            return value.amount
    return None
