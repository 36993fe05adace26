"""The choice of the list, among those that were shown, that a place, a whole or a description belongs to."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from langmem_plugin.references.said.ordinal_positions import Position, is_noun
from langmem_plugin.references.said.utterance_words import Sentence
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.tokens import word_atoms, words_of

_MOST_GROUPS = 6
_CONSTRUCT = 3  # letters that identify the forms of a Hebrew noun


def groups(lists: Sequence[ShownList]) -> list[list[ShownList]]:
    """Return the lists of each turn that showed any, newest first, without single items told in sentences."""
    several = [each for each in lists if len(each.entries) > 1 or each.numbered]
    by_turn = [list(group) for _, group in groupby(several, key=lambda each: each.turn)]
    return by_turn[::-1][:_MOST_GROUPS]


def is_called(listed: ShownList, nouns: Iterable[str]) -> bool:
    """Tell whether one of the words names the items of the list."""
    return any(_among(noun, listed.nouns) for noun in nouns)


def _among(noun: str, known: frozenset[str]) -> bool:
    forms = {noun, *word_atoms(noun)}
    if not known.isdisjoint(forms):
        return True
    hebrew = [form for form in forms if form[:1] >= "\u05d0" and len(form) > _CONSTRUCT]
    begun = tuple(form[: max(_CONSTRUCT, len(form) - 1)] for form in hebrew)
    return bool(begun) and any(word.startswith(begun) for each in known for word in (each, each[1:], each[2:]))


def qualified(sentence: Sentence, position: Position) -> tuple[str, ...]:
    """Return the nouns behind "of", "from" or "in" beside some places: "the second of the longer term fixes"."""
    found: list[str] = []
    froms = tuple(sentence.language.froms)
    for step, begin in ((1, position.end), (-1, position.start - 1)):
        place, open_ = begin, False
        while 0 <= place < len(sentence.words) and abs(place - begin) < 9:
            word = sentence.words[place]
            if step > 0 and "break" in word and open_:
                break
            open_ = open_ or "of" in word or (word.prefix + word.text).startswith(froms)
            if (open_ or step < 0) and "generic" not in word and is_noun(word):
                found.append(word.stem)
            place += step
        if found:
            break
    return tuple(found)


def list_of(position: Position, sentence: Sentence, lists: Sequence[ShownList]) -> ShownList | None:
    """Return the list that the places belong to; None if it cannot be told, or has none of them."""
    found = groups(lists)
    generic = {word.stem for word in sentence.words if "generic" in word}
    if nouns := position.noun:
        for group in found:
            called = [
                each
                for each in group
                if any(_among(noun, _all_nouns(each, position)) for noun in nouns) and _has(each, position)
            ]
            labelled = [each for each in called if each.label in nouns]
            titled = [each for each in called if any(_among(noun, each.title_words) for noun in nouns)]
            if called:
                way = _in_group(labelled or titled or called, position)
                sure = isinstance(way, ShownList) and (position.framed or way.of_data or way.label in nouns)
                return way if isinstance(way, ShownList) and sure else None
        if any(each.part_called(noun) for listed in lists[-1:] for each in listed.entries for noun in nouns):
            return None  # "the second step" of what was told last
        if not generic.issuperset(nouns):
            return _single(position, nouns, lists)
    if position.sort not in ("all", "both"):  # what an item consists of bears no numbers unless they were printed
        found = groups([each for each in lists if each.kind != "parts" or each.numbered]) or found
    if (about := qualified(sentence, position)) and position.sort not in ("all", "both"):
        for group in found:
            told = {id(each): _said_of(each, about) for each in group}
            most = max(told.values())
            called = [each for each in group if told[id(each)] == most > (0, 0) and _has(each, position)]
            if len(called) == 1:
                return called[0]
    if any("older" in word for word in sentence.words) and len(found) > 1:
        ways = [_in_group(group, position) for group in found[1:]]
        return next((way for way in reversed(ways) if isinstance(way, ShownList)), None)
    if not found:
        return None
    fallback: ShownList | None = None
    if position.sort not in {"number", "range"} and _two_ways(found):
        return None
    for group in found:
        way = _in_group(group, position)
        if way is False:
            break
        if isinstance(way, ShownList):
            if way.of_data or way.numbered or position.sort not in ("number", "range"):
                return fallback if fallback is not None and position.ordered else way
            fallback = fallback or way
    return fallback


def _said_of(listed: ShownList, nouns: Sequence[str]) -> tuple[int, int]:
    """Count the words that stand above a list or in its tool's name, and those that may name its items."""
    own = listed.title_words.union(*(source.nouns for source in listed.sources))
    return sum(_among(noun, own) for noun in nouns), sum(_among(noun, listed.nouns) for noun in nouns)


