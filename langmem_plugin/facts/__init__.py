"""What a sentence states about whom, found by rules: no model, no database."""

from langmem_plugin.facts.statement import FactType, Slot, Statement

__all__ = ["FactType", "Slot", "Statement"]
