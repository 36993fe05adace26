"""A text without its secrets: codes, tokens, and the rest of each line that tells a password, a card and such."""

import re
from typing import Final

from langmem_plugin.facts.sensitive_facts import kinds_of

MASK: Final = "•••"
_PLACEHOLDERS = (MASK, "[REDACTED_", "_hash:", "****", "*.*.*.")  # the others are what LangChain's PIIMiddleware leaves
_NUMBERS: Final = frozenset({"card", "national id", "bank"})
_TOKEN = re.compile(r"langmem_[0-9a-f]{12}_[0-9a-f]+")
# The codes of people/link_codes.py. Mere digits, such as two years, are a code only after a command.
_CODE = re.compile(r"(/\w+\s+)?(?<![\w-])[0-9BCDFGHJKMNPQRSTVWXYZ]{4}-[0-9BCDFGHJKMNPQRSTVWXYZ]{4}(?![\w-])")
_OPEN_END = re.compile(r"(?:[:=]|\bis|\bes|הוא|היא)\s*$")
# The beginnings of lines that the product writes: "✅ Remembered: ", "2. ".
_MARKED = re.compile(r"\s{0,9}+(?:[^\w\s\"'“(]{1,4}+ [^:]{0,60}?: |\d{1,4}+\. |- )?")


def is_redacted(text: str) -> bool:
    """Tell whether a text has a placeholder, which is no value to remember."""
    return any(each in text for each in _PLACEHOLDERS)


def without_secrets(text: str) -> str:
    """Return the text with MASK for codes and tokens, and for the rest of each line that tells a password,
    a card and such.
    """
    masked = _CODE.sub(_masked_code, _TOKEN.sub(MASK, text))
    lines, goes_on = [], False
    for line in masked.split("\n"):
        if goes_on or _tells_a_secret(line):
            begin = _MARKED.match(line)
            lines.append(f"{begin[0] if begin and not goes_on else ''}{MASK}")
            goes_on = not line.strip() or _OPEN_END.search(line) is not None
        else:
            lines.append(line)
    return "\n".join(lines)


def _masked_code(found: re.Match[str]) -> str:
    command, code = found[1] or "", found[0].removeprefix(found[1] or "")
    return f"{command}{MASK}" if command or not code.replace("-", "").isdigit() else found[0]


def _tells_a_secret(line: str) -> bool:
    kinds = kinds_of(line)
    return "secret" in kinds or (not kinds.isdisjoint(_NUMBERS) and any(map(str.isdigit, line)))
