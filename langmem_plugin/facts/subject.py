"""The subject of a clause: the speaker, somebody or something of theirs, or someone who was named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from babel import Locale

from langmem_plugin.facts.attributes import GROUPS, attribute_of
from langmem_plugin.facts.sentence_splitting import Token, begins
from langmem_plugin.facts.statement_patterns import Line, best_match
from langmem_plugin.languages.language_words import Language
from langmem_plugin.languages.text_normalization import plain

SELF: Final = "self"
_MOST_NAMES: Final = 3
_LONGEST_NOUN: Final = 3
_LONGEST_PHRASE: Final = 5
_SHORTEST_WORN: Final = 2
_OF: Final = frozenset(("of", "de", "del", "של"))


@dataclass(frozen=True)
class Subject:
    """The subject of a clause.

    `who` is as in a slot, named by the words from `first` to `end`; `noun` is the attribute it names ("my dentist").
    `role` is the kind of person, `name` the words of a name; `shown` is where what is said begins in a note: after
    "my". `loose` says that nothing tells that it is theirs.
    """

    who: str
    first: int
    end: int
    shown: int
    noun: str | None = None
    role: str | None = None
    name: tuple[Token, ...] = ()
    loose: bool = False

    @property
    def is_speaker(self) -> bool:
        return self.who == SELF and self.noun is None


def subject_at(line: Line, at: int, *, known: Subject | None = None, noted: bool = False) -> Subject | None:
    """Return the subject that begins at `at`. `known` is who "he" and "she" are; in a note the person is left out."""
    tokens, language = line.tokens, line.language
    if at >= len(tokens):
        return None
    word = tokens[at].plain
    if word in language.selves:
        return Subject(SELF, at, at + 1, at + 1)
    if word in language.others and known is not None and not known.is_speaker:
        return replace(known, first=at, end=at + 1, shown=at, noun=None)
    named = _named(line, at)
    if (
        noted
        and named is not None
        and named.noun is None
        and not any(looked_up(line, at, table)[1] for table in (language.people, language.attributes))
        and (said := best_match(line, named.end, third=True)) is not None
        and said.attribute in GROUPS["of people"]  # "Theo has moved to York": "Theo has" is no noun
    ):
        return named
    start = at + (word in language.articles and at + 1 < len(tokens))
    return (
        (_of_a_thing(line, start, noted=noted) if start == at or not language.possessive_after else None)
        or (_owned(line, at + 1, at) if word in language.possessives or _is_of_the_house(line, at) else None)
        or (_owned_before(line, at, noted=noted) if language.possessive_after else None)
        or (_owned(line, at, at) if noted or _is_of_family(tokens[at].plain, language) else None)
        or _bare_noun(line, start, at)
        or named
    )


def _is_of_the_house(line: Line, at: int) -> bool:
    """Tell whether it is one whom people name without "my": "the kids eat …", "el perro es …"."""
    if line.tokens[at].plain not in line.language.determiners:
        return False
    role, used = looked_up(line, at + 1, line.language.people)
    if role not in GROUPS["of the house"]:
        return False
    to_speaker = {token.plain for token in line.tokens[at + used + 2 : at + used + 3]} & line.language.objects
    return _says(line, at + 1 + used) and not to_speaker  # "the kids call me …"


def looked_up(
    line: Line, at: int, table: Mapping[tuple[str, ...], str], longest: int = _LONGEST_PHRASE
) -> tuple[str, int]:
    """Look up the longest phrase at `at`: its meaning and length; in Hebrew also behind prefixed letters."""
    said = tuple(token.plain for token in line.tokens[at : at + longest])
    worn = line.language.name == "he" and said and said[0][:1] in "הל" and len(said[0]) > _SHORTEST_WORN
    for length in range(len(said), 0, -1):
        for phrase in (said[:length], (said[0][1:], *said[1:length])) if worn else (said[:length],):
            if phrase in table:
                return table[phrase], length
    return "", 0


def _is_of_family(word: str, language: Language) -> bool:
    """Tell whether the word names one's own family without "my": "mum", "dads"."""
    return word in language.bare_people or (language.name == "en" and word.removesuffix("s") in language.bare_people)


