"""Whom a clause is about: the speaker, somebody or something of theirs, or somebody named."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.grammar import begins, best_match
from langmem_plugin.facts.hebrew_subjects import hebrew_subject
from langmem_plugin.facts.noun_phrases import (
    FOR_WHAT,
    GROWTH,
    KIN,
    OWNING,
    in_plain,
    is_owning,
    name_at,
    nameable,
    noun_at,
    nouns,
    person_at,
    who_is,
)
from langmem_plugin.facts.person_nouns import serves
from langmem_plugin.facts.serving_subjects import compound, served_by
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language, words

_NAMED_WITH: Final = words("dr|mr|mrs|ms|prof|sr|sra|dra|miss|uncle|aunt|don|dona")
_NEW: Final = words("new|nuevo|nueva")
_USUAL: Final = words("normal|usual|regular|standard|current|habitual|actual|full|רגיל|הרגיל|הרגילה")
_ONE_OF_THEIRS: Final = words("eldest|oldest|youngest|mayor|menor|pequeno|pequena")
_MYSELF: Final = words("me|i|yo|אני")
_OTHERS_OWN: Final = words("his|her|their|your|su|sus|tu|tus")


def subject_at(
    tokens: Sequence[Token], at: int, language: Language, *, known: Subject | None = None, noted: bool = False
) -> Subject | None:
    """The subject that begins at `at`. `known` is who "he", "she" and "they" are; `noted`: as in notes, "my" may be
    left out.
    """
    if at >= len(tokens):
        return None
    word = tokens[at].plain
    together = _together(tokens, at, language)
    if word in language.selves or together:
        return Subject(SELF, at, at + (together or 1), third=False)
    if word in language.others and tokens[at].written.casefold() != "el" and known is not None and known.who != SELF:
        return Subject(known.who, at, at + 1, role=known.role, name=known.name, shown=known.shown)
    beside = _apposed(tokens, at, language)
    if beside is not None:
        return beside
    if language.possessive_after:
        return hebrew_subject(tokens, at, language, noted=noted) or _named(tokens, at, language, noted=noted)
    if word in language.possessives:
        return _possessed(tokens, at, at + 1, language)
    the = word in ("the", "el", "la", "los")
    start = at + the
    while start + 1 < len(tokens) and tokens[start].plain in _NEW:
        start += 1
    if the or begins(tokens, start, nouns(language)):
        thing = _thing(tokens, at, start, language)
        if thing is not None:
            said = begins(tokens, thing.end, language.copulas) or not the
            return thing if said else served_by(tokens, at, start, language, theirs=True) or thing
    if at and (tokens[at - 1].plain in OWNING or tokens[at - 1].plain in _OTHERS_OWN):
        return None  # "Dana's wife is Ruth" tells of nobody of the speaker's
    if (
        word in language.bare_people
        or (noted and person_at(tokens, at, language)[0])
        or _kin_by_name(tokens, at, language)
    ):
        return _possessed(tokens, at, at, language)
    if word.endswith("s") and word[:-1] in language.bare_people:  # "mums birthday"
        whose = _possessed(tokens, at, at, language)
        if whose is not None and whose.noun is not None:
            return whose
    return (
        served_by(tokens, at, start, language, theirs=the)
        or _named(tokens, at, language, noted=noted)
        or compound(tokens, at, start, language)
    )


def _together(tokens: Sequence[Token], at: int, language: Language) -> int:
    """How many words "me and Priya", "Priya and I", "Hugo y yo" are: the speaker with somebody."""
    three = tokens[at : at + 3]
    if len(three) < 3 or three[1].plain not in ("and", "y", "ו"):
        return 0
    first, last = three[0], three[2]
    if (first.plain in _MYSELF and last.capital) or (first.capital and last.plain in language.selves | _MYSELF):
        return 3
    return 0


def _kin_by_name(tokens: Sequence[Token], at: int, language: Language) -> bool:
    """As in "grandson Ben is 7": a relative by name needs no "my"."""
    person, used = person_at(tokens, at, language)
    following = tokens[at + used] if at + used < len(tokens) else None
    return (
        person in KIN
        and following is not None
        and following.capital
        and nameable(following, language)
        and (
            at == 0 or tokens[at - 1].plain not in language.articles | {"'s", "his", "her", "their", "your", "su", "tu"}
        )
    )


def _apposed(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """As in "Mia, my daughter, is …": a name, and between commas who that is."""
    name, rest = tokens[at : at + 1], tokens[at + 1 : at + 3]
    if len(rest) < 2 or rest[0].plain != "," or not nameable(name[0], language):
        return None
    possessed = rest[1].plain in language.possessives
    person, used = person_at(tokens, at + 2 + possessed, language)
    end = at + 2 + possessed + used
    after = tokens[end : end + 1]
    if language.possessive_after and after and after[0].plain in language.possessives:
        possessed, end = True, end + 1
    if not (person and possessed and end < len(tokens) and tokens[end].plain == ","):
        return None
    return Subject(who_is(person, tuple(name)), at, end + 1, role=person, name=tuple(name), shown=tuple(name))


def _possessed(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """What stands after "my": somebody, with or without a name, and what is theirs, or a thing."""
    while at < len(tokens) and tokens[at].plain in GROWTH | _USUAL:
        at += 1
    person, used = person_at(tokens, at, language)
    noun, length = noun_at(tokens, at, language)
    if person and used >= length:
        end = at + used
        name = name_at(tokens, end, language)
        between = tokens[end : end + 3]
        if not name and [t.plain for t in between[::2]] == [",", ","] and between[1].capital:
            name = (between[1],)  # "my ex, Dominic, …"
            return Subject(who_is(person, name), first, end + 3, role=person, name=name, shown=(*tokens[at:end], *name))
        shown = (*tokens[at:end], *name)
        who = who_is(person, name)
        end += len(name)
        theirs = _theirs(tokens, end, language, used_s=shown[-1].plain)
        if theirs is not None:
            return Subject(who, first, theirs[1], noun=theirs[0], role=person, name=name, shown=shown)
        if is_owning(tokens, end) and end + 2 < len(tokens) and serves(tokens[end + 1].plain, language):
            return Subject(who, first, end + 1, role=person, name=name, shown=shown)  # "Nan's carer comes at 8"
        placed = None if name else _with_place(tokens, Subject(SELF, first, end, noun=person, shown=shown), language)
        if placed is not None and placed.end > end and placed.who != SELF and placed.role is None:
            noun = f"{placed.who} {person}"  # "my manager at the hotel is …"
            return Subject(SELF, first, placed.end, noun=noun, shown=placed.shown)
        return Subject(who, first, end, role=person, name=name, shown=shown)
    called = name_at(tokens, at + length, language) if noun and serves(tokens[at + length - 1].plain, language) else ()
    if called and called[0].capital and _acts(tokens, at + length + len(called)):
        end = at + length + len(called)  # "my cleaner Beata comes …"
        return Subject(who_is(noun or "", called), first, end, role=noun, name=called, shown=tuple(tokens[at:end]))
    if noun and length == 1 and not (at + length < len(tokens) and _belongs(tokens, at + length, language)):
        other = _other_thing(tokens, first, at, language)  # "my car reg is …"
        if other is not None and other.end > at + length:
            return other
    if noun:
        if (
            is_owning(tokens, at + length)
            and tokens[at + length + 1 : at + length + 2]
            and tokens[at + length + 1].plain == "name"
        ):
            return Subject(SELF, first, at + length + 2, noun=noun, shown=tuple(tokens[at : at + length]))
        theirs = _theirs(tokens, at + length, language, used_s="") if is_owning(tokens, at + length) else None
        if theirs is not None:
            return Subject(noun, first, theirs[1], noun=theirs[0], shown=tuple(tokens[at : theirs[1]]))
        end = _end_of_theirs(tokens, at + length, language)
        if end:
            owned = " ".join(token.plain for token in tokens[at + length + 1 : end])
            return Subject(noun, first, end, noun=owned, shown=tuple(tokens[at:end]))
        return _with_place(
            tokens, Subject(SELF, first, at + length, noun=noun, shown=tuple(tokens[at : at + length])), language
        )
    if tokens[at - 1].plain in _ONE_OF_THEIRS and (
        begins(tokens, at, language.copulas) or best_match(tokens, at, language, third=True)
    ):
        return Subject("child", first, at, role="child", shown=tuple(tokens[at - 1 : at]))  # "my youngest is 6"
    name = name_at(tokens, at, language) if tokens[at - 1].plain in GROWTH else ()
    if name and name[0].capital:  # "my eldest Declan"
        return Subject(who_is("child", name), first, at + len(name), role="child", name=name, shown=name)
    return _other_thing(tokens, first, at, language)


def _thing(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "the wifi password at home", "el cumple de mi mamá", "alarm code for the house"."""
    if at < len(tokens) and tokens[at].plain in language.possessives:
        return None
    noun, length = noun_at(tokens, at, language)
    if not noun:
        return None
    found = Subject(SELF, first, at + length, noun=noun, loose=True, shown=tuple(tokens[at : at + length]))
    return _with_place(tokens, found, language)


