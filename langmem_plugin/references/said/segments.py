"""An utterance cut where it turns to something else, each piece with whether it wants or turns down what it names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import phrases

_BREAKS = frozenset(phrases(",|.|;|!|?|(|)|but|just|pero|sino|אבל|אלא"))
_BUT = frozenset(("but", "pero", "אבל"))
_JOINS = frozenset(phrases("and|or|&|plus|y|e|o|n|או|as well as|along with|y el|y la|y los|y las|ו"))
_CORRECTS = frozenset(
    phrases(
        "i said|dije|אמרתי|i mean|i meant|meant|scratch that|make that|or rather|no wait|wait no|oops|digo|בעצם|התכוונתי"
    )
)
_CORRECTS_FIRST = frozenset(phrases("wait|actually|sorry|rather|mejor|espera|perdon|בעצם|רגע|סליחה"))
"""Those that correct only where a piece begins with them, or right after a "no"."""
_STATES = frozenset(
    phrases(
        "is|was|are|were|that's|thats|that|who|which|whos|who's|whats|what|still|its|it's|im|i'm|has|have|had|do|does|did|can|could|will|would|q|que|esta|estan|es|son|ha|han|tiene|tienen|se|lo|שלא|ש|עוד|עדיין|זה|שהוא|שהיא|מה|who've|one|ones|of|with|w"
    )
)
NEGATIONS = frozenset(
    phrases(
        "isn't|isnt|aren't|arent|wasn't|wasnt|hasn't|hasnt|haven't|havent|doesn't|doesnt|didn't|didnt|can't|cant|won't|wont|weren't|ain't|aint|שאין|אין|שלא|without|w/o|sin|בלי|ללא|never|nobody|nadie|none"
    )
)
_INSTEAD = frozenset(phrases("instead of|rather than|en vez|en lugar|במקום"))
_SUBJECTS = frozenset(phrases("i|im|i'm|ill|i'll|ive|i've|we|we're|were|he|she|they|אני|אנחנו|yo"))
_RELATIVE = frozenset(
    phrases(
        "that|thats|one|ones|who|which|what|when|where|than|if|because|cuz|can|could|should|do|did|have|will|am|are|is|weve|the|how|why|whatever|stuff|thing|things|w|ש|מה"
    )
)
_UNFIT = frozenset(
    phrases(
        "ni loco|ni loca|ni hablar|no gracias|no thanks|doesn't work|doesnt work|won't work|wont work|no good|no way|no sirve|no vale|no me|לא בא|לא מתאים|לא מתאימה|לא טוב|לא טובה"
    )
)
_ACTS = frozenset(phrases("don't|dont|do not|never|no quiero|אל"))


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
    opening: list[Mark] = []
    denied = False
    for held, joined, corrects in _pieces(marks, found):
        if corrects or (pieces and _takes_back(held)):
            pieces = [replace(piece, rejected=True) for piece in pieces]
        if held:
            rejected, kept = _rejection(held, first=not pieces)
            if pieces and held is not opening and (heads(held[:3]) or held[0].has("the", "this")):
                pieces[0] = replace(pieces[0], rejected=pieces[0].rejected or denied)
            if not pieces:
                opening, denied = held, held[0].text in ("no", "לא") and len(held) in (2, 3)
            if kept and not (pieces and _takes_back(held)):
                pieces.append(Segment(kept, kept[0].start, kept[-1].end, rejected, joined and bool(pieces)))
    return pieces


_TAKING_BACK = frozenset(phrases("uy|ay|ah|oh|oops|ups|wait|sorry|espera|perdon|mejor|actually|hmm|אוי|רגע|סליחה|אה"))


def _takes_back(held: Sequence[Mark]) -> bool:
    """As "uy no" does in "la 3, uy no, la 7": what was said before is not meant."""
    texts = {mark.text for mark in held}
    denies = texts & {"no", "לא"}
    return bool(denies) and 0 < len(texts - denies) < _LONGEST_INTERJECTION and texts - denies <= _TAKING_BACK


_LONGEST_INTERJECTION = 3


def _pieces(marks: Sequence[Mark], found: Sequence[Phrase]) -> Iterator[tuple[list[Mark], bool, bool]]:
    held: list[Mark] = []
    joined = corrects = False
    for place, mark in enumerate(marks):
        if any(phrase.start < mark.start and mark.end < phrase.end for phrase in found):
            held.append(mark)
            continue
        following = marks[place + 1].text if place + 1 < len(marks) else ""
        two = f"{mark.text} {following}"
        if mark.text in _INSTEAD or two in _INSTEAD:
            yield held, joined, corrects
            held, joined, corrects = [Mark("not", mark.start, mark.start, {"not": 0})], False, False
            continue
        if held and _begins_message(marks, place):
            break
        ahead = marks[place + 1 : place + 2]
        first = not held or held[-1].text == "no"
        told = mark.text in _CORRECTS or two in _CORRECTS
        if mark.text in _CORRECTS_FIRST and ahead:
            told = told or first or _is_place(held[-1], ahead[0])
        counts = any(phrase.start == mark.start and mark.end < phrase.end for phrase in found)  # "no 1"
        no_the = mark.text == "no" and bool(held) and following in ("the", "that", "this")
        turns = no_the or (told and bool(ahead))
        begins = bool(held) and (
            (mark.text in _SUBJECTS and held[-1].text not in _RELATIVE)
            or (not no_the and not counts and _starts_rejection(marks, place))
            or _turns_to_another(held, mark, ahead)
        )
        if mark.text in _BUT and following in NEGATIONS | {"no"} and held:
            held.append(mark)  # "the one with parking but no lift"
            continue
        joins = mark.text in _JOINS
        if mark.text == "?" and len(held) > 1 and held[-1].text == "no":
            held.pop()  # "the third is new, no?"
        if begins or joins or turns or mark.text in _BREAKS:
            yield held, joined, corrects
            held, joined, corrects = [mark] if begins and not turns else [], joins, turns
        elif held or not place or f"{marks[place - 1].text} {mark.text}" not in _CORRECTS:
            held.append(mark)
    yield held, joined, corrects


def _begins_message(marks: Sequence[Mark], place: int) -> bool:
    """As in "tell mia *that* I'm late", "תגיד לו *שאני* מאחר": from there on it is what is to be said."""
    if place < 2 or not any(mark.text in TELLING for mark in marks[:2]):
        return False
    following = marks[place + 1].text if place + 1 < len(marks) else ""
    return marks[place].text in _TOLD or (marks[place].text in ("that", "que", "q") and following in CLAUSE)


TELLING = frozenset(
    phrases(
        "tell|text|remind|message|inform|warn|dile|decile|avisa|avisale|recuerdale|escribe|תגיד|תגידי|תודיע|תודיעי|תכתוב|תכתבי|תזכיר|תזכירי"
    )
)
_TOLD = frozenset(phrases("שאני|שאנחנו|שזה|שיש|שאין|שהוא|שהיא|שהם"))


def _is_place(before: Mark, after: Mark) -> bool:
    """As in "the fourth *sorry* the fifth": one place in a list behind another."""
    return before.has("ordinal", "one", "digit") and (after.has("ordinal", "the", "digit") or after.definite)


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


def _starts_rejection(marks: Sequence[Mark], place: int) -> bool:
    """As in "the 31 one not the 18 one": a "not" that stands before a thing, not in a clause about it."""
    mark = marks[place]
    if mark.text not in ("not", "no", "לא"):
        return False
    before, after = marks[place - 1], marks[place + 1] if place + 1 < len(marks) else None
    return (
        after is not None
        and before.text not in _STATES
        and after.has("the", "this", "label", "digit", "ordinal", "these", "it", "marker")
    )


def _rejection(held: list[Mark], *, first: bool) -> tuple[bool, list[Mark]]:
    """Whether a piece turns something down, and its marks without the word that says so."""
    opening = held[0]
    if first and opening.text in ("no", "nope", "nah", "לא", "nop", "nono") and len(held) > 1:
        second = held[1]
        if opening.text == "לא" and (second.has("the", "this", "it", "them") or second.definite or second.text == "את"):
            return True, held[1:]
        if opening.text == "no" and second.text.split()[0] in ("el", "la", "los", "las", "ese", "esa", "del"):
            return True, held[1:]
        return (True, held[2:]) if second.text == "not" else (False, held[1:])
    if opening.text in _DROPS and len(held) in (2, 3) and held[1].has("this", "it"):
        return True, held[1:]
    if opening.text in ("not", "never", "no", "לא", "nope", "ni") and len(held) > 1:
        return True, held[1:]
    if (
        held[-1].text == "no" and len(held) > 1 and opening.has("the", "this", "these", "it", "one")
    ):  # "ese no", "el de ayer no"
        return True, held[:-1]
    pairs = {f"{mark.text} {after.text}" for mark, after in pairwise(held)}
    if opening.has("the", "this", "these") and pairs & _UNFIT:
        return True, held
    acts = next((place for place, mark in enumerate(held[:3]) if mark.text in _ACTS), -1)
    if acts >= 0 and len(held) > acts + 1 and held[acts + 1].text != "you":
        return True, held[acts + 1 :]
    return False, held


_DROPS = frozenset(
    phrases("forget|leave|scratch|skip|nevermind|never mind|olvida|deja|עזוב|עזבי|תעזוב|תעזבי|תשכח|תשכחי")
)


_ASKED_DENIED = frozenset(phrases("isn't|isnt|aren't|arent|wasn't|wasnt|didn't|didnt|doesn't|doesnt|weren't"))
"""As in "isnt that one at mayas", which denies nothing."""


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


def lacked(marks: Sequence[Mark], place: int) -> bool:
    """Whether it is said behind a word that the things meant are without it: "turn on alerts for those that don't have it"."""
    told = " ".join(mark.text for mark in marks[place + 1 :])
    return _LACKS.search(told) is not None


_LACKS = re.compile(
    r"(?:doesn'?t|don'?t|hasn'?t|haven'?t|no|not|didn'?t)(?: (?:have|has|got|get))? (?:it|one|any|them|yet)$|\bno (?:lo|la) tienen?$|\bque no tienen?$|ש?אין (?:לו|לה|להם|להן)$"
)
_TAKING = frozenset(
    phrases("interested|looking|fine|ok|okay|happy|good|thinking|leaning|going|taking|down|into|all|sold|after")
)
_HEADS = frozenset(
    phrases(
        "one|ones|everyone|everybody|everything|whoever|whoevers|whoever's|whichever|stuff|thing|things|guy|guys|ppl|el de|la de|los de|las de|del de|el que|la que|los que|las que|el q|la q|los q|las q|lo que|lo q|lo de|lo del|del que|del q"
    )
)
_OF_THOSE = frozenset(phrases("that|who|with|w|in|from|of|on|at|without"))
_POINTERS = frozenset(phrases("זה|זאת|זו|אלה|אלו|מה|כל מה|מי|כל מי|אלו|את זה|את זאת"))


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


def of_oneself(marks: Sequence[Mark]) -> bool:
    """As in "ill be at the airport at 7": a person speaks of what they are or do, and points at nothing by that."""
    if len(marks) > 1 and marks[0].text in ("that", "que", "q"):
        marks = marks[1:]
    second = marks[1].text if len(marks) > 1 else ""
    being = marks[0].text in ("im", "i'm", "we're") or (marks[0].text in ("ill", "i'll", "we'll") and second == "be")
    return being and second not in _TAKING


CLAUSE = frozenset(phrases("i|im|i'm|ill|i'll|ive|i've|we|you|he|she|they|my|the|there|it|its|it's|mom|dad|our|is|was"))
"""Words that a clause begins with."""
_NOTE_IT, _LONG_NOTE = frozenset(("apuntalo", "anotalo", "apuntamelo", "anotamelo")), 3
_REMEMBER = frozenset(
    phrases(
        "remember|dont forget|don't forget|recuerda|acuerdate|no olvides|note|apunta|זכור|תזכור|תזכרי|אל תשכח|אל תשכחי"
    )
)


def to_be_remembered(marks: Sequence[Mark]) -> bool:
    """As in "remember that im paying for the venue": a statement, to be kept as it is."""
    if len(marks) > _LONG_NOTE and marks[-1].text in _NOTE_IT and not marks[0].has("the", "this", "one", "ordinal"):
        return True
    for place, mark in enumerate(marks[:2]):
        two = f"{mark.text} {marks[place + 1].text}" if place + 1 < len(marks) else ""
        if mark.text in _REMEMBER or two in _REMEMBER:
            rest = [each.text for each in marks[place + 1 : place + 4] if each.text not in ("that", "que", "q")]
            said = any(each.text in ("que", "q") for each in marks[place + 1 : place + 2])
            return bool(rest) and (said or rest[0] in CLAUSE)
    return False


_REFUSING = frozenset(phrases("do|rather|better|would|should|to|please|id|i'd|di"))
_STOPPING = frozenset(phrases("stop|never|quit"))
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


_LEAVING = frozenset(
    phrases(
        "leave out|skip|ignore|forget|forget about|drop|deja fuera|quita|olvida|salta|תשאיר בחוץ|תוריד|תוותר על|בלי"
    )
)


def left_out(segment: Segment) -> Segment:
    """As in "leave out the sold ones and send me the rest": turned down, without the verb; else as it was."""
    texts = [mark.text for mark in segment.marks[:3]]
    for place, (text, after) in enumerate(pairwise((*texts, ""))):
        size = 2 if f"{text} {after}" in _LEAVING else 1 if text in _LEAVING else 0
        if size and len(segment.marks) > place + size:
            return replace(segment, marks=segment.marks[place + size :], rejected=True)
    return segment
