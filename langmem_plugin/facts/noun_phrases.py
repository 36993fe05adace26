"""Names, people and attributes where they stand in a sentence."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from langmem_plugin.facts.grammar import begins, best_match, patterns
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language, words

GROWTH: Final = words(
    "older|younger|little|big|eldest|oldest|youngest|baby|new|old|late|dear|elder|twin|other|grown|two|three|dos|nuevo|nueva|mayor|menor|pequeno|pequena|הגדול|הקטן|הגדולה|הקטנה|הגדולים|הקטנים|גדול|גדולה|קטן|קטנה"
)
OWNING: Final = frozenset(("'s", "'", "’"))  # "Mia's", "the kids'"
FOR_WHAT: Final = words("supplier|teacher")
KIN: Final = words(
    "daughter|son|child|brother|sister|grandmother|grandfather|uncle|aunt|cousin|nephew|niece|grandson|granddaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|wife|husband"
)


def name_at(tokens: Sequence[Token], at: int, language: Language) -> tuple[Token, ...]:
    """The name that stands at `at`, written with a capital or not, before something is said of it."""
    end = at
    while end < len(tokens) and end - at < 3 and nameable(tokens[end], language):
        if best_match(tokens, end, language, third=True) is not None or begins(tokens, end, language.copulas):
            break
        if end > at and not tokens[end].capital and language.name != "he":
            break
        if not tokens[end].capital and language.name != "he" and end + 1 < len(tokens):
            following = begins(tokens, end + 1, language.copulas) or best_match(tokens, end + 1, language, third=True)
            if not following and tokens[end + 1].plain != "'s":
                break
        if language.name == "he" and end > at:
            break
        end += 1
    return tuple(tokens[at:end])


def nameable(token: Token, language: Language) -> bool:
    plain = token.plain
    return (
        token.written[:1].isalpha()
        and len(plain) > 1
        and not plain.endswith("ing")
        and plain not in language.events
        and (token.capital or (plain not in patterns(language) and (plain,) not in language.attributes))
        and plain not in language.negations
        and plain not in language.common
        and plain not in language.cuts
        and plain not in language.joins
        and plain not in language.fillers
        and plain not in language.selves
        and plain not in language.others
        and plain not in language.possessives
        and plain != "'s"
    )


def person_at(tokens: Sequence[Token], at: int, language: Language) -> tuple[str | None, int]:
    best: tuple[str | None, int] = (None, 0)
    for length in (3, 2, 1):
        phrase = tuple(_bare(token.plain, language) for token in tokens[at : at + length])
        if len(phrase) < length:
            continue
        role = language.people.get(phrase)
        last = phrase[-1]
        if role is None and last.endswith("s") and language.name == "en":
            role = language.people.get((*phrase[:-1], last[:-1]))
        if role is None and language.name == "he":
            role = language.people.get(tuple(token.plain for token in tokens[at : at + length]))
        if role is not None:
            return role, length
    return best


def attribute_at(tokens: Sequence[Token], at: int, language: Language) -> tuple[str | None, int]:
    """The attribute whose noun stands at `at`, "dentists" too, and its length in words."""
    noun, length = noun_at(tokens, at, language)
    if not noun and at < len(tokens) and tokens[at].plain.endswith("s"):
        noun = language.attributes.get((tokens[at].plain[:-1],))
        length = 1
    return noun, length


def noun_at(tokens: Sequence[Token], at: int, language: Language) -> tuple[str | None, int]:
    for length in (4, 3, 2, 1):
        written = tuple(token.plain for token in tokens[at : at + length])
        if len(written) < length:
            continue
        for phrase in (written, tuple(_bare(word, language) for word in written)):
            if phrase in language.attributes:
                return language.attributes[phrase], length
    return None, 0


@cache
def nouns(language: Language) -> tuple[tuple[str, ...], ...]:
    return tuple(language.attributes)


def _bare(word: str, language: Language) -> str:
    return word[1:] if language.name == "he" and word[:1] == "ה" and len(word) > 2 else word


def who_is(role: str, name: tuple[Token, ...]) -> str:
    return f"{role} {in_plain(name)}" if name else role


def in_plain(name: Sequence[Token]) -> str:
    return " ".join(token.plain for token in name if token.word)


def is_owning(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].plain in OWNING
