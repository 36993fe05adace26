"""The page of a person who texts: their memories, conversations and permissions, all theirs to change."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
