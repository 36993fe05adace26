"""Phrases that count by number or letter: "number 2", "1, 3 and 4", "2-4", "option b"; never "2 onions"."""

from langmem_plugin.references.said.phrase import Cursor, Phrase, letter_number
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import word_set

_LARGEST = 50
"""A larger bare number picks no item, nor do more numbers than that make a range."""
_LONGEST_LIST = 50
"""Words of the longest list of numbers that is looked through for what follows it."""
_CLOSE = ("end", "and", "polite", "choose", "selects", "confirm", "except", "question", "not", "there")
"""What may stand behind a number that picks an item."""
_OF_TIME = frozenset(("at", "by", "for", "until", "till", "a", "en", "para", "ב", "בשעה"))
_GOES_ON = frozenset(
    ("i", "im", "i'm", "we", "you", "nobody", "they", "he", "she", "the", "its", "it's", "that's", "thats")
)
_INTRODUCES = frozenset(("with", "con", "עם", "על", "what about", "how about", "on", "between", "entre"))
_SHORT = 6
_REVISES = frozenset(("make it", "make", "change", "cambia", "ponlo"))
ENDING = word_set(
    "ending|ends|end|finishing|finishes|digits|acabado|acabada|acaba|termina|terminado|terminada|finaliza|נגמר|נגמרת|שנגמר|שנגמרת|מסתיים|מסתיימת|שמסתיים|שמסתיימת"
)
"""Words before the end of an id."""
_COUNTING_NOTHING = ENDING - {"end"}  # "in the end 2"
_PEOPLE = word_set("we are|we're|there are|we'll be|somos|seremos|אנחנו|נהיה")
_SIGNS_BEFORE = frozenset("+*=$€₪£/.:")
_SIGNS_AFTER = frozenset("+*=$€₪%:/")


