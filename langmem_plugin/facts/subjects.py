"""Whom a clause is about: the speaker, somebody or something of theirs, or somebody named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from langmem_plugin.facts.grammar import begins, best_match, patterns
from langmem_plugin.facts.person_nouns import HONORIFICS, PUBLIC, serves
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.words import Language
from langmem_plugin.facts.words.language_table import words

SELF: Final = "self"
_PETS: Final = frozenset({"dog", "cat", "pet"})
_GROWTH: Final = words(
    "older|younger|little|big|eldest|oldest|youngest|baby|new|old|late|dear|elder|twin|other|grown|two|three|dos|nuevo|nueva|mayor|menor|pequeno|pequena|הגדול|הקטן|הגדולה|הקטנה|הגדולים|הקטנים|גדול|גדולה|קטן|קטנה"
)
_OWNING: Final = frozenset(("'s", "'", "’"))  # "Mia's", "the kids'"
_NAMED_WITH: Final = words("dr|mr|mrs|ms|prof|sr|sra|dra|miss|uncle|aunt|don|dona")
_NEW: Final = words("new|nuevo|nueva")
_WHERE_OF: Final = words("in|at|of|for|from|en|de|del|para")
_AMOUNTS: Final = words("rent|fee|code|password|pin|door code|alarm code|budget|hourly rate|mortgage|username")
_FOR_WHAT: Final = words("supplier|teacher")
_WHITHER: Final = words("to|up|down|a")
_USUAL: Final = words("normal|usual|regular|standard|current|habitual|actual|full|רגיל|הרגיל|הרגילה")
_MYSELF: Final = words("me|i|yo|אני")
_OF_A_STAY: Final = words(
    "room|hotel|promo|discount|qr|zip|area|country|booking|order|error|coupon|voucher|verification|dress|source|referral"
)
_GOES_ON: Final = words("now|btw|by|from|ahora|and")
_NATIONS: Final = words(
    "german|french|english|british|irish|scottish|american|canadian|mexican|spanish|italian|greek|turkish|israeli|russian|polish|indian|chinese|japanese|korean|thai|dutch|danish|swedish|norwegian|brazilian|argentinian|african|asian|european|jewish|arab|muslim|christian"
)
_OTHERS_OWN: Final = words("his|her|their|your|su|sus|tu|tus")
_KIN: Final = words(
    "daughter|son|child|brother|sister|grandmother|grandfather|uncle|aunt|cousin|nephew|niece|grandson|granddaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|wife|husband"
)


@dataclass(frozen=True)
class Subject:
    """`who` as in a slot; what is said of it goes on at `end`; `first` is where it begins.

    `noun` is the attribute it names, if it does ("my dentist", "my daughter's birthday"), `role` the kind of person,
    `name` the words of a name. `loose`: nothing says that it is a person of theirs.
    """

    who: str
    first: int
    end: int
    third: bool = True
    noun: str | None = None
    role: str | None = None
    name: tuple[Token, ...] = ()
    loose: bool = False
    shown: tuple[Token, ...] = ()


SPEAKER: Final = Subject(SELF, 0, 0, third=False)


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
        return _hebrew(tokens, at, language, noted=noted) or _named(tokens, at, language)
    if word in language.possessives:
        return _possessed(tokens, at, at + 1, language)
    the = word in ("the", "el", "la", "los")
    start = at + the
    while start + 1 < len(tokens) and tokens[start].plain in _NEW:
        start += 1
    if the or begins(tokens, start, _nouns(language)):
        thing = _thing(tokens, at, start, language)
        if thing is not None:
            return thing
    if at and (tokens[at - 1].plain in _OWNING or tokens[at - 1].plain in _OTHERS_OWN):
        return None  # "Dana's wife is Ruth" tells of nobody of the speaker's
    if (
        word in language.bare_people
        or (noted and _person(tokens, at, language)[0])
        or _kin_by_name(tokens, at, language)
    ):
        return _possessed(tokens, at, at, language)
    if word.endswith("s") and word[:-1] in language.bare_people:  # "mums birthday"
        whose = _possessed(tokens, at, at, language)
        if whose is not None and whose.noun is not None:
            return whose
    return (
        _served_by(tokens, at, start, language, theirs=the)
        or _named(tokens, at, language)
        or _compound(tokens, at, start, language)
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
    person, used = _person(tokens, at, language)
    following = tokens[at + used] if at + used < len(tokens) else None
    return (
        person in _KIN
        and following is not None
        and following.capital
        and _nameable(following, language)
        and (
            at == 0 or tokens[at - 1].plain not in language.articles | {"'s", "his", "her", "their", "your", "su", "tu"}
        )
    )


def _served_by(tokens: Sequence[Token], first: int, at: int, language: Language, *, theirs: bool) -> Subject | None:
    """As in "the oven repair guy is Stan", "the plumber i always use is Gary", "tenant in flat 2 is Mrs Osei"."""
    for end in range(at + 1, min(at + 8, len(tokens))):
        if begins(tokens, end, language.copulas):
            break
        if not tokens[end].word or tokens[end].plain in language.joins:
            return None
    else:
        return None
    used = begins(tokens, end, language.copulas)
    value = tokens[end + used : end + used + 1]
    if not value or not (value[0].capital or value[0].plain in HONORIFICS) or value[0].plain in language.common:
        return None
    head = next((place for place in range(at, end) if serves(tokens[place].plain, language)), None)
    if head is None or (tokens[head].plain in PUBLIC and theirs and head == end - 1 and head == at):
        return None
    within = tokens[head + 1 : end]
    if within and not (within[0].plain in language.selves or within[0].plain in _WHERE_OF):
        return None
    if not theirs and not within:
        return None
    if head > at and tokens[at].capital:
        return None
    if any(token.capital for token in within) and within[0].plain in ("of", "de", "del"):
        return None
    named = end + used
    while named < len(tokens) and (tokens[named].capital or tokens[named].plain in HONORIFICS or named == end + used):
        named += 1
    goes_on = named < len(tokens) and tokens[named].word
    if theirs and (value[0].plain in _NATIONS or (goes_on and tokens[named].plain not in _GOES_ON | language.joins)):
        return None
    said = tokens[at : head + 1]
    placed = [token.plain for token in within if token.plain not in language.articles]
    if within and within[0].plain in _WHERE_OF and within[0].plain not in ("for", "para"):
        who = " ".join(placed[1:] if placed and placed[0] in _WHERE_OF else placed)
        return Subject(who, first, end, noun=" ".join(t.plain for t in said), shown=tuple(tokens[first:end]))
    return Subject(SELF, first, end, noun=" ".join(t.plain for t in said), loose=True, shown=tuple(tokens[first:end]))


def _compound(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "flat 2 rent is 980", "garage code is 5521", "flat 2's rent went up to 990": whose amount or code it is."""
    for place in range(at + 1, min(at + 5, len(tokens))):
        if not tokens[place - 1].word or tokens[place - 1].plain in language.possessives | language.selves:
            return None
        if begins(tokens, place, language.copulas) and tokens[place].plain != "'s":
            return None
        marked = _possessive(tokens, place)
        noun, length = _noun(tokens, place + marked, language)
        end = place + marked + length
        if noun in _AMOUNTS and end < len(tokens) and tokens[end].plain in _WHITHER:
            used = 1 + (tokens[end].plain in ("up", "down"))
        else:
            used = begins(tokens, end, language.copulas) if noun in _AMOUNTS else 0
        if not used or end + used >= len(tokens):
            continue
        value = tokens[end + used]
        if not (any(c.isdigit() for c in value.plain) or value.written in "$€£₪"):
            return None
        if noun == "code" and not _OF_A_STAY.isdisjoint(token.plain for token in tokens[at:place]):
            return None
        who = _plain([token for token in tokens[at:place] if token.plain not in language.articles])
        return Subject(who, first, end, noun=noun, shown=tuple(tokens[first:end])) if who else None
    return None


