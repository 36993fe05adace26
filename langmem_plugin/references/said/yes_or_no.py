"""Tell whether words begin with a yes or a no, in any language, as a sign too."""

import re
from dataclasses import dataclass

from langmem_plugin.references.words import LANGUAGES

_YES_SIGNS, _NO_SIGNS = "👍👌✅☑✔🆗🙏💯", "👎❌🚫⛔✖🙅"
_DECORATION = re.compile(
    "[\ufe0f\u200d\u200e\u200f\U0001f3fb-\U0001f3ff♂♀]"
)  # variants, skin tones, marks of direction

_POLITE = re.compile(r"^(?:porfa|please|pls|thanks|thank you|thx|בבקשה|תודה|por favor|gracias)\W*$", re.IGNORECASE)


def _beginning(answer: str) -> re.Pattern[str]:
    longest_first = sorted((form for each in LANGUAGES for form in each.answers[answer]), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


_YES_WORDS, _NO_WORDS = _beginning("yes"), _beginning("no")


@dataclass(frozen=True, slots=True)
class Verdict:
    """An agreement or a refusal. `rest` is what was said beyond the yes or no, courtesies left out."""

    yes: bool
    rest: str = ""


def agrees(said: str) -> Verdict | None:
    """Tell whether the words begin with an agreement or a refusal; None if they begin with neither."""
    text = _DECORATION.sub("", said).replace("’", "'").strip()
    if not text:
        return None
    bare = text.rstrip(" .!,…")
    for signs, yes in ((_YES_SIGNS, True), (_NO_SIGNS, False)):
        if bare and all(sign in signs for sign in bare.replace(" ", "")):
            return Verdict(yes)
    matches = [(found, yes) for words, yes in ((_NO_WORDS, False), (_YES_WORDS, True)) if (found := words.match(text))]
    if not matches:
        return None
    found, yes = max(matches, key=lambda each: each[0].end())  # "no problem" is more than "no"
    return Verdict(yes, _beyond(text[found.end() :], yes=yes))


def _beyond(rest: str, *, yes: bool) -> str:
    rest = rest.strip(" \t\r\n.,;:!-–…" + _YES_SIGNS + _NO_SIGNS)
    if not rest or _POLITE.match(rest):
        return ""
    again = (_YES_WORDS if yes else _NO_WORDS).fullmatch(rest)  # "yes yes", "ok, go ahead"
    return "" if again else rest
