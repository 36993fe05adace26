"""Statements about names in a text: that one is short for another, or that people call somebody by it.

A connector is looked for ("is short for", "כולם קוראים לו", "todos le dicen"), then the names beside it. Sure or
silent: where a name may be a correction ("Dan, I mean Dana"), the one must be an abbreviation of the other.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

_WORDS = json.loads(files(__package__).joinpath("alias_words.json").read_text("utf-8"))
"""How people say that a name is another's, in English, Hebrew and Spanish; a new way of saying it is a line there."""
_TITLES, _ARTICLES, _NO_NAMES, _BESIDE = (
    frozenset(_WORDS[each].split()) for each in ("titles", "articles", "no names", "beside")
)  # behind what is beside somebody stands a place, or somebody else
_LONGEST_TEXT = 2_000
_REACH = 100  # letters beside a connector
_MOST = 5  # of one text
_MOST_WORDS = 3  # of a name
_SENTENCE = re.compile(r"(?<=[.!?;\n])" + _WORDS["no title before"] + r"\s++")
_TOKEN = re.compile(r"[^\s,()\"“”:;!?]++")
_GERSHAYIM = re.compile(r"(?<=[א-ת])\"(?=[א-ת])")

_ALIAS_FIRST, _NAME_FIRST, _CALLED, _EITHER = (
    re.compile("|".join(f"(?:{each})" for each in _WORDS[which]), re.IGNORECASE)
    for which in ("alias then name", "name then alias", "called", "one or the other")
)
_CALLS = re.compile(
    rf"(?:{_WORDS['calls']})(?P<name>[^\W\d_]{{3,30}}+) (?P<alias>[^\W\d_]{{2,30}}+)(?=\s*(?:[.,;!]|$))", re.IGNORECASE
)
_NUMERONYM = re.compile(r"([^\W\d_])(\d{1,2})([^\W\d_])")
_LEAST_LEFT_OUT = 3  # letters, of one word: "Dan" and "Dana" may be two people


@dataclass(frozen=True)
class Naming:
    """`alias` is said for `name`."""

    alias: str
    name: str


def namings(text: str, before: str = "") -> list[Naming]:
    """In order, each once; none of a question. `before` is what was said before, for whom "him" and "her" mean."""
    found: dict[Naming, None] = {}
    last = before[-_LONGEST_TEXT:]
    for sentence in _SENTENCE.split(_GERSHAYIM.sub("״", text[:_LONGEST_TEXT])):
        if not sentence.rstrip().endswith(("?", "؟")):
            found |= dict.fromkeys(_in_sentence(sentence, last))
        last = sentence
    return list(found)[:_MOST]


def abbreviates(alias: str, name: str) -> bool:
    """True where the alias is made of the name: "k8s" of Kubernetes, "Dr. L" of Dr. Levi, "DJ" of David Jones."""
    short, full = (" ".join(each.casefold().replace(".", " ").split()) for each in (alias, name))
    if short == full or not short or not full:
        return False
    parts, wanted = short.split(), full.split()
    if len(parts) == 1 and len(wanted) == 1:
        if (numbered := _NUMERONYM.fullmatch(short)) is not None:
            first, left_out, last = numbered.groups()
            return full[0] == first and full[-1] == last and len(full) == int(left_out) + 2
        return len(short) > 1 and full.startswith(short) and len(full) - len(short) >= _LEAST_LEFT_OUT
    if len(parts) == 1:
        return len(short) > 1 and short == "".join(word[0] for word in wanted)
    if len(parts) != len(wanted) or parts[0] != wanted[0]:
        return False
    shortened = [(part, word) for part, word in zip(parts[1:], wanted[1:], strict=True) if part != word]
    return bool(shortened) and all(word.startswith(part) and len(word) > len(part) for part, word in shortened)


