"""Words as they are searched: split, stop words dropped, stemmed; the same for a query and a memory."""

import functools
import json
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files

import Stemmer  # type: ignore[import-not-found]  # an extension module without stubs

from langmem_plugin.languages.text_normalization import LONGEST_KEPT
from langmem_plugin.lru_cache import cached_if_short

_LISTS: dict[str, str] = json.loads(files(__package__).joinpath("stop_words.json").read_text("utf-8"))
SMALL_TALK = re.compile(_LISTS.pop("small talk"))
"""The words by which people greet, thank, agree or laugh, in small letters."""
STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""Words too common to search by: pronouns, articles, auxiliaries, question words, greetings."""
_WORD = re.compile(r"[^\W_]+(?:(?<=[א-ת])['\"׳״](?=[א-ת])[^\W_]+)*")  # Hebrew writes marks inside words
_DIGIT_GROUPS = re.compile(r"(?<=\d)[,'’](?=\d{3}\b)")
_HEBREW_POINTS = re.compile(r"[\u0591-\u05c7]")
HEBREW_PREFIXES = frozenset("ובהלכמש")  # and, in, the, to, as, from, that: written as one with the word
_HEBREW_ENDINGS = ("ימ", "ות")  # endings of plurals, written without final letters
HEBREW_FINALS = str.maketrans("ךםןףץ", "כמנפצ")
_SHORTEST_HEBREW = 3
_LONGEST_WORD = 100  # letters; what is longer is no word of a language, and is kept by its beginning

_LATIN = tuple(language for language in STOP_WORDS if language not in ("russian", "hebrew"))
_STOPS_IN: dict[str, list[str]] = {}  # stop word -> the languages in Latin letters that have it
for _language in _LATIN:
    for _word in STOP_WORDS[_language]:
        _STOPS_IN.setdefault(_word, []).append(_language)
_FIRST_NOT_LATIN = "\u0370"
_SCRIPTS = (  # first and last letter of the script, and how its words are stemmed
    ("\u0400", "\u052f", "russian"),
    ("\u0590", "\u05ff", "hebrew"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0370", "\u03ff", "greek"),
)
_of_thread = threading.local()  # a stemmer keeps state between words


def terms(text: str) -> list[str]:
    """Return the searchable words of `text` in order, repeated as often as they occur; stop words are left out."""
    return [_stem(word, language) for word, language in _spoken(text) if word not in STOP_WORDS.get(language, ())]


def asked(text: str) -> list[list[str]]:
    """Return, for each word of a question, its forms in the language it seems to be in and in the others.

    A text of a few words may be taken for another language than the question about it.
    """
    return [
        list(dict.fromkeys([_stem(word, language), *(_stem(word, other) for other in _LATIN if language in _LATIN)]))
        for word, language in _spoken(text)
        if word not in STOP_WORDS.get(language, ())
    ]


def telling(text: str) -> bool:
    """Tell whether a word of the text may name a subject: it is no number, greeting, thanks, laugh or stop word."""
    return any(
        not word.isnumeric() and not SMALL_TALK.fullmatch(word) and word not in STOP_WORDS.get(language, ())
        for word, language in _spoken(text)
    )


def stemmer(like: str) -> Callable[[str], list[str]]:
    """Return what gives every word of a text in order, stop words too, stemmed in the language of `like`."""
    latin = _latin_language(words_of(like))
    return lambda text: [_stem(word, _script(word) or latin) for word in words_of(text)]


def language_of(text: str) -> str:
    """Return the language most words of `text` seem to be in; English where nothing tells."""
    spoken = Counter(language for _, language in _spoken(text))
    return max(spoken, key=spoken.__getitem__) if spoken else "english"


@cached_if_short(16, LONGEST_KEPT)  # one question asks for it several times
def _spoken(text: str) -> Sequence[tuple[str, str]]:
    """Return each word with its language; Latin letters do not tell, so all words in them share one."""
    words = words_of(text)
    latin = _latin_language(words)
    return [(word, _script(word) or latin) for word in words]


def words_of(text: str) -> list[str]:
    """Return every word as it is spelled, in order, in small letters."""
    if text.isascii() and text.isalnum():
        return [text.casefold()]
    text = text.casefold() if text.isascii() else _HEBREW_POINTS.sub("", unicodedata.normalize("NFKC", text).casefold())
    return _WORD.findall(_DIGIT_GROUPS.sub("", text))


def stemmed(words: str, language: str) -> frozenset[str]:
    """Return the stems of words of one language, apart by spaces."""
    return frozenset(_stem(word, language) for word in words.split())


def _latin_language(words: list[str]) -> str:
    """Return the language whose stop words occur most; English when that says nothing."""
    hits = [language for word in words for language in _STOPS_IN.get(word, ())]
    return max(_LATIN, key=hits.count) if hits else "english"


def _script(word: str) -> str | None:
    if word[0] < _FIRST_NOT_LATIN:
        return None
    return next((language for first, last, language in _SCRIPTS if first <= word[0] <= last), None)


def _stem(word: str, language: str) -> str:
    return _stem_of_word(word, language) if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD]


@functools.lru_cache(maxsize=65_536)
def _stem_of_word(word: str, language: str) -> str:
    if language == "hebrew":
        return _hebrew_stem(word)
    stemmers = vars(_of_thread)
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return without_accents(stemmers[language].stemWord(word))


def without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _hebrew_stem(word: str) -> str:
    """Return one stem for a word with and without prefixes, as long as three letters remain."""
    word = "".join(letter for letter in word if letter.isalnum()).translate(HEBREW_FINALS)
    for ending in _HEBREW_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_HEBREW:
            word = word[: -len(ending)]
            break
    while len(word) > _SHORTEST_HEBREW and word[0] in HEBREW_PREFIXES:
        word = word[1:]
    return word
