"""Pronouns and what stands for them: this, those, it, its, there, the previous one; all, both, neither, the other."""

from langmem_plugin.references.said.phrase import Cursor, Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import word_set

_MOST_COUNTED = 12
_OF_PEOPLE = frozenset(("us", "we", "you", "y'all"))
_FINE, _WELL = word_set("all|todo|הכל|הכול"), word_set("good|fine|well|set|bien|bueno|listo|טוב|בסדר|סבבה")
_OTHERS = word_set("others|other ones|other|los otros|las otras|los demas|las demas|otros|otras")
_REST = word_set("rest|resto|demas|השאר|היתר|האחרים|האחרות")
_LEFT = word_set(
    "what's left|whats left|what remains|everyone else|everybody else|everything else|que queda|q queda|que quedan|lo demas|lo que queda|מה שנשאר|כל השאר"
)
"""The rest, behind what is left out: "lose the fiesta, compare what's left"."""
_LIKE = frozenset(("like", "than", "as", "como", "que"))
_BEING = word_set("mas|muy|en|alli|aqui|ahi|alla|a|de|bien|mal|ya|libre|abierto|abierta|listo|lista|lleno|llena")
_STATES = frozenset(("is", "was", "were", "are", "isn't", "es", "era", "fue"))
_SEEMING = _STATES | {"looks", "sounds", "works", "seems"}


def read_pronoun(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    after = cursor.near(1)
    if _points_at_nothing(cursor, mark):
        return None
    if mark.has("these"):
        counted = after.has("cardinal")
        return cursor.take("these", 1 + counted, count=after.number("cardinal") if counted else 0)
    if mark.has("previous") and (
        mark.definite or mark.text.startswith("the ") or cursor.near(-1).has("the", "one", "this", "from")
    ):
        return cursor.take("previous", 1)
    if mark.has("this"):
        return cursor.take("this", 1 + after.has("one"), one=after.has("one"))
    for kind in ("its", "their"):
        if mark.has(kind):
            return cursor.take(kind, 1)
    for kind in ("there", "them", "it"):
        if mark.has(kind):
            return cursor.take(kind, 1, nouns=())
    return _counted(cursor, mark)


def _points_at_nothing(cursor: Cursor, mark: Mark) -> bool:
    """As in "half of them" (which half is not said), "that is fine", "is there", "there are"."""
    before, after = cursor.near(-1), cursor.near(1)
    if before.has("of") and mark.has("them", "these"):
        counted = cursor.near(-2)
        return counted.has("cardinal", "indefinite", "most") or counted.text in ("half", "which", "few", "many")
    if (
        mark.has("this")
        and mark.text in ("este", "esta")
        and (after.text in _BEING or before.text in ("que", "q", "cual"))
    ):
        return True  # "dile que esté allí", "cuál está más lleno"
    if mark.has("this"):
        if before.text in _STATES and after.text.startswith(("some", "any")):
            return True  # "or is that someone else"
        return after.text in _STATES and cursor.near(2).text != "one"
    if mark.has("there"):
        return before.text in _STATES or after.text in _STATES
    return mark.text == "it's" and not after.has("attribute")


def _counted(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "the three", "los dos"."""
    number, following = cursor.near(1), cursor.near(2)
    if not mark.has("the") or not number.has("cardinal") or number.has("one", "unit") or following.has("unit", "one"):
        return None
    if following.has("ordinal", "last"):
        return None  # "los 2 primeros"
    if cursor.near(-1).has("preposition") or not (cursor.language == "en" or mark.text in ("los", "las")):
        return None
    count = number.number("cardinal")
    return cursor.take("these", 2, count=count, explicit=False) if count <= _MOST_COUNTED else None


def read_group(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    if f"{mark.text} {cursor.near(1).text}" in _LEFT:
        return None if cursor.near(2).text in _SEEMING else cursor.take("others", 2)
    kind = next((kind for kind in ("neither", "both", "all") if mark.has(kind)), None)
    if kind is None:
        return _other(cursor, mark)
    if kind == "both" and cursor.near(1).has("cardinal", "ordinal", "label", "marker", "the"):
        return None
    if mark.text == "all" and (cursor.near(-1).has("question") or cursor.near(-1).text in _OF_PEOPLE):
        return None  # "what all do they serve", "love from us all"
    if mark.text in _FINE and cursor.near(1).text in _WELL:
        return None  # "todo bien", "הכל טוב"
    if mark.text == "each" and (cursor.near(-1).has("digit", "unit", "value") or cursor.near(-2).has("digit")):
        return None  # "under 90 euros each"
    size = 1
    while cursor.near(size).has("of", "the", "these", "them") and not cursor.near(size).has("idiom"):
        size += 1
    count = cursor.near(size).count
    count = count if count <= _MOST_COUNTED else 0
    size += count > 0
    return cursor.take(kind, size + cursor.near(size).has("one"), count=count)


def _other(cursor: Cursor, mark: Mark) -> Phrase | None:
    if mark.text in _REST:
        return None if cursor.near(-2).text in _LIKE else cursor.take("others", 1)
    if not mark.has("another", "other") or (mark.text == "עוד" and cursor.near(1).text[:1] == "ל"):
        return None  # "אפשר עוד להציל", "עוד לא"
    definite = (
        mark.definite or mark.text.startswith(("the ", "el ", "la ")) or cursor.near(-1).has("the", "this", "its")
    )
    one, count = cursor.near(1).has("one"), cursor.near(1).count
    several = mark.text in _OTHERS and (mark.text.startswith(("los ", "las ")) or cursor.near(-1).has("the", "these"))
    if several or (definite and count):
        return cursor.take("others", 1 + (count > 0), count=count)
    return cursor.take("other" if definite else "another", 1 + one, one=one)
