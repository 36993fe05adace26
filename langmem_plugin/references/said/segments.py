"""An utterance cut where it turns to something else, each piece with whether it wants or turns down what it names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.requests import is_verb
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.text.value_words import kinds_of_words
from langmem_plugin.references.words import word_set

_BREAKS = word_set(",|.|...|;|!|?|(|)|but|just|pero|sino|אבל|אלא")
_BUT = frozenset(("but", "pero", "אבל"))
_BUT_NOT = frozenset(("but not", "pero no", "אבל לא"))
_NAY = word_set("no|nah|nope|nop|nono|לא")
_ALONE = _NAY | {"טעות"}
"""Those that turn down what stands before them where they are a piece of their own."""
_NO_FOR = word_set("no q|no que|no porque|no xq")
"""As in "padelbox no q es un atraco, la de 20": why not, up to the comma."""
_SAYING = word_set("que|q|como|por|o|or|and|y|tell|say|said|dile|diles|di")
_SHORT = 4
_JOINS = word_set("and|or|&|plus|y|e|o|n|או|as well as|along with|y el|y la|y los|y las|ו")
_CORRECTS = word_set(
    "hang on|hold on|no hang|no hold|i said|dije|אמרתי|i mean|i meant|meant|scratch that|make that|or rather|no wait|wait no|no perdona|no perdon|no sorry|no espera|mejor dicho|quise decir|לא רגע|לא סליחה|uy no|ay no|ups no|אוי לא|oops|digo|בעצם|התכוונתי"
)
_CORRECTS_FIRST = word_set("wait|actually|sorry|soz|er|erm|nah|nope|nvm|rather|mejor|espera|perdon|בעצם|רגע|סליחה")
"""Those that correct only where a piece begins with them, or right after a "no"."""
_TURNS_FIRST = word_set("or no|o no|ya no|um no|hmm no|ugh no|uf no|או לא|אה לא|אוף לא")
"""The same, of two words."""
_OF_TWO = _CORRECTS | _TURNS_FIRST
_REFUSALS = word_set("nah|nope|er|erm")
_STATES = word_set(
    "is|was|are|were|that's|thats|that|who|which|whos|who's|whats|what|still|its|it's|im|i'm|has|have|had|do|does|did|can|could|will|would|q|que|esta|estan|es|son|ha|han|tiene|tienen|se|lo|שלא|ש|עוד|עדיין|זה|שהוא|שהיא|מה|who've|one|ones|of|with|w"
)
NEGATIONS = word_set(
    "isn't|isnt|aren't|arent|wasn't|wasnt|hasn't|hasnt|haven't|havent|doesn't|doesnt|didn't|didnt|can't|cant|won't|wont|weren't|ain't|aint|שאין|אין|שלא|without|w/o|sin|בלי|ללא|never|nobody|nadie|none|w out|w/out|טרם|שטרם"
)
_INSTEAD = word_set("instead of|rather than|en vez|en lugar|במקום")
_MORE = frozenset(("more", "less", "fewer"))
_AUXILIARY = word_set("no|que|q|lo|la|los|las|le|les|me|te|se|ya|nunca|todavia|aun")
"""Before the Spanish "he": "los que no he empezado"."""
_SUBJECTS = word_set("i|im|i'm|ill|i'll|ive|i've|we|we're|were|he|she|they|אני|אנחנו|yo")
_RELATIVE = word_set(
    "that|thats|one|ones|who|which|what|when|where|than|if|because|cuz|can|could|should|do|did|have|will|am|are|is|weve|the|how|why|whatever|stuff|thing|things|w|ש|מה"
)
_UNFIT = word_set(
    "ni loco|ni loca|ni hablar|no gracias|no thanks|doesn't work|doesnt work|won't work|wont work|no good|no way|no sirve|no vale|no me|no puedo|no puede|no podemos|no llego|cant do|can't do|cant make|can't make|לא יכול|לא יכולה|לא רלוונטי|לא רלוונטית|לא צריך|לא צריכה|לא רוצה|לא בא|לא מתאים|לא מתאימה|לא טוב|לא טובה|לא מעניין|לא מעניינת|לא מעניינים|לא מעניינות"
)
_ACTS = word_set("don't|dont|do not|never|no quiero|אל")


@dataclass(frozen=True, eq=False)
class Segment:
    """`joined` says that it goes on with "and" from the one before."""

    marks: Sequence[Mark]
    start: int
    end: int
    rejected: bool = False
    joined: bool = False

    def holds(self, phrase: Phrase) -> bool:
        return phrase.start < self.end and self.start < phrase.end


def segments(marks: Sequence[Mark], found: Sequence[Phrase]) -> list[Segment]:
    """In order; no phrase is cut. What stands before a correction ("no wait, …") counts as turned down."""
    pieces: list[Segment] = []
    cut = list(_pieces(marks, found))
    last = max((place for place, (held, *_) in enumerate(cut) if _names(held)), default=0)
    for place, (held, joined, corrects) in enumerate(cut):
        if corrects:
            pieces = [replace(piece, rejected=True) for piece in pieces]
        if pieces and place < last and len(held) == 1 and held[0].text in _ALONE:
            pieces = [replace(piece, rejected=True) for piece in pieces]  # "tenby.. no, aberdaron"
        elif held:
            joins = place + 1 < len(cut) and cut[place + 1][1]
            rejected, kept = _rejection(held, first=not pieces, goes_on=place < last and not joins)
            if not rejected and _too_much(held) and any(_another(later, found) for later, *_ in cut[place + 1 :]):
                rejected = True
            if not rejected and (ignored := _ignores(held)) and any(_names(piece.marks) for piece in pieces):
                rejected, kept = True, ignored
            if kept:
                pieces.append(Segment(kept, kept[0].start, kept[-1].end, rejected, joined and bool(pieces)))
    return pieces


def but_the_rest(pieces: Sequence[Segment], phrases: Sequence[Phrase]) -> list[Segment]:
    """As in "leave out the ferry, send me the rest": the rest is all but what is named before it."""
    found = next(
        ((piece, each) for each in phrases for piece in pieces if each.kind == "others" and piece.holds(each)), None
    )
    if found is None or found[0].joined:
        return list(pieces)
    whole, rest = found
    before = [mark for mark in whole.marks if mark.end <= rest.start]
    cut = [replace(whole, marks=before, end=before[-1].end)] if before else []
    kept = replace(whole, marks=[mark for mark in whole.marks if mark.start >= rest.start], start=rest.start)
    behind = [piece for piece in pieces if piece.start >= whole.end]
    ahead = [*(piece for piece in pieces if piece.end <= whole.start), *cut]
    return [*(replace(piece, rejected=True) for piece in ahead), kept, *behind]


def _pieces(marks: Sequence[Mark], found: Sequence[Phrase]) -> Iterator[tuple[list[Mark], bool, bool]]:
    held: list[Mark] = []
    joined = corrects = False
    for place, mark in enumerate(marks):
        if any(phrase.start < mark.start and mark.end < phrase.end for phrase in found):
            held.append(mark)
            continue
        following = marks[place + 1].text if place + 1 < len(marks) else ""
        two = f"{mark.text} {following}"
        than = mark.text == "than" and any(each.has("comparison") or each.text in _MORE for each in held)
        than = than and not _of_amount(held, marks[place + 1 : place + 3])
        if than or mark.text in _INSTEAD or two in _INSTEAD:
            yield held, joined, corrects
            held, joined, corrects = [Mark("not", mark.start, mark.start, {"not": 0})], False, False
            continue
        ahead = marks[place + 1 : place + 2]
        first = not held or held[-1].text == "no"
        told = mark.text in _CORRECTS or two in _CORRECTS
        if mark.text in _CORRECTS_FIRST and ahead:
            told = told or (first and (place > 0 or mark.text not in _REFUSALS))
        told = told or (two in _TURNS_FIRST and not held)
        counts = any(phrase.start == mark.start and mark.end < phrase.end for phrase in found)  # "no 1"
        no_the = mark.text == "no" and not mark.has("marker") and bool(held or place)
        no_the = no_the and any(each.has("the", "this", "other") for each in ahead)
        if two in _CORRECTS and place + 2 == len(marks) and held:
            corrects = True  # "the dress, er the duvet i mean"
            break
        for_this = two in _NO_FOR and (not held or any(each.text == "," for each in marks[place:]))
        turns = no_the or for_this or (told and bool(ahead))
        begins = bool(held) and (
            (mark.text in _SUBJECTS and held[-1].text not in _RELATIVE and not _is_auxiliary(mark, held[-1]))
            or (not no_the and not counts and _starts_rejection(marks, place))
            or _turns_to_another(held, mark, ahead)
        )
        if mark.text in _BUT_NOT and held:
            yield held, joined, corrects
            held, joined, corrects = [Mark("not", mark.start, mark.end, {"not": 0})], False, False
            continue
        if mark.text in _BUT and following in NEGATIONS | {"no"} and held:
            held.append(mark)  # "the one with parking but no lift"
            continue
        joins = mark.text in _JOINS
        if mark.text == "?" and place > 1 and held and held[-1].text in _NAY:
            held.pop()  # "the third is new, no?"
        if begins or joins or turns or mark.text in _BREAKS:
            yield held, joined, corrects
            held, joined, corrects = [mark] if begins and not turns else [], joins, turns
        elif held or not place or f"{marks[place - 1].text} {mark.text}" not in _OF_TWO | _NO_FOR:
            held.append(mark)
    yield held, joined, corrects


def _of_amount(held: Sequence[Mark], following: Sequence[Mark]) -> bool:
    """As in "less than 20", "cheaper than a grand": a limit, and no other thing."""
    first, second = (*(word.code for mark in following for word in kinds_of_words(mark.text)[:1]), "", "")[:2]
    counted = held[-1].text in _MORE or second in _MEASURES
    return first == "k" or (first == "n" and counted) or (first in "ax" and second in ("n", *_MEASURES))


_MEASURES = ("k", "x", "u", "U", "%", "q", "f")
"""Kinds of words, of `value_words.py`, that make a number an amount."""


def _turns_to_another(held: Sequence[Mark], mark: Mark, following: Sequence[Mark]) -> bool:
    """As in "not the 3rd one *the* 4th", "not acme *the* cheaper one": a second thing, behind one turned down."""
    if len(held) > 2 and held[0].text == "no" and held[1].has("not"):
        held = held[1:]
    if len(held) < 2 or held[0].text not in ("not", "no", "לא") or refuses(held):
        return False
    named = (
        len(held) == 2
        and not held[1].kinds
        and any(each.has("comparison", "ordinal", "last", "one") for each in following)
    )
    return (
        (named and mark.has("the"))
        or mark.has("other")
        or (
            len(held) > 2
            and mark.has("the")
            and any(each.has("the") for each in held)
            and not held[-1].has("preposition", "of", "the")
            and held[-1].text not in ("with", "w", "con", "de")
        )
    )


def _names(held: Sequence[Mark]) -> bool:
    """Whether a piece says more than thanks or yes."""
    return any(
        mark.text[:1].isalnum() and not mark.has("polite", "confirm", "not", "greeting", "idiom") for mark in held
    )


def _is_auxiliary(mark: Mark, before: Mark) -> bool:
    """As the Spanish "he" in "los que no he empezado"."""
    return mark.text == "he" and before.text in _AUXILIARY


def _starts_rejection(marks: Sequence[Mark], place: int) -> bool:
    """As in "the 31 one not the 18 one": a "not" that stands before a thing, not in a clause about it."""
    mark = marks[place]
    if mark.text not in ("not", "nt", "no", "לא"):
        return False
    before, after = marks[place - 1], marks[place + 1] if place + 1 < len(marks) else None
    return (
        after is not None
        and before.text not in _STATES
        and after.has("the", "this", "label", "digit", "ordinal", "these", "it", "marker", "weekday", "month")
    )


def _rejection(held: list[Mark], *, first: bool, goes_on: bool) -> tuple[bool, list[Mark]]:
    """Whether a piece turns something down, and its marks without the word that says so; `goes_on` says that another
    follows it.
    """
    opening = held[0]
    if held[-1].text == "eh" and len(held) > 1:
        held = held[:-1]
    if first and goes_on and opening.text in _NAY and " ".join(mark.text for mark in held[1:]) in _KEEP_IT:
        return True, held[2:]
    if opening.text == "לא" and goes_on and len(held) in (2, 3):
        return True, held[1:]  # "לא וולך, משעול"
    if first and opening.text in _NAY and len(held) > 1:
        second = held[1]
        if goes_on and _forgets(held[1:]):
            return True, held[2:]
        if opening.text == "לא" and (second.has("the", "this", "it", "them") or second.definite or second.text == "את"):
            return True, held[1:]
        if opening.text == "no" and second.text.split()[0] in ("el", "la", "los", "las", "ese", "esa", "del"):
            return True, held[1:]
        if opening.text == "no" and goes_on and held[-1].text in _PLEASE and not second.has("the", "this", "it"):
            return True, held[1:]  # "no asylum pls, sarah would freak. submarine"
        return (True, held[2:]) if second.text == "not" else (False, held[1:])
    if goes_on and _forgets(held):
        return True, held[1:]
    if goes_on and opening.text == "leave" and held[-1].text in _BE and len(held) > 2:
        return True, held[1:-1]
    if goes_on and held[-1].text in _LET_GO and len(held) > 1:
        return True, held[:-1]
    if len(held) > 2 and opening.has("confirm") and held[1].text == "not":
        return True, held[2:]  # "ok not risking that one then, …"
    if opening.text in _DROPS and len(held) in (2, 3) and any(mark.has("this", "it") for mark in held[1:]):
        return True, held[1:]
    if opening.text in ("not", "nt", "never", "no", "לא", "nope", "ni") and len(held) > 1:
        return True, held[1:]
    short = goes_on and len(held) <= _SHORT and not any(mark.text in _SAYING for mark in held)
    if held[-1].text in ("no", "לא") and len(held) > 1 and (short or opening.has("the", "this", "these", "it", "one")):
        return True, held[:-1]  # "ese no", "el de ayer no"
    pairs = {f"{mark.text} {after.text}" for mark, after in pairwise(held)}
    definite = opening.has("the", "this", "these", "one") or opening.definite or opening.text == "את"
    if definite and pairs & _UNFIT:
        return True, held
    acts = next((place for place, mark in enumerate(held[:3]) if mark.text in _ACTS), -1)
    if acts >= 0 and len(held) > acts + 1 and held[acts + 1].text != "you":
        return True, held[acts + 1 :]
    return False, held


_KEEP_IT = word_set("keep that|keep it|keep this|leave that|leave it")
_BE = ("be", "alone", "out")
_PLEASE = frozenset(("pls", "please", "plz"))
_FORGETS = word_set("forget|scratch|skip|scrap|ditch|olvida|olvidate de|descarta|תשכח|תשכחי|עזוב|עזבי|תעזוב|תעזבי")
_HOLDS_OFF = ("hold", "off", "on")
_LET_GO = word_set(
    "dejalo|dejala|dejalos|dejalas|descartalo|descartala|descartalos|descartalas|olvidalo|olvidala|olvidalos|olvidalas"
)
_DROPS = word_set("forget|leave|scratch|skip|nevermind|never mind|olvida|deja|עזוב|עזבי|תעזוב|תעזבי|תשכח|תשכחי")


_ASKED_DENIED = word_set("isn't|isnt|aren't|arent|wasn't|wasnt|didn't|didnt|doesn't|doesnt|weren't")
"""As in "isnt that one at mayas", which denies nothing."""


def _forgets(held: Sequence[Mark]) -> bool:
    """As in "forget the tortoise, all the other ones", "hold off on 412, look at 419"."""
    if tuple(mark.text for mark in held[:3]) == _HOLDS_OFF and len(held) > 3:
        return True
    return held[0].text in _FORGETS and len(held) > 1


def _ignores(held: Sequence[Mark]) -> list[Mark]:
    """What is behind "ignore" and the like at the end: "all that failed, ignore the pending one"."""
    size = 2 if " ".join(mark.text for mark in held[:2]) in _IGNORES else int(held[0].text in _IGNORES)
    return list(held[size:]) if size else []


_IGNORES = word_set("ignore|leave out|leave off|ignora|deja fuera|תתעלם|תתעלמי")


def _too_much(held: Sequence[Mark]) -> bool:
    """As in "the last one looks too fiddly, get me the moss one"."""
    return any(mark.text in _TOO and after.text[:1].isalpha() for mark, after in pairwise(held))


def _another(held: Sequence[Mark], found: Sequence[Phrase]) -> bool:
    """As "the moss one" and "take 3" do, which name another thing."""
    numbered = (phrase for phrase in found if phrase.kind == "numbers")
    return bool(heads(held)) or any(held and held[0].start <= phrase.start < held[-1].end for phrase in numbered)


_TOO = ("too", "demasiado", "demasiada")


def negated(marks: Sequence[Mark], place: int) -> bool:
    """Whether the word at a place is denied in its clause: "isn't paid", "no teacher", "hasn't answered yet"."""
    asked = len(marks) > 1 and marks[0].text in _ASKED_DENIED and marks[1].has("this", "the", "it", "there", "these")
    for mark in reversed(marks[max(place - 4, int(asked)) : place]):
        if (
            mark.text in NEGATIONS
            or mark.has("not")
            or mark.text in ("no", "out of", "missing", "lacks", "lack", "w/o")
        ):
            return True
        if mark.has("punctuation", "and"):
            return False
    return False


_IS_NOT = word_set("isn't|isnt|aren't|arent|wasn't|wasnt|ain't|aint|שלא|שאינו|שאינה|שהוא לא|שהיא לא|שהם לא")


def does_not(marks: Sequence[Mark], place: int) -> bool:
    """Whether somebody named at a place did not do something: "the ones sheila didnt raise", "lo que no trae covisa"."""
    before = [mark.text.split()[-1] for mark in marks[max(place - 4, 0) : place]]
    following = marks[place + 1].text if place + 1 < len(marks) else ""
    if following in _DOES_NOT:
        return not _OF_WHICH.isdisjoint(before[-1:])
    return any(pair in (("que", "no"), ("q", "no")) for pair in pairwise(before[:-1]))


_DOES_NOT = word_set("didnt|didn't|doesnt|doesn't|hasnt|hasn't|wont|won't|cant|can't|isnt|isn't")
_OF_WHICH = word_set("one|ones|that|those|what|everything|anything|which|stuff|things")
_BEING = word_set("is|are|that's|thats|es|son|sea|sean|era|שהוא|שהיא|שהם")


def is_not(marks: Sequence[Mark], place: int) -> bool:
    """Whether a thing is said not to be what the word at a place names: "all that isn't soy", "los que no sean de marta"."""
    before = [
        mark.text for mark in marks[max(place - 4, 1) : place] if not mark.has("the", "of", "indefinite", "preposition")
    ]
    if not before:
        return False
    pair = set(before[-2:])
    return before[-1] in _IS_NOT or (len(pair) == 2 and bool(pair & {"not", "no", "לא"}) and bool(pair & _BEING))


_HEADS = word_set(
    "one|ones|everyone|everybody|everything|whoever|whoevers|whoever's|whichever|stuff|thing|things|guy|guys|ppl|el de|la de|los de|las de|del de|el que|la que|los que|las que|el q|la q|los q|las q|lo que|lo q|lo de|lo del|del que|del q"
)
_OF_THOSE = word_set("that|who|with|w|in|from|of|on|at|without")
_POINTERS = word_set("זה|זאת|זו|אלה|אלו|מה|כל מה|מי|כל מי|אלו|את זה|את זאת")


def heads(marks: Sequence[Mark]) -> list[int]:
    """Places of the words that a description hangs on: "the blue *one*", "*el de* la tarde", "*זאת* של שלישי"."""
    found = []
    for place, mark in enumerate(marks):
        following = marks[place + 1].text if place + 1 < len(marks) else ""
        if mark.text == "those" and following in _OF_THOSE:
            found.append(place)
        if (
            mark.text in _HEADS
            or (mark.has("one") and mark.text not in ("un", "una", "uno"))
            or f"{mark.text} {following}" in _HEADS
            or (
                (mark.text in _POINTERS or mark.text.removeprefix("כש") in _POINTERS)
                and following[:1] in ("ש", "ב", "מ", "ע", "ל")
                and following
            )
        ):
            found.append(place)
    return found


CLAUSE = word_set("i|im|i'm|ill|i'll|ive|i've|we|you|he|she|they|my|the|there|it|its|it's|mom|dad|our|is|was")
"""Words that a clause begins with."""


_REMEMBER = word_set(
    "remember|dont forget|don't forget|recuerda|acuerdate|no olvides|note|apunta|זכור|תזכור|תזכרי|אל תשכח|אל תשכחי"
)


_NOTED = word_set("note that|note it|note it down|fyi|apuntalo|recuerdalo|tell the team")
_POINTING = ("it", "this", "these", "one", "ordinal", "marker")


def to_be_remembered(marks: Sequence[Mark]) -> bool:
    """As in "remember that im paying for the venue", "pete is off til tuesday, note that": a statement, to be kept as it
    is.
    """
    if _is_noted([mark for mark in marks if not mark.has("punctuation", "and")]):
        return True
    for place, mark in enumerate(marks[:2]):
        two = f"{mark.text} {marks[place + 1].text}" if place + 1 < len(marks) else ""
        if mark.text in _REMEMBER or two in _REMEMBER:
            rest = [each.text for each in marks[place + 1 : place + 4] if each.text not in ("that", "que", "q")]
            said = any(each.text in ("que", "q") for each in marks[place + 1 : place + 2])
            return bool(rest) and (said or rest[0] in CLAUSE)
    return False


def _is_noted(marks: Sequence[Mark]) -> bool:
    size = next((size for size in (3, 2, 1) if " ".join(mark.text for mark in marks[-size:]) in _NOTED), 0)
    told = marks[: len(marks) - size]
    return size > 0 and bool(told) and not is_verb(told[0].text) and not any(mark.has(*_POINTING) for mark in told)


_REFUSING = word_set("do|rather|better|would|should|to|please|id|i'd|di")


_STOPPING = word_set("stop|never|quit")


_SPANISH_ORDER = ("es", "as", "e")


def refuses(marks: Sequence[Mark]) -> bool:
    """As in "do not pay the first", "I'd rather not close it", "stop paying the second", "no cierres el primero"."""
    texts = [mark.text for mark in marks[:5]]
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        if text == "not" and before in _REFUSING:
            return True
        if text in _STOPPING and place <= 1:
            return True
    opening = texts[1] if len(texts) > 1 and texts[0] == "no" else ""
    return len(opening) > 4 and opening.endswith(_SPANISH_ORDER) and opening.isalpha() and not marks[1].kinds
