"""What a text says of another one by their words alone: that the same holds, that it is over, that it has moved.

For texts whose slot is not understood, or is understood otherwise in each. Every word of the one has to be found in the
other; what cannot be accounted for keeps both.
"""

import re
from collections.abc import Iterator
from typing import Final

from langmem_plugin.facts.grammar import language_of
from langmem_plugin.facts.marks import adds, marks, names
from langmem_plugin.facts.meaning_phrases import HAPPENING, LEFT_OUT, MAKERS, ONE_MEANING, SHIFTS, TELLING_ALONE
from langmem_plugin.facts.one_meaning import shared
from langmem_plugin.facts.values import canonical, in_one_form
from langmem_plugin.languages.language import LANGUAGES, phrases, words
from langmem_plugin.languages.plain_text import LONGEST_KEPT, plain
from langmem_plugin.lru import cached_if_short

_KEPT: Final = 4_096
_WORD = re.compile(r"[^\W_]++(?:['\"-][^\W_]++)*+|[^\w\s]")
_EMPTY: Final = frozenset(word for language in LANGUAGES for word in language.empty)
_BINDING: Final = frozenset(word for language in LANGUAGES for word in language.binding) - {
    "from",
    "by",
    "con",
    "עם",
    "of",
}
_PLACING: Final = words("at|in|on|en|ב")
_MONEY: Final = frozenset(
    form for language in LANGUAGES for each in language.currencies for form in (each, each.removesuffix("s"))
)
_PEOPLE: Final = frozenset(
    each for language in LANGUAGES for phrase in language.people for word in phrase for each in canonical(word)
)
_STARTING: Final = frozenset(
    word
    for language in LANGUAGES
    for word in language.selves
    | language.possessives
    | language.articles
    | frozenset(w for p in language.leads for w in p)
) | words("the|el|la|los|las|there|trabajo|vivo|pago|tomo|voy|uso|soy|estoy")
_CHANGING: Final = frozenset(
    each
    for language in LANGUAGES
    for phrase in (*language.changed, *language.endings, *language.leads, *language.ended, *language.ended_after)
    for word in phrase
    for each in (word, *canonical(word))
) | frozenset(word for language in LANGUAGES for word in language.fillers | language.weekdays.keys())
_OBJECTS: Final = words("me|us|him|her|them|le|les|nos|לי|לנו|לו|לה|להם")
_CLAUSE = re.compile(r"[,;.!]\s|\s(?:and|but|so|y|pero)\s")
_WRITTEN_ON = re.compile(r"'(?:s|m|ve|re|d|ll)\b", re.IGNORECASE)
_PERIODS: Final = frozenset(word for language in LANGUAGES for word in language.periods_said) | {"h"}
# What may be said of the old value alone: that it is worked, costs, will be ready.
_VERBS: Final = words(
    "work|works|cost|costs|price|will|be|finished|finish|done|ready|due|completed|delivered|start|starts|pay|pays|trabajo|cuesta|cobro|pago|sera|עובד|עובדת|עולה|משלם|משלמת"
)
_TITLES: Final = words("dr|mr|mrs|ms|sr|sra|dra|prof|miss")
_BESIDES: Final = frozenset(
    f"telling {each}" for each in ("back", "last", "next", "until", "since", "before", "after", "up", "upper", "lower")
)
_DAYTIMES: Final = frozenset(("telling morning", "telling night", "telling weekend", "telling weekday"))
_SHIFT: Final = words("shift|shifts|turno|turnos|משמרת|משמרות")
_ONESELF: Final = words("i|me|we|yo|אני|ואני")
_PARTED: Final = phrases(
    "broke up|split up|split|separated|got divorced|divorced|are divorced|are separated|are no longer together|are not together|are over|terminamos|rompimos|nos separamos|nos divorciamos|cortamos|נפרדנו|התגרשנו"
)
_MOVING: Final = words("moved|switched|changed|went|transferred|migrated|cambie|pase|pasamos|cambiamos")
_MOVING_HEBREW: Final = words("עברתי|עברנו|החלפתי")
_NOT: Final = words("not|no|never|לא|dont|doesnt")
_SWITCHED: Final = phrases(
    "switched to|switched over to|moved to|changed to|went over to|have switched to|traded|swapped|instead of|went back to|now with|am with|me cambie a|cambie a|nos cambiamos a|me pase a|nos pasamos a|עברתי ל|החלפתי ל|עברתי|עברנו"
)
_OF_MAKERS: Final = words(
    "car|drive|drives|own|use|uses|phone|bank|main|account|switch|switched|over|traded|swapped|traded in|in|conduzco|coche|uso|me|cambie|pase|נוהג|רכב|טלפון|עברתי"
)
_TYPED_LETTERS: Final = 4
_LONGEST_ENDED: Final = 6
_LONGEST_SENTENCE: Final = 1_000  # letters: what is longer is no sentence that is said again in other words


