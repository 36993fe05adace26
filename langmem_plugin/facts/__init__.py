"""The facts that a sentence states and whom they are about, found by rules: no model, no database."""

from langmem_plugin.facts.attributes import FactType, Slot, Statement
from langmem_plugin.facts.new_against_old import (
    Relation,
    alike_slots,
    another_subject,
    cannot_repeat,
    relation,
    resting_on,
    subjects,
)
from langmem_plugin.facts.rule_extraction import statement_of, statements
from langmem_plugin.facts.text_classification import Classification, classify

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
    "subjects",
]