def _in_sentence(sentence: str, before: str) -> Iterator[Naming]:
    for first, second in _beside(_ALIAS_FIRST, sentence):
        yield Naming(first, second)
    for first, second in _beside(_NAME_FIRST, sentence):
        yield Naming(second, first)
    for first, second in _beside(_CALLED, sentence, _only_name(before)):
        yield Naming(second, first)
    for match in _CALLS.finditer(sentence):
        if _is_name(match["name"]) and _is_name(match["alias"]):
            yield Naming(match["alias"], match["name"])
    for first, second in _beside(_EITHER, sentence):
        if abbreviates(first, second):
            yield Naming(first, second)
        elif abbreviates(second, first):
            yield Naming(second, first)


def _beside(connector: re.Pattern[str], sentence: str, instead: str = "") -> Iterator[tuple[str, str]]:
    """The names before and behind it; `instead` where none stands before it."""
    for match in connector.finditer(sentence):
        first = _name_before(sentence[max(match.start() - _REACH, 0) : match.start()]) or instead
        second = _name_after(sentence[match.end() : match.end() + _REACH])
        if first and second:
            yield first, second


def _name_before(text: str) -> str:
    """The name that ends it, but for a comma or a parenthesis."""
    text = text.rstrip(' ,(:–-"“”\t')
    cut = max((text.rfind(each) for each in ',(:;"“”'), default=-1)
    return _last_run(_TOKEN.findall(text[cut + 1 :]))


def _name_after(text: str) -> str:
    text = text.lstrip(' ,(:–-"“”\t')
    ends = [at for each in ',();:!?"“”\n' if (at := text.find(each)) >= 0]
    run: list[str] = []
    tokens = _TOKEN.findall(text[: min(ends)] if ends else text)[: _MOST_WORDS + 2]
    for word in tokens[1:] if tokens and tokens[0].casefold() in _ARTICLES else tokens:
        if not _is_name(word) or len(run) == _MOST_WORDS:
            break
        run.append(word)
        if word.endswith(".") and not _is_title(word) and len(word) > 2:  # noqa: PLR2004 - the sentence ends; "L." does not
            break
    if run and _is_hebrew(run[0]):
        run = run[:2]
    return _trimmed(run)


def _last_run(tokens: list[str]) -> str:
    run: list[str] = []
    for word in reversed(tokens):
        if not _is_name(word) or len(run) == _MOST_WORDS:
            break
        run.insert(0, word)
    if run and _is_hebrew(run[-1]):
        run = run[-2:] if _is_title(run[-2] if len(run) > 1 else "") else run[-1:]
    return _trimmed(run)


def _trimmed(run: list[str]) -> str:
    return " ".join(run).strip(" '’").removesuffix(".") if run and not all(map(_is_title, run)) else ""


def _only_name(text: str) -> str:
    """The one name that a sentence has in Latin letters; "" where there are several, or none that can be told."""
    runs: list[list[str]] = [[]]
    is_beside = False  # a place, or somebody beside the one who is meant
    tokens = _TOKEN.findall(text)
    for place, word in enumerate(tokens):
        begins = place == 0 and not _is_title(word) and len(tokens) > 1 and tokens[1][0].isupper()  # "Met Daniel"
        is_part = word[0].isupper() and not begins and word.strip(".").casefold() not in _NO_NAMES
        is_beside = is_part and (is_beside or (place > 0 and tokens[place - 1].casefold() in _BESIDE))
        if is_part and not is_beside:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    names = list(dict.fromkeys(_trimmed(run[:_MOST_WORDS]) for run in runs if run))
    return names[0] if len(names) == 1 else ""


def _is_name(word: str) -> bool:
    """With a capital or a digit, or in Hebrew, which has no capitals; and no word that begins or joins sentences."""
    bare = word.strip("'’.").casefold()
    if not bare or bare in _NO_NAMES:
        return False
    return _is_hebrew(word) or word[0].isupper() or (any(each.isdigit() for each in word) and not word.isdigit())


def _is_hebrew(word: str) -> bool:
    return "\u0590" <= word[0] <= "\u05ff"


def _is_title(word: str) -> bool:
    return word.rstrip(".").casefold() in _TITLES