def opened(text: str) -> str:
    """Plain, without what English writes onto a word: "mum's", "I'm"."""
    return _WRITTEN_ON.sub("", plain(text)).replace("'", " ")


def says_the_same(new: str, old: str) -> bool:
    """Whether each word of both that says anything is in the other, and the names stand in one order.

    Where both say one thing in other words ("supplies", "comes from"), it is enough that the rest is the same.
    """
    if max(len(new), len(old)) > _LONGEST_SENTENCE or not _agree(new, old):
        return False
    bound = (language_of(plain(new), new).binding | language_of(plain(old), old).binding) & _BINDING | _OBJECTS
    if _same_words(new, old, bound, least=2):
        return True
    said, told = (tuple(_WORD.findall(opened(text))) for text in (new, old))
    return any(
        _same_words(" ".join(rest), " ".join(left), bound, least=1 if name in TELLING_ALONE else 2)
        for name, rest, left in shared(said, told)
    )


def _same_words(new: str, old: str, bound: frozenset[str], *, least: int) -> bool:
    ours, theirs = (_telling(text) - LEFT_OUT - _PERIODS for text in (new, old))
    if len(_telling(new) - LEFT_OUT) < least or not (_held(ours, theirs) and _held(theirs, ours)):
        return False
    if not any(word in bound for text in (new, old) for word in plain(text).split()):
        return True
    said, told = ([word for word in in_one_form(text) if word not in _EMPTY - _OBJECTS] for text in (new, old))
    return len(said) == len(told) and all(_one_word(*pair) for pair in zip(said, told, strict=True))  # who gave whom


def _agree(new: str, old: str) -> bool:
    """Whether numbers and names stand in one order in both."""
    counted = [[word for word in in_one_form(text) if word[:1].isdigit()] for text in (new, old)]
    if len(counted[0]) > 1 and counted[0] != counted[1]:
        return False
    named = [[word for word in in_one_form(text) if word in names(new) | names(old)] for text in (new, old)]
    return named[0] == named[1] and not adds(new, old) and not adds(old, new)


def ends(new: str, old: str) -> bool:
    """As in "We dropped Millbrook": what is over is said in `old`, and `old` says nothing of others beside it."""
    told = canonical(new)
    if ended(old):
        return False
    for over in ended(new):
        gone = canonical(over) - _EMPTY
        held = _telling(old)
        if gone and _held(gone, held):
            if held & _PEOPLE - told or _first_name(old) - told - gone:
                return False
            if told & _PEOPLE - held or _first_name(new) - held - _CHANGING:
                return False
            left = {word for word in names(old) | set(marks(old)) if not _held({word}, gone | told)}
            if over in _not_any_more(_WORD.findall(plain(new))):  # it does not matter when it was
                left = {
                    word
                    for word in left
                    if not word.startswith("weekday") and word not in _DAYTIMES and not _is_time(word)
                }
            beside = _beside(old, gone)
            return left <= beside
    return False


def _first_name(text: str) -> set[str]:
    """The word that a text begins with, which may be somebody's name."""
    first = text.split()[:1]
    return {
        word
        for word in (plain(each).removesuffix("'s").strip(",") for each in first)
        if word.isalpha() and word not in _EMPTY | _STARTING | _TITLES
    }


