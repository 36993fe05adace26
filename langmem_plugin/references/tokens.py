"""The text as tokens and stemmed words in one spelling."""

import re
import unicodedata
from dataclasses import dataclass

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
_HEBREW = re.compile(r"[\u05d0-\u05ea]")


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


PREFIXES = "".join(language.prefixes for language in LANGUAGES)
_ENGLISH_STOP = LANGUAGES[0].stop
_CONCEPTS = {
    form: tuple(dict.fromkeys(stem(word) for word in english))
    for language in LANGUAGES
    for form, english in language.concepts.items()
}


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
            if len(bare) >= 2 and all(letter in PREFIXES for letter in word[:length]):
                found.update((bare, *_CONCEPTS.get(bare, ())))
    return frozenset(found)