def _apposed(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """As in "Mia, my daughter, is …": a name, and between commas who that is."""
    name, rest = tokens[at : at + 1], tokens[at + 1 : at + 3]
    if len(rest) < 2 or rest[0].plain != "," or not _nameable(name[0], language):
        return None
    possessed = rest[1].plain in language.possessives
    person, used = _person(tokens, at + 2 + possessed, language)
    end = at + 2 + possessed + used
    after = tokens[end : end + 1]
    if language.possessive_after and after and after[0].plain in language.possessives:
        possessed, end = True, end + 1
    if not (person and possessed and end < len(tokens) and tokens[end].plain == ","):
        return None
    return Subject(_who(person, tuple(name)), at, end + 1, role=person, name=tuple(name), shown=tuple(name))


def _possessed(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """What stands after "my": somebody, with or without a name, and what is theirs, or a thing."""
    while at < len(tokens) and tokens[at].plain in _GROWTH | _USUAL:
        at += 1
    person, used = _person(tokens, at, language)
    noun, length = _noun(tokens, at, language)
    if person and used >= length:
        end = at + used
        name = name_at(tokens, end, language)
        shown = (*tokens[at:end], *name)
        who = _who(person, name)
        end += len(name)
        theirs = _theirs(tokens, end, language, used_s=shown[-1].plain)
        if theirs is not None:
            return Subject(who, first, theirs[1], noun=theirs[0], role=person, name=name, shown=shown)
        placed = None if name else _with_place(tokens, Subject(SELF, first, end, noun=person, shown=shown), language)
        if placed is not None and placed.end > end and placed.who != SELF and placed.role is None:
            noun = f"{placed.who} {person}"  # "my manager at the hotel is …"
            return Subject(SELF, first, placed.end, noun=noun, shown=placed.shown)
        return Subject(who, first, end, role=person, name=name, shown=shown)
    if noun:
        if (
            _possessive(tokens, at + length)
            and tokens[at + length + 1 : at + length + 2]
            and tokens[at + length + 1].plain == "name"
        ):
            return Subject(SELF, first, at + length + 2, noun=noun, shown=tuple(tokens[at : at + length]))
        theirs = _theirs(tokens, at + length, language, used_s="") if _possessive(tokens, at + length) else None
        if theirs is not None:
            return Subject(noun, first, theirs[1], noun=theirs[0], shown=tuple(tokens[at : theirs[1]]))
        end = _end_of_theirs(tokens, at + length, language)
        if end:
            owned = " ".join(token.plain for token in tokens[at + length + 1 : end])
            return Subject(noun, first, end, noun=owned, shown=tuple(tokens[at:end]))
        return _with_place(
            tokens, Subject(SELF, first, at + length, noun=noun, shown=tuple(tokens[at : at + length])), language
        )
    name = name_at(tokens, at, language) if tokens[at - 1].plain in _GROWTH else ()
    if name and name[0].capital:  # "my eldest Declan"
        return Subject(_who("child", name), first, at + len(name), role="child", name=name, shown=name)
    return _other_thing(tokens, first, at, language)


def _thing(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "the wifi password at home", "el cumple de mi mamá", "alarm code for the house"."""
    if at < len(tokens) and tokens[at].plain in language.possessives:
        return None
    noun, length = _noun(tokens, at, language)
    if not noun:
        return None
    found = Subject(SELF, first, at + length, noun=noun, loose=True, shown=tuple(tokens[at : at + length]))
    return _with_place(tokens, found, language)


def _with_place(tokens: Sequence[Token], found: Subject, language: Language) -> Subject:
    """Whose or where the thing is, if that is said: "… of my mother", "… for the house"."""
    at = found.end
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
    if found.noun in _FOR_WHAT:  # "our supplier for paper"
        return Subject(SELF, found.first, end, noun=f"{who} {found.noun}", shown=shown)
    return Subject(who, found.first, end, noun=found.noun, loose=found.loose, shown=shown)


def _other_thing(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "my favorite color", "our biggest customer", "my locker": up to where it says what it is."""
    for end in range(at + 1, min(at + 6, len(tokens))):
        if begins(tokens, end, language.copulas):
            words = [token.plain for token in tokens[at:end]]
            if words in (["fav"], ["favourite"], ["favorite"]):
                return None
            if words[0] in ("fav", "favourite", "favorite"):
                words[0] = "favorite"
            if words[-1] in ("favorito", "favorita", "favoritos", "favoritas"):
                words = ["favorite", *words[:-1]]
            if all(token.word for token in tokens[at:end]) and "'s" not in words:
                return Subject(
                    SELF, first, end, noun=" ".join(words), shown=tuple(tokens[at:end]), loose=words[0] != "favorite"
                )
            return None
        if not tokens[end].word or tokens[end].plain in language.joins:
            return None
    return None


def _theirs(tokens: Sequence[Token], at: int, language: Language, used_s: str) -> tuple[str, int] | None:
    """The attribute of "my wife's name", also where the apostrophe was left out ("my wifes name")."""
    marked = _possessive(tokens, at)
    start = at + marked
    noun, length = _noun(tokens, start, language)
    if noun and (marked or used_s.endswith("s") or begins(tokens, start + length, language.copulas)):
        return noun, start + length
    if marked and start + 1 < len(tokens) and tokens[start].plain in ("favorite", "favourite", "fav"):
        for end in range(start + 1, min(start + 4, len(tokens))):
            if begins(tokens, end, language.copulas):
                return "favorite " + " ".join(token.plain for token in tokens[start + 1 : end]), end
    return None


def _end_of_theirs(tokens: Sequence[Token], at: int, language: Language) -> int:
    """Where "assistant" of "my dentist's assistant is …" ends; 0 where the "'s" at `at` says who that is."""
    if not _possessive(tokens, at):
        return 0
    for end in range(at + 1, min(at + 4, len(tokens))):
        if end > at + 1 and tokens[end].plain != "'s" and begins(tokens, end, language.copulas):
            return end
        if tokens[end].capital or not tokens[end].word:
            return 0
    return 0


def _hebrew(tokens: Sequence[Token], at: int, language: Language, *, noted: bool = False) -> Subject | None:
    """As in "הבת שלי מיה", "אשתי", "רופא השיניים שלי", "יום ההולדת של אשתי"."""
    person, used = _person(tokens, at, language)
    noun, length = _noun(tokens, at, language)
    following = tokens[at + used].plain if at + used < len(tokens) else ""
    if (
        person
        and used >= length
        and (following in language.possessives or tokens[at].plain in language.bare_people or noted)
    ):
        end = at + used
        shown: tuple[Token, ...] = tuple(tokens[at:end])
        end += following in language.possessives
        while end < len(tokens) and tokens[end].plain in _GROWTH:
            end += 1
        name = name_at(tokens, end, language)
        return Subject(_who(person, name), at, end + len(name), role=person, name=name, shown=(*shown, *name))
    if (
        at + 1 < len(tokens)
        and tokens[at + 1].plain == "יש"
        and tokens[at].plain[:1] == "ל"
        and len(tokens[at].plain) > 2
    ):
        whose = Token(tokens[at].plain[1:], tokens[at].start + 1, tokens[at].end, tokens[at].written[1:])
        return Subject(whose.plain, at, at + 1, name=(whose,), loose=True, shown=(whose,))  # "לנועה יש אלרגיה"
    called = _called_by(tokens, at, language)
    if called is not None:
        return called
    if not noun:
        if person and language.bare_people and tokens[at].plain[:1] == "ה":  # "הנכד איתן בן 6"
            name = name_at(tokens, at + used, language)
            if name and best_match(tokens, at + used + 1, language, third=True) and person in _KIN:
                end = at + used + 1
                return Subject(_who(person, name), at, end, role=person, name=name, shown=tuple(tokens[at:end]))
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
        owner = _hebrew(tokens, end + 1, language)
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
                _plain(name),
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
            if noun in _FOR_WHAT:
                return Subject(SELF, at, place + 1, noun=f"{who} {noun}", shown=tuple(tokens[at:place]))
            return Subject(who, at, place + 1, noun=noun, loose=True, shown=tuple(tokens[at:place]))
    return None


def _called_by(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """As in "לאשתי קוראים מיכל", "למאמן הריצה שלי קוראים אבי": ahead of "קוראים" stands who is called so."""
    if tokens[at].plain[:1] != "ל" or len(tokens[at].plain) < 3:
        return None
    first = Token(tokens[at].plain[1:], tokens[at].start + 1, tokens[at].end, tokens[at].written[1:])
    end = next((place for place in range(at + 1, min(at + 6, len(tokens))) if tokens[place].plain == "קוראים"), 0)
    if not end:
        return None
    bare = (*tokens[:at], first, *tokens[at + 1 : end])
    person, used = _person(bare, at, language)
    mine = tokens[end - 1].plain in language.possessives
    if not mine and not (person and first.plain in language.bare_people and at + used == end):
        return None
    said = bare[at : end - mine]
    noun = person if person and used == len(said) else None
    if noun is None:
        known, length = _noun(bare, at, language)
        noun = known if length == len(said) else _plain(said)
    return Subject(SELF, at, end, noun=noun, shown=tuple(tokens[at:end]), loose=noun == _plain(said))


def _named(tokens: Sequence[Token], at: int, language: Language) -> Subject | None:
    """Somebody by name alone, where what follows is said of somebody: "Mia lives in …", "TestCorp owes me …"."""
    skip = int(tokens[at].plain in ("the", "חברת", "la", "el", "empresa"))
    start = at + skip
    for end in range(min(start + 4, len(tokens)), start, -1):
        part = tokens[start:end]
        if language.name == "he" and any(token.plain.endswith(("תי", "נו")) for token in part):
            continue  # somebody did something
        if not all(
            _nameable(token, language) or token.plain in _NAMED_WITH or (i and token.written == "&")
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
            or _possessive(tokens, end)
        ):
            theirs = _theirs(tokens, end, language, used_s="") if _possessive(tokens, end) else None
            name = tuple(part)
            if theirs is not None:
                return Subject(_plain(name), at, theirs[1], noun=theirs[0], name=name, loose=True, shown=name)
            return Subject(_plain(name), at, end, name=name, loose=True, shown=name)
    return None


def _possessive(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].plain in _OWNING


def name_at(tokens: Sequence[Token], at: int, language: Language) -> tuple[Token, ...]:
    """The name that stands at `at`, written with a capital or not, before something is said of it."""
    end = at
    while end < len(tokens) and end - at < 3 and _nameable(tokens[end], language):
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


def _nameable(token: Token, language: Language) -> bool:
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


def _person(tokens: Sequence[Token], at: int, language: Language) -> tuple[str | None, int]:
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
    noun, length = _noun(tokens, at, language)
    if not noun and at < len(tokens) and tokens[at].plain.endswith("s"):
        noun = language.attributes.get((tokens[at].plain[:-1],))
        length = 1
    return noun, length


def _noun(tokens: Sequence[Token], at: int, language: Language) -> tuple[str | None, int]:
    for length in (4, 3, 2, 1):
        written = tuple(token.plain for token in tokens[at : at + length])
        if len(written) < length:
            continue
        for phrase in (written, tuple(_bare(word, language) for word in written)):
            if phrase in language.attributes:
                return language.attributes[phrase], length
    return None, 0


@cache
def _nouns(language: Language) -> tuple[tuple[str, ...], ...]:
    return tuple(language.attributes)


def _bare(word: str, language: Language) -> str:
    return word[1:] if language.name == "he" and word[:1] == "ה" and len(word) > 2 else word


def _who(role: str, name: tuple[Token, ...]) -> str:
    return f"{role} {_plain(name)}" if name else role


def _plain(name: Sequence[Token]) -> str:
    return " ".join(token.plain for token in name if token.word)


def is_pet(subject: Subject) -> bool:
    return subject.role in _PETS