@cached_if_short(_KEPT, LONGEST_KEPT)
def ended(text: str) -> tuple[str, ...]:
    """What a text says to be over: "Millbrook" of "We dropped Millbrook, …", "the van" of "I swapped the van for …"."""
    tokens = _WORD.findall(plain(text))
    found = [*_parted(tokens), *_moved_from(tokens), *_not_any_more(tokens)]
    for language in LANGUAGES:
        for at in range(len(tokens)):
            for phrase in language.endings:
                if tuple(tokens[at : at + len(phrase)]) == phrase:
                    start = at + len(phrase)
                    end = start
                    while (
                        end < len(tokens)
                        and tokens[end] not in language.ends_at
                        and tokens[end][0].isalnum()
                        and not (tokens[end][0] == "ו" and tokens[end].endswith(("תי", "נו")))
                    ):
                        end += 1
                    placed = next((place for place in range(start, end) if tokens[place] in _PLACING), end)
                    if phrase[0] in language.negations or phrase in language.ended:
                        placed = end  # "no longer work at …" does not end all work
                    found += [
                        " ".join(tokens[start:last]) for last in {placed, end} if start < last <= start + _LONGEST_ENDED
                    ]
    return tuple(found)


def _parted(tokens: list[str]) -> Iterator[str]:
    """The names in "Tim and I broke up", "Hugo y yo terminamos"."""
    for at in range(len(tokens)):
        if any(tuple(tokens[at : at + len(phrase)]) == phrase for phrase in _PARTED):
            before = tokens[max(at - 4, 0) : at]
            if {"and", "y", "ואני"} & set(before) and _ONESELF & set(before):
                yield " ".join(word for word in before if word not in _ONESELF | {"and", "y", "have", "has"})


def _moved_from(tokens: list[str]) -> Iterator[str]:
    """The "Barclays" of "moved my account from Barclays to Monzo"; in Hebrew both letters are written onto the words."""
    for at, word in enumerate(tokens):
        if word in _MOVING:
            for start in range(at + 1, min(at + 6, len(tokens))):
                if tokens[start] in ("from", "de", "desde"):
                    end = next(
                        (e for e in range(start + 1, min(start + 6, len(tokens))) if tokens[e] in ("to", "a")), 0
                    )
                    if end > start + 1:
                        yield " ".join(tokens[start + 1 : end])
        elif word in _MOVING_HEBREW and at + 2 < len(tokens) and tokens[at + 1][:1] == "מ":
            end = max((e for e in range(at + 2, min(at + 6, len(tokens))) if tokens[e][:1] == "ל"), default=0)
            if end:
                yield " ".join([tokens[at + 1][1:], *tokens[at + 2 : end]])


def _not_any_more(tokens: list[str]) -> Iterator[str]:
    """The "run" of "I don't run any more"."""
    for language in LANGUAGES:
        for phrase in language.ended_after:
            for at in range(1, len(tokens)):
                if tuple(tokens[at : at + len(phrase)]) == phrase:
                    start = next(
                        (
                            s
                            for s in range(at - 1, max(at - 5, -1), -1)
                            if tokens[s] in _NOT or tokens[s].endswith("n't")
                        ),
                        at,
                    )
                    if start + 1 < at:
                        yield " ".join(tokens[start + 1 : at])


def switches(new: str, old: str) -> bool:
    """As in "I switched to Verizon" after "My carrier is Vodafone": of makers of one kind somebody has one."""
    ours, theirs = _WORD.findall(plain(new)), _WORD.findall(plain(old))
    ours += [word[1:] for word in ours if word[:1] == "ל"]
    if not any(tuple(ours[at : at + len(phrase)]) == phrase for phrase in _SWITCHED for at in range(len(ours))):
        return False
    if (set(ours) | set(theirs)) & _PEOPLE or _first_name(new) & names(old):
        return False
    for kind, makers in MAKERS.items():
        now, before = makers & set(ours), makers & set(theirs)
        if len(before) == 1 and len(now - before) == 1:
            of_kind = {word for phrase in ONE_MEANING.get(kind, ()) for word in phrase} | _OF_MAKERS
            rest = (
                (_telling(new) | _telling(old))
                - now
                - before
                - of_kind
                - {f"ל{maker}" for maker in now}
                - LEFT_OUT
                - HAPPENING
                - _CHANGING
            )
            return not rest and not any(word[:1].isdigit() for word in rest)
    return False


def moves(new: str, old: str) -> bool:
    """As in "The training has moved to Wednesdays": the same thing at another time, price or number, said to be new."""
    said = f" {' '.join(_WORD.findall(plain(new)))} "
    if not any(f" {' '.join(phrase)} " in said for language in LANGUAGES for phrase in language.changed):
        return False
    clauses = [part for part in _CLAUSE.split(new) if part.strip()]
    parts = [new, *(clauses if len(clauses) > 1 else [])]
    return any(_moved(part, old, whole=new) for part in parts)


