"""The words of an utterance, and the role of each in pointing at something."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from langmem_plugin.languages.text_normalization import is_hebrew
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.references.tokens import Token, stem, tokens
from langmem_plugin.references.words import LANGUAGES, Language

_LINE = re.compile(r"(?m)^(?:[^\S\n]*\d{1,2}[.)]\s)?([^\n]+)")  # without the number, if it is of the person's own list
_SPANISH_MARKS = frozenset("áéíóúñ¿¡")
_SENTENCE_END = frozenset(".!?…;")
_DASHES = frozenset("-–")
_LETTERS = "abcdefghijkl", "אבגדהוזחטי"
_SHORTENED = frozenset(("dr", "mr", "mrs", "ms", "st", "vs", "sr", "sra"))
_KEPT_BYTES = 4_000_000
_TEXT_BYTES, _LETTER_BYTES = 500, 100  # bytes kept for an utterance, and for each letter
_MOST = 200  # a greater number is no place of a list


@dataclass(frozen=True)
class Word:
    """One word, number or mark, with the kinds that the language's table gives it (words/…toml: [kinds]).

    `number` is the place that a digit, a number word, an ordinal or a letter says; `prefix` what was written onto it.
    """

    text: str
    stem: str
    kinds: frozenset[str]
    start: int
    end: int
    number: int = 0
    prefix: str = ""
    verb: bool = False
    """True if its form alone shows that it is a verb: a Spanish infinitive."""
    capital: bool = False
    """True if it is written with a capital and begins no sentence."""

    def __contains__(self, kind: str) -> bool:
        return kind in self.kinds

    def any_of(self, *kinds: str) -> bool:
        return not self.kinds.isdisjoint(kinds)


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence of an utterance: its words and their language."""

    words: list[Word]
    language: Language
    follows: bool = False
    """True if a sentence before writes a name, for which "that one" may stand."""

    def at(self, place: int) -> Word:
        """Return the word at a place, or one of the kind "end" beyond both ends."""
        return self.words[place] if 0 <= place < len(self.words) else _END

    def is_order(self, place: int) -> bool:
        """Tell whether an English word that is in no table can only be a verb here: "reorder it", "can you renew that"."""
        word = self.at(place)
        is_known = (
            self.language.name != "en" or word.kinds or not word.text.isalpha() or word.text.endswith(("ed", "ing"))
        )
        if is_known or any("," in each.text for each in self.words):  # "leave that, show me …"
            return False
        return all(each.any_of("polite", "break", "copula", "person", "question") for each in self.words[:place])

    def clause(self, place: int) -> tuple[int, int]:
        """Return the first place and the end of the clause in which a word stands."""
        first, last = place, place
        while first > 0 and "break" not in self.words[first - 1]:
            first -= 1
        while last < len(self.words) and "break" not in self.words[last]:
            last += 1
        return first, last


_read: LruCache[str, Sequence[Sentence]] = LruCache(_KEPT_BYTES)
_END = Word("", "", frozenset(("end", "break")), -1, -1)


