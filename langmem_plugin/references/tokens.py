"""The text as tokens and stemmed words in one spelling, and the dates, times and numbers in it."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from langmem_plugin.lru_cache import cached_if_short
from langmem_plugin.references.words import LANGUAGES

_TOKEN = re.compile(
    r"""[#№]\s?\d+(?!\w)                       # 3 as in "#3"
      | \d\uFE0F?\u20E3 | \U0001F51F            # keycap digits, ten
      | \d{4}-\d\d?-\d\d?                       # ISO date
      | \d\d?[/.]\d\d?[/.]\d{2,4}               # 9/15/2023
      | \d\d?:\d\d(?::\d\d)?                    # clock
      | (?-i:[A-Z]{2,4}\d{2,}+[A-Z\d]*+)(?![^\W_])  # a code: HAT052
      | \d+(?:\.\d+)?(?!(?:st|nd|rd|th|er|[rdtnvm][oa])\b)[^\W\d_]{1,4}(?![^\W_])
      | \d+(?:,\d{3})*(?:\.\d+)?(?:st|nd|rd|th|1?[ºª°]|er|[rdtnvm][oa])?(?![^\W\d_])
      | [$€£₪%&]
      | [^\W\d_]+(?:['’׳״"&-][^\W\d_]+)*\.?(?:(?<=\bno\.)|(?<!\.))['׳]?
      | \d+ | [^\W_] | [-–,;:?!.()/…+*=]
    """,
    re.VERBOSE | re.IGNORECASE,
)

_MARKS = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u200e\u200f\u202a-\u202e\ufe0f]")
_PLURAL = re.compile(r"(?:(?<=ss)es|(?<=sh)es|(?<=ch)es|(?<=x)es|(?<=[^s'us])s)$")
WORD = re.compile(r"[^\W\d_]*+\d[^\W_]*+|[^\W\d_]+(?:['’׳״\"][^\W\d_]+)*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STOP = frozenset().union(*(language.stop for language in LANGUAGES))


@cached_if_short(32768)
def normal(text: str) -> str:
    """Return a text in lower case, with one apostrophe, no accents or vowel points: spellings then compare equal."""
    text = text.translate(_QUOTES)
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text.lower())))


_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "׳": "'", "״": '"'})


@dataclass(frozen=True)
class Token:
    """One word, number or mark of a text; `start` and `end` are offsets into that text."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> bool:
        return self.text[:1].isalpha()


def tokens(text: str) -> list[Token]:
    """Return the tokens in order, in normal form. Keycap digits read as `#n`."""
    found = []
    for match in _TOKEN.finditer(text):
        raw = match.group()
        if "\u20e3" in raw:
            value = "#" + raw[0]
        elif raw == "\U0001f51f":
            value = "#10"
        else:
            value = normal(raw).replace("№", "#").replace("# ", "#")
        found.append(Token(value, match.start(), match.end()))
    return found


@cached_if_short(32768)
def stem(word: str) -> str:
    """Cut English and Spanish plural and possessive endings lightly: enough to compare, not to print."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3:
        word = _PLURAL.sub("", word)
    return word


def words_of(text: str) -> list[str]:
    """Return the stemmed words in order, numbers included, function words too."""
    return [stem(word) for word in WORD.findall(normal(text))]


def is_stop(word: str) -> bool:
    """Tell whether a word is a function word of any language, which names nothing."""
    return word in _STOP


@cached_if_short(4096)
def key_words(key: str) -> tuple[str, ...]:
    """Return the words of a key: restaurant, name for `restaurantName`, `restaurant_name` and `restaurant-name`."""
    return tuple(words_of(spaced(key)))


def spaced(key: str) -> str:
    """Return a key with spaces between its words."""
    return _CAMEL.sub(" ", key).replace("_", " ").replace("-", " ")


_PREFIXES = "".join(language.prefixes for language in LANGUAGES)
_ENGLISH_STOP = LANGUAGES[0].stop
_CONCEPTS = {
    form: tuple(dict.fromkeys(stem(word) for word in english))
    for language in LANGUAGES
    for form, english in language.concepts.items()
}

_WEEKDAYS = {form: number for language in LANGUAGES for form, number in language.weekdays.items()}
_WEEKDAY_PHRASES = {form: number for form, number in _WEEKDAYS.items() if " " in form}
_MONTHS = {form: number for language in LANGUAGES for form, number in language.months.items()}
_HEBREW = re.compile(r"[\u05d0-\u05ea]")
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?\s?(am|pm|a\.m\.?|p\.m\.?)(?![a-z])|(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?!\d)",
    re.IGNORECASE,
)

_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{2,4}))?(?![\d/])")
_DAY_MONTH = re.compile(
    r"(?<![\w])(?:(\d{1,2})(?:st|nd|rd|th)?(?: of| de|) +(?:ב|ל)?({months})\b|({months})\.? +(?:the +)?(\d{1,2})"
    r"(?:st|nd|rd|th)?\b)".replace(
        "{months}", "|".join(sorted((re.escape(month) for month in _MONTHS), key=len, reverse=True))
    )
)

_HALF = re.compile(r"half past (\d{1,2})")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")


def atoms(text: str) -> frozenset[str]:
    """Return everything in a text that can be compared with another text: words and typed values."""
    return word_atoms(text) | typed_atoms(text)


@cached_if_short(4096)
def word_atoms(text: str) -> frozenset[str]:
    """Return the stemmed content words; a Hebrew word with and without prefix letters, and its concept in English."""
    found: set[str] = set()
    hebrew = bool(_HEBREW.search(text))
    for word in WORD.findall(normal(text)):
        if word in _STOP and (hebrew or word in _ENGLISH_STOP or word not in _CONCEPTS):
            continue
        found.update((stem(word), *_CONCEPTS.get(word, ())))
        for length in (1, 2) if hebrew else ():
            bare = word[length:]
            if len(bare) >= 2 and all(letter in _PREFIXES for letter in word[:length]):
                found.update((bare, *_CONCEPTS.get(bare, ())))
    return frozenset(found)


def typed_atoms(text: str) -> set[str]:
    """Return clock times (`t:minutes`), dates (`d:month-day`), weekdays (`w:0` is Monday) and numbers (`n:12`) said in
    a text.
    """
    low = normal(text)
    found = _weekday_atoms(low)
    if not _DIGIT.search(low):
        return found
    for month_day in _ISO.findall(low):
        found |= _date_atoms(*map(int, month_day))
    if found:
        low = _ISO.sub(" ", low)
    if ":" in low or "m" in low:
        for hour, minute, half, hour24, minute24 in _CLOCK.findall(low):
            clock = int(hour24 or hour)
            if half:
                clock = clock % 12 + (12 if half.startswith("p") else 0)
            if clock < 25:
                found.add(f"t:{clock * 60 + int(minute24 or minute or 0)}")
        for hour in _HALF.findall(low):
            found.update((f"t:{int(hour) * 60 + 30}", f"t:{(int(hour) + 12) * 60 + 30}"))
        low = _CLOCK.sub(" ", low)
    if "/" in low:
        for first, second, year in _SLASHED.findall(low):
            month, day = (first, second) if int(first) <= 12 else (second, first)
            found |= _date_atoms(int(year) if len(year) == 4 else 0, int(month), int(day))
        low = _SLASHED.sub(" ", low)
    for day, month, month_first, day_last in _DAY_MONTH.findall(low) if len(low) > 4 else ():
        found |= _date_atoms(0, _MONTHS[month or month_first], int(day or day_last))
    for figure in _NUMBER.findall(low):
        number = float(figure.replace(",", ""))
        found.add(f"n:{int(number)}" if number.is_integer() else f"n:{number:g}")
    return found


def _weekday_atoms(low: str) -> set[str]:
    numbers = {number for form, number in _WEEKDAY_PHRASES.items() if form in low}
    for word in _LETTERS.findall(low):
        forms = (word, word.removesuffix("s"), word[1:] if word[0] in _PREFIXES else "")
        number = next((_WEEKDAYS[form] for form in forms if form in _WEEKDAYS), None)
        if number is not None:
            numbers.add(number)
    return {f"w:{number}" for number in numbers}


def _date_atoms(year: int, month: int, day: int) -> set[str]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return set()
    try:
        weekday = {f"w:{date(year, month, day).weekday()}"} if year else set()
    except ValueError:
        return set()
    return {f"d:{month}-{day}", *weekday}