def read_numbers(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    if mark.has("label"):
        return _list(cursor, cursor.index)
    if mark.has("marker"):
        index = cursor.index + (2 if cursor.near(1).text in (".", ":") else 1)
        number = cursor.at(index)
        counts = number.has("cardinal", "label") or (
            letter_number(number) and cursor.skip_punctuation(index + 1).has("range", *_CLOSE)
        )
        return _list(cursor, index) if counts else None
    if (
        mark.text == "no"
        and cursor.near(1).has("digit")
        and cursor.skip_punctuation(cursor.index + 2).has("range", *_CLOSE)
    ):
        return _list(cursor, cursor.index + 1)
    if (letter_number(mark) and _letter_selects(cursor)) or (mark.has("cardinal") and _selects(cursor, mark)):
        return _list(cursor, cursor.index)
    return None


def _letter_selects(cursor: Cursor) -> bool:
    """As in "b please", "a to c", "B and D", "pick b"; where letters were shown, as in "b, shes 18 months"."""
    if cursor.lettered and _stands_apart(cursor):
        return True
    if cursor.near(1).has("range", "and") and letter_number(cursor.near(2)):
        return True
    if cursor.near(-1).has("choose") and cursor.skip_punctuation(cursor.index + 1).has("end"):
        return True
    return len(cursor.marks) <= 4 and all(
        letter_number(mark) or mark.has("and", "punctuation") or mark.text in ("please", "pls", "plz")
        for mark in cursor.marks
    )


def _stands_apart(cursor: Cursor) -> bool:
    """Whether a letter is no word of a sentence."""
    before, mark, after = cursor.near(-1), cursor.near(0), cursor.near(1)
    if mark.text in _LETTER_WORDS and not after.has("end", "punctuation"):
        return False
    opens = before.has("end", "choose", "punctuation", "and", "confirm", "revise", "the", "not")
    chosen = before.has("choose") and after.has("preposition") and mark.text not in _LETTER_WORDS  # "book c for me"
    return chosen or (opens and after.has("end", "punctuation", "polite", "and", "confirm", "question"))


_LETTER_WORDS = frozenset("aie")
"""Letters that are words too."""


def _selects(cursor: Cursor, mark: Mark) -> bool:
    """Whether a bare number picks an item: "save 2", "1 and 3", "2"; never "2 onions", "in 2 weeks",
    "at 3".
    """
    if _is_article(cursor, mark) or _measures(cursor, mark) or _reckoned(cursor):
        return False
    if mark.text[0] == "0" or _is_people(cursor, 0):
        return False  # "the 044", which is the end of an id; "somos 4"
    if _COUNTING_NOTHING & {cursor.near(-1).text, cursor.near(-2).text}:
        return False  # "the club ending 40", which is the end of an id too
    place = _end_of_list(cursor)
    closing = cursor.skip_punctuation(place)
    if closing.has("unit") and not closing.has("polite"):
        return False
    spanish = cursor.language == "es" and cursor.near(-1).text in ("la", "el") and mark.has("digit")
    if spanish and not cursor.near(-2).has("preposition") and not closing.has("of"):
        return True
    if mark.has("digit"):
        return _digits_select(cursor, place, closing)
    return closing.has(*_CLOSE) and _begins(cursor) and not _is_time(cursor)


def _is_people(cursor: Cursor, step: int) -> bool:
    """Whether the number that many steps on says how many we are."""
    one, two = cursor.near(step - 1).text, cursor.near(step - 2).text
    return one in _PEOPLE or f"{two} {one}" in _PEOPLE


_CORRECTING = word_set("sorry|soz|wait|mean|meant|actually|nah|nope|perdon|digo|espera|סליחה|בעצם")
_RECKONING = ("plus", "minus", "times", "x", "mas", "menos", "por", "ועוד", "כפול")


def _reckoned(cursor: Cursor) -> bool:
    """As in "2 plus 2"."""
    return any(
        cursor.near(step).text in _RECKONING and cursor.near(2 * step).has("cardinal", "digit") for step in (1, -1)
    )


def _is_article(cursor: Cursor, mark: Mark) -> bool:
    """As "one" is in "the one with cheese", unless it counts: "one", "one and three"."""
    if not mark.has("one", "indefinite") and not (mark.text in ("tree", "uno", "nueve") and cursor.index):
        return False
    joined = cursor.near(-1).has("and") and cursor.near(-2).has("cardinal") and not _is_people(cursor, -2)
    joins = cursor.near(1).has("and", "range") and cursor.near(2).has("cardinal")
    return len(cursor.marks) > 1 and not joined and not joins


def _measures(cursor: Cursor, mark: Mark) -> bool:
    """Whether it is part of an amount, a date, a sum, a label, or too large to count items."""
    before, earlier, after = cursor.near(-1), cursor.near(-2), cursor.near(1)
    return (
        mark.number("cardinal") > _LARGEST
        or (before.end == mark.start and before.text[-1:].isalpha())  # "fridge B4"
        or (cursor.language == "he" and mark.text[0] == "ל")
        or before.has("labelled", "month")
        or after.has("month")
        or (after.has("of") and cursor.near(2).has("month"))
        or (before.text == "-" and earlier.has("digit", "ordinal"))
        or before.text in _SIGNS_BEFORE
        or after.text in _SIGNS_AFTER
    )


def _end_of_list(cursor: Cursor) -> int:
    place = cursor.index + 1
    farthest = cursor.index + _LONGEST_LIST
    while place < farthest and (
        cursor.at(place).has("digit") or (cursor.at(place).text == "a" and cursor.at(place + 1).has("digit"))
    ):
        place += 1
    while (
        place < farthest
        and (cursor.at(place).joins or cursor.at(place).has("range"))
        and cursor.at(place + 1).has("cardinal", "and")
    ):
        place += 2 if cursor.at(place + 1).has("cardinal") else 1
    return place


def _begins(cursor: Cursor) -> bool:
    """Whether what stands before lets a number pick an item: nothing, "save", "and", "yes"."""
    earlier = cursor.skip_punctuation(cursor.index - 1, -1)
    before = cursor.near(-1).text
    return earlier.has("end", "choose", "and", "confirm", "range") or before in ".,;!?(" or before in _CORRECTING


def _is_time(cursor: Cursor) -> bool:
    """As in "book at 3", "for 2"."""
    earlier = cursor.skip_punctuation(cursor.index - 1, -1)
    return earlier.has("preposition") and not earlier.has("choose")


def _digits_select(cursor: Cursor, place: int, closing: Mark) -> bool:
    """Whether "2" or "2, 3" picks items by what stands around it, up to `place` and the `closing` mark."""
    before, listed = cursor.near(-1), place > cursor.index + 1
    if before.text == "את":
        return True
    if cursor.language == "he" and not cursor.index and closing is cursor.near(1) and closing.text[:1].isalpha():
        return not closing.has("unit", "month") and not closing.text.endswith(("ים", "ות"))  # "3 פנוי עדיין"
    several = cursor.near(1).joins or cursor.at(place - 2).joins  # "1 and 4", "1, 4 and 7"
    timed = before.text in _OF_TIME and not (several and before.text in ("for", "para"))
    if listed and not timed and not closing.has("month", "unit") and (several or cursor.near(1).text != ","):
        return closing.has(*_CLOSE) or cursor.near(1).text != "," or cursor.at(place - 2).text != ","
    asked = before.has("question") and len(cursor.marks) <= _SHORT
    goes_on = closing.text in _GOES_ON
    if not (
        closing.has(*_CLOSE) or (asked and not listed) or (goes_on and (cursor.index == 1 or before.has("choose")))
    ):
        return False
    if goes_on and cursor.index == 1 and not before.has("preposition", "the", "indefinite"):
        return True
    if before.has("the") and cursor.language != "es":
        return cursor.near(1).has("end", "and")
    if _begins(cursor):
        return not _is_time(cursor)
    return asked or _is_introduced(cursor, closing) or _stands_alone(cursor)


def _is_introduced(cursor: Cursor, closing: Mark) -> bool:
    """As in "what about 2", "start with 3", "what's in 2"."""
    before = cursor.near(-1).text
    return closing.has("end") and (before in _INTRODUCES or (before == "in" and cursor.near(-2).has("question")))


def _stands_alone(cursor: Cursor) -> bool:
    before = cursor.near(-1)
    return (
        len(cursor.marks) <= _SHORT
        and not before.has("preposition", "unit", "weekday", "revise")
        and before.text not in ("it", "is", "are", "be", "of", "for")
        and not any(mark.text in _REVISES for mark in cursor.marks[: cursor.index])
    )


def _list(cursor: Cursor, index: int) -> Phrase:
    lettered = letter_number(cursor.at(index)) is not None
    numbers: list[int] = []
    last = index
    while (found := _number(cursor, index)) and (lettered or not letter_number(cursor.at(index))):
        value, last = found
        numbers.append(value)
        if cursor.at(last).has("range") or cursor.at(last).text in ("a", "al"):
            behind = last + 1 + cursor.at(last + 1).has("the")  # "de la 1 a la 3"
            end, behind = _number(cursor, behind) or (0, 0)
            if value < end <= value + _LARGEST:
                numbers.extend(range(value + 1, end + 1))
                last = behind
        index = cursor.past_joint(last)
        if index == last and not cursor.at(index).has("label", "digit"):
            break
    return cursor.cut("numbers", cursor.index, last, numbers=tuple(dict.fromkeys(numbers)), lettered=lettered)


def _number(cursor: Cursor, index: int) -> tuple[int, int] | None:
    """The number at a place or behind a marker there, and the place after it."""
    index += cursor.at(index).has("marker")
    mark = cursor.at(index)
    kind = next((kind for kind in ("label", "cardinal", "ordinal") if mark.has(kind)), None)
    value = letter_number(mark) if kind is None else mark.number(kind)
    return None if value is None else (value, index + 1)