def _with_place(tokens: Sequence[Token], found: Subject, language: Language) -> Subject:
    """Whose or where the thing is, if that is said: "… of my mother", "… for the house"."""
    at = found.end
    if found.noun == "phone" and found.first < at and [t.plain for t in tokens[at : at + 1]] == ["de"]:
        other = _other_thing(tokens, found.first, at - 1, language)  # "mi número de socio"
        if other is not None:
            return other
    if at < len(tokens) and tokens[at].plain in _USUAL:
        found, at = replace(found, end=at + 1), at + 1
    if at + 1 >= len(tokens) or tokens[at].plain not in ("of", "for", "at", "on", "in", "de", "del", "to"):
        return found
    start = at + 1
    if tokens[start].plain in language.possessives or tokens[start].plain in language.bare_people:
        owner = _possessed(tokens, start, start + (tokens[start].plain in language.possessives), language)
        if owner is not None and owner.role and owner.noun is None:
            return Subject(
                owner.who,
                found.first,
                owner.end,
                noun=found.noun,
                role=owner.role,
                name=owner.name,
                shown=tuple(tokens[found.first : owner.end]),
            )
    while start < len(tokens) and (tokens[start].plain in language.articles):
        start += 1
    end = start
    while end < len(tokens) and end - start < 4 and not begins(tokens, end, language.copulas) and tokens[end].word:
        end += 1
    if not (start < end < len(tokens) and begins(tokens, end, language.copulas)):
        return found
    if tokens[start].plain in ("this", "next", "este", "esta", "proximo"):
        return Subject(found.who, found.first, end, noun=found.noun, loose=found.loose, shown=found.shown)
    who = " ".join(token.plain for token in tokens[start:end])
    shown = tuple(tokens[found.first : end])
    if found.noun in FOR_WHAT:  # "our supplier for paper"
        return Subject(SELF, found.first, end, noun=f"{who} {found.noun}", shown=shown)
    return Subject(who, found.first, end, noun=found.noun, loose=found.loose, shown=shown)


