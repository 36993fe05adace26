"""Find standing instructions that cannot both be followed, by rules, no model: what a person says last holds.

Read are the language, length, tone, formality, emojis, units and the name to call the person by, and the same words
with and without a "never". Whatever else an instruction says conflicts with nothing: in doubt both hold.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.memory.memory_types import plain

_LONGEST = 300  # letters of a text that is read
_SAID = json.loads(files(__package__).joinpath("conflict_words.json").read_text("utf-8"))
_WORDS = "words"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_OWN_CONDITION, _CLAUSES, _PREFIX, _NOT, _NO_MORE, _NAME = (
    _pattern(_SAID[each]) for each in ("own condition", "clauses", "prefix", "not", "no more", "call me")
)
_CODE_OF = {word: code for code, words in _SAID["languages"].items() for word in words.split()}
_LANGUAGE = _pattern(rf"(?:{_SAID['speak']})(?P<value>[^\W\d_]{{3,15}})")
_STYLES = [
    (about, value, _pattern(rf"(?:{_SAID['tell answers']})(?:{words}){_SAID['after']}"))
    for about, value, words in _SAID["styles"]
]
_WHOLE: Mapping[str, Sequence[str]] = _SAID["whole"]


@dataclass(frozen=True)
class Claim:
    """One thing an instruction asks for, or with `denied` forbids."""

    about: str
    value: str
    denied: bool

    def opposes(self, other: "Claim") -> bool:
        if self.about != other.about:
            return False
        same = self.value == other.value
        return same if self.denied != other.denied else not (same or self.denied or self.about == _WORDS)


def opposed(text: str, other: str) -> bool:
    """Tell whether `text` opposes everything that `other` asks for."""
    mine = [each for each in claims(text) if each is not None]
    theirs = claims(other)
    return bool(theirs) and all(each is not None and any(each.opposes(own) for own in mine) for each in theirs)


def withdraws(text: str, other: str) -> bool:
    """Tell whether `text` only takes `other` back, as "stop answering in Spanish" does: nothing is left to do then."""
    mine = claims(text)
    return (
        len(mine) == 1
        and mine[0] is not None
        and mine[0].denied
        and mine[0].about not in (_WORDS, "emojis")
        and opposed(text, other)
    )


def concerns(topic: str, order: str) -> bool:
    """Tell whether an order is about a topic that is free again: by its words, or by the opposite of them."""
    told, asked = set(terms(topic)), set(terms(order))
    language = _CODE_OF.get(plain(topic).split()[-1]) if told else None
    known = {(each.about, each.value) for each in claims(topic) if each is not None}
    return bool(told) and (
        told <= asked
        or opposed(topic, order)
        or any((each.about, each.value) in known or _other_language(each, language) for each in claims(order) if each)
    )


def _other_language(claim: Claim, language: str | None) -> bool:
    return claim.about == "language" and language not in (None, claim.value)


def claims(text: str) -> tuple[Claim | None, ...]:
    """Return the claims of a text, clause by clause; None for a clause that is not understood."""
    return () if len(text) > _LONGEST else _claims(text)


@functools.lru_cache(maxsize=2_048)
def _claims(text: str) -> tuple[Claim | None, ...]:
    said = plain(text).replace("’", "'").strip(" .!,;:")
    if not said or _OWN_CONDITION.search(said):
        return ()
    clauses = [each for each in _CLAUSES.split(said) if each.strip()]
    first_denied = bool(clauses) and _bare(clauses[0])[1]
    read: list[Claim | None] = []
    for place, clause in enumerate(clauses):
        bare, denied = _bare(clause)
        if place and first_denied and not denied:  # "don't use emojis and tables" may deny both
            read.append(None)
        else:
            read.append(_claim(bare, denied=denied, alone=len(clauses) == 1))
    return tuple(read)


def _bare(clause: str) -> tuple[str, bool]:
    """Return the clause without the words around what is asked for, and whether it is forbidden."""
    denied = False
    for _ in range(6):
        if found := _PREFIX.match(clause):
            clause = clause[found.end() :]
        elif found := _NOT.match(clause):
            clause, denied = clause[found.end() :], True
        else:
            break
    while found := _NO_MORE.search(clause):
        clause = clause[: found.start()]
    return clause.strip(), denied


def _claim(bare: str, *, denied: bool, alone: bool) -> Claim | None:
    if (found := _LANGUAGE.fullmatch(bare)) and found["value"] in _CODE_OF:
        return Claim("language", _CODE_OF[found["value"]], denied)
    if found := _NAME.fullmatch(bare):
        return Claim("name", found["value"].strip(" \"'"), denied)
    if bare in _WHOLE:
        about, value = _WHOLE[bare]
        return Claim(about, value, denied)
    for about, value, pattern in _STYLES:
        if pattern.fullmatch(bare):
            return Claim(about, value, denied)
    words = terms(bare) if alone else []
    return Claim(_WORDS, " ".join(words), denied) if words else None
