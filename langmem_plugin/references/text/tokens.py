"""Text as tokens and stemmed words, in one spelling: lower case, no accents, one apostrophe."""

import re
import unicodedata
from dataclasses import dataclass

from langmem_plugin.lru import cached_if_short
from langmem_plugin.references.words import LANGUAGES

_TOKEN = re.compile(
    r"""[#№]\s?\d+(?!\w)                       # 3 as in "#3"
      | \d\uFE0F?\u20E3 | \U0001F51F            # keycap digits, ten
      | \d{4}-\d\d?-\d\d?                       # ISO date
      | \d\d?[/.]\d\d?[/.]\d{2,4}               # 9/15/2023
      | \d\d?:\d\d(?::\d\d)?                    # clock
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
    """Lower case, one apostrophe, no accents or vowel points; two spellings of a word compare equal."""
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
    """In order, in normal form. Keycap digits read as `#n`."""
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
    """A light English and Spanish plural and possessive cut: enough to compare, not to print."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3:
        word = _PLURAL.sub("", word)
    return word


def words_of(text: str) -> list[str]:
    """Stemmed words in order, numbers included, function words too."""
    return [stem(word) for word in WORD.findall(normal(text))]


def is_stop(word: str) -> bool:
    """Function words of every language, which name nothing."""
    return word in _STOP


@cached_if_short(4096)
def key_words(key: str) -> tuple[str, ...]:
    """`restaurantName`, `restaurant_name` and `restaurant-name` all read restaurant, name."""
    return tuple(words_of(spaced(key)))


def spaced(key: str) -> str:
    """With spaces between its words."""
    return _CAMEL.sub(" ", key).replace("_", " ").replace("-", " ")