def _owned(line: Line, at: int, first: int) -> Subject | None:
    """Read the subject behind "my": a person, with their name, or a noun, and things of theirs: "my son's school"."""
    tokens, language = line.tokens, line.language
    at += at < len(tokens) and tokens[at].plain in language.adjectives
    role, used = looked_up(line, at, language.people)
    if used and looked_up(line, at, language.attributes)[1] <= used:
        return _of_theirs(line, with_name(line, Subject(role, first, at + used, at, role=role)))
    if language.name == "en" and at < len(tokens) and (kin := language.people.get((tokens[at].plain[:-1],))):
        theirs = _noun(line, at + 1, first) if tokens[at].plain.endswith("s") else None  # "my wifes birthday"
        if theirs is not None and not theirs.loose:
            return replace(theirs, who=kin, shown=at, role=kin)
    return _noun(line, at, first)


def _noun(line: Line, at: int, first: int) -> Subject | None:
    tokens, language = line.tokens, line.language
    noun, used = looked_up(line, at, language.attributes)
    if used:
        used += tokens[at + used : at + used + 1] != () and tokens[at + used].plain in language.adjectives_after
        return Subject(SELF, first, at + used, at, noun=noun)
    for length in range(1, _LONGEST_NOUN + 1):
        if begins(tokens, at + length, language.copulas) or tokens[at + length : at + length + 1] == ():
            words = [token.plain for token in tokens[at : at + length]]
            if not words or _is_of_family(words[-1], language):
                return None
            if all(word.replace("-", "").isalpha() for word in words):
                return Subject(SELF, first, at + length, at, noun=" ".join(words), loose=True)
            return None
    return None


def with_name(line: Line, subject: Subject) -> Subject:
    """Return the subject with its name: words with a capital letter, or one word that what is said of
    somebody follows.
    """
    tokens, language = line.tokens, line.language
    end = subject.end
    end += end < len(tokens) and tokens[end].plain in language.adjectives_after
    subject = replace(subject, end=end)
    if [token.plain for token in tokens[end : end + 3 : 2]] == [",", ","] and is_name(tokens[end + 1], language):
        return replace(subject, who=f"{subject.role} {tokens[end + 1].plain}", end=end + 3, name=(tokens[end + 1],))
    while end < len(tokens) and end - subject.end < _MOST_NAMES and is_name(tokens[end], language):
        end += 1
    if end == subject.end and end + 1 < len(tokens) and tokens[end].plain.isalpha() and not _says(line, end):
        unknown = tokens[end].plain not in language.common | language.fillers | language.negations | language.joins
        if unknown and _says(line, end + 1):
            end += 1
    name = tuple(tokens[subject.end : end])
    if not name:
        return subject
    return replace(
        subject, who=" ".join([subject.role or "", *(token.plain for token in name)]).strip(), end=end, name=name
    )


def _says(line: Line, at: int) -> bool:
    return bool(best_match(line, at, third=True)) or bool(begins(line.tokens, at, line.language.copulas))


def _of_theirs(line: Line, subject: Subject) -> Subject:
    """Read things of theirs, as in "my son's school"."""
    tokens, at = line.tokens, subject.end
    marked = at < len(tokens) and tokens[at].plain == "'s"
    theirs = _noun(line, at + 1, subject.first) if marked else None
    if theirs is None or theirs.loose:
        return subject
    return replace(subject, end=theirs.end, noun=theirs.noun)


