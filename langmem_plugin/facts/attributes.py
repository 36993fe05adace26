"""What facts are about: which attributes hold one value at a time, and what kind of memory they make."""

from dataclasses import dataclass
from typing import Final

from langmem_plugin.facts.statement import FactType


@dataclass(frozen=True)
class Attribute:
    """`event`: it is told when it happens ("moved", "sold"), so "today" does not make it momentary."""

    single: bool
    fact_type: FactType
    category: str
    sensitive: bool = False


def _rows(
    fact_type: FactType, category: str, single: str, many: str = "", *, sensitive: bool = False
) -> dict[str, Attribute]:
    return {
        name: Attribute(alone, fact_type, category, sensitive)
        for cell, alone in ((single, True), (many, False))
        for name in cell.split("|")
        if name
    }


ATTRIBUTES: Final = {
    **_rows("personal", "place", "home|dwelling|address|origin|birthplace|timezone|work address"),
    **_rows(
        "personal",
        "identity",
        "name|age|birthday|birth year|email|phone|pronouns|gender|height|weight|nickname|surname",
    ),
    **_rows("personal", "body", "shoe size|shirt size|size|dress size|trouser size|ring size|eye color|top size"),
    **_rows("company", "work", "employer|boss|manager|office|team", "customer|supplier|colleague"),
    **_rows("company", "work", "salary|income", sensitive=True),
    **_rows("personal", "work", "job|work schedule|field of study|school|university|gym|commute"),
    **_rows("personal", "health", "blood type", "allergy|intolerance|fear|accessibility"),
    **_rows("personal", "health", "", "health|medication", sensitive=True),
    **_rows("personal", "health", "dentist|doctor|gp|vet|pediatrician|hairdresser"),
    **_rows("personal", "health", "therapist|psychologist|psychiatrist|oncologist", sensitive=True),
    **_rows("relationship", "people", "wife|husband|partner|mother|father|relationship|anniversary|children|status"),
    **_rows(
        "relationship",
        "people",
        "landlord|lawyer|accountant|assistant|nanny|teacher|plumber|electrician|cleaner",
    ),
    **_rows(
        "relationship",
        "people",
        "",
        "son|daughter|brother|sister|friend|neighbor|roommate|flatmate|housemate|coworker|classmate|student|pet|dog|cat|cousin|uncle|aunt|child|family",
    ),
    **_rows(
        "preference",
        "taste",
        "answer style|answer length|answer language",
        "like|dislike|diet|drinking|preference|instruction",
    ),
    **_rows(
        "personal",
        "life",
        "",
        "household|routine|hobby|language|car|vehicle|smoking|possession|trip|event",
    ),
    **_rows("personal", "life", "deadline|wedding date|due date|passport expiry|wake-up time", "use"),
    **_rows("personal", "life", "", "religion|observance", sensitive=True),
    **_rows("strategic", "plans", "strategy", "plan"),
    **_rows("personal", "plans", "", "goal"),
    **_rows("company", "money", "debt|monthly payment|price|fee|hourly rate"),
    **_rows("personal", "money", "rent|bank|budget|mortgage"),
    **_rows("project", "projects", "project budget|launch date|day|client"),
    **_rows("decision", "projects", "framework|database|programming language", "decision|scope"),
    **_rows(
        "note",
        "secrets",
        "password|code|username|pin|door code|alarm code|card number|id number|passport number|bank account",
        sensitive=True,
    ),
    **_rows("note", "notes", "", "note"),
}
_OTHER: Final = Attribute(True, "fact", "other")


def attribute_of(name: str) -> Attribute:
    """What is known of an attribute; one that is not in the table holds a single value ("favorite color", "locker")."""
    if name.startswith("favorite ") or name.endswith(" preference"):
        return Attribute(True, "preference", "taste")
    return ATTRIBUTES.get(name, _OTHER)
