"""The places of a list that a sentence says: "number 2", "the third recipe", "the last two", "all but the first"."""

from dataclasses import dataclass, replace

from langmem_plugin.references.said.utterance_words import Sentence, Word
from langmem_plugin.references.tokens import is_stop

_LONGEST_RANGE = 50
_NO_NOUNS = (
    *("digit", "ordinal", "cardinal", "letter", "act", "polite", "copula", "time"),
    *("it", "this", "the", "and", "of", "not", "person", "owner"),
)
_ENDS = "last", "penultimate", "antepenultimate"


@dataclass(frozen=True)
class Position:
    """Places that are said together, from the word at `start` up to that at `end`.

    `numbers` are those printed beside items, or from `ordered` on their places; negative ones count from the end.
    `noun` are the words beside them that may tell which list; `sort` is number, ordinal, last, range, all or both.
    """

    start: int
    end: int
    sort: str
    numbers: tuple[int, ...] = ()
    noun: tuple[str, ...] = ()
    lettered: bool = False
    explicit: bool = False
    marked: bool = False
    """True if a word before says that it is the number of something: "number 9"."""
    framed: bool = True
    """False if the words around an ordinal and its noun show that it picks nothing: "the first song went badly"."""
    alone: bool = False
    """True if the sentence says nothing else, so that it may be the answer to another question."""
    refused: bool = False
    count: int = 0
    """The number in "the last two"; in "all three" the number of items there must be."""

    @property
    def ordered(self) -> bool:
        return self.sort in ("ordinal", "last")


def positions(sentence: Sentence) -> list[Position]:
    """Return the places, in the order of the sentence."""
    found: list[Position] = []
    place = 0
    while place < len(sentence.words):
        here = _numbers(sentence, place) or _ordinals(sentence, place) or _whole(sentence, place)
        if here is None:
            place += 1
            continue
        if here.sort:
            found.append(here)
        place = max(here.end, place + 1)
    return [replace(each, refused=is_refused(sentence, each.start, each.end)) for each in found]


def is_refused(sentence: Sentence, start: int, end: int) -> bool:
    """Tell whether a clause refuses its words from `start` to `end`: "not number 1", "the second is out"."""
    first, _ = sentence.clause(start)
    # "no the second one" is an answer in English, as "no, the second one" is
    first += sentence.language.name == "en" and "denial" in sentence.at(0) and sentence.at(1).any_of("the", "object")
    before = sentence.words[max(first, start - 5) : start]
    of_all = any(word.any_of("all", "both") for word in sentence.words[:start])
    if any("not" in word or (of_all and "except" in word) for word in before):
        return True
    if "not" in sentence.at(end) and sentence.at(end + 1).any_of("end", "break") and sentence.language.name != "en":
        return True
    if "denial" in sentence.words[-1] and "break" in sentence.at(len(sentence.words) - 2):
        return True
    return any("refused" in word for word in sentence.words[end:])


def _is_number(word: Word) -> bool:
    return word.any_of("digit", "cardinal", "letter") and not word.any_of("dated", "ordinal")


def _numbers(sentence: Sentence, place: int) -> Position | None:
    """Read numbers or letters: "2", "1 and 3", "2-4", "b", "option c", "the 4 and the 5"."""
    first = place
    word = sentence.at(first)
    marked = (word.any_of("marker") and not _is_number(word)) or (
        "abbreviated" in word and "digit" in sentence.at(first + 1)
    )
    start = first + 1 if marked else first
    while marked and sentence.at(start).any_of("the", "marker"):
        start += 1
    if not _is_number(sentence.at(start)) or ("one" in sentence.at(start) and not marked):
        return None
    inside = sentence.at(start - 1).text == "-" and "digit" in sentence.at(start - 2)
    run = None if inside else _run(sentence, start)
    if run is None:
        return Position(first, start + 1, "")
    numbers, end, ranged = run
    lettered = "letter" in sentence.at(start)
    before, after = _before(sentence, first), sentence.at(end)
    said = Position(first, end, "range" if ranged else "number", numbers, lettered=lettered)
    if marked or "hashed" in sentence.at(start):
        noun = sentence.at(first - 1).stem if _names(sentence, first - 1) else ""
        return replace(said, explicit=True, marked=not lettered, noun=tuple(filter(None, (noun,))))
    if (
        _names(sentence, first - 1)
        and not lettered
        and "cardinal" not in word
        and not after.any_of("unit", "counted", "month")
    ):
        return replace(said, start=first - 1, noun=(sentence.at(first - 1).stem,), explicit=True)
    if is_noun(sentence.at(first - 1)) and lettered and after.any_of("end", "break", "polite"):
        return replace(said, start=first - 1, noun=(sentence.at(first - 1).stem,), explicit=True)
    if _picks(sentence, first, end, numbers):
        return replace(
            said, explicit="choose" in before, alone=_alone(sentence, first, end) and not before.any_of("choose")
        )
    return replace(said, sort="")