def _moved(new: str, old: str, *, whole: str) -> bool:
    ours, theirs = set(marks(new)), set(marks(old))
    shifts: set[str] = set()
    for group in SHIFTS:
        said, told = (group & set(_WORD.findall(plain(text))) for text in (new, old))
        if len(said) == len(told) == 1 and said != told and _SHIFT & set(_WORD.findall(plain(new))):
            ours, theirs = {f"shift {said}"}, {f"shift {told}"}
            shifts = set(said | told)
    if not (theirs - ours and ours - theirs):
        return False
    replaced = {_kind(mark) for mark in ours - theirs} & {_kind(mark) for mark in theirs - ours}
    if {mark for mark in ours - theirs if mark.startswith("telling ")} - _BESIDES and not any(
        mark.startswith("telling ") for mark in theirs - ours
    ):
        return False  # "my weekend rate" is not what "my rate" has become
    if not replaced or ("number" in replaced and not _last_number_alone(new, old)):
        return False
    topics = [(new, old)] + [
        (" ".join(rest), " ".join(left))
        for _, rest, left in shared(tuple(_WORD.findall(opened(new))), tuple(_WORD.findall(opened(old))))
    ]
    known = _telling(whole)
    if names(new) - {plain(w) for w in _WORD.findall(old)}:
        return False
    for now, before in topics:
        topic = {word for word in _telling(before) if not _is_amount(word)} - LEFT_OUT - _PERIODS - _VERBS - shifts
        beside = {word for word in _telling(now) if not _is_amount(word) and not _held({word}, topic)}
        beside -= _CHANGING | LEFT_OUT | HAPPENING | _PERIODS | shifts
        if topic and not beside and _held(topic, known):
            return True
    return False


@cached_if_short(_KEPT, LONGEST_KEPT)
def _telling(text: str) -> frozenset[str]:
    bare = _WRITTEN_ON.sub("", text.replace("’", "'"))
    return frozenset(word for word in canonical(bare) if word not in _EMPTY and word not in _MONEY)


def _last_number_alone(new: str, old: str) -> bool:
    """Whether of their numbers only the last differs: "room 12" is not what "room 14" has become."""
    ours, theirs = ([word for word in in_one_form(text) if word[:1].isdigit()] for text in (new, old))
    return len(ours) == len(theirs) and ours[:-1] == theirs[:-1]


def _held(ours: set[str] | frozenset[str], theirs: set[str] | frozenset[str]) -> bool:
    return all(any(_one_word(word, held) for held in theirs) for word in ours)


def _one_word(one: str, other: str) -> bool:
    """The same word, of one or of several, or with a Hebrew letter written onto it."""
    short, long = sorted((one, other), key=len)
    if one == other or (
        len(short) >= _TYPED_LETTERS and long in (f"{short}{ending}" for ending in ("s", "es", "ing", "ed"))
    ):
        return True
    return (
        len(short) >= _TYPED_LETTERS - 1
        and "\u05d0" <= long[0] <= "\u05ea"
        and long[0] in "הבושל"
        and long[1:] == short
    )


def _beside(text: str, words: frozenset[str]) -> set[str]:
    """What stands right before the words: "Ford" of "Ford Transit", but not "North" of "Acme North"."""
    said = list(in_one_form(text))
    found = set()
    for at, word in enumerate(said):
        if any(_one_word(word, each) for each in words):
            found |= {*said[max(at - 1, 0) : at], *(each for each in said[at + 1 : at + 2] if each[:1].isdigit())}
    return found


def _is_time(word: str) -> bool:
    return word[:1] == "t" and ":" in word


def parted_from(text: str) -> list[str]:
    """Whom a text says to be no more together with the speaker."""
    return list(_parted(_WORD.findall(plain(text))))


def _kind(mark: str) -> str:
    return "number" if mark[:1].isdigit() else "time" if mark[:1] == "t" and ":" in mark else mark.split(maxsplit=1)[0]


def _is_amount(word: str) -> bool:
    return (
        word[:1].isdigit()
        or (word[:1] == "t" and ":" in word)
        or any(
            word in table or f"{word}s" in table or word[1:] in table
            for language in LANGUAGES
            for table in (language.weekdays, language.currencies)
        )
    )
