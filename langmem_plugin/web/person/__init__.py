"""The page of a person who texts: what is remembered, what was said, what may be; all of it is theirs to change."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