def _all_nouns(listed: ShownList, position: Position) -> frozenset[str]:
    """Return the nouns for its items: with letters and "number" also of its title, with ordinals also of the question."""
    if position.lettered or position.marked:
        return listed.nouns | listed.title_words
    return listed.nouns | frozenset(words_of(listed.asked)) if listed.of_data and position.ordered else listed.nouns


def _two_ways(found: Sequence[Sequence[ShownList]]) -> bool:
    """Tell whether sentences about several items follow a numbered list: "the last one" may be in either."""
    told, listed = found[0], found[1] if len(found) > 1 else ()
    return (
        all(each.kind == "prose" for each in told)
        and any(each.numbered and each.turn == told[0].turn - 1 for each in listed)
        and all(each.of_data for each in told)
    )


def _single(position: Position, nouns: Sequence[str], lists: Sequence[ShownList]) -> ShownList | None:
    """Return the one thing shown last, which "the last car" means where only one car is told of at a time."""
    alone = [each for each in lists if len(each.entries) == 1 and each.of_data and is_called(each, nouns)]
    return alone[-1] if alone and position.numbers in ((1,), (-1,)) and not position.count else None


def _in_group(group: Sequence[ShownList], position: Position) -> ShownList | bool | None:
    """Return the list of one reply that the places belong to; False if the search ends here, None if it may go on."""
    printed = [each for each in group if each.numbered]
    if position.lettered:
        lettered = [each for each in printed if each.lettered and _has(each, position)]
        return lettered[0] if len(lettered) == 1 else False if printed and not lettered else None
    if position.sort in ("number", "range"):
        holding = [each for each in printed if _has(each, position)]
        holding = [each for each in holding if not each.label] or holding
        if holding:
            return _main(holding) or False
        if printed and max(position.numbers) < min(each.labels[0] or 0 for each in printed):
            return None  # its numbers go on from those of an older list
        if any(each.of_data for each in printed) or (printed and len(printed) == len(group)):
            return False
        plain = [each for each in group if not each.numbered]
        main = _main(plain) if plain else None
        if main is not None and main.of_data and not _has(main, position):
            return None if main.kind == "prose" else False
        return main if main is not None and _has(main, position) else (False if printed else None)
    main = (_main(printed) if position.ordered else None) or _main(group)
    return main if main is not None and _has(main, position) else False


def _main(lists: Sequence[ShownList]) -> ShownList | None:
    """Return the only list, or the only one whose items are data; else None. Of several in data the newest counts,
    where no other was printed beside it.
    """
    if len(lists) == 1:
        return lists[0]
    told = [each for each in lists if each.of_data]
    printed = [each for each in told if each.kind == "list" and each.place == told[-1].place]
    return told[-1] if told and len(printed) < 2 else None


def _has(listed: ShownList, position: Position) -> bool:
    if position.sort in ("all", "both"):
        return not position.count or position.count == len(listed.entries)
    if position.count:
        return position.count <= len(listed.entries)
    held = listed.at if position.ordered else listed.item
    return all(map(held, position.numbers))


def newest_data(lists: Sequence[ShownList]) -> ShownList | None:
    """Return the newest list of several items that are data."""
    for group in groups(lists):
        told = [each for each in group if each.of_data]
        if told:
            return told[-1]
        tables = [each for each in group if each.entries and all(len(entry.item) > 3 for entry in each.entries)]
        return tables[0] if len(tables) == 1 else None
    return None
