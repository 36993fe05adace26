"""Numbers that say how many things are meant, and limits that these are to keep: "the two that …", "under 20 €"."""

from collections.abc import Sequence

from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import word_set

_ABOVE = word_set(
    "over|above|more than|at least|longer than|bigger than|larger than|greater than|higher than|no less than|upwards of|minimum|min|mas de|por encima de|a partir de|minimo|como minimo|al menos|desde|מעל|שמעל|מעל ל|יותר|יותר מ|שיותר מ|לפחות"
)
_BELOW = word_set(
    "under|below|less than|fewer than|lower than|smaller than|no more than|at most|up to|upto|cheaper than|closer than|shorter than|quicker than|within|inside|maximum|max|menos de|por debajo de|debajo de|no mas de|no llega|no llegan|no pasa de|no pasan de|como mucho|maximo|hasta|מתחת|שמתחת|מתחת ל|שמתחת ל|פחות|פחות מ|שפחות מ|עד"
)
_AFTER = word_set(
    "after|later than|since|despues de|despues del|despues de las|a partir de|a partir de las|partir de las|אחרי|החל מ|מאוחר מ"
)
_BEFORE = word_set(
    "before|b4|earlier than|by|no later than|antes de|antes del|antes de las|hasta el|hasta las|לפני|עד|מוקדם מ"
)
_STRICT = word_set(
    "more than|longer than|bigger than|larger than|greater than|higher than|mas de|יותר|יותר מ|שיותר מ|under|below|less than|fewer than|lower than|smaller than|cheaper than|closer than|shorter than|quicker than|menos de|por debajo de|debajo de|מתחת|שמתחת|מתחת ל|שמתחת ל|פחות|פחות מ|שפחות מ|before|earlier than|antes de|antes del|antes de las|לפני|מוקדם מ|b4|no llega|no llegan|later than|מאוחר מ"
)
_PLURAL = word_set(
    "ones|those|these|everyone|everybody|everything|anyone|whoever|ppl|people|guys|things|stuff|los|las|todos|todas|quienes|cuales|אלה|אלו|כולם|כל|שתי|שני|שתיהן|שניהם|מי|both|all|any|every|each|ambos|ambas|todo"
)
_ARITHMETIC = word_set("plus|minus|times|divided by|+|*|mas|menos|por|ועוד|פחות|כפול|חלקי")
_HEBREW_COUNTS = word_set("שני|שתי|שלושת|שלוש|ארבעת|ארבע")


def counted(marks: Sequence[Mark]) -> int:
    """How many things are spoken of, as by "both", "the two that …", "las 2 de …"; 0 where it is not said."""
    for place, mark in enumerate(marks[:6]):
        before, after = (marks[at] if 0 <= at < len(marks) else None for at in (place - 1, place + 1))
        if mark.has("both") and mark.text not in ("cualquiera", "either", "whichever"):
            return 2
        if mark.text == "pair" and (after is None or not after.has("of")) and not (before and before.has("indefinite")):
            return 2  # "the secret files pair"
        if not mark.count or after is None or after.has("unit", "end", "punctuation", "month", "and"):
            continue
        if place > 1 and marks[place - 2].text in ("a", "de", "desde", "hasta", "el de", "la de", "sobre", "para"):
            continue  # "a las 9"
        articled = before is not None and (before.has("these", "the") or before.text in ("los", "las"))
        if mark.has("digit"):
            if before is not None and (
                before.text in ("los", "las", "these", "those")
                or (before.has("the") and any(_is_several(each) for each in marks[place + 1 : place + 4]))
            ):
                return mark.count
        elif articled or (mark.text in _HEBREW_COUNTS and after.definite):
            return mark.count
    return 0


def reckons(marks: Sequence[Mark]) -> bool:
    """As in "whats 2 plus 2", "cuanto es 87 por 11": a question of two numbers and what is to be done with them."""
    numbers = (mark.has("digit", "cardinal") for mark in marks)
    figures = [place for place, number in enumerate(numbers) if number]
    asked = bool(marks) and marks[0].has("question")
    return asked and any(place + 2 in figures and marks[place + 1].text in _ARITHMETIC for place in figures)


def is_plural(mark: Mark) -> bool:
    """Whether a word speaks of several things."""
    return mark.text in _PLURAL or mark.has("all", "both", "these", "them")


def _is_several(mark: Mark) -> bool:
    """As "ones" is in "the 2 free ones", and "blades" in "the 3 cracked blades"."""
    return mark.text == "ones" or (mark.text.endswith("s") and len(mark.text) > _SHORT and not mark.kinds)


_SHORT = 3  # letters
_ARTICLES = word_set("a|an|the|un|una|los")


def limited(before: Sequence[Mark], *, clocked: bool = False) -> tuple[int, bool]:
    """By the words before a value: 1 where it is the least that things are to have, -1 where the most, else 0; and
    whether that is strict: "less than 20" is not 20, "up to 20" is.

    `clocked` values are times and dates, of which "after" and "before" are said.
    """
    texts = [
        "de" if mark.text == "d" and mark.has("of") else mark.text for mark in before if mark.text not in _ARTICLES
    ]
    for size in range(1, len(texts) + 1):
        told = " ".join(texts[-size:])
        if told in _ABOVE or (clocked and told in _AFTER):
            return 1, told in _STRICT
        if told in _BELOW or (clocked and told in _BEFORE):
            return -1, told in _STRICT
    return 0, False
