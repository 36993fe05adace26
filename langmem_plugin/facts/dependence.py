"""Which facts become doubtful when another one changes: who moved may have another gym."""

from typing import Final

from langmem_plugin.facts.statement import Slot
from langmem_plugin.facts.subjects import SELF
from langmem_plugin.facts.words.language_table import words

_RESTS_ON: Final = {
    "home": words(
        "rent|alarm code|doctor|roommate|gp|vet|neighbor|landlord|cleaner|school|dentist|timezone|electrician|plumber|gym|hairdresser|pediatrician|address|commute|door code"
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
