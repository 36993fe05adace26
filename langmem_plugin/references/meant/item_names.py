"""The items that a sentence names: by an id, in full, or by words that only one item's name holds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langmem_plugin.references.said.utterance_words import Sentence, Word
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.tokens import is_stop, normal, word_atoms, words_of

_SIGNS = re.compile(r"[\W_]")
_FEWEST = 3  # letters of an end
_LONGEST = 4  # words that an id is written as
_MOST_LISTS = 12
_GAP = 2  # words that may stand between two of a name
_SHORT = 3  # letters; a shorter word names nothing by itself


def identified(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[tuple[int, int, ItemEntry, ShownList]]:
    """Find ids: give the first word and the end, the item and its list, if one item alone has such an id."""
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
    for place in digits:
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
            yield start, end, *entries[-1]


@dataclass(frozen=True, eq=False)
class Named:
    """The item that the words from `start` up to `end` name; `whole` if they hold all of its name."""

    entry: ItemEntry
    listed: ShownList
    start: int
    end: int
    whole: bool
    size: int
    """The number of words of the name that were said."""


def named(sentence: Sentence, lists: Sequence[ShownList], *, brief: bool) -> list[Named]:
    """Return every item that is named and meant, in the order of the sentence; newer lists before older ones.

    In a `brief` text the whole name of a line of a reply is enough; a long one merely mentions it.
    """
    found: list[Named] = []
    said = [_forms(word) for word in sentence.words]
    parts = [(place, part) for place, word in enumerate(sentence.words) for part in words_of(word.prefix + word.text)]
    for listed in reversed([each for each in lists if each.kind != "parts"][-_MOST_LISTS:]):
        for each in _in_list(said, parts, sentence, listed):
            if not any(
                _overlap(each, other) and (other.listed is not listed or other.size >= each.size) for other in found
            ):
                found = [other for other in found if not _overlap(each, other)]
                found.append(each)
    meant = (each for each in found if _is_meant(sentence, each, brief=brief) and _names_one(each, said, lists))
    return sorted(meant, key=lambda each: each.start)


def _names_one(each: Named, said: Sequence[frozenset[str]], lists: Sequence[ShownList]) -> bool:
    """Tell whether no other item of the same result has the same name, or is shown in a list with all that was said in
    its name.
    """
    words = [forms for forms in said[each.start : each.end] if forms]
    return not any(
        other is not each.entry
        and (
            all(not forms.isdisjoint(other.name_words[0]) for forms in words)
            if listed.kind == "list"
            else other.name_text == each.entry.name_text
        )
        for listed in lists
        if not set(listed.sources).isdisjoint(each.listed.sources)
        for other in listed.entries
        if other.name_words
    )


def _overlap(one: Named, other: Named) -> bool:
    return one.start < other.end and other.start < one.end


def _forms(word: Word) -> frozenset[str]:
    """Return the forms of a word by which names are compared; none for a function word."""
    if "idiom" in word or not word.text[:1].isalnum():
        return frozenset()
    forms = word_atoms(word.prefix + word.text) | ({word.stem} if not is_stop(word.text) else frozenset())
    # A Hebrew noun before another noun changes its end: פשטידה, פשטידת ברוקולי
    return forms | {form[:-1] + "ת" for form in forms if form.endswith("ה") and len(form) > _SHORT}


def _in_list(
    said: Sequence[frozenset[str]], parts: Sequence[tuple[int, str]], sentence: Sentence, listed: ShownList
) -> Iterator[Named]:
    names, frequency = listed.item_names
    every = frozenset[str]().union(*said)
    if not any(name.function_word for name in names) and every.isdisjoint(frequency) and every.isdisjoint(listed.told):
        return
    for entry, name in zip(listed.entries, names, strict=True):
        if spelling := next((found for each in name.spellings if (found := _literal(each, parts))), None):
            yield Named(entry, listed, *spelling, whole=True, size=spelling[1] - spelling[0])
            continue
        if name.function_word:
            if listed.of_data and (place := _function_word(name.called, sentence)) is not None:
                yield Named(entry, listed, place, place + 1, whole=True, size=2)
            continue
        at = [place for place, forms in enumerate(said) if not forms.isdisjoint(name.told)]
        for start, end in _runs(at, sentence):
            held = {word for place in range(start, end) for word in said[place] & name.told}
            whole = held >= name.words
            proper = listed.of_data and any(word.capital for word in sentence.words[start:end])
            own = [
                word
                for word in held
                if frequency[word] == 1 and (len(word) > _SHORT or whole or proper or not word.isascii())
            ]
            rivals = [each for each in names if each is not name and each.words >= held]
            if (
                not rivals
                and (whole or proper or 2 * len(held) >= len(name.words) or not held <= name.words)
                and (whole or own or len(held) > 1)
            ):
                yield Named(entry, listed, start, end, whole, len(held))


def _literal(spelled: Sequence[str], parts: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """Return the span in which a sentence spells a name, word for word; `parts` are its words and their places."""
    for at in range(len(parts) - len(spelled) + 1):
        if all(parts[at + more][1] == part for more, part in enumerate(spelled)):
            return parts[at][0], parts[at + len(spelled) - 1][0] + 1
    return None


def _function_word(name: str, sentence: Sentence) -> int | None:
    """Find a name such as "After" where it can be no function word: where it is chosen, or where it looks good."""
    for place, word in enumerate(sentence.words):
        if word.text == normal(name):
            ends, before = sentence.at(place + 1).any_of("end", "break"), sentence.at(place - 1)
            if (word.capital and ends and before.any_of("act", "object", "choose")) or (
                not place and "looks" in sentence.at(1)
            ):
                return place
    return None


def _runs(places: Sequence[int], sentence: Sentence) -> list[tuple[int, int]]:
    """Join places that stand together, or with function words between, into spans from and to."""
    found: list[tuple[int, int]] = []
    for place in places:
        between = sentence.words[found[-1][1] : place] if found else []
        if found and len(between) <= _GAP and all(is_stop(word.text) for word in between):
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def _is_meant(sentence: Sentence, each: Named, *, brief: bool) -> bool:
    """Tell whether the sentence points at the item that it names, and does not merely mention it."""
    named_so = any(word.capital for word in sentence.words[each.start : each.end])
    possessive = sentence.words[each.end - 1].text.endswith("'s")
    owns = possessive and not sentence.at(each.end).any_of("and", "break")  # "Effie's address"
    if each.whole and each.size > 1 and (each.listed.of_data or brief):
        before, after = sentence.at(each.start - 1), sentence.at(each.end)
        if not each.listed.of_data and (before.text == ":" or not (each.start or after.kinds)):
            return False  # "second: take a breath", "you and I know that"
        return "owner" not in before
    if each.listed.of_data and ((each.whole and named_so) or owns):
        return "owner" not in sentence.at(each.start - 1)
    start = each.start
    while sentence.at(start - 1).any_of("the", "this") and not sentence.at(start - 1).any_of("act"):
        start -= 1
    first = sentence.at(each.start)
    definite = (
        start < each.start or bool(first.prefix) or first.text[:1] in tuple(sentence.language.articles) or named_so
    )
    before, after = sentence.at(start - 1), sentence.at(each.end)
    if each.size == 1 and not definite and first.text != first.stem and first.text not in normal(each.entry.title):
        return False  # "show me soups" is a search
    compound = (
        not after.kinds and after.text.isalpha() and not is_stop(after.text) and after.stem not in each.listed.nouns
    )
    proper = named_so and each.listed.of_data  # "the Falcons game"
    if each.size == 1 and ((compound and not proper) or "listing" in after) and sentence.language.name == "en":
        return False  # "the grocery list" is no item called groceries
    if each.size == 1 and not each.listed.of_data and not named_so:  # one common word of a reply
        said_alone = sentence.follows and len(sentence.words) == 1
        if said_alone or "this" in sentence.at(each.start - 1) or (after.any_of("one") and not each.whole):
            return False
    if ("generic" in after or (after.stem in each.listed.nouns and each.listed.of_data)) and definite:
        return True
    rest = [*sentence.words[:start], *sentence.words[each.end :]]
    if all(word.any_of("polite", "break", "act", "it", "copula", "the", "instead") for word in rest):
        return each.whole or definite or before.any_of("choose", "object") or each.listed.of_data
    if before.any_of("except"):
        return True
    if not (each.whole or (definite and (each.listed.of_data or each.size > 1))):
        return False
    placed = (
        each.whole and each.listed.of_data and sentence.language.name == "en" and before.any_of("time", "of", "with")
    )
    placed = placed or (proper and compound and before.any_of("time", "of", "these", "range"))
    if (
        placed
        or before.any_of("choose", "except", "oneof")
        or (each.listed.of_data and (before.any_of("act", "object") or sentence.is_order(start - 1)))
    ):
        return True
    opens = all(word.any_of("polite", "break") for word in sentence.words[sentence.clause(start)[0] : start])
    says_more = after.any_of("copula", "polite", "it") or (each.listed.of_data and after.text == ",")
    return opens and (definite or each.whole) and says_more