def _of_a_thing(line: Line, at: int, *, noted: bool) -> Subject | None:
    """Read a subject behind its noun, as in "el cumple de mi mamá", "יום ההולדת של אמא שלי"."""
    tokens, language = line.tokens, line.language
    noun, used = looked_up(line, at, language.attributes)
    if not used or at + used + 1 >= len(tokens) or tokens[at + used].plain not in _OF:
        return None
    owner = subject_at(line, at + used + 1, noted=noted)
    if owner is None or not (owner.role or owner.name) or owner.noun is not None:
        return None
    if owner.role is None and attribute_of(noun).category != "identity":
        return None  # "la casa de Calanda"
    return replace(owner, loose=False, first=at, shown=at, noun=noun)


def _owned_before(line: Line, at: int, *, noted: bool) -> Subject | None:
    """Read a Hebrew subject with "my" behind it: "הבת שלי נועה", "רופא השיניים שלי"."""
    tokens, language = line.tokens, line.language
    for length in range(min(_LONGEST_NOUN, len(tokens) - at), 0, -1):
        owned = at + length < len(tokens) and tokens[at + length].plain in language.possessives
        if not owned and not noted:
            continue
        role, used = looked_up(line, at, language.people, length)
        if used == length:
            return with_name(line, Subject(role, at, at + length + owned, at, role=role))
        noun, used = looked_up(line, at, language.attributes, length)
        if used == length:
            return Subject(SELF, at, at + length + owned, at, noun=noun)
    return None


def _bare_noun(line: Line, at: int, first: int) -> Subject | None:
    """Read a noun that is the speaker's to tell, as in "the wifi password is …"; "rent for flat 4 is …"
    only with a value.
    """
    for start in range(at, min(at + _LONGEST_NOUN, len(line.tokens)) if at == first or line.tokens[first].word else at):
        noun, used = looked_up(line, start, line.language.attributes)
        if used and attribute_of(noun).category == "secrets":
            return Subject(SELF, first, start + used, at, noun=noun)
        of_whom = line.tokens[start + used : start + used + 1]
        if used and of_whom and of_whom[0].plain in _OF:
            return None
        new = all(token.plain in line.language.adjectives for token in line.tokens[first:start])
        if used and new and noun in GROUPS["told without my"]:
            return Subject(SELF, first, start + used, at, noun=noun, loose=True)
        if begins(line.tokens, start, line.language.copulas):
            break
    return None


def _named(line: Line, at: int) -> Subject | None:
    tokens, language = line.tokens, line.language
    end = at
    while end < len(tokens) and end - at < _MOST_NAMES and is_name(tokens[end], language):
        end += 1
    if language.name == "he":
        end += _length_of_a_name(line, at)
    if end == at:
        return None
    name = tuple(tokens[at:end])
    subject = Subject(" ".join(token.plain for token in name), at, end, at, name=name, loose=True)
    return _of_theirs(line, subject)


def _length_of_a_name(line: Line, at: int) -> int:
    """Return how many words a name has in Hebrew, where no capital letter tells it: unknown words stand before
    an age, a debt or a death.
    """
    for length in range(1, _MOST_NAMES + 1):
        word = line.tokens[at + length - 1 : at + length]
        if not word or not word[0].plain.isalpha() or word[0].plain in line.language.common | line.language.selves:
            return 0
        said = best_match(line, at + length, third=True)
        if said is not None:
            return length if said.attribute in ("age", "debt", "death") else 0
    return 0


@cache
def _no_names(language: Language) -> frozenset[str]:
    """Return the words that are no names though they have a capital letter: also of peoples, as in "I'm Italian"."""
    peoples = map(plain, Locale.parse(language.name).languages.values())
    return language.common.union(language.weekdays, language.months, language.questions, language.fillers, peoples)


def is_name(token: Token, language: Language) -> bool:
    return token.capital and token.plain.replace("-", "").isalpha() and token.plain not in _no_names(language)


def is_a_name(value: Sequence[Token], language: Language) -> bool:
    """Tell whether the value can be the name of somebody: "my sister is Amara"."""
    return 0 < len(value) <= _MOST_NAMES and (is_name(value[0], language) or value[0].plain in language.honorifics)