@cache
def _lexicon(language: Language) -> tuple[Mapping[tuple[str, ...], frozenset[str]], Mapping[str, int]]:
    """Return the kinds of every phrase of a language, and the length in words of the longest by its first word."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    tables: dict[str, Iterable[str]] = {
        **language.kinds,
        "ordinal": language.ordinals,
        "cardinal": language.cardinals,
        "weekday": language.weekdays,
        "month": language.months,
    }
    for name, scale in language.scales.items():
        tables |= {f"least {name}": scale.least, f"most {name}": scale.most}
    for kind, forms in tables.items():
        for form in forms:
            kinds.setdefault(tuple(token.text for token in tokens(form)), set()).add(kind)
    longest: dict[str, int] = {}
    for words in kinds:
        longest[words[0]] = max(len(words), longest.get(words[0], 0))
    return {words: frozenset(found) for words, found in kinds.items()}, longest


def language_of(text: str) -> Language:
    """Return the language of a text: by script, else by its function words; English when in doubt."""
    english, hebrew, spanish = LANGUAGES
    if any(map(is_hebrew, text)):
        return hebrew
    said = [token.text for token in tokens(text) if token.word]
    accented = not _SPANISH_MARKS.isdisjoint(text.lower())
    return spanish if _known(said, spanish) + 2 * accented > _known(said, english) else english


def _known(said: list[str], language: Language) -> int:
    forms = _lexicon(language)[0]
    return sum((word in language.stop) + ((word,) in forms) for word in said)


def sentences(text: str) -> Sequence[Sentence]:
    """Return the sentences of an utterance. An idiom in them ("first of all") points at nothing, and is left blank.

    Those read lately are kept: an utterance is read when it is said, and again as a part of what was said before.
    """
    found = _read.get(text)
    if found is None:
        found = _sentences(text)
        _read.put(text, found, _TEXT_BYTES + _LETTER_BYTES * len(text))
    return found


def forget_read() -> None:
    """Forget every utterance read so far."""
    _read.clear()


def _sentences(text: str) -> Sequence[Sentence]:
    language = language_of(text)
    found: list[Sentence] = []
    for line in _LINE.finditer(text):
        words: list[Word] = []
        for word in _words(tokens(line[1]), language, line.start(1)):
            if word.text and word.text in _SENTENCE_END and not _abbreviates(words):
                own = (
                    len(words) == 1
                    and "digit" in words[0]
                    and word.text == "."
                    and text[word.end : word.end + 2].strip()
                )
                if words and not own:  # "2. I do not …" is a list of the person's own
                    found.append(Sentence(words, language, _writes_a_name(found)))
                words = []
            else:
                # "the cheaper one - save it" has two clauses; "2 - 4" is a range
                ranged = word.any_of("digit", "cardinal", "ordinal", "letter", "the", "last")
                if words and words[-1].text in _DASHES and text[words[-1].end].isspace() and not ranged:
                    words[-1] = replace(words[-1], kinds=words[-1].kinds | {"break"})
                capital = bool(words) and text[word.start].isupper()
                words.append(replace(word, capital=capital) if capital else word)
        if words:
            found.append(Sentence(words, language, _writes_a_name(found)))
    return found


def _writes_a_name(before: Sequence[Sentence]) -> bool:
    return any(word.capital and "person" not in word for sentence in before for word in sentence.words)


def _carries_its_object(word: str, language: Language) -> bool:
    """Tell whether a Spanish verb has its object joined to it: "guardala", "enviamelo"."""
    if not word.endswith(("lo", "la")):
        return False
    verb = word[:-2]
    kinds = _lexicon(language)[0]
    return any(
        "object" in kinds.get((form,), ()) for form in (verb, verb[:-2] if verb.endswith(("me", "te", "se")) else "")
    )


def _abbreviates(words: Sequence[Word]) -> bool:
    """Tell whether a full stop behind these words is part of an abbreviation: "Dr. Cohen"."""
    return bool(words) and words[-1].text in _SHORTENED


def _words(said: list[Token], language: Language, offset: int) -> list[Word]:
    forms, longest = _lexicon(language)
    found: list[Word] = []
    place = 0
    while place < len(said):
        token = said[place]
        size, kinds, prefix = 1, frozenset[str](), ""
        for cut in range(3 if language.prefixes and len(token.text) > 2 else 1):
            if cut and token.text[cut - 1] not in language.prefixes:
                break
            bare = token.text[cut:]
            if cut and len(bare) < 2:
                break
            for count in range(min(longest.get(bare, 0), len(said) - place), 0, -1):
                phrase = (bare, *(each.text for each in said[place + 1 : place + count]))
                if phrase in forms:
                    size, kinds, prefix = count, forms[phrase], token.text[:cut]
                    break
            if kinds:
                break
        span = said[place : place + size]
        found.append(_word(span, kinds, prefix, language, offset))
        place += size
    return found


def _word(span: list[Token], kinds: frozenset[str], prefix: str, language: Language, offset: int) -> Word:
    text = " ".join(token.text for token in span)
    bare = text[len(prefix) :]
    number = 0
    digits = bare.lstrip("#").split("st")[0].split("nd")[0].split("rd")[0].split("th")[0].rstrip("ºª°)")
    if digits.isdecimal() and len(digits) < 4 and digits[0] != "0" and 0 < int(digits) <= _MOST:
        number = int(digits)
        plain = bare.lstrip("#").isdecimal()
        kinds |= {"digit", "hashed"} if bare.startswith("#") else {"digit"} if plain else {"ordinal", "dated"}
    elif digits.isdecimal():
        kinds |= {"amount"}
    elif "ordinal" in kinds:
        number = language.ordinals[bare]
    elif "cardinal" in kinds:
        number = language.cardinals[bare]
    elif len(bare) == 1 and (place := max(letters.find(bare) for letters in _LETTERS)) >= 0:
        number, kinds = place + 1, kinds | {"letter"}
    if not kinds and language.name == "es" and _carries_its_object(bare, language):
        kinds |= {"object", "carries"}
    if "idiom" in kinds:
        kinds, number = kinds & {"idiom", "older", "change"}, 0
    if text in {",", ":", "(", ")"} or kinds & {"and"}:
        kinds |= {"break"}
    verb = language.name == "es" and not kinds and len(bare) > 4 and bare.endswith(("ar", "er", "ir"))
    return Word(bare, stem(bare), kinds, offset + span[0].start, offset + span[-1].end, number, prefix, verb)
