"""Texts of others, as they can be shown in a terminal."""

import unicodedata

_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
_HARMLESS = "\n\t\u200c\u200d\u200e\u200f"  # joiners, as in emoji, and the marks that Hebrew is typed with


def visible(text: str) -> str:
    r"""Whatever would steer the terminal or turn the direction of writing as `\u001b`, which JSON reads back."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def indented(text: str) -> str:
    """So that no line of it passes for one that tells of it."""
    return text.replace("\n", "\n      ")


def _visible(character: str) -> str:
    if character in _HARMLESS or unicodedata.category(character) not in _STEERING:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
