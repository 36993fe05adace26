"""Whom a Hebrew clause is about: what is somebody's stands before whose it is."""

from collections.abc import Sequence

from langmem_plugin.facts.grammar import best_match
from langmem_plugin.facts.noun_phrases import FOR_WHAT, GROWTH, KIN, in_plain, name_at, noun_at, person_at, who_is
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language


def hebrew_subject(tokens: Sequence[Token], at: int, language: Language, *, noted: bool = False) -> Subject | None:
    """As in "הבת שלי מיה", "אשתי", "רופא השיניים שלי", "יום ההולדת של אשתי"."""
    person, used = person_at(tokens, at, language)
    noun, length = noun_at(tokens, at, language)
    while person and at + used + 1 < len(tokens) and tokens[at + used].plain in GROWTH:
        used += 1  # "הבן הקטן שלי"
    following = tokens[at + used].plain if at + used < len(tokens) else ""
    if (
        person
        and used >= length
        and (following in language.possessives or tokens[at].plain in language.bare_people or noted)
    ):
        end = at + used
        shown: tuple[Token, ...] = tuple(tokens[at:end])
        end += following in language.possessives
        while end < len(tokens) and tokens[end].plain in GROWTH:
            end += 1
        name = name_at(tokens, end, language)
        return Subject(who_is(person, name), at, end + len(name), role=person, name=name, shown=(*shown, *name))
    if (
        at + 1 < len(tokens)
        and tokens[at + 1].plain == "יש"
        and tokens[at].plain[:1] == "ל"
        and len(tokens[at].plain) > 2
    ):
        whose = Token(tokens[at].plain[1:], tokens[at].start + 1, tokens[at].end, tokens[at].written[1:])
        return Subject(whose.plain, at, at + 1, name=(whose,), loose=True, shown=(whose,))  # "לנועה יש אלרגיה"
    having = _having(tokens, at, language)
    if having is not None:
        return having
    called = _called_by(tokens, at, language)
    if called is not None:
        return called
    if not noun:
        if person and language.bare_people and tokens[at].plain[:1] == "ה":  # "הנכד איתן בן 6"
            name = name_at(tokens, at + used, language)
            if name and best_match(tokens, at + used + 1, language, third=True) and person in KIN:
                end = at + used + 1
                return Subject(who_is(person, name), at, end, role=person, name=name, shown=tuple(tokens[at:end]))
        if person or at + 1 >= len(tokens):
            return None
        for end in range(at + 1, min(at + 4, len(tokens))):
            if tokens[end].plain in language.possessives:
                first = tokens[at].plain
                words = [first.removeprefix("ה"), *(token.plain for token in tokens[at + 1 : end])]
                if first in language.common or first in language.selves or not all(t.word for t in tokens[at:end]):
                    return None
                return Subject(SELF, at, end + 1, noun=" ".join(words), loose=True, shown=tuple(tokens[at:end]))
        return None
    end = at + length
    following = tokens[end].plain if end < len(tokens) else ""
    if following in language.possessives:
        return Subject(SELF, at, end + 1, noun=noun, shown=tuple(tokens[at:end]))
    if following == "של" and end + 1 < len(tokens):
        owner = hebrew_subject(tokens, end + 1, language)
        if owner is not None and owner.role and owner.noun is None:
            return Subject(
                owner.who,
                at,
                owner.end,
                noun=noun,
                role=owner.role,
                name=owner.name,
                shown=tuple(tokens[at : owner.end]),
            )
        name = name_at(tokens, end + 1, language)
        if name:
            return Subject(
                in_plain(name),
                at,
                end + 1 + len(name),
                noun=noun,
                name=name,
                loose=True,
                shown=tuple(tokens[at : end + 2]),
            )
    if noted and following:
        return Subject(SELF, at, end, noun=noun, shown=tuple(tokens[at:end]))
    for place in range(end, min(end + 3, len(tokens))):
        if tokens[place].plain in language.possessives:
            who = " ".join(token.plain.removeprefix("ל").removeprefix("ה") for token in tokens[end:place])
            if noun in FOR_WHAT:
                return Subject(SELF, at, place + 1, noun=f"{who} {noun}", shown=tuple(tokens[at:place]))
            return Subject(who, at, place + 1, noun=noun, loose=True, shown=tuple(tokens[at:place]))
    return None


def _having(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """As in "לאמא שלי יש סוכרת", "לבן שלי איתי יש אסתמה": ahead of "יש" stands who has it."""
    end = next((place for place in range(at + 1, min(at + 5, len(tokens))) if tokens[place].plain == "יש"), 0)
    if not end or tokens[at].plain[:1] != "ל" or len(tokens[at].plain) < 3:
        return None
    first = Token(tokens[at].plain[1:], tokens[at].start + 1, tokens[at].end, tokens[at].written[1:])
    found = hebrew_subject((*tokens[:at], first, *tokens[at + 1 :]), at, language)
    return found if found is not None and found.role and found.noun is None and found.end == end else None


def _called_by(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """As in "לאשתי קוראים מיכל", "למאמן הריצה שלי קוראים אבי": ahead of "קוראים" stands who is called so."""
    if tokens[at].plain[:1] != "ל" or len(tokens[at].plain) < 3:
        return None
    first = Token(tokens[at].plain[1:], tokens[at].start + 1, tokens[at].end, tokens[at].written[1:])
    end = next((place for place in range(at + 1, min(at + 6, len(tokens))) if tokens[place].plain == "קוראים"), 0)
    if not end:
        return None
    bare = (*tokens[:at], first, *tokens[at + 1 : end])
    person, used = person_at(bare, at, language)
    mine = tokens[end - 1].plain in language.possessives
    if not mine and not (person and first.plain in language.bare_people and at + used == end):
        return None
    said = bare[at : end - mine]
    noun = person if person and used == len(said) else None
    if noun is None:
        known, length = noun_at(bare, at, language)
        noun = known if length == len(said) else in_plain(said)
    return Subject(SELF, at, end, noun=noun, shown=tuple(tokens[at:end]), loose=noun == in_plain(said))
