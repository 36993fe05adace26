"""Phrases that count by order and that compare: "the second", "the last two", "second cheapest", "the most spots"."""

import re

from langmem_plugin.references.said.lexicon import PLAIN
from langmem_plugin.references.said.phrase import Cursor, Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.text.tokens import is_stop
from langmem_plugin.references.words import Comparison, word_set
from langmem_plugin.references.words.field_names import CLOCK

_FIXED = {"middle": 0, "last": -1, "penultimate": -2, "antepenultimate": -3}
_WEEKDAYS = 6
_LASTING = word_set(
    "at|to|will|won't|wont|would|should|does|doesn't|doesnt|do|did|can|must|they|normally|usually|it'll|itll"
)
_THE_TWO = ("השניים", "השתיים", "שניים", "שתיים")
_BEFORE = ("the", "end", "choose", "and", "this", "range", "except", "all", "punctuation")
_BEFORE_ENGLISH = (*_BEFORE, "its", "confirm", "not")
_BEFORE_SPANISH = (*_BEFORE, "preposition", "of")


def read_order(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    if (moment := _moment(cursor, mark)) is not None:
        return moment
    few = _few(cursor, mark)
    if few is not None or _place(mark) is None:
        return few
    reads = (
        (mark.has("ordinal") and _is_ordinal(cursor, mark))
        or (mark.has("middle") and (mark.text != "middle" or _is_alone(cursor)))
        or (mark.has("last") and _is_last(cursor))
        or mark.has("penultimate", "antepenultimate")
    )
    return _places(cursor, mark) if reads else None


def _moment(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "which closes first", "who did we invite last": the earliest or latest to do so."""
    verb, after = cursor.near(-1), cursor.near(1)
    told = (
        cursor.index > 0
        and verb.text.isalpha()
        and len(verb.text) > 2
        and verb.values.keys() <= {"attribute", "polite"}
    )
    if (
        mark.text not in ("first", "last")
        or not told
        or is_stop(verb.text)
        or not after.has("end", "punctuation", "and")
    ):
        return None
    alone = len(cursor.marks) == cursor.index + 1 == 2  # "ready last"
    asked = alone or any(each.has("question", "one") for each in cursor.marks[: cursor.index])
    if cursor.language != "en" or not asked:
        return None
    direction = -1 if mark.text == "first" else 1
    return cursor.take("comparison", 1, comparison=Comparison(CLOCK, direction), nouns=(verb.text,))


def _few(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "two last", "los dos primeros", "top 3"."""
    after = cursor.near(1)
    if mark.has("top") and after.has("cardinal"):
        return cursor.take("first", 2, count=after.number("cardinal"))
    count = 2 if mark.text in ("los dos", "las dos") else mark.number("cardinal") if mark.has("cardinal") else 0
    if count and after.has("last"):
        return cursor.take("last", 2, count=count)
    if 0 < count < 20 and _is_first(after) and cursor.language != "en":
        return cursor.take("first", 2, count=count)
    return None


def _places(cursor: Cursor, mark: Mark) -> Phrase:
    """As in "second cheapest", "last two", "the first and the third", "third from the end"."""
    after = cursor.near(1)
    if mark.has("ordinal") and after.has("comparison") and is_superlative(after.text, cursor.language):
        return cursor.take("comparison", 2, comparison=after.comparison, numbers=(mark.number("ordinal"),))
    if after.has("cardinal") and not after.has("one") and (mark.has("last") or _is_first(mark)):
        return cursor.take("last" if mark.has("last") else "first", 2, count=after.number("cardinal"))
    numbers: list[int] = []
    last = index = cursor.index
    while (value := _place(cursor.at(index))) is not None:
        numbers.append(value)
        following = cursor.at(index + 1)
        last = index + 1 + (following.text in ("one", "1") or (following.has("one") and not following.has("cardinal")))
        if cursor.at(last).has("range") and _opens_range(cursor):  # "from the second to the fourth"
            end = last + 1 + cursor.at(last + 1).has("the")
            upto = _place(cursor.at(end)) or 0
            behind = cursor.at(end + 1)
            closed = behind.text == "," or behind.has("end", "punctuation", "polite", "one", "selects")
            if 0 < value < upto and closed:
                numbers += range(value + 1, upto + 1)
                last = end + 1 + cursor.at(end + 1).has("one")
        index = cursor.past_joint(last)
        if index == last:
            break
    if cursor.at(last).has("from_end"):
        numbers = [-number for number in numbers]
        last += 1
    one = cursor.at(last - 1).has("one")
    return cursor.cut("numbers", cursor.index, last, numbers=tuple(dict.fromkeys(numbers)), one=one)


def _opens_range(cursor: Cursor) -> bool:
    """Whether nothing but "from the" stands before: "move the first to the fourth" goes somewhere."""
    return all(each.has("the", "of") or each.text in ("from", "desde") for each in cursor.marks[: cursor.index])


def _place(mark: Mark) -> int | None:
    fixed = next((place for kind, place in _FIXED.items() if mark.has(kind)), None)
    return mark.number("ordinal") if fixed is None and mark.has("ordinal") else fixed


def _is_first(mark: Mark) -> bool:
    return mark.has("ordinal") and mark.number("ordinal") == 1


def _is_last(cursor: Cursor) -> bool:
    """Not as in "last week", "at last", "how long does it last"."""
    before = cursor.near(-1)
    endures = before.text in _LASTING or (before.has("it", "this", "them") and cursor.near(-2).text in _LASTING)
    return not cursor.near(1).has("unit", "weekday") and not (cursor.language == "en" and endures)


def _is_alone(cursor: Cursor) -> bool:
    return cursor.near(1).has("one", "end", "polite") and cursor.near(-1).has("the", "end", "choose")


def _is_ordinal(cursor: Cursor, mark: Mark) -> bool:
    """Whether it counts items; never "second of May", "first week", "a second"."""
    before, after = cursor.near(-1), cursor.near(1)
    if after.has("unit") and not after.has("polite", "preposition"):
        return False
    if "due" in (before.text, cursor.near(-2).text if before.has("the") else ""):
        return False  # "the two due the 3rd"
    if before.has("month") or after.has("month") or (after.has("of") and cursor.near(2).has("month", "unit")):
        return False
    if cursor.language == "he":
        if mark.text in _THE_TWO:
            return False
        if mark.text[0] in "לב" and mark.number("ordinal") <= _WEEKDAYS and mark.number("ordinal") > 1:
            return False  # "לחמישי", which is Thursday sooner than the fifth
        return mark.definite or before.has("marker") or len(cursor.marks) <= 2
    if mark.text[:1].isdigit():
        return after.has("one", "marker") or (
            before.has("the", "end", "choose", "and", "confirm") and not _is_dated(cursor)
        )
    if before.has("indefinite") or (mark.text == "second" and before.text in ("a", "one", "this", "just a")):
        return False
    if cursor.language == "es":
        quarter = mark.text == "cuarto" and (before.text in ("y", "menos") and cursor.near(-2).has("cardinal", "unit"))
        return before.has(*_BEFORE_SPANISH) and not quarter  # "las cuatro y cuarto"
    if mark.text == "first" and before.has("end", "punctuation") and cursor.near(2).has("the"):
        return False  # "first call the hotel"
    if mark.text == "first" and cursor.index == 0 and not after.has("one", "marker", "cardinal", "and", "end"):
        return False
    return before.has(*_BEFORE_ENGLISH) or after.has("one", "marker")


def _is_dated(cursor: Cursor) -> bool:
    """As in "the 4th of …", "friday the 13th", "on the 2nd"."""
    before, earlier = cursor.near(-1), cursor.near(-2)
    return (
        cursor.near(1).text in ("of", "de")
        or before.has("weekday")
        or earlier.has("weekday")
        or (earlier.has("preposition") and before.has("the"))
    )


_SUPERLATIVE = {
    "en": re.compile(r"est\b|\b(?:most|least|worst)\b"),
    "he": re.compile(r"^הכי|ביותר"),
    "es": re.compile(r"^(?:mas |menos |mejor|peor|mayor|menor)"),
}
_DOING = re.compile(r"^antes \w+$|^\w+ (?:mas|menos|mejor|antes)$")
_WHO_DOES = frozenset(("que", "q", "cual", "quien", "el que", "la que", "el q", "la q", "los que", "las que"))
_VAGUE = frozenset(("something", "anything", "algo", "any", "משהו", "more", "even"))
_SO = frozenset(("so", "how", "too", "very", "pretty", "quite", "tan", "muy", "כמה", "כל כך"))
_ADVERBS = frozenset(("mejor", "peor", "better", "worse", "later", "earlier", "sooner"))


def read_comparison(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    if not mark.has("comparison"):
        return _compared_noun(cursor, mark)
    before, after = cursor.near(-1), cursor.near(1)
    if not _is_meant(cursor, mark):
        return None
    return cursor.take("comparison", 1, comparison=mark.comparison, count=after.count or before.count or 1, one=True)


def _compared_noun(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "the most spots", "fewer calls than …": the noun names the field."""
    than = mark.text in ("less", "fewer", "more") and any(cursor.near(offset).text == "than" for offset in range(1, 6))
    if not than and not mark.has("most", "least"):
        return None
    field = cursor.nouns(cursor.index + 1)[:1]
    if not field:
        return None
    compared = Comparison(field, 1 if mark.text == "more" or mark.has("most") else -1)
    return cursor.take("comparison", 2, comparison=compared, count=1, nouns=field if than else ())


def _is_meant(cursor: Cursor, mark: Mark) -> bool:
    """Whether it points at an item, as "the cheaper one" does and "something cheaper" does not."""
    before, earlier, after = cursor.near(-1), cursor.near(-2), cursor.near(1)
    if before.has("indefinite", "another") or earlier.has("indefinite", "another") or before.text in _VAGUE | _SO:
        return False
    if mark.text in PLAIN:
        return (
            before.has("the") and after.has("one")
            if cursor.language == "en"
            else before.text in ("el", "la") and after.has("end", "punctuation", "and", "not")
        )
    if mark.text in _ADVERBS and not before.has("the", "this") and not after.has("one"):
        return False
    superlative = is_superlative(mark.text, cursor.language)
    if after.text == "than" and not superlative and not before.has("the", "one", "this"):
        return False  # "does matte fade slower than glossy"
    if superlative or mark.definite or earlier.has("the") or after.has("one"):
        return True
    if before.text in _WHO_DOES and _DOING.match(mark.text):
        return True  # "cual paga mejor", "el que antes venga"
    if before.has("the", "one", "this", "these", "its", "cardinal"):
        return True
    return cursor.language != "es" and cursor.index > cursor.first_question


def is_superlative(text: str, language: str) -> bool:
    return _SUPERLATIVE[language].search(text) is not None
