"""The relation of a new fact to an old one, where rules are sure: it repeats it, replaces it, or stands beside it.

When in doubt both are kept, since losing a fact is worst; `memory/write/repeats_and_changes_by_words` then looks at the words
of both.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from langmem_plugin.facts.attributes import ALIKE, ENDS, GROUPS, Slot, Statement, attribute_of
from langmem_plugin.facts.guards import IDLE
from langmem_plugin.facts.statement_patterns import language_of
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.value_comparison import adds, canonical, in_one_form, same, within
from langmem_plugin.languages.language_words import LANGUAGES, words
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, plain
from langmem_plugin.lru_cache import cached_if_short

_KEPT: Final = 4_096
_WORD: Final = re.compile(r"[^\W_]++")
OPPOSITES: Final = {"dislike": "like"}
_ALIKE: Final = tuple(map(words, ALIKE["alike"]))
_SECRETS: Final = words(ALIKE["secrets"])
_RESTS_ON: Final = {name: words(cell) for names, cell in ALIKE["rests_on"].items() for name in names.split("|")}
_NOUNS: Final = {
    " ".join(noun): meant for each in LANGUAGES for noun, meant in {**each.attributes, **each.people}.items()
}
_ROLES: Final = frozenset(role for language in LANGUAGES for role in language.people.values())
_COMPANY: Final = words("company|ltd|inc|corp|llc|gmbh|grupo|group|co|the|empresa|חברת|חברה")
_NEGATIONS: Final = frozenset(word for language in LANGUAGES for word in language.negations)
_AFTER_NOUNS: Final = IDLE | {","}.union(*((each.common | each.cuts | each.joins) for each in LANGUAGES))
_JOINS: Final = words("and|or|nor|y|e|o|ni|,|ו|או|&")
_NEW: Final = words("new|nuevo|nueva|חדש|חדשה|החדש|החדשה")
_PASTS: Final = words("lived|worked")
_BESIDE: Final = tuple(" ".join(phrase) for language in LANGUAGES for phrase in language.beside)


@dataclass(frozen=True)
class Relation:
    """The relation of a new fact to an old one.

    `by_place` says that only one value holds where each text says one, and the place is not one of the speaker's own
    that is well known ("home", "employer"): it may be two places.
    """

    kind: Literal["duplicate", "supersedes", "keeps_both", "unrelated"]
    reason: str
    by_place: bool = False


SAME_WORDS: Final = Relation("duplicate", "says the same in the same words")


@cached_if_short(_KEPT)
def alike_slots(key: str) -> frozenset[str]:
    """Return the keys of the slots in which the same thing may be said: for "self/home" also "self/address"."""
    who, _, attribute = key.partition("/")
    groups = [group for group in (*_ALIKE, *OPPOSITES.items()) if attribute in group]
    alike = {attribute}.union(*groups, *(ENDS.get(event, ()) for event in (attribute, f"{attribute}-")))
    mortal = GROUPS["mortal"] if attribute == "death" else ()
    return frozenset((*(f"{who}/{each}" for each in alike), *(f"{SELF}/{each}" for each in mortal)))


@cached_if_short(_KEPT)
def subjects(who: str) -> frozenset[str]:
    """Return the names under which somebody is known: two that may be one person share one of them."""
    role, name = _parts(who)
    return frozenset({who, role, " ".join(sorted(name))}) - {""}


def resting_on(changed: Slot) -> frozenset[str]:
    """Return the keys of the slots ("self/gym") whose values become doubtful once the value of
    `changed` is another one.
    """
    attributes = _RESTS_ON.get(changed.attribute, frozenset()) - {changed.attribute} if changed.who == SELF else ()
    return frozenset(f"{SELF}/{attribute}" for attribute in attributes)


def relation(new: Statement, old: Statement) -> Relation:
    """Tell how `new` relates to `old`, if it is said after it."""
    if _worded_alike(new, old):
        return SAME_WORDS
    told = [_of_one(each, old) for each in (new, *new.also)]
    repeats = told[0].kind == "duplicate" or any(_of_one(new, each).kind == "duplicate" for each in old.also)
    if not repeats and (over := next((each for each in told if each.kind == "supersedes"), None)):
        beside = [each for each in old.also if each.slot == old.slot]  # "peanuts, milk and fish"
        ended = all(any(_of_one(part, each).kind == "supersedes" for part in (new, *new.also)) for each in beside)
        return over if ended else Relation("keeps_both", "ends one of several")
    known = all(any(_of_one(part, each).kind == "duplicate" for each in (old, *old.also)) for part in new.also)
    return told[0] if told[0].kind != "duplicate" or known else Relation("keeps_both", "says something more")


def another_subject(new: Statement, old: Statement) -> bool:
    """Tell whether the two are surely about different people or things."""
    if new.slot is None or old.slot is None or _same_subject(new.slot.who, old.slot.who) != "no":
        return False
    # "My dog is old" is about what "the dog limps" is about.
    things = [slot.attribute for slot in (new.slot, old.slot) if slot.who == SELF]
    return new.slot.who not in things and old.slot.who not in things


def cannot_repeat(new: Statement, old: Statement) -> bool:
    """Tell whether `new` says something that `old` does not, so that it cannot repeat it, whoever says so.

    It is about somebody else, names a number, day or name of its own, or denies what the other states.
    """
    return another_subject(new, old) or adds(new.text, old.text) or _differ(new, old)


def _differ(new: Statement, old: Statement) -> bool:
    return _denies(new.text) != _denies(old.text) or is_over(new) != is_over(old)


def _of_one(new: Statement, old: Statement) -> Relation:
    if new.instead_of and old.value and same(new.instead_of, old.value):
        return Relation("supersedes", "corrects the value")
    if new.slot is None or old.slot is None or new.value is None or old.value is None:
        return Relation("unrelated", "what one of them states is not clear")
    if _is_ended(new, old):
        return Relation("supersedes", "tells what ended it")
    alike = _same_subject(new.slot.who, old.slot.who)
    if alike == "no":
        return Relation("unrelated", "is about somebody or something else")
    if alike == "perhaps":
        return Relation("keeps_both", "may be about somebody else")
    ours, theirs = (OPPOSITES.get(slot.attribute, slot.attribute) for slot in (new.slot, old.slot))
    if ours != theirs and not any({ours, theirs} <= group for group in _ALIKE):
        return Relation("unrelated", "is about something else")
    return _of_one_attribute(new, old, is_same=ours == theirs)


def _is_ended(new: Statement, old: Statement) -> bool:
    """Tell whether an event ends the old fact: a separation a marriage, a sale the car, a death a pet and whatever held
    of whom died.
    """
    event, was, over = new.slot, old.slot, is_over(new)
    if event is None or was is None or is_over(old):
        return False
    told, held = plain(new.value or ""), f"{was.attribute} {plain(old.value or '')}"
    spoken = held.replace(",", " , ").split()
    nouns = {_NOUNS.get(word, word) for word in spoken} - {_NOUNS.get(word, word) for word in _before_nouns(old)}
    if _same_subject(event.who, was.who) == "yes":
        values = ENDS.get(f"{event.attribute}-" if over else event.attribute, {}).get(was.attribute)
        said = plain(old.text).split()
        if values is not None and (not values or any(each in said or within(each, held) for each in values)):
            return True
        if over and event.attribute == "possession":
            return not names_several(old) and _NOUNS.get(told, told) in nouns and _beside(new) <= _beside(old)
    if event.attribute != "death" or over or names_several(old) or was.who != SELF or any(map(str.isdigit, held)):
        return False
    role, name = _parts(event.who) if event.who != SELF else ("", canonical(told))
    of_theirs = was.attribute in GROUPS["mortal"] or name == canonical(was.attribute)  # "Bruno is my dog"
    as_theirs = not role or role in nouns or any({role, was.attribute} <= group for group in _ALIKE)
    return of_theirs and as_theirs and (name <= canonical(held) if name else role in nouns)


def names_several(statement: Statement) -> bool:
    """Tell whether several may be named, as in "a dog named Rex and a cat named Mitzi"; Hebrew writes its "and" onto a word."""
    said = plain(statement.value or "").replace(",", " , ").split()[1:]
    listed = any(each.slot == statement.slot for each in statement.also)
    return listed or any(word in _JOINS or word[0] == "ו" for word in said)


def _before_nouns(statement: Statement) -> set[str]:
    """Return the words of an English value that only describe the next one: the "car" of "car seat"."""
    spoken = (statement.value or "").replace(",", " , ").split() if language_of(statement.text).name == "en" else []
    return {plain(word) for word, noun in pairwise(spoken) if noun.islower() and noun not in _AFTER_NOUNS}


def _of_one_attribute(new: Statement, old: Statement, *, is_same: bool) -> Relation:
    over, was_over = is_over(new), is_over(old)
    ours, theirs = new.value or "", old.value or ""
    if _same_value(new, old):
        if over != was_over and _beside(new) != _beside(old):
            return Relation("keeps_both", "may be another one")  # "sold the old car", "bought a new car"
        if over != was_over:
            return Relation("supersedes", "says that it is no more so" if over else "says that it is so after all")
        if adds(new.text, old.text):
            return Relation("keeps_both", "says something more of the same")
        return Relation("duplicate", "says the same value in other words")
    if over and not was_over:
        begins = old.text.startswith(theirs)  # "Married to Dana": there a capital letter names nobody
        another = {plain(word) for word in theirs.split()[begins:] if word[:1].isupper()} - set(plain(ours).split())
        part = canonical(ours) <= _before_nouns(old)
        ends = within(ours, theirs) and not (names_several(old) or another or part)  # "Acme" is not "Acme North"
        return Relation("supersedes", "says that it is no more so") if ends else Relation("keeps_both", "ends another")
    if over or was_over:
        return Relation("keeps_both", "what is not so does not contradict what is")
    if not (is_same and new.slot is not None and new.slot.single):
        return Relation("keeps_both", "there can be several of these")
    if new.slot.who == (old.slot.who if old.slot else "") and new.slot.who in _ROLES - GROUPS["one of a kind"]:
        return Relation("keeps_both", "may be about somebody else")
    if _beside(new) != _beside(old):
        return Relation("keeps_both", "is so as well, or at another time")
    named = new.slot.who == SELF or bool(_parts(new.slot.who)[1])
    told = set(_WORD.findall(plain(new.text))).difference(_WORD.findall(plain(f"{ours} {old.text}")), IDLE)
    # "My new dentist", and not "my new dentist in Haifa".
    is_new = not _NEW.isdisjoint(told) and all(_NOUNS.get(each) == new.slot.attribute for each in told - _NEW)
    by_place = not (named and (is_new or new.slot.attribute in GROUPS["surely one"]))
    return Relation("supersedes", f"only one {new.slot.attribute} holds at a time", by_place)


def _worded_alike(new: Statement, old: Statement) -> bool:
    """Tell whether both say the same words in one order: "Dana owes Ron" differs from "Ron owes Dana", "I love 🍕" from
    "I love 🍣", and a secret "0" from "00".
    """
    alike = in_one_form(new.text) == in_one_form(old.text) and (not _is_secret(new) or _same_value(new, old))
    return alike and not (adds(new.text, old.text) or adds(old.text, new.text) or _differ(new, old))


def _beside(statement: Statement) -> frozenset[str]:
    """Return the words by which a fact may hold beside another of its kind: "too", "on weekends", "my
    other", "my old".
    """
    return _beside_in(max(statement.text, statement.quote, key=len))


@cached_if_short(_KEPT, LONGEST_KEPT)
def _beside_in(text: str) -> frozenset[str]:
    said = f" {' '.join(_WORD.findall(plain(text)))} "
    still = _PASTS if " since " in said or " for " in said else ()  # "lived in London since 2015"
    return frozenset(phrase for phrase in _BESIDE if f" {phrase} " in said and phrase not in still)


def _same_value(new: Statement, old: Statement) -> bool:
    ours, theirs = new.value or "", old.value or ""
    if _is_secret(new) or _is_secret(old):
        return _as_typed(ours) == _as_typed(theirs)
    return same(ours, theirs)


def _as_typed(secret: str) -> str:
    """Return the secret without what groups its digits, where it is only digits."""
    bare = secret.strip(" .")
    return bare if any(c.isalpha() for c in bare) else re.sub(r"[\s-]", "", bare)


def _is_secret(statement: Statement) -> bool:
    """Tell whether the value is a password or the like, in which every letter counts."""
    if statement.slot is None:
        return not _SECRETS.isdisjoint(plain(statement.text).split())
    attribute = statement.slot.attribute
    return attribute_of(attribute).category == "secrets" or not _SECRETS.isdisjoint(attribute.split())


def _denies(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(plain(text).replace("n't", " not").split())


def is_over(statement: Statement) -> bool:
    opposite = statement.slot is not None and statement.slot.attribute in OPPOSITES
    return (statement.negated ^ opposite) or statement.over


def _same_subject(one: str, other: str) -> Literal["yes", "no", "perhaps"]:
    if one == other:
        return "yes"
    if SELF in (one, other):
        return "no"
    (role, name), (other_role, other_name) = _parts(one), _parts(other)
    if name and other_name:
        child = "child" in (role, other_role) and not {role, other_role}.isdisjoint({"son", "daughter"})
        one_role = not (role and other_role) or role == other_role or child
        return "yes" if name == other_name and one_role else "no"
    if role and role == other_role:
        return "yes" if role in GROUPS["one of a kind"] else "perhaps"
    return "no"


@cached_if_short(1_000)
def _parts(who: str) -> tuple[str, frozenset[str]]:
    role = max((each for each in _ROLES if who == each or who.startswith(f"{each} ")), key=len, default="")
    return role, canonical(who.removeprefix(role)) - _COMPANY
