"""What a new fact does to an old one: says it again, takes its place, stands beside it, or has nothing to do with it."""

from dataclasses import dataclass
from typing import Final, Literal

from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.subjects import SELF
from langmem_plugin.facts.tokens import plain
from langmem_plugin.facts.values import canonical, same, within
from langmem_plugin.facts.words import LANGUAGES

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
)
_MEATLESS: Final = canonical("vegetarian vegan pescatarian pescetarian carnivore")
_MEAT: Final = frozenset({"meat", "carne", "בשר", "שר"})
_NOTHING: Final = frozenset("anything nothing any money a thing nada more כלום שום דבר".split())
_ROLES: Final = frozenset(role for language in LANGUAGES for role in language.people.values())
_ONE_OF_A_KIND: Final = frozenset({"wife", "husband", "partner", "mother", "father", "boss"})
_COMPANY: Final = frozenset("company ltd inc corp llc gmbh grupo group co the empresa חברת חברה".split())


@dataclass(frozen=True)
class Relation:
    kind: Literal["duplicate", "supersedes", "keeps_both", "unrelated"]
    reason: str


def relation(new: Statement, old: Statement) -> Relation:
    """What `new` does to `old`, were it said after it; when in doubt both are kept, since losing a fact is worst."""
    if same(new.text, old.text) and (new.slot is None or old.slot is None or _gone(new) == _gone(old)):
        return Relation("duplicate", "says the same in the same words")
    if new.slot is None or old.slot is None or new.value is None or old.value is None:
        return _without_slot(new, old)
    alike = _same_subject(new.slot.who, old.slot.who)
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
    if same(ours, theirs):
        if gone == was_gone:
            return Relation("duplicate", "says the same value in other words")
        return Relation("supersedes", "says that it is no more so" if gone else "says that it is so after all")
    if gone and not was_gone:
        if within(ours, theirs) or not canonical(ours) - _NOTHING:
            return Relation("supersedes", "says that it is no more so")
        return Relation("keeps_both", "ends something else")
    if gone or was_gone:
        return Relation("keeps_both", "what is not so does not contradict what is")
    if _diet(ours, theirs):
        return Relation("supersedes", "is another diet")
    if not single:
        return Relation("keeps_both", "there can be several of these")
    if (
        new.instead_of is None
        and within(ours, theirs)
        and not _numbers(ours)
        and len(canonical(ours)) < len(canonical(theirs))
    ):
        return Relation("duplicate", "says less of the same")
    return Relation("supersedes", f"only one {new.slot.attribute if new.slot else 'value'} holds at a time")


def _across(new: Statement, old: Statement, ours: str, theirs: str) -> Relation:
    """Two attributes that can say one thing: "a car" and "a red Toyota", "home" and "address"."""
    related = any({ours, theirs} <= group for group in _ALIKE)
    if related and _gone(new) and not _gone(old) and within(new.value or "", old.value or ""):
        return Relation("supersedes", "says that it is no more so")
    if related and same(new.value or "", old.value or "") and _gone(new) == _gone(old):
        return Relation("duplicate", "says the same value in other words")
    if ours == theirs == "diet" and _diet(new.value or "", old.value or ""):
        return Relation("supersedes", "is another diet")
    return Relation("keeps_both" if related else "unrelated", "is about something else")


def _without_slot(new: Statement, old: Statement) -> Relation:
    if new.instead_of and old.value and same(new.instead_of, old.value):
        return Relation("supersedes", "corrects the value")
    ours, theirs = canonical(new.text), canonical(old.text)
    if ours and ours == theirs and _gone(new) == _gone(old) and _denies(new.text) == _denies(old.text):
        return Relation("duplicate", "says the same in nearly the same words")
    return Relation(
        "keeps_both" if len(ours & theirs) * 2 > len(ours | theirs) else "unrelated",
        "what one of them states is not clear",
    )


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
    return bool(one & _MEATLESS and other & _MEATLESS and one != other) or bool(one & _MEAT and other & _MEATLESS)


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
        return "no" if role and other_role and role != other_role else "yes"
    if role and role == other_role:
        return "yes" if role in _ONE_OF_A_KIND else "perhaps"
    return "no"


def _parts(who: str) -> tuple[str, frozenset[str]]:
    role = next(
        (each for each in sorted(_ROLES, key=len, reverse=True) if who == each or who.startswith(f"{each} ")), ""
    )
    name = canonical(who.removeprefix(role)) - _COMPANY
    return role, name
