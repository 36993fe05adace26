"""How sure each sort of evidence is. It is reported; by_description.py and by_pronoun.py ask back (`Unclear`)."""

CONFIDENCE = {
    "number": 0.95,
    "ordinal": 0.97,
    "exclusion": 0.95,
    "group": 0.9,
    "comparison": 0.92,
    "name": 0.97,
    "part of name": 0.85,
    "value": 0.85,
    "type": 0.9,
    "pointing": 0.92,
    "part": 0.9,
    "other": 0.85,
    "asked": 0.9,
    "agreed": 0.88,
    "chosen": 0.9,
    "perhaps chosen": 0.75,
    "older": 0.7,
}
"""Share of right answers by sort of evidence, as `benchmarks/references.py` measures it (rounded down)."""