def _other_thing(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "my favorite color", "our biggest customer", "my locker": up to where it says what it is."""
    named = next((place for place in range(at, min(at + 4, len(tokens))) if tokens[place].capital), at)
    kind, name = tokens[at:named], tokens[named : named + 1]
    if kind and all(t.plain.isalpha() and t.plain not in language.common for t in kind) and nameable(name[0], language):
        end = named + 2 if tokens[named + 1 : named + 2] and tokens[named + 1].capital else named + 1
        role = " ".join(token.plain for token in kind)
        if best_match(tokens, end, language, third=True) or begins(tokens, end, language.copulas) or _acts(tokens, end):
            shown = tuple(tokens[at:end])
            return Subject(who_is(role, tuple(tokens[named:end])), first, end, role=role, name=shown[-1:], shown=shown)
    for end in range(at + 1, min(at + 6, len(tokens))):
        owning = is_owning(tokens, end) and any(begins(tokens, to, language.copulas) for to in (end + 2, end + 3))
        if begins(tokens, end, language.copulas) and not owning:
            words = [token.plain for token in tokens[at:end] if token.plain != "'s"]
            if words in (["fav"], ["favourite"], ["favorite"]):
                return None
            if words[0] in ("fav", "favourite", "favorite"):
                words[0] = "favorite"
            if words[-1] in ("favorito", "favorita", "favoritos", "favoritas"):
                words = ["favorite", *words[:-1]]
            if all(token.word or token.plain == "'s" for token in tokens[at:end]):
                return Subject(
                    SELF, first, end, noun=" ".join(words), shown=tuple(tokens[at:end]), loose=words[0] != "favorite"
                )
            return None
        if not (tokens[end].word or owning) or tokens[end].plain in language.joins:
            return None
    return None


def _belongs(tokens: Sequence[Token], at: int, language: Language) -> bool:
    word = tokens[at]
    return (
        not word.word
        or bool(begins(tokens, at, language.copulas))
        or word.plain in language.cuts | language.articles | language.fillers | _USUAL
        or word.plain in ("this", "next", "of", "for", "at", "on", "in", "de", "del", "to")
    )


def _acts(tokens: Sequence[Token], at: int) -> bool:
    """Whether what may be a verb of somebody else stands there: "comes", "cierra"."""
    return at < len(tokens) and tokens[at].plain.endswith(("s", "a", "e")) and not tokens[at].capital


def _theirs(tokens: Sequence[Token], at: int, language: Language, used_s: str) -> tuple[str, int] | None:
    """The attribute of "my wife's name", also where the apostrophe was left out ("my wifes name")."""
    marked = is_owning(tokens, at)
    start = at + marked
    noun, length = noun_at(tokens, start, language)
    if noun and (marked or used_s.endswith("s") or begins(tokens, start + length, language.copulas)):
        return noun, start + length
    if marked and start + 1 < len(tokens) and tokens[start].plain in ("favorite", "favourite", "fav"):
        for end in range(start + 1, min(start + 4, len(tokens))):
            if begins(tokens, end, language.copulas):
                return "favorite " + " ".join(token.plain for token in tokens[start + 1 : end]), end
    end = _end_of_theirs(tokens, at, language) if marked and language.name == "en" else 0
    if end and person_at(tokens, start, language)[0]:
        return None  # "my boss's wife is Ana" tells of nobody of the speaker's
    return (" ".join(token.plain for token in tokens[start:end]), end) if end else None


def _end_of_theirs(tokens: Sequence[Token], at: int, language: Language) -> int:
    """Where "assistant" of "my dentist's assistant is …" ends; 0 where the "'s" at `at` says who that is."""
    if not is_owning(tokens, at):
        return 0
    for end in range(at + 1, min(at + 4, len(tokens))):
        if end > at + 1 and tokens[end].plain != "'s" and begins(tokens, end, language.copulas):
            return end
        if tokens[end].capital or not tokens[end].word:
            return 0
    return 0


def _named(tokens: Sequence[Token], at: int, language: Language, *, noted: bool) -> Subject | None:
    """Somebody by name alone, where what follows is said of somebody: "Mia lives in …", "TestCorp owes me …"."""
    skip = int(tokens[at].plain in ("the", "חברת", "la", "el", "empresa"))
    start = at + skip
    for end in range(min(start + 4, len(tokens)), start, -1):
        part = tokens[start:end]
        if language.name == "he" and (len(part) > 2 or any(token.plain.endswith(("תי", "נו")) for token in part)):
            continue  # somebody did something
        if skip and not part[0].capital and language.name != "he" and not noted:
            continue  # "the photo is from …"
        if len(part) > 1 and part[0].plain in language.asks:
            continue  # "Add David's manager"
        if not all(
            nameable(token, language) or token.plain in _NAMED_WITH or (i and token.written == "&")
            for i, token in enumerate(part)
        ):
            continue
        if (
            len(part) > 1
            and not all(token.capital or token.plain in _NAMED_WITH or token.written == "&" for token in part[1:])
            and language.name != "he"
        ):
            continue
        if (
            begins(tokens, end, language.copulas)
            or best_match(tokens, end, language, third=True)
            or is_owning(tokens, end)
        ):
            theirs = _theirs(tokens, end, language, used_s="") if is_owning(tokens, end) else None
            name = tuple(part)
            if theirs is not None:
                return Subject(in_plain(name), at, theirs[1], noun=theirs[0], name=name, loose=True, shown=name)
            return Subject(in_plain(name), at, end, name=name, loose=True, shown=name)
    return None