def _run(sentence: Sentence, start: int) -> tuple[tuple[int, ...], int, bool] | None:
    """Return the numbers, their end, and whether they are a range; None if one of them counts the words behind it."""
    numbers, end, ranged = [sentence.at(start).number], start + 1, False
    kind = "letter" in sentence.at(start)
    while True:
        link = end
        while sentence.at(link).any_of("and") or sentence.at(link).text == "-":
            link += 1
        through = "range" in sentence.at(end)
        if through and ranged:  # "1-2-3" is a house number
            return None
        link = end + 1 if through and link == end else link
        while sentence.at(link).any_of("the", "marker"):
            link += 1
        following = sentence.at(link)
        joined = following.prefix in tuple(sentence.language.joins) or (link > end)
        if not joined or not _is_number(following) or "one" in following or ("letter" in following) is not kind:
            return tuple(dict.fromkeys(numbers)), end, ranged
        if not kind and not through and sentence.language.name == "en" and _counts(sentence, link + 1) and not ranged:
            return None
        if through and numbers[-1] < following.number <= numbers[-1] + _LONGEST_RANGE:
            numbers.extend(range(numbers[-1] + 1, following.number + 1))
            ranged = True
        else:
            numbers.append(following.number)
        end = link + 1


def _counts(sentence: Sentence, place: int) -> bool:
    """Tell whether the number counts the words behind it: "2 onions", "5 of them", "20 euros"."""
    after = sentence.at(place)
    if after.any_of("unit", "counted", "month", "weekday", "amount") and not sentence.at(place + 1).any_of(
        "the", "these"
    ):
        return True
    return not after.kinds and after.text[:1].isalnum()


