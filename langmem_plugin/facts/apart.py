"""What keeps two facts of one slot apart, though only one value of it can hold: another debt, person, time or past."""

import re
from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.statement import Statement
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.values import canonical
from langmem_plugin.languages.language import LANGUAGES, phrases, words
from langmem_plugin.languages.plain_text import plain

_WORD = re.compile(r"[^\W\d_]++(?:['\"][^\W\d_]++)*+|\d++(?:[.,:]\d++)*+|,")
_MONEY: Final = frozenset(word for language in LANGUAGES for word in language.currencies)
_IDLE: Final = frozenset(word for language in LANGUAGES for word in language.empty | language.fillers) | words(
    "a|al|el|la|le|un|una|unos|the|to|still|total"
)
_CHANGED: Final = tuple(phrase for language in LANGUAGES for phrase in language.changed)
_QUALIFYING: Final = words(
    "eldest|oldest|elder|older|youngest|younger|little|big|middle|other|another|first|second|third|twin|step|half|foster|late"
    "|mayor|menor|mediano|mediana|otro|otra|primer|primero|primera|segundo|segunda|tercer|tercera|gemelo|gemela"
    "|הגדול|הגדולה|הקטן|הקטנה|האמצעי|האמצעית|הבכור|הבכורה|הצעיר|הצעירה|השני|השנייה|השניה|הראשון|הראשונה|השלישי|השלישית|האחר|האחרת"
    "|התאום|התאומה|גדול|גדולה|קטן|קטנה"
)
_FORMER: Final = words(
    "old|ex|former|previous|formerly|antiguo|antigua|anterior|exjefe|exjefa|exmujer|exmarido|exnovio|exnovia"
    "|לשעבר|הקודם|הקודמת|הישן|הישנה|האקס|האקסית"
)
_NEW: Final = words("new|nuevo|nueva|חדש|חדשה")
_TOO: Final = phrases("too|also|as well|additionally|another|tambien|ademas|גם|וגם|בנוסף")
_CLAUSES: Final = words("when|whenever|if|cuando|כשאני|אם|another|also|גם|וגם|tambien|ademas|additionally")
_WHEN: Final = phrases(
    "when|whenever|if|cuando|כשאני|אם|weekends|weekend|weekdays|evenings|mornings|nights|afternoons|in summer|in winter|in spring|in autumn|in the summer"
    "|in the winter|in the spring|in the autumn|in the fall|summers|winters|at night|in the evening|in the evenings|part time"
    "|part-time|on the side|during the week|on holidays|on vacation|holidays|sometimes|occasionally"
    "|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays"
    "|fines de semana|fin de semana|entre semana|en verano|en invierno|en otono|en primavera|de noche|por la noche|por las noches"
    "|por las tardes|a veces|medio tiempo|los lunes|los martes|los miercoles|los jueves|los viernes|los sabados|los domingos"
    "|בסופי שבוע|בסופי השבוע|בסוף שבוע|בסוף השבוע|בסופש|בקיץ|בחורף|באביב|בסתיו|בלילה|בלילות|בערב|בערבים|בחגים|בחופש|באמצע השבוע"
    "|בימי חול|בימי ראשון|בימי שני|בימי שלישי|בימי רביעי|בימי חמישי|בימי שישי|בשבתות|לפעמים|במשרה חלקית"
)
NARROWING: Final = tuple(phrase for phrase in (*_WHEN, *_TOO) if phrase[0] not in _CLAUSES)
_FOR: Final = words("for|para|por|עבור|בשביל")
_TIME_BEFORE: Final = words("at|by|from|around|a|las|la|pm|am|ב")
_ONE_OF_A_KIND: Final = frozenset(
    ["wife", "husband", "partner", "mother", "father", "parents", "boss", "manager", "landlord", "ex"]
)
_SEVERAL: Final = frozenset(role for language in LANGUAGES for role in language.people.values()) - _ONE_OF_A_KIND


