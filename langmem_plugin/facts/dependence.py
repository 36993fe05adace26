"""Which facts become doubtful when another one changes: who moved may have another gym."""

from typing import Final

from langmem_plugin.facts.statement import Slot
from langmem_plugin.facts.subject import SELF
from langmem_plugin.languages.language import words

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


def resting_on(changed: Slot) -> frozenset[str]:
    """The keys of the slots ("self/gym") whose values become doubtful once the value of `changed` is another one."""
    attributes = _RESTS_ON.get(changed.attribute, frozenset()) if changed.who == SELF else frozenset()
    return frozenset(f"{SELF}/{attribute}" for attribute in attributes)