def _picks(sentence: Sentence, first: int, end: int, numbers: tuple[int, ...]) -> bool:
    """Tell from the words around a bare number whether it points at something."""
    after, before = sentence.at(end), _before(sentence, first)
    begin, last = sentence.clause(first)
    the = "the" in sentence.at(first - 1)
    if the and len(numbers) == 1 and (sentence.language.name == "en" or "several_the" in sentence.at(first - 1)):
        return False
    # "I'll have two", not "quiero la dos"
    counts = not the and "act" in before and "choose" not in before and "cardinal" in sentence.at(first)
    if (
        (counts and len(numbers) == 1)
        or sentence.at(first - 1).text == "."
        or after.any_of("unit", "counted", "month", "amount", "ordinal")
        or sentence.at(first - 1).any_of("amount", "month")
    ):
        return False
    ranged = numbers == tuple(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 1
    if ranged and "range" in sentence.at(first + 1) and ("ofthe" in before or not before.any_of("time", "amount")):
        return True
    rest = [*sentence.words[begin:first], *sentence.words[end:last]]
    if all(word.any_of("polite", "the", "act") and not word.any_of("time") for word in rest) and _alone(
        sentence, first, end
    ):
        return True
    opens = all(word.any_of("polite", "the") for word in sentence.words[begin:first])
    if opens and after.any_of("copula", "polite", "person") and not after.any_of("unit", "time"):
        return True
    if ("act" in before and not before.any_of("time", "it")) or (len(numbers) > 1 and "act" in before):
        ends = after.any_of("end", "break", "polite", "copula", "person") or (
            after.any_of("of", "range", "act") and "unit" not in after
        )
        return ends and not ("told" in before and len(numbers) == 1 and "end" not in after)
    article = "the" in sentence.at(first - 1) and sentence.language.name == "es"
    if (
        article
        and "one_the" in sentence.at(first - 1)
        and all(word.any_of("polite") for word in sentence.words[begin : first - 1])
    ):
        return True
    return (
        article
        and not sentence.at(first - 2).any_of("time")
        and after.any_of("end", "break", "polite", "copula", "act", "person")
    )


def _alone(sentence: Sentence, first: int, end: int) -> bool:
    """Tell whether the sentence says little else: "ok 3 please", "c, and it's 4,300 euros"."""
    others = [
        word
        for word in (*sentence.words[:first], *sentence.words[end:])
        if not word.any_of("polite", "the", "act", "break")
    ]
    begins = all(word.any_of("polite", "break", "the", "act") for word in sentence.words[:first])
    return not others or (begins and "break" in sentence.at(end))


def _before(sentence: Sentence, place: int) -> Word:
    """Return the word before a place, without articles."""
    place -= 1
    while sentence.at(place).any_of("the") and not sentence.at(place).any_of("act", "object"):
        place -= 1
    return sentence.at(place)


def is_noun(word: Word) -> bool:
    if is_stop(word.text) or word.verb or not word.text.isalpha():
        return False
    return not word.any_of(*_NO_NOUNS)


def _names(sentence: Sentence, place: int) -> bool:
    """Tell whether the word is a noun; one that may be a verb too, behind a verb or a place: "open book 3"."""
    word, before = sentence.at(place), sentence.at(place - 1)
    return is_noun(word) or ("object" in word and before.any_of("object", "ordinal") and "the" not in before)


def _ordinals(sentence: Sentence, place: int) -> Position | None:
    """Read "the second one", "third recipe", "first and last", "the last two", "second to last"."""
    word, hebrew = sentence.at(place), sentence.language.name == "he"
    if not word.any_of("ordinal", *_ENDS) or "unit" in word or sentence.at(place - 1).any_of("digit", "amount"):
        return None
    if "cardinal" in word and hebrew and not word.prefix:
        return None
    numbers, end_of_run = _run_of_ordinals(sentence, place)
    sort = "last" if min(numbers) < 0 else "ordinal"
    said = Position(place, end_of_run, sort, tuple(dict.fromkeys(numbers)))
    before = sentence.at(place - 1)
    start = place - 1 if "the" in before else place
    owned = before.any_of("owner") or sentence.at(end_of_run).any_of("owner")  # Hebrew says it behind
    if owned or sentence.at(start - 1).any_of("owner", "than") or _of_time(sentence, said):
        return replace(said, sort="")
    found = _counted(sentence, said, start) or _of_a_noun(sentence, said, start) or _bare(sentence, said, start)
    return replace(found, sort="") if _is_told_apart(sentence, found.end) else found


def _is_told_apart(sentence: Sentence, end: int) -> bool:
    """Tell whether a clause says which first is meant, and not the first of a list: "the first one I had"."""
    word = sentence.at(end)
    own = sentence.language.name == "en" and "person" in word and not sentence.at(end + 1).any_of("act", "copula")
    hebrew = word.text.startswith("ש") and word.text.endswith(("תי", "נו"))  # "the first that I saw"
    return (own or hebrew or "relative" in word) and not _shown(sentence, end)


def _of_time(sentence: Sentence, said: Position) -> bool:
    """Tell whether it is a day, or counts what happens: "el primero de mayo", "that's the third sofa in 5 years"."""
    end = said.end
    if "of" in sentence.at(end) and "month" in sentence.at(end + 1):
        return True
    end += "generic" in sentence.at(end) or is_noun(sentence.at(end))
    spans = sentence.at(end).any_of("this", "of") and any("unit" in each for each in sentence.words[end + 1 : end + 3])
    return spans and not any("act" in each for each in sentence.words[: said.start])


def _run_of_ordinals(sentence: Sentence, place: int) -> tuple[list[int], int]:
    numbers, end = [_place(sentence.at(place))], place + 1
    while True:
        link = end
        while sentence.at(link).any_of("and", "the"):
            link += 1
        following = sentence.at(link)
        if (link == end and following.prefix[:1] not in tuple(sentence.language.joins)) or not following.any_of(
            "ordinal", *_ENDS
        ):
            return numbers, end
        numbers.append(_place(following))
        end = link + 1


def _counted(sentence: Sentence, said: Position, start: int) -> Position | None:
    """Read an ordinal with a number of items: "the first three", "las dos últimas"."""
    if len(said.numbers) > 1 or said.numbers[0] not in (1, -1):
        return None
    before, after = sentence.at(said.start - 1), sentence.at(said.end)
    if before.any_of("cardinal", "digit") and before.number > 1 and sentence.language.name != "en":
        return replace(said, start=said.start - 1, count=before.number, explicit=True)
    if not after.any_of("digit", "cardinal") or after.number < 2 or _counts(sentence, said.end + 1):
        return None
    end = said.end + 1
    return replace(said, start=start, end=end + ("generic" in sentence.at(end)), count=after.number, explicit=True)


def _of_a_noun(sentence: Sentence, said: Position, start: int) -> Position | None:
    """Read the noun behind an ordinal, or before it: "the third recipe", "el segundo", "המשפט השני"."""
    before, after = sentence.at(said.start - 1), sentence.at(said.end)
    if "one" in after and _orders_others(sentence, start):
        return replace(said, sort="")
    if "generic" in after and not sentence.at(said.end + 1).any_of("owner"):
        return replace(said, start=start, end=said.end + 1, explicit=True, noun=(after.stem,))
    if sentence.language.name != "en":
        noun = is_noun(before) and not before.any_of("the", "act", "generic")
        if noun and not (_is_definite(sentence, said.start) or "the" in sentence.at(said.start - 2)):
            return replace(said, sort="")
        if noun or "generic" in before:
            return replace(said, start=said.start - 1, noun=(before.stem,), explicit=True)
    if sentence.language.name == "he" or not _names(sentence, said.end) or "generic" in after:
        return None
    if after.text != after.stem and sentence.language.name == "en":  # "the last numbers"
        return replace(said, sort="")
    opening, closing = sentence.at(start - 1), sentence.at(said.end + 1)
    opened = opening.any_of("end", "break", "act", "object", "polite", "choose", "of", "not", "person")
    framed = opened and (not closing.text[:1].isalpha() or bool(closing.kinds))
    definite = _is_definite(sentence, said.start)
    return replace(said, start=start, end=said.end + 1, noun=(after.stem,), explicit=definite, framed=framed)


def _orders_others(sentence: Sentence, start: int) -> bool:
    """Tell whether another thing has an ordinal before: "4 bikes on the first walk and 2 on the second one"."""
    ordered = [place for place in range(start) if "ordinal" in sentence.at(place)]
    return any(is_noun(sentence.at(place + 1)) and not sentence.at(place + 1).any_of("generic") for place in ordered)


def _bare(sentence: Sentence, said: Position, start: int) -> Position:
    """Return an ordinal without a noun. Its `sort` is empty if the words around it show that it picks nothing."""
    before, after, language = sentence.at(start - 1), sentence.at(said.end), sentence.language.name
    pick, none = replace(said, start=start), replace(said, sort="")
    if after.any_of("unit", "month") or sentence.at(said.start - 1).any_of("month"):
        return none
    definite = _is_definite(sentence, said.start)
    opens = all(each.any_of("polite", "act") for each in sentence.words[:start])
    if opens and definite and (language == "he" or (language == "es" and not after.any_of("time"))):
        return pick
    rest = [*sentence.words[:start], *sentence.words[said.end :]]
    if all(each.any_of("polite", "the", "break", "act") for each in rest) and not after.any_of("object"):
        return pick  # but not "first try!"
    if "dated" in sentence.at(said.start) and not ("act" in before and "time" not in before):
        return none if "about" not in before else pick
    framed = after.any_of("end", "break", "copula", "of", "polite", "refused", "not", "this", "object", "time") or (
        "person" in after and (said.numbers != (2,) or _shown(sentence, said.end))
    )  # not "the second I get home"
    opened = before.any_of("end", "break", "act", "object", "polite", "not", "except", "generic", "copula")
    return pick if definite and framed and (opened or after.any_of("copula", "of")) else none


def _is_definite(sentence: Sentence, place: int) -> bool:
    word = sentence.at(place)
    article = bool(word.prefix) and word.prefix[-1] in sentence.language.articles
    return article or sentence.at(place - 1).any_of("the", "this")


def _shown(sentence: Sentence, place: int) -> bool:
    return any("shown" in word for word in sentence.words[place : place + 3])


def _place(word: Word) -> int:
    ends = [-1 - at for at, kind in enumerate(_ENDS) if kind in word]
    return ends[-1] if ends else word.number


def _whole(sentence: Sentence, place: int) -> Position | None:
    """Read "all of them", "both", "everything except …", "all three"."""
    word = sentence.at(place)
    if (
        sentence.language.name == "es"
        and "the" in word
        and "cardinal" in sentence.at(place + 1)
        and sentence.at(place + 1).number == 2
        and sentence.at(place + 2).any_of("end", "break")
    ):
        return Position(place, place + 2, "both", explicit=True)
    sort = "both" if "both" in word else "all" if "all" in word else ""
    if not sort:
        return None
    after, before = sentence.at(place + 1), _before(sentence, place)
    said = Position(place, place + 1, sort)
    if word.prefix[-1:] in tuple(sentence.language.froms):  # "the longest of them all"
        return replace(said, sort="")
    if (
        sort == "all"
        and after.any_of("digit", "cardinal")
        and after.number > 1
        and sentence.at(place + 2).any_of("end", "break", "polite", "copula", "of", "generic")
    ):
        return replace(said, end=place + 2, count=after.number, explicit=True)
    if "of" in after:
        place += 1
        while sentence.at(place).any_of("of", "the", "these"):
            place += 1
        after = sentence.at(place)
        if sort == "all" and "it" in after and sentence.at(place + 1).any_of("end", "break", "polite"):
            return replace(said, end=place + 1)
        if sentence.at(place - 1).any_of("these") or "them" in after or ("generic" in after and after.text != "it"):
            return replace(said, end=place + ("them" in after or "generic" in after), explicit=True)
        if is_noun(after):
            return replace(said, end=place + 1, noun=(after.stem,), explicit=True)
        return replace(said, sort="")
    if "the" in after and is_noun(sentence.at(place + 2)):
        said = replace(said, noun=(sentence.at(place + 2).stem,), explicit=sort == "all")
    excepted = any("except" in each for each in sentence.words[place + 1 : place + 9])
    if excepted and not exception(sentence, said):
        return replace(said, sort="")
    if said.noun:
        return said if excepted else replace(said, sort="")
    whole = "bare" not in word
    if sort == "both" and after.any_of("the", "of", "owner"):
        return replace(said, sort="")
    if is_noun(after) and not after.any_of("except", "generic", "not") and sort == "both":
        return replace(said, end=place + 2, noun=(after.stem,))
    if is_noun(after) and not after.any_of("except", "not") and not excepted:
        return replace(said, sort="")
    if excepted or sort == "both":
        return replace(said, explicit=True)
    alone = all(
        each.any_of("polite", "act", "it", "break", "the", "object")
        for each in (*sentence.words[:place], *sentence.words[place + 1 :])
    )
    asked = before.any_of("object") or (before.any_of("it") and sentence.at(place - 2).any_of("object"))
    if (
        alone
        or (asked and after.any_of("end", "break", "polite"))
        or (whole and after.any_of("copula", "end", "polite"))
    ):
        return said
    return replace(said, sort="")


def exception(sentence: Sentence, whole: Position) -> int | None:
    """Return the place of the word that leaves something out of a whole; None if none does, or others restrict it."""
    state = sentence.language.name == "he"  # a verb alone may say a state: "all was bought but the eggs"
    for place in range(whole.end, min(whole.end + 10, len(sentence.words))):
        word = sentence.words[place]
        if "except" in word:
            return place
        state = state or "copula" in word
        if state and not word.kinds and "except" in sentence.at(place + 1):
            continue
        known = word.any_of("of", "the", "these", "generic", "it", "them", "polite", "copula", "act", "object")
        if not known and word.stem not in whole.noun:
            return None
    return None
