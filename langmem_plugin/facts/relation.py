"""What a new fact does to an old one: says it again, takes its place, stands beside it, or has nothing to do with it."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from langmem_plugin.facts.apart import apart, denied
from langmem_plugin.facts.attributes import ATTRIBUTES, attribute_of
from langmem_plugin.facts.changes import ended, ends, moves, opened, parted_from, says_the_same, switches
from langmem_plugin.facts.marks import accents_differ, adds, names
from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.values import canonical, in_one_form, same, within
from langmem_plugin.languages.language import LANGUAGES, words
from langmem_plugin.languages.plain_text import plain

_OPPOSITES: Final = {"dislike": "like"}
_ALIKE: Final = (
    frozenset({"home", "address"}),
    frozenset({"car", "possession", "vehicle"}),
    frozenset({"doctor", "gp"}),
    frozenset({"drinking", "diet"}),
    frozenset({"allergy", "intolerance"}),
    frozenset({"job", "employer"}),
    frozenset({"boss", "manager"}),
    frozenset({"pin", "password"}),
    frozenset({"health", "accessibility"}),
    frozenset({"dog", "cat", "pet"}),
    frozenset({"fee", "price", "monthly payment"}),
    frozenset({"goal", "plan"}),
    frozenset({"gym", "school"}),
    frozenset({"wife", "husband", "partner", "relationship", "status"}),
)
_NEVER_ENDED: Final = words("like|dislike|preference|birthplace|origin|birthday|debt")
_MEATLESS: Final = canonical("vegetarian vegan pescatarian pescetarian carnivore")
_MEAT: Final = frozenset({"meat", "carne", "בשר", "שר"})
_NOTHING: Final = words(
    "paid|settled|cleared|back|everything|off|debt|invoice|bill|account|balance|todo|הכל|anything|nothing|any|money|a|thing|nada|more|כלום|שום|דבר"
)
_ROLES: Final = frozenset(role for language in LANGUAGES for role in language.people.values())
_JOINS: Final = words("and|y|e|,|ו|&")
_COUPLE: Final = frozenset({"wife", "husband", "partner", "relationship"})
_ONE_OF_A_KIND: Final = frozenset({"wife", "husband", "partner", "mother", "father", "boss"})
_NAMED: Final = words("employer|school|gym|customer|supplier|university|colleague")  # "Acme" is not "Acme North"
_WHO_HELPS: Final = words("dentist|doctor|gp|therapist|vet|pediatrician|hairdresser|boss|manager")
_SECRETS: Final = words(
    "password|passcode|passphrase|pin|code|key|username|login|wifi|contrasena|clave|codigo|usuario|סיסמה|הסיסמה|קוד|הקוד|סיסמת|מפתח"
)
_ADDING: Final = words("as|in|at|on|from|for|with|since|como|en|desde|con|para|בתור|עם")
_COMPANY: Final = words("company|ltd|inc|corp|llc|gmbh|grupo|group|co|the|empresa|חברת|חברה")


@dataclass(frozen=True)
class Relation:
    """`by_place`: only one value holds where each text says one, and the place is not one of the speaker's own that is
    well known ("home", "employer"): it may be two places.
    """

    kind: Literal["duplicate", "supersedes", "keeps_both", "unrelated"]
    reason: str
    by_place: bool = False


SAME_WORDS: Final = Relation("duplicate", "says the same in the same words")


def alike_slots(key: str) -> set[str]:
    """The keys of the slots in which the same thing may be said: of "self/home" also "self/address"."""
    who, _, attribute = key.partition("/")
    alike = {attribute}.union(*(group for group in _ALIKE if attribute in group))
    alike |= {said for said, meant in _OPPOSITES.items() if meant == attribute}
    alike |= {meant for said, meant in _OPPOSITES.items() if said == attribute}
    return {f"{who}/{each}" for each in alike}


def relation(new: Statement, old: Statement) -> Relation:
    """What `new` does to `old`, were it said after it; when in doubt both are kept, since losing a fact is worst."""
    if _worded_alike(new, old):
        return SAME_WORDS
    told = [_of_one(each, old) for each in (new, *new.also)]
    found = told[0]
    if any(each.kind == "supersedes" for each in told) and not any(
        _of_one(new, each).kind == "duplicate" for each in (old, *old.also)
    ):
        return next(each for each in told if each.kind == "supersedes")
    if found.kind == "duplicate" and not all(_known(each, old) for each in new.also):
        return Relation("keeps_both", "says something more")
    if found.kind in ("duplicate", "supersedes"):
        return found
    return _by_words(new, old) or found


def another_subject(new: Statement, old: Statement) -> bool:
    """Whether the two are surely about different people or things."""
    return new.slot is not None and old.slot is not None and _same_subject(new.slot.who, old.slot.who) == "no"


def cannot_repeat(new: Statement, old: Statement) -> bool:
    """Whether `new` says something that `old` does not, whoever holds them to be the same: it is about somebody else,
    names a number, day or name of its own, or denies what the other states.
    """
    return (
        another_subject(new, old)
        or adds(new.text, old.text)
        or accents_differ(new.text, old.text)
        or _denies(new.text) != _denies(old.text)
        or _gone(new) != _gone(old)
    )


def _known(part: Statement, old: Statement) -> bool:
    return any(_of_one(part, each).kind == "duplicate" for each in (old, *old.also))


def _by_words(new: Statement, old: Statement) -> Relation | None:
    """Where the slots do not tell: by the words of both texts."""
    if not _may_concern(new, old):
        return None
    if says_the_same(new.text, old.text) and _denies(new.text) == _denies(old.text) and _gone(new) == _gone(old):
        return Relation("duplicate", "says the same in other words")
    if not _gone(old) and _attribute_of(old) not in _NEVER_ENDED and _ended(new, old):
        return Relation("supersedes", "says that it is over")
    if _attribute_of(old) in _COUPLE and any(within(name, old.value or "") for name in parted_from(new.text)):
        return Relation("supersedes", "says that they are no more together")
    if _gone(new) == _gone(old) and (moves(new.text, old.text) or switches(new.text, old.text)):
        return Relation("supersedes", "says what it has changed to")
    return None


def _ended(new: Statement, old: Statement) -> bool:
    """By the words of both, where what is over is of the old value, and the old one is about nobody unsaid in the new."""
    if old.value is not None and not any(
        within(over, old.value) or within(old.value, over) for over in ended(new.text)
    ):
        return False
    who = _parts(old.slot.who)[1] if old.slot is not None and old.slot.who != SELF else frozenset()
    return who <= canonical(new.text) and ends(new.text, old.text)


def _attribute_of(statement: Statement) -> str:
    return statement.slot.attribute if statement.slot else ""


def _may_concern(new: Statement, old: Statement) -> bool:
    """Not where each is surely about somebody else: a person of theirs is no other person and not the speaker."""
    if accents_differ(new.text, old.text):
        return False
    ours, theirs = (each.slot.who if each.slot else "" for each in (new, old))
    if ours and theirs and _same_subject(ours, theirs) == "yes":
        return True
    roles = [_parts(who)[0] for who in (ours, theirs)]
    if roles[0] == roles[1]:
        return True
    return not all(roles) and all(
        not role or _names_role(each.text, role) for role, each in zip(roles, (old, new), strict=True)
    )


def _names_role(text: str, role: str) -> bool:
    said = set(opened(text).replace(",", " ").split())
    return any(
        meant == role and said >= set(phrase) for language in LANGUAGES for phrase, meant in language.people.items()
    )


def _of_one(new: Statement, old: Statement) -> Relation:
    if new.slot is None or old.slot is None or new.value is None or old.value is None:
        return _without_slot(new, old)
    alike = _same_subject(new.slot.who, old.slot.who)
    if alike == "yes" and accents_differ(new.text, old.text):
        return Relation("keeps_both", "may be about somebody else")
    if alike == "no":
        return Relation("unrelated", "is about somebody or something else")
    if alike == "perhaps":
        return Relation("keeps_both", "may be about somebody else")
    ours, theirs = _attribute(new.slot), _attribute(old.slot)
    if new.instead_of and same(new.instead_of, old.value):
        return Relation("supersedes", "corrects the value")
    if ours != theirs:
        return _across(new, old, ours, theirs)
    return _one_attribute(new, old)


def _one_attribute(new: Statement, old: Statement) -> Relation:
    gone, was_gone = _gone(new), _gone(old)
    ours, theirs = new.value or "", old.value or ""
    single = new.slot is not None and new.slot.single
    if _same_value(new, old):
        if gone == was_gone and adds(new.text, old.text):
            return Relation("keeps_both", "says something more of the same")
        if gone == was_gone:
            return Relation("duplicate", "says the same value in other words")
        return Relation("supersedes", "says that it is no more so" if gone else "says that it is so after all")
    if gone and not was_gone:
        named = new.slot is not None and new.slot.attribute in _NAMED and not _less(ours, theirs)
        if _several(theirs) and not _several(ours):
            return Relation("keeps_both", "ends one of several")
        if (within(ours, theirs) and not named) or not canonical(ours) - _NOTHING:
            return Relation("supersedes", "says that it is no more so")
        return Relation("keeps_both", "ends something else")
    if gone or was_gone:
        return Relation("keeps_both", "what is not so does not contradict what is")
    if _diet(ours, theirs):
        return Relation("supersedes", "is another diet")
    if _of_people(new) and denied(theirs, new.text):
        return Relation("supersedes", "corrects the value")
    if not single:
        return Relation("keeps_both", "there can be several of these")
    if (
        new.instead_of is None
        and (_less(ours, theirs) or (_of_people(new) and within(ours, theirs)))
        and len(canonical(ours)) < len(canonical(theirs))
        and not (_numbers(ours) or _is_secret(new) or adds(new.text, old.text))
    ):
        return Relation("duplicate", "says less of the same")
    kept = apart(new, old)
    if kept is not None:
        return Relation("keeps_both", kept)
    only = f"only one {new.slot.attribute if new.slot else 'value'} holds at a time"
    own = new.slot is not None and new.slot.who == SELF and new.slot.attribute in ATTRIBUTES
    return Relation("supersedes", only, by_place=not own)


def _across(new: Statement, old: Statement, ours: str, theirs: str) -> Relation:
    """Two attributes that can say one thing: "a car" and "a red Toyota", "home" and "address"."""
    related = any({ours, theirs} <= group for group in _ALIKE)
    if not new.value and _gone(new) and not _gone(old) and {ours, theirs} <= _COUPLE:
        return Relation("supersedes", "says that they are no more together")
    if related and _gone(new) and not _gone(old) and within(new.value or "", old.value or ""):
        return Relation("supersedes", "says that it is no more so")
    if related and _same_value(new, old) and _gone(new) == _gone(old) and not adds(new.text, old.text):
        return Relation("duplicate", "says the same value in other words")
    if ours == theirs == "diet" and _diet(new.value or "", old.value or ""):
        return Relation("supersedes", "is another diet")
    return Relation("keeps_both" if related else "unrelated", "is about something else")


def _without_slot(new: Statement, old: Statement) -> Relation:
    if new.instead_of and old.value and same(new.instead_of, old.value):
        return Relation("supersedes", "corrects the value")
    ours, theirs = canonical(new.text), canonical(old.text)
    return Relation(
        "keeps_both" if len(ours & theirs) * 2 > len(ours | theirs) else "unrelated",
        "what one of them states is not clear",
    )


def _worded_alike(new: Statement, old: Statement) -> bool:
    """In one order: "Dana owes Ron" is not what "Ron owes Dana" says; nor need "0" be what "00" is."""
    if _is_secret(new) and not _same_value(new, old):
        return False
    if adds(new.text, old.text) or adds(old.text, new.text) or accents_differ(new.text, old.text):
        return False
    told = in_one_form(new.text)
    if not any(word.isalpha() for word in told):
        return plain(new.text) == plain(old.text)
    return (
        told == in_one_form(old.text)
        and _bound(new.text) == _bound(old.text)
        and _gone(new) == _gone(old)
        and _denies(new.text) == _denies(old.text)
    )


def _bound(text: str) -> list[str]:
    """What says how the words of a text stand to each other: "from", "to", "than"."""
    return [word for word in plain(text).split() if any(word in language.binding for language in LANGUAGES)]


def _same_value(new: Statement, old: Statement) -> bool:
    ours, theirs = new.value or "", old.value or ""
    if _is_secret(new) or _is_secret(old):
        return _as_typed(ours) == _as_typed(theirs)
    if new.slot is not None and old.slot is not None and new.slot.attribute == old.slot.attribute == "smoking":
        return True
    return same(ours, theirs, exactly=not _inflects(new) or not _inflects(old))


def _as_typed(secret: str) -> str:
    """Without what groups its digits, where it is only digits."""
    bare = secret.strip(" .")
    return bare if any(c.isalpha() for c in bare) else re.sub(r"[\s-]", "", bare)


def _several(value: str) -> bool:
    """Whether a value is a list: "a Mazda and a Kia"."""
    return any(word in _JOINS for word in plain(value).replace(",", " , ").split())


def _less(ours: str, theirs: str) -> bool:
    """Whether one value says the other but for what is added to it: "Oakmere" and "Oakmere as a teacher"."""
    said, held = ours.casefold().strip(), theirs.casefold().strip()
    rest = held.removeprefix(said)
    words = rest.split()
    return rest != held and bool(words) and (rest[0] in ",(" or words[0] in _ADDING)


def _inflects(statement: Statement) -> bool:
    """Whether the value is no name: "oat" and "oats" are one allergy, "Daniel" and "Daniela" are two dentists."""
    if statement.slot is None or names(f"- {statement.value}"):
        return False
    kind = attribute_of(statement.slot.attribute)
    return (
        kind.category in ("taste", "health", "life", "work") and not kind.single
    ) or statement.slot.attribute == "job"


def _is_secret(statement: Statement) -> bool:
    """A password or the like, in which every letter counts."""
    if statement.slot is None:
        return not _SECRETS.isdisjoint(plain(statement.text).split())
    attribute = statement.slot.attribute
    return attribute_of(attribute).category == "secrets" or not _SECRETS.isdisjoint(attribute.split())


def _denies(text: str) -> bool:
    words = plain(text).replace("n't", " not").split()
    return any(word in language.negations for language in LANGUAGES for word in words)


def _gone(statement: Statement) -> bool:
    negated = statement.negated ^ (statement.slot is not None and statement.slot.attribute in _OPPOSITES)
    return negated or statement.over


def _attribute(slot: Slot) -> str:
    return _OPPOSITES.get(slot.attribute, slot.attribute)


def _diet(ours: str, theirs: str) -> bool:
    one, other = canonical(ours), canonical(theirs)
    return (
        bool(one & _MEATLESS and other & _MEATLESS and one != other)
        or bool(one & _MEAT and other & _MEATLESS)
        or bool(one & _MEATLESS and other & _MEAT)
    )


def _of_people(statement: Statement) -> bool:
    """Whether the value is somebody's name, which may be said without its first or last part."""
    return statement.slot is not None and (
        attribute_of(statement.slot.attribute).category == "people" or statement.slot.attribute in _WHO_HELPS
    )


def _numbers(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _same_subject(one: str, other: str) -> Literal["yes", "no", "perhaps"]:
    if one == other:
        return "yes"
    if SELF in (one, other):
        return "no"
    (role, name), (other_role, other_name) = _parts(one), _parts(other)
    if name and other_name:
        if name != other_name:
            return "no"
        return "no" if role and other_role and not _one_role(role, other_role) else "yes"
    if role and role == other_role:
        return "yes" if role in _ONE_OF_A_KIND else "perhaps"
    return "no"


def _one_role(one: str, other: str) -> bool:
    return one == other or ("child" in (one, other) and not {one, other}.isdisjoint({"son", "daughter"}))


def _parts(who: str) -> tuple[str, frozenset[str]]:
    role = next(
        (each for each in sorted(_ROLES, key=len, reverse=True) if who == each or who.startswith(f"{each} ")), ""
    )
    name = canonical(who.removeprefix(role)) - _COMPANY
    return role, name
