"""The words of requests, in English. Hebrew and Spanish are put into it word by word, as tools have English names."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources

from langmem_plugin.references.tokens import normal
from langmem_plugin.references.words import Language

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LONGEST_PHRASE = 4  # words
_SHORTEST = 3  # letters of a word with a letter written onto it
_WORD = re.compile(r"[^\W\d_]+(?:['’׳״\"][^\W\d_]+)*")
_PREFIXES = {"ו": "and ", "ל": "to the ", "ב": "in the ", "ה": "the ", "מ": "from the ", "ש": ""}
_VERB_WITH_OBJECTS = re.compile(r"(\w{3,15}?)(me|nos|te|se)?(lo|la|los|las|le|les)?")
_FOLDER = resources.files("langmem_plugin.offline") / "words"
WORDS = json.loads((_FOLDER / "en.json").read_text("utf-8"))
"""The words, by name, and patterns that are made of words."""
QUESTIONS: dict[str, dict[str, str]] = json.loads((_FOLDER / "questions.json").read_text("utf-8"))


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(WORDS[name], re.IGNORECASE)


def in_english(text: str, language: Language, is_named: Callable[[str], bool] = lambda _: True) -> str:
    """Put the known words of a text into English and leave the rest; of things only those that `is_named` accepts."""
    if language.name == "en":
        return text
    words, things = _tables(language)
    known = {**{form: english for form, english in things.items() if is_named(english)}, **words}
    spoken = list(_WORD.finditer(text))
    parts: list[str] = []
    end = place = 0
    while place < len(spoken):
        for count in range(min(_LONGEST_PHRASE, len(spoken) - place), 0, -1):
            phrase = " ".join(each.group().lower() for each in spoken[place : place + count])
            english = _translated(phrase, known, language)
            if english is not None or count == 1:
                break
        word = spoken[place].group()
        if english is None and language.prefixes:
            english = _split(word, "".join(parts), things)
        parts += [text[end : spoken[place].start()], word if english is None else english]
        place += count
        end = spoken[place - 1].end()
    return "".join([*parts, text[end:]])


def _split(word: str, before: str, things: Mapping[str, str]) -> str | None:
    """Put the Hebrew letter joined to a name into English: "and", or "for" behind a day that is swapped; else None."""
    if len(word) > _SHORTEST and word[0] == "ו" and word not in things:
        return f"and {word[1:]}"
    swaps = "swap" in before and before.rstrip().endswith(_DAYS)
    return f"for {word[1:]}" if len(word) > _SHORTEST and swaps and word[0] in "בל" else None


def _translated(phrase: str, known: Mapping[str, str], language: Language) -> str | None:
    for form in (phrase, normal(phrase)):
        if form in known:
            return known[form]
    if language.prefixes and phrase[0] in _PREFIXES and phrase[1:] in known:
        return _PREFIXES[phrase[0]] + known[phrase[1:]]
    found = _VERB_WITH_OBJECTS.fullmatch(normal(phrase))
    if found and found[1] in known:
        return f"{known[found[1]]}{' me' if found[2] else ''}{' it' if found[3] else ''}"
    return "" if phrase in language.stop else None


@cache
def _tables(language: Language) -> tuple[dict[str, str], dict[str, str]]:
    """Return the English by form: of actions and words between them, and of things, each a paragraph of the file."""
    words, things = (
        {
            form: english
            for english, _, forms in (line.partition(": ") for line in part.splitlines())
            for form in forms.split(", ")
        }
        for part in (_FOLDER / f"{language.name}.txt").read_text("utf-8").split("\n\n")
    )
    known = {form: english[0] for form, english in language.concepts.items()}
    return words | {form: _DAYS[day] for form, day in language.weekdays.items()}, known | things