def apart(new: Statement, old: Statement) -> str | None:
    """Why `new` leaves `old` as it is, though it says another value of the same slot; None where nothing does."""
    if new.slot is None or old.slot is None:
        return None
    if new.slot.attribute == "debt" and _party(new) != _party(old):
        return "is another debt"
    if attribute_of(new.slot.attribute).category == "money" and _purpose(new) != _purpose(old):
        return "is for something else"
    ours, theirs = _said(new), _said(old)
    if _among(ours, _TOO) != _among(theirs, _TOO):
        return "is so as well"
    if bool(_times(new)) != bool(_times(old)):
        return "is so at another time"
    about, about_old = (_about(each, said) for each, said in ((new, ours), (old, theirs)))
    if about & _FORMER != about_old & _FORMER:
        return "is about what was before"
    if new.slot.who in _SEVERAL | {SELF} and about & _QUALIFYING != about_old & _QUALIFYING:
        return "is about somebody else"
    if new.slot.who == old.slot.who in _SEVERAL and not (_among(ours, _CHANGED) or _a_year_on(new, old)):
        return "may be about somebody else"
    return None


def denied(value: str, text: str) -> bool:
    """As in "My neighbor is Ron, not Dan": right after a negation stands the value, and it is all that is negated."""
    found, said = _WORD.findall(plain(text)), _WORD.findall(plain(value))
    return bool(said) and any(
        found[at - 1] == "," and word in language.negations and found[at + 1 :] == said
        for language in LANGUAGES
        for at, word in enumerate(found)
        if at
    )


def _whole(statement: Statement) -> str:
    """Its own words where it is worded anew of them, since "too" and "my other" may be left out of what is remembered."""
    return statement.quote if len(statement.quote) > len(statement.text) else statement.text


def _said(statement: Statement) -> list[str]:
    """The words of a fact, without a word before a comma that only leads to it ("Also, …")."""
    found = _WORD.findall(plain(_whole(statement)))
    led = found[1:2] == [","]
    return [word for word in found[2 * led :] if word != ","]


def _among(said: Sequence[str], sought: Sequence[tuple[str, ...]]) -> bool:
    line = f" {' '.join(said)} "
    return any(f" {' '.join(phrase)} " in line for phrase in sought)


def _party(statement: Statement) -> frozenset[str]:
    """To whom, and for what: all that is said of a debt but how much it is."""
    return frozenset(
        word
        for word in _WORD.findall(plain(statement.value or ""))
        if word[0].isalpha() and word not in _MONEY | _IDLE and f"{word}s" not in _MONEY
    )


def _purpose(statement: Statement) -> list[str]:
    """What an amount is for: "the shop" of "900 for the shop"."""
    said = _WORD.findall(plain(statement.value or ""))
    at = next((at for at, word in enumerate(said) if word in _FOR), len(said))
    return [word for word in said[at + 1 :] if word not in _IDLE]


def _about(statement: Statement, said: Sequence[str]) -> set[str]:
    """What is said beside the value: "my eldest daughter is" of "My eldest daughter is 12"."""
    about = set(said) - set(_WORD.findall(plain(statement.value or "")))
    return about - _FORMER if about & _NEW else about  # "a new number, the old one is gone"


def _times(statement: Statement) -> set[tuple[str, ...]]:
    """When alone it is so, where that is not the value itself: "on weekends", but not of "wakes up at 9 at night"."""
    said = [word for word in _WORD.findall(plain(_whole(statement))) if word != ","]
    value = _WORD.findall(plain(statement.value or ""))
    found = set()
    for phrase in _WHEN:
        for at in range(len(said) - len(phrase) + 1):
            if tuple(said[at : at + len(phrase)]) == phrase and not _of_clock(said, at):
                found.add(phrase)
    left = [word for word in value if not any(word in phrase for phrase in found)]
    return found if canonical(" ".join(left)) or not value else set()


def _of_clock(said: Sequence[str], at: int) -> bool:
    """Whether what stands at `at` only says which half of the day a time is of: "at 11 at night"."""
    if said[at] not in ("at", "in", "de", "por", "בערב", "בלילה") or at == 0 or not said[at - 1][0].isdigit():
        return False
    return ":" in said[at - 1] or at < 2 or said[at - 2] in _TIME_BEFORE


def _a_year_on(new: Statement, old: Statement) -> bool:
    ages = [each.value or "" for each in (new, old)]
    if new.slot is None or new.slot.attribute != "age" or not all(age.isdecimal() for age in ages):
        return False
    return int(ages[0]) == int(ages[1]) + 1
