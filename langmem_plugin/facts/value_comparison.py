"""Two values compared in meaning: numbers, times, dates, names, codes, articles, other forms of a word."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from langmem_plugin.languages.language_words import LANGUAGES
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, is_hebrew, plain
from langmem_plugin.lru_cache import cached_if_short

_WORD = re.compile(r"[^\W\d_]++(?:['\"][^\W\d_]++)*+|\d++(?:[.,:]\d++)*+|\S")
_TENS = re.compile(r"(?<=ty)-(?=[a-z])")  # "forty-five"
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?+|\d{1,3}(?:\.\d{3})++")
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})")
_SCALES: Final = {"k": 1000, "m": 1_000_000, "thousand": 1000}
_ARTICLES: Final = frozenset(word for each in LANGUAGES for word in each.idle_in_values)
_SAME: Final = {word: group.split()[0] for each in LANGUAGES for group in each.same_words for word in group.split()}
_PARTS_OF_DAY: Final = tuple(
    (said, meant) for each in LANGUAGES for meant, cell in each.parts_of_day.items() for said in cell.split("|")
)
_NUMBERS: Final = {word: float(said) for each in reversed(LANGUAGES) for word, said in each.numbers.items()}
_COUNTING: Final = _NUMBERS.keys() | {"half", "quarter"}
_MONTHS: Final = {word: number for each in reversed(LANGUAGES) for word, number in each.months.items()}
_A: Final = frozenset(("un", "una"))  # these mean "one" too, but where another number follows
_KEPT: Final = 4_096  # texts; one is read many times while it is weighed against others
_TYPED_LETTERS: Final = 4
_CODE: Final = "="  # marks a word in which every letter counts


_WRITTEN = re.compile(r"[^\s,;!?()\"“”]++")
_AMOUNT = re.compile(
    r"[$€£₪]?+\d++(?:[.,:/-]\d++)*+(?:k|m|st|nd|rd|th|am|pm|a\.m|p\.m|h|hs|kg|g|mg|mcg|ml|cl|km|cm|lb|lbs|oz|%|[$€£₪])?+(?:/[^\W\d_]++)?+",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\d{1,2}\.\d0")
_COUNTED = re.compile(r"[^\W\d_]{3,}-\d++s?+|\d++-[^\W\d_]{3,}(?:-[^\W\d_]++)?+", re.IGNORECASE)
_SIGNS: Final = frozenset("+#@_\\*&^%~=<>|")
_GRADE = re.compile(r"[A-Za-z]{1,2}-")
_NARROWING: Final = frozenset(f"telling {each}" for each in ("only", "without", "almost", "more", "less"))
_SENTENCE_END: Final = frozenset(".!?;:\n")
_TOKEN = re.compile(r"[$€£₪]|[^\s,;!?()\"“”$€£₪]++")


def codes(text: str) -> Iterator[tuple[int, int, str]]:
    """Give each code: where it begins and ends, and how it is written; an e-mail address in small letters, since
    its case is free.
    """
    for found in _WRITTEN.finditer(text):
        word = found.group().rstrip(".:'").removesuffix("'s")
        if is_code(word):
            yield (
                found.start(),
                found.start() + len(word),
                word.casefold() if "@" in word or _COUNTED.fullmatch(word) else word,
            )


def is_code(word: str) -> bool:
    """Tell whether the word is a password, a model number or an address, in which every letter counts."""
    if word.isalpha():
        return False
    if _VERSION.fullmatch(word) or "://" in word or _GRADE.fullmatch(word):
        return True
    if _AMOUNT.fullmatch(word):
        return False
    letters = any(c.isalpha() for c in word)
    if any(map(is_hebrew, word)):
        return False  # Hebrew writes its small words onto numbers: "ב-18:30"
    return letters and (any(c.isdigit() for c in word) or any(c in _SIGNS for c in word))


@cached_if_short(_KEPT, LONGEST_KEPT)
def canonical(value: str) -> frozenset[str]:
    """Return the words of a value that tell it from others, each in one form: "₪5,000", "5k" and "five
    thousand" are one.
    """
    return frozenset(in_one_form(value))


@cached_if_short(_KEPT, LONGEST_KEPT)
def in_one_form(value: str) -> tuple[str, ...]:
    """Return the words in one form, in their order: by it "Dana owes Ron" differs from "Ron owes Dana"."""
    found: list[str] = []
    at = 0
    for start, end, code in codes(value):
        found += [*_words(value[at:start]), f"{_CODE}{code}"]
        at = end
    said = [word for word in _read([*found, *_words(value[at:])]) if word[:1].isalnum() or word[:1] == _CODE]
    kept = [word for word in said if word not in _ARTICLES]
    # Of a text without letters and digits every sign counts.
    return tuple(_stem(_SAME.get(word, word)) for word in (kept or said or plain(value).split()))


def _words(text: str) -> list[str]:
    said = _TENS.sub(" ", plain(text).replace("n't", " not"))
    return [word.strip("'\"") for word in _WORD.findall(said)]


def same(one: str, other: str) -> bool:
    """Tell whether two values are the same, however they are written; an hour without am or pm fits either.

    "Daniel" is not "Daniela", nor "9 to 5" what "5 to 9" is.
    """
    # "3 May" is "May 3", but all else has its order.
    said, heard = ([word for word in in_one_form(each) if not re.fullmatch(r"m\d+", word)] for each in (one, other))
    if said != heard and sorted(said) == sorted(heard):
        return False
    ours, theirs = canonical(one), canonical(other)
    return ours == theirs or _digits(one) == _digits(other) != "" or _clocks_alike(ours, theirs)


def within(one: str, other: str) -> bool:
    """Tell whether all of `one` is said in `other` too: "Yaris" in "red Toyota Yaris"."""
    ours, theirs = canonical(one), canonical(other)
    return bool(ours) and all(any(forms_of_one(word, held) for held in theirs) for word in ours)


def number(words: Sequence[str]) -> tuple[float, int] | None:
    """Return the number that `words` begin with, and how many of them say it."""
    total, current, used, seen = 0.0, 0.0, 0, False
    for place, word in enumerate(words[:8]):
        amount = _amount(word)
        joined = word in ("and", "y", "ו") and any(_amount(each) is not None for each in words[place + 1 : place + 2])
        if amount is None and seen and joined:
            continue
        if amount is None and word[:1] == "ו" and seen:
            amount = _amount(word[1:])
        if amount is None and word in _SCALES and seen:
            amount = _SCALES[word]
        if amount is None:
            break
        if amount >= 1000 and seen and not word[:1].isdigit():
            total, current = total + (current or 1) * amount, 0
        elif amount == 100 and seen and not word[:1].isdigit():
            current = max(current, 1) * 100
        elif (seen and word[:1].isdigit()) or (seen and not _joins(current, amount)):
            break
        else:
            current += amount
        seen, used = True, place + 1
    return (total + current, used) if seen else None


def _joins(held: float, amount: float) -> bool:
    """Tell whether "twenty" and "five" make one number; "two" and "three" are two."""
    return (
        (held >= 20 and held % 10 == 0 and amount < 10)
        or (held >= 100 and held % 100 == 0 and amount < 100)
        or held == 0
    )


def _amount(word: str) -> float | None:
    if word[:1].isdigit():
        digits = word.rstrip("abcdefghijklmnopqrstuvwxyz")
        tail = word[len(digits) :]
        if tail and tail not in _SCALES and tail not in ("st", "nd", "rd", "th"):
            return None
        if _GROUPED.fullmatch(digits):
            whole = digits.replace(",", "") if "," in digits else digits.replace(".", "")
        else:
            whole = digits.replace(",", ".")
        try:
            return float(whole) * _SCALES.get(tail, 1)
        except ValueError:
            return None
    return _NUMBERS.get(word)


def _read(found: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(found):
        if not (found[place][:1].isdigit() or found[place] in _COUNTING or found[place][:1] == "ב"):
            yield _month_or_word(found[place])
            place += 1
            continue
        clock = _clock(found, place)
        if clock is not None:
            said, used = clock
            yield said
            place += used
            continue
        if found[place] in _A and number(found[place + 1 :]) is None:
            yield found[place]
            place += 1
            continue
        counted = number(found[place:])
        if counted is not None and counted[1]:
            yield f"{counted[0]:g}" if counted[0] < 1e6 else str(int(counted[0]))
            place += counted[1]
            if place < len(found) and found[place] in ("st", "nd", "rd", "th"):
                place += 1
            continue
        yield _month_or_word(found[place])
        place += 1


def _month_or_word(word: str) -> str:
    bare = word[1:] if word[:1] in "במ" and len(word) > 2 else word
    month = _MONTHS.get(word) or _MONTHS.get(bare)
    return f"m{month}" if month else word


def _clock(found: Sequence[str], place: int) -> tuple[str, int] | None:
    """Return a time of day as "t18:30" (or "t6:30?" where am or pm was not said), with how many words say it."""
    word = found[place]
    half = word in ("half", "quarter") and found[place + 1 : place + 2] == ["past"]
    rest = list(found[place + 2 :] if half else found[place:])
    if not rest:
        return None
    exact = _CLOCK.fullmatch(rest[0])
    if exact and ":" in rest[0]:
        hour, minute, used = int(exact[1]), int(exact[2]), 1
    else:
        bare = rest[0].removeprefix("ב") if is_hebrew(rest[0]) else rest[0]
        counted = _amount(bare) if bare else None
        if counted is None or not 0 < counted <= 24 or counted != int(counted):
            return None
        hour, minute, used = int(counted), 0, 1
        after = rest[1:2]
        if after and after[0] in ("וחצי", "half"):
            minute, used = 30, 2
        elif rest[1:3] == ["y", "media"]:
            minute, used = 30, 3
        elif not half and not _part_of_day(rest[1:])[1]:
            return None
    if half:
        minute, used = (30 if word == "half" else 15), used + 2
    later, more = _part_of_day(found[place + used :])
    if later == "pm" and hour < 12:
        hour += 12
    sure = bool(later) or hour > 12 or (exact and len(exact[1]) == 2)
    return f"t{hour}:{minute:02}{'' if sure else '?'}", used + more


def _part_of_day(words: Sequence[str]) -> tuple[str, int]:
    for said, meant in _PARTS_OF_DAY:
        parts = said.split()
        if list(words[: len(parts)]) == parts:
            return meant, len(parts)
    return "", 0


def _stem(word: str) -> str:
    if word[:1] == _CODE:
        return word
    if len(word) > _TYPED_LETTERS and word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    if is_hebrew(word) and len(word) > _TYPED_LETTERS and word[0] in "הבל":
        return word[1:]
    return word


def _digits(value: str) -> str:
    kept = "".join(c for c in value if c.isdigit())
    return kept if len(kept) > 6 and not any(c.isalpha() for c in value) else ""


def forms_of_one(one: str, other: str) -> bool:
    """Tell whether two words are one but for their ending; for words that are no names."""
    if one == other:
        return True
    if _CODE in (one[:1], other[:1]):
        return False
    if is_hebrew(one) and (one[1:] == other or other[1:] == one) and max(one, other, key=len)[0] in "הבוש":
        return min(len(one), len(other)) >= _TYPED_LETTERS - 1
    stem = min(len(one), len(other)) - 1
    return (
        stem >= _TYPED_LETTERS
        and one[:stem] == other[:stem]
        and {one[stem:], other[stem:]} <= {"", "s", "e", "a", "o", "as", "os", "es", "y", "ת", "ה", "ים", "ית", "י"}
    )


def _clocks_alike(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Tell whether the two are the same but for an hour that was said without am or pm in one of them."""
    left, right = ours - theirs, theirs - ours
    pairs = [(one, other) for one in left for other in right]
    return len(left) == len(right) == 1 and any(_one_time(*pair) or _one_time(*pair[::-1]) for pair in pairs)


