"""Whether the numbers of a fact were said: a count that somebody worked out was not."""

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"\d++(?:[.,:]\d++)*+")
_ISO_DATE = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?\b")
_WORD = re.compile(r"[^\W\d_]++")
_WORDS: dict[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "two both twins dos ambos ambas שני שתי שניים שתיים",
            "three triplets tres שלושה שלוש שלושת",
            "four cuatro ארבעה ארבע ארבעת",
            "five cinco חמישה חמש חמשת",
            "six seis שישה שש ששת",
            "seven siete שבעה שבע שבעת",
            "eight ocho שמונה שמונת",
            "nine nueve תשעה תשע תשעת",
            "ten diez עשרה עשר עשרת",
            "eleven once אחד־עשר",
            "twelve doce",
        ),
        2,
    )
    for word in words.split()
}


def only_stated(fact: str, said: str) -> bool:
    """Dates are left out: they are worked out from the day on which something was said."""
    stated = set(_numbers(said))
    return all(number in stated for number in _numbers(_ISO_DATE.sub(" ", fact)))


def _numbers(text: str) -> Iterator[str]:
    for found in _NUMBER.findall(text):
        yield found.replace(",", "")
    for word in _WORD.findall(text.lower()):
        if (number := _WORDS.get(word)) is not None:
            yield str(number)
