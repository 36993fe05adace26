"""Items told by an id: whole ("r-214", "LY 315"), or by its end ("the one ending in 4471", "invoice 0455")."""

import re
from collections.abc import Iterator, Sequence

from langmem_plugin.references.said.utterance import Sentence
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList

_SIGNS = re.compile(r"[\W_]")
_FEWEST = 3  # letters of an end
_MOST_LISTS = 12
_LONGEST = 4  # words that an id is written as


def identified(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[tuple[int, int, ItemEntry, ShownList]]:
    """From which word to which, the item, and the list it was shown in: only where one item alone has such an id."""
    words = [_SIGNS.sub("", word.prefix + word.text) for word in sentence.words]
    digits = [place for place, word in enumerate(words) if any(map(str.isdigit, word))]
    if not digits:
        return
    recent = [each for each in lists if each.of_data][-_MOST_LISTS:]
    known: dict[str, list[tuple[ItemEntry, ShownList]]] = {}
    for listed in recent:
        for entry in listed.entries:
            for code in entry.coded:
                known.setdefault(code, []).append((entry, listed))
    used = -1
    for place in digits:
        if place < used:
            continue
        for start in range(max(0, place - _LONGEST + 1), place + 1):
            for end in range(min(len(words), start + _LONGEST), place, -1):
                said = "".join(words[start:end])
                if said in known and len(said) >= _FEWEST and not (said.isdigit() and len(said) < _FEWEST + 1):
                    found = known[said]
                    break
            else:
                continue
            break
        else:
            start, end, said = place, place + 1, words[place]
            least = 2 if "ending" in sentence.at(place - 1) else _FEWEST
            bare = said.isdigit() and len(said) >= least and not sentence.at(end).any_of("unit", "month")
            ends = (
                [pair for code, pairs in known.items() if code.endswith(said) and code != said for pair in pairs]
                if bare
                else []
            )
            whole = known.get(said, []) if bare else []
            found = whole or ends
        entries = list({id(entry): (entry, listed) for entry, listed in found}.values())
        lists_of_it = {id(listed) for _, listed in entries}
        if entries and (
            len({entry.signature for entry, _ in entries}) == 1 or (said in known and len(lists_of_it) == len(entries))
        ):
            used = end
            yield start, end, *entries[-1]
