"""Whether words agree or refuse, in English, Hebrew and Spanish, by a word or a sign."""

import re
from dataclasses import dataclass

_YES = (
    "yes please|yes|yeah|yep|yup|yea|yh|ye|ya|y|mm yes|mmm yes|go on then|sure thing|sure|ok|okay|okey|k|of course|go ahead|do it|please do|pls do|plz do|absolutely|"
    "definitely|approved|approve|confirmed|confirm|confirmo|correct|right|alright|all right|fine|sounds good|go for it|"
    "why not|no problem|no worries|agreed|i agree|by all means|"
    "כן בבקשה|כן|נכון|בטח|בסדר|אוקיי|אוקי|אישור|מאשר|מאשרת|סבבה|יאללה|קדימה|ברור|מסכים|מסכימה|"
    "sí por favor|si por favor|sí|si|claro que sí|claro que si|claro|vale|dale|de acuerdo|por supuesto|adelante|hazlo|"
    "está bien|esta bien|bueno|correcto|perfecto|venga|sip|sii|siii|sí venga"
)
_NO = (
    "no thank you|no thanks|no way|nope|nah|no|n|not now|don't do it|do not do it|don't|do not|never mind|nevermind|"
    "stop|cancel|reject|rejected|refuse|decline|"
    "לא תודה|ממש לא|לא|ביטול|בטל|בטלי|תבטל|תבטלי|עזוב|עזבי|עצור|עצרי|"
    "no gracias|para nada|mejor no|nada|cancela|cancelar|cancelalo|cancélalo|detente|olvídalo|olvidalo|ni hablar"
)
_YES_SIGNS, _NO_SIGNS = "👍👌✅☑✔🆗🙏💯", "👎❌🚫⛔✖🙅"
_DECORATION = re.compile(
    "[\ufe0f\u200d\u200e\u200f\U0001f3fb-\U0001f3ff♂♀]"
)  # variants, skin tones, marks of direction
_POLITE = re.compile(r"^(?:porfa|please|pls|thanks|thank you|thx|בבקשה|תודה|por favor|gracias)\W*$", re.IGNORECASE)


def _beginning(phrases: str) -> re.Pattern[str]:
    longest_first = sorted(phrases.split("|"), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


_YES_WORDS, _NO_WORDS = _beginning(_YES), _beginning(_NO)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rest` is what was said beyond the yes or no, courtesies left out."""

    yes: bool
    rest: str = ""


def agrees(said: str) -> Verdict | None:
    """None where the words begin with neither."""
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
