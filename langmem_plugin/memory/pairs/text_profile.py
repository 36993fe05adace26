"""The parts by which two texts are compared: words, marks, names, the people they are about, cues."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from langmem_plugin.facts.marks import names
from langmem_plugin.facts.values import in_one_form
from langmem_plugin.languages.language import LANGUAGES, words
from langmem_plugin.languages.language import named as phrases_of
from langmem_plugin.languages.plain_text import LONGEST_KEPT, plain
from langmem_plugin.lru import cached_if_short
from langmem_plugin.memory.find.tokenizer import STOP_WORDS, language_of, stemmer
from langmem_plugin.memory.pairs.cue_words import CUES, HAPPENED, LIGHT, SELVES

Kind = Literal["number", "time", "day", "period", "name", "role", "word", "cue"]

_KEPT: Final = 8_192
_LONGEST: Final = 600  # letters; what is longer is no fact of one sentence
_WRITTEN_ON = re.compile(r"'(?:s|m|ve|re|d|ll|t)\b")
_WORD = re.compile(r"[^\W_]++(?:['\"][^\W_]++)*+")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")  # "50mg"
_IN_GROUPS = re.compile(r"(?<![\d.,:/])\d{2,5}(?:[ -]\d{2,8}){1,4}(?![\d.,:/])")  # "07700 900321"
_DATE = re.compile(r"(?<!\d)(\d{1,2})[./](\d{1,2})(?:[./](?:20)?(\d{2}))?(?!\d|[.,:]\d)")
_YEAR = re.compile(r"(?<!\d)20(\d{2})(?!\d)")
_LAST_DAY, _MONTHS = 31, 12
_MONTH_NAMES: Final = {number: name for name, number in LANGUAGES[0].months.items()}
_ROLES: Final = {phrase: role for language in LANGUAGES for phrase, role in language.people.items()}
_LONGEST_ROLE: Final = max(len(phrase) for phrase in _ROLES)
_ROLES_BEGIN: Final = frozenset(phrase[0] for phrase in _ROLES)
_WEEKDAYS: Final = {
    written: f"w{number}"
    for changed in (lambda form: f"{form}s", lambda form: form.removesuffix("s"), str)  # the form itself goes before
    for language in LANGUAGES
    for form, number in language.weekdays.items()
    if len(form) > 2  # noqa: PLR2004 - no initials
    for written in [changed(form)]
}
_EMPTY: Final = frozenset(
    word for language in LANGUAGES for word in language.empty | language.fillers | language.articles
) | frozenset(word for language in ("english", "spanish", "hebrew") for word in STOP_WORDS[language])
_MONEY: Final = frozenset(word for language in LANGUAGES for word in language.currencies)
_PERIODS: Final = {word: meant for language in LANGUAGES for word, meant in language.periods_said.items()}
_UNITS: Final = phrases_of(
    {
        "kg": 'kg|kilo|kilos|ק"ג|קילו',
        "g": "g|gram|grams|gramos|גרם",
        "mg": 'mg|מ"ג',
        "mcg": "mcg",
        "ml": 'ml|מ"ל',
        "litre": "litre|litres|liter|liters|litro|litros|ליטר",
        "lb": "lb|lbs",
        "oz": "oz",
        "stone": "stone",
        "km": 'km|ק"מ',
        "cm": 'cm|ס"מ',
        "mm": "mm",
        "mile": "mile|miles",
    }
)
_HEBREW_NUMBERS: Final = {w: n for each in LANGUAGES if each.name == "he" for w, n in each.numbers.items()}
_CUES_BY_FIRST: Final = defaultdict[str, list[tuple[str, tuple[str, ...]]]](list)
for _name, _cell in CUES.items():
    for _phrase in _cell:
        _CUES_BY_FIRST[_phrase[0]].append((_name, _phrase))
_ALSO_CONTENT: Final = frozenset(("and", "when", "past"))  # cues whose words say something of their own too
_PLACES_TOO: Final = words("left|back|over|second|cut|even|more")
_BEFORE_THINGS: Final = words("the|my|his|her|our|their|your|a|an|and|or")
_HEBREW_ON: Final = frozenset("ושהבלכמ")  # letters written onto the next word
_HAPPENED_ENDINGS: Final = {
    "hebrew": ("תי", "נו"),
    "spanish": ("ado", "ido", "amos", "aron", "ieron"),
    "english": ("ed",),
}
_SHORTEST_HAPPENED: Final = {"hebrew": 4, "spanish": 5, "english": 5}
_SELF: Final = "self"
_SPOKEN: Final = frozenset(("word", "name", "cue"))
_MARK, _DAY, _PLAIN, _PERIOD, _LIGHT, _CUE = 1.5, 1.2, 1.0, 0.5, 0.4, 0.15


class Word(NamedTuple):
    """`form` is compared; `weight` is how much it tells."""

    form: str
    kind: Kind
    weight: float
    written: str = ""


@dataclass(frozen=True)
class Profile:
    """`spoken` are the words and names, and the stems of all words as they are written, by `initial`; `begins` is the
    first word where it has a capital letter; `happened` counts the words that tell of something done.
    """

    words: tuple[Word, ...]
    forms: frozenset[str]
    spoken: dict[str, frozenset[str]]
    named: frozenset[str]
    capitals: frozenset[str]
    cues: frozenset[str]
    roles: frozenset[str]
    times: tuple[Word, ...]
    begins: str
    happened: int
    in_order: tuple[str, ...]


@cached_if_short(_KEPT, LONGEST_KEPT)
def profile(whole: str) -> Profile:
    text = whole[:_LONGEST]
    said, language, named = plain(text), language_of(text), names(text)
    bare = _WRITTEN_ON.sub("", said.replace("n't", " not"))
    bare = _YEAR.sub(r" \1 ", _DATE.sub(_in_words, _IN_GROUPS.sub(_joined, bare)))
    tokens = _WORD.findall(bare)
    cues, cue_words = _cues(_WORD.findall(said), tokens)
    roles, role_words = _roles(tokens)
    counted = [form for form in in_one_form(_GLUED.sub(" ", bare)) if form != "1" or "1" in said]
    stem = _stems({*tokens, *counted}, text)
    told = (_word(form, stem[form], named, cue_words, role_words) for form in counted)
    found = [word for word in told if word is not None]
    found += [Word(f"r {role}", "role", _MARK) for role in sorted(roles)]
    kept = tuple({word.form: word for word in found}.values())
    in_order = tuple(_SELF if word in SELVES else stem[word] for word in tokens)
    return Profile(
        words=kept,
        forms=frozenset(word.form for word in kept),
        spoken=_by_initial(
            {word.form for word in kept if word.kind in _SPOKEN} | {stem[each] for each in tokens if each[0].isalpha()}
        ),
        named=frozenset(word.form for word in kept if word.kind == "name"),
        capitals=frozenset(plain(word) for word in _WORD.findall(whole) if word[0].isupper()),
        cues=cues,
        roles=roles,
        begins=tokens[0] if tokens and text[:1].isupper() else "",
        happened=_happened(tokens, language),
        times=tuple(word for word in kept if word.kind == "time"),
        in_order=in_order,
    )


def _by_initial(words: Iterable[str]) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        found[initial(word)].add(word)
    return {letter: frozenset(forms) for letter, forms in found.items()}


def initial(word: str) -> str:
    """Words of other initials are no forms of one word; all Hebrew ones share one: letters are written onto them."""
    return "\u05d0" if "\u05d0" <= word[:1] <= "\u05ea" else word[:1]


def bare_forms(word: str) -> list[str]:
    """A word, and in Hebrew the same without the letters that are written onto it."""
    found = [word]
    if "\u05d0" <= word[:1] <= "\u05ea":
        while len(word) > 2 and word[0] in _HEBREW_ON:  # noqa: PLR2004 - letters of the shortest word
            word = word[1:]
            found.append(word)
    return found


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"\D", "", found.group())


def _in_words(found: re.Match[str]) -> str:
    """A date in numbers with the name of its month; what is no date stays."""
    day, month, year = int(found[1]), int(found[2]), found[3]
    if not (0 < day <= _LAST_DAY and 0 < month <= _MONTHS) or (year is None and "." in found.group()):
        return found.group()
    return f" {day} {_MONTH_NAMES[month]} {year or ''} "


def _stems(words: Iterable[str], text: str) -> dict[str, str]:
    stems_of = stemmer(text)
    found = {word: stems_of(word) if word[:1].isalpha() else [] for word in words}
    return {word: stems[0] if len(stems) == 1 else word for word, stems in found.items()}


def _word(  # noqa: C901, PLR0911 - one case for each kind
    form: str, stem: str, named: frozenset[str], cue_words: frozenset[str], role_words: frozenset[str]
) -> Word | None:
    """The word of a form; None for a form that tells nothing."""
    forms = bare_forms(form)
    counted = next((_HEBREW_NUMBERS[each] for each in forms[1:] if each in _HEBREW_NUMBERS), None)
    if form[:1] == "=" or form[:1].isdigit() or counted is not None:
        return Word(form if counted is None else str(counted), "number", _MARK, form)
    if form[:1] == "t" and ":" in form:
        return Word(form, "time", _MARK, form)
    if form[:1] == "m" and form[1:].isdigit():
        return Word(form, "day", _DAY, form)
    if (day := next((_WEEKDAYS[each] for each in forms if each in _WEEKDAYS), None)) is not None:
        return Word(day, "day", _DAY, form)
    if (form,) in _UNITS:
        return Word(f"p {_UNITS[form,]}", "period", _PERIOD, form)
    if form in _PERIODS:
        return Word(f"p {_PERIODS[form]}", "period", _PERIOD, form)
    if not role_words.isdisjoint(forms) or form in _MONEY or f"{form}s" in _MONEY:
        return None
    if form in named:
        return Word(stem, "name", _MARK, form)
    if not cue_words.isdisjoint(forms):
        return Word(stem, "cue", _CUE, form)
    if not _EMPTY.isdisjoint(forms[:2]) or form in SELVES or len(form) == 1:
        return None
    return Word(stem, "word", _LIGHT if form in LIGHT or stem in LIGHT else _PLAIN, form)


def _cues(whole: Sequence[str], tokens: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Which cues a text gives, and by which words."""
    line = f" {' '.join(whole)} "
    of_things = {word for before, word in pairwise(whole) if before in _BEFORE_THINGS and word in _PLACES_TOO}
    said = {form for word in (*whole, *tokens) if word not in of_things for form in bare_forms(word)[:2]}
    hits = [
        (name, phrase)
        for first in said.union(whole)
        for name, phrase in _CUES_BY_FIRST.get(first, ())
        if (first in said if len(phrase) == 1 else f" {' '.join(phrase)} " in line)
    ]
    used = frozenset(word for name, phrase in hits if name not in _ALSO_CONTENT for word in phrase)
    return frozenset(name for name, _ in hits), used


def _roles(tokens: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Which people of somebody a text names by what they are, and by which words."""
    found, used = set(), set()
    for at, token in enumerate(tokens):
        firsts = [form for form in bare_forms(token) if form in _ROLES_BEGIN]
        for length in range(min(_LONGEST_ROLE, len(tokens) - at) if firsts else 0, 0, -1):
            rest = tuple(tokens[at + 1 : at + length])
            first = next((form for form in firsts if (form, *rest) in _ROLES), None)
            if first is not None:
                found.add(_ROLES[first, *rest])
                used |= {first, *rest}
                break
    return frozenset(found), frozenset(used)


def _happened(tokens: Sequence[str], language: str) -> int:
    if language not in _HAPPENED_ENDINGS:
        return 0
    least, endings = _SHORTEST_HAPPENED[language], _HAPPENED_ENDINGS[language]
    return sum((len(word) >= least and word.endswith(endings)) or word in HAPPENED for word in tokens)