def of_twelve(clock: str) -> tuple[int, str]:
    hour, minute = clock[1:].rstrip("?").split(":")
    return int(hour) % 12, minute


def bare(word: str) -> str:
    """Return the word without the letter that Hebrew writes onto it."""
    return word[1:] if len(word) > 3 and word[0] in "בהולמשכ" else word


@cached_if_short(_KEPT)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, in digits and in words; of a time, a date and a code also each of their parts."""
    found = set[str]()
    for word in (*in_one_form(text), *in_one_form(" ".join(map(bare, words_of(text))))):
        if word[0] != "m" and any(map(str.isdigit, word)):
            found |= {word, *(part.lstrip("0") or word for part in re.findall(r"\d+", word))}
    return frozenset(found)


def is_number(word: str) -> bool:
    """Tell whether the word counts: not "one", which is an article too."""
    return word[:1].isdigit() or not numbers(word) <= {"1"}


def words_of(text: str) -> list[str]:
    """Return the words of a text in plain letters."""
    return re.findall(r"[^\W_]+(?:['\"][^\W_]+)*", flat(text))


@cached_if_short(_KEPT, LONGEST_KEPT)
def flat(text: str) -> str:
    """Return the text in plain letters, with one kind of space and nothing that no screen shows."""
    shown = plain(text)
    if not shown.isascii():
        shown = "".join(letter for letter in shown if unicodedata.category(letter) != "Cf")
    return re.sub(r"[^\S\n]+", " ", shown)


def adds(new: str, old: str) -> bool:
    """Tell whether `new` says a number, day, name or the like that `old` does not: then it does not merely repeat it."""
    if any(last != _told_apart(old).get(word, last) for word, last in _told_apart(new).items()):
        return True
    told, held = marks_of(new), marks_of(old)
    for kind in ("telling currency", "telling period"):  # "800 euros" adds nothing to "800", but to "800 dollars"
        if not any(mark.startswith(kind) for mark in held):
            told = frozenset(mark for mark in told if not mark.startswith(kind))
    is_new = any(mark not in held and not any(_one_time(mark, other) for other in held) for mark in told)
    return is_new or not _NARROWING.isdisjoint(told ^ held) or not names(new) <= _said_in(old)


@cached_if_short(_KEPT, LONGEST_KEPT)
def _told_apart(text: str) -> dict[str, str]:
    """Return what tells texts of the same words apart: the last letter of each word, by its plain form, since the accent
    of "trabajó" tells it from "trabajo"; and the pictures.
    """
    written = re.findall(r"[^\W\d_]++", unicodedata.normalize("NFC", text).casefold())
    letters = {plain(word): word[-1] for word in written if plain(word) != "esta"}
    pictures = "".join(sign for sign in text if unicodedata.category(sign) == "So")
    return letters | {"🖼": pictures} if pictures else letters


@cached_if_short(_KEPT, LONGEST_KEPT)
def _said_in(text: str) -> frozenset[str]:
    """Return every word in plain form, and of "m3" also the letters."""
    return frozenset(re.findall(r"[^\W_]++", plain(text)) + re.findall(r"[^\W\d_]++", plain(text)))


@cached_if_short(_KEPT, LONGEST_KEPT)
def names(text: str) -> frozenset[str]:
    """Return the words written with a capital letter other than at the beginning of a sentence, in plain form.

    Where every word begins with one, as in a title, none of them is told from the others.
    """
    found = re.findall(r"[^\W\d_]++|[^\w\s]|\n|\d++", text)
    return frozenset(
        plain(word)
        for before, word in pairwise(found)
        if word[:1].isupper()
        and before not in _SENTENCE_END
        and plain(word) not in _COMMON
        and plain(word).removesuffix("s") not in _COMMON
    )


@cached_if_short(_KEPT, LONGEST_KEPT)
def marks_of(text: str) -> frozenset[str]:
    """Return the numbers, times, months, codes, weekdays and sides that a text says, each in one form."""
    said = in_one_form(text)
    found = {word for word in said if word[0].isdigit() or word[0] == "=" or _is_clock(word) or word[1:].isdigit()}
    timed = any(map(_is_clock, said))  # "six in the morning" is read as one time
    for language in LANGUAGES:
        for word in _TOKEN.findall(plain(text)):
            for form in _forms(word.strip(".:'-"), language.name):
                told = language.telling.get(form, "")
                if form in language.weekdays:
                    found.add(f"weekday {language.weekdays[form]}")
                if told and not form[0].isdigit() and not (timed and told in ("morning", "night", "half")):
                    found.add(f"telling {told}")
    return frozenset(found)


def _forms(word: str, language: str) -> set[str]:
    """Return a word, also without the ending or, in Hebrew, the letters that are written onto it."""
    if language != "he":
        return {word, word.removesuffix("s")} if len(word) > 4 else {word}
    found = {word}
    for _ in range(2):
        found |= {each[1:] for each in found if each[:1] in "ובלמהש" and len(each) > 3}
    return found


def _is_clock(word: str) -> bool:
    return word[:1] == "t" and ":" in word


def _one_time(told: str, held: str) -> bool:
    """Tell whether a time says no more than another: "6:30" is "6:30 am" or what "18:30" says again in short."""
    if not (_is_clock(told) and _is_clock(held)) or of_twelve(told) != of_twelve(held):
        return False
    return told.endswith("?") or (
        held.endswith("?") and told[1:].split(":", maxsplit=1)[0] == held[1:].split(":", maxsplit=1)[0]
    )


_COMMON: Final = frozenset(
    word
    for language in LANGUAGES
    for word in language.weekdays.keys()
    | language.months.keys()
    | language.selves
    | language.possessives
    | language.others
    | frozenset({"ok", "tv", "wifi", "pin"})
)
