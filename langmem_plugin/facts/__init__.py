"""What a sentence states about whom, found by rules: no model, no database."""

from langmem_plugin.facts.classification import Classification, classify
from langmem_plugin.facts.dependence import resting_on
from langmem_plugin.facts.extraction import statement_of, statements
from langmem_plugin.facts.relation import Relation, alike_slots, another_subject, cannot_repeat, relation
from langmem_plugin.facts.statement import FactType, Slot, Statement

__all__ = [
    "Classification",
    "FactType",
    "Relation",
    "Slot",
    "Statement",
    "alike_slots",
    "another_subject",
    "cannot_repeat",
    "classify",
    "relation",
    "resting_on",
    "statement_of",
    "statements",
]
