"""Which facts become doubtful when another one changes: who moved may have another gym."""

from typing import Final

from langmem_plugin.facts.statement import Slot
from langmem_plugin.facts.subjects import SELF

_RESTS_ON: Final = {
    "home": frozenset(
        {
            "address",
            "gym",
            "commute",
            "dentist",
            "doctor",
            "gp",
            "landlord",
            "rent",
            "roommate",
            "neighbor",
            "plumber",
            "electrician",
            "cleaner",
            "hairdresser",
            "school",
            "door code",
            "alarm code",
            "timezone",
            "pediatrician",
            "vet",
        }
    ),
    "employer": frozenset(
        {"commute", "boss", "manager", "salary", "work address", "work schedule", "job", "team", "colleague", "office"}
    ),
    "job": frozenset(
        {"commute", "boss", "manager", "salary", "work address", "work schedule", "team", "colleague", "office"}
    ),
    "relationship": frozenset({"wife", "husband", "partner", "anniversary"}),
}


def rests_on(slot_key: str, changed: Slot) -> bool:
    """Whether what `slot_key` says ("self/gym") becomes doubtful once the value of `changed` is another one."""
    who, _, attribute = slot_key.rpartition("/")
    return who == changed.who == SELF and attribute in _RESTS_ON.get(changed.attribute, ())
