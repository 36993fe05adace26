"""Repeats and changes told by the words of two texts, where no rule is sure.

A new text ends a known one if it tells of a change ("moved", "no longer", "now") and both have two words in common, or
it has most of what the known one is about. It repeats it if nearly all it says is known. Else both stay: losing a fact
is the worst error.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Final, Literal, NamedTuple

from langmem_plugin.facts import Relation, Statement, another_subject, cannot_repeat
from langmem_plugin.facts.attributes import ATTRIBUTES
from langmem_plugin.facts.guards import times
from langmem_plugin.facts.new_against_old import OPPOSITES, is_over, names_several
from langmem_plugin.facts.value_comparison import in_one_form, names
from langmem_plugin.languages.language_words import LANGUAGES, phrases, words
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, is_hebrew, plain
from langmem_plugin.lru_cache import cached_if_short
from langmem_plugin.memory.find.tokenizer import HEBREW_PREFIXES, STOP_WORDS, language_of, stemmer

_KEPT: Final = 8_192
_LONGEST: Final = 600  # letters; what is longer is no fact of one sentence
_WORD = re.compile(r"[^\W_]++(?:['\"][^\W_]++)*+")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)|'s\b")  # "50mg", "Dana's"
_CLAUSE = re.compile(r"[^,;:.!?()…—]*+")
_MONTH = re.compile(r"m\d+")  # as `in_one_form` has it
_FIGURES = re.compile(r"\d++")
_DEFINITE: Final = frozenset(word for language in LANGUAGES for word in language.possessives) | words(
    "the|his|her|their|your|el|la|los|las|su|sus|את"
)
_OF: Final = words("of|de|del|של")
_ROLES: Final = {phrase: role for language in LANGUAGES for phrase, role in language.people.items()}
_IN_ROLES: Final = frozenset(word for phrase in _ROLES for word in phrase) | frozenset(_ROLES.values())
_LONGEST_ROLE: Final = max(map(len, _ROLES))
_SELVES: Final = frozenset(word for language in LANGUAGES for word in language.selves) | words("i|me|my")
_SELF: Final = "self"
_EMPTY: Final = frozenset(
    word
    for language in LANGUAGES
    for word in language.empty | language.fillers | language.articles | language.selves | language.possessives
).union(*(STOP_WORDS[language] for language in ("english", "spanish", "hebrew")))
_CUES: Final = defaultdict[str, list[tuple[str, tuple[str, ...]]]](list)  # by the first word of the phrase
for _language in LANGUAGES:
    for _cue in ("change", "beside", "idle"):
        for _phrase in phrases(_language.changes[_cue]):
            _CUES[_phrase[0]].append((_cue, _phrase))

_MARK, _WHOLE = 1.5, 1.0  # the weight of a word
_REPEATS, _WHOLLY, _IN_COMMON, _MOSTLY, _A_THIRD = 0.7, 2.0, 1.8, 0.8, 0.35
_SHORTEST, _SHORTEST_BEGINNING, _MOST_OF_A_WORD = 3, 4, 0.7


class Word(NamedTuple):
    """The stem or canonical form of a word, and its weight; a "mark" is a number, day or time."""

    form: str
    kind: Literal["mark", "name", "role", "word"]
    weight: float
    is_common: bool = False


@dataclass(frozen=True)
class Content:
    """The telling words of a text, the people of somebody's that it names, its phrases of each cue, and all its words
    in order. `changed` are the things that it says to have changed ("sold her green van"), `changing` the names
    of whose change it is.
    """

    words: tuple[Word, ...]
    roles: frozenset[str]
    cues: Mapping[str, set[tuple[str, ...]]]
    spoken: tuple[str, ...]
    changed: tuple[tuple[str, frozenset[str]], ...]
    changing: set[str]


@dataclass(frozen=True)
class Overlap:
    """The shares of each text that the other says too, by weight; `things` are its words without numbers and days.

    `shared` counts the things in common, `common` those of them that are no names.
    """

    new: float
    old: float
    new_things: float
    old_things: float
    shared: float
    common: float


def judged(new: Statement, known: Sequence[Statement], rules: list[Relation]) -> list[Relation]:
    """Return the relation to each known text, by `rules`; one at most by its words, where the rules are not sure."""
    if any(rule.kind in ("duplicate", "supersedes") for rule in rules):
        return rules
    cues = _content(new.text).cues
    if "beside" in cues:
        return rules
    if "change" in cues:
        found = Relation("supersedes", "tells a change of it")
        likely = [_changed(new, each) for each in known]
    else:
        found = Relation("duplicate", "says nearly the same")
        likely = [_repeated(new, each) for each in known]
        pairs = zip(likely, rules, strict=True)  # where a rule keeps both, all of both has to be the same
        likely = [sure if rule.kind == "unrelated" or sure >= _WHOLLY else 0.0 for sure, rule in pairs]
    if any(likely):
        rules[likely.index(max(likely))] = found
    return rules


def doubted(new: Statement, old: Statement, rule: Relation) -> Relation:
    """Keep what a rule would replace by its place alone, unless only a name or a number there differs."""
    if rule.kind != "supersedes" or not rule.by_place:
        return rule
    two = Relation("keeps_both", "both can be so")
    if _of_one_kind(new.text, old.text):
        return two
    if "change" in _content(new.text).cues:
        return rule
    kinds = [{word.kind for word in _content(each.value or "").words} & {"mark", "name"} for each in (new, old)]
    ours, theirs = ({word.form for word in _beside_value(each)} for each in (new, old))
    return rule if ours == theirs and not kinds[0].isdisjoint(kinds[1]) else two


def _beside_value(statement: Statement) -> list[Word]:
    """Return the words that are said besides the value; of "locker 7 has the code 7" one 7 is."""
    whole, value = _content(statement.text), _content(statement.value or "")
    said, valued = Counter(whole.spoken), {word.form for word in value.words}
    said.subtract(value.spoken)
    return [word for word in whole.words if word.form not in valued or said[word.form] > 0]


def _changed(new: Statement, old: Statement) -> float:
    """Return how much `old` is what `new` tells a change of; 0 where it is not."""
    if _of_others(new, old) or _in_figures(new.text) == _in_figures(old.text) or _of_one_kind(new.text, old.text):
        return 0.0  # "paid 40 for lamps" and "paid 50 for lamps" are two facts of one kind
    if _of_another_thing(new, old):
        return 0.0
    both = _overlap(new.text, old.text)
    of_it = max(both.new_things, both.old_things) >= _A_THIRD and (
        both.shared >= _IN_COMMON or both.old_things >= _MOSTLY
    )
    told = [_content(each.text).cues.get("change", set()) for each in (new, old)]
    # "I stopped eating meat" and "I stopped eating sugar" are two changes.
    two = not told[0].isdisjoint(told[1]) and both.old_things < _MOSTLY
    return both.old + both.shared if of_it and both.common and not two else 0.0


def _repeated(new: Statement, old: Statement) -> float:
    """Return how much of both is the same where `new` says next to nothing else; 0 where it does."""
    if (
        _of_others(new, old)
        or cannot_repeat(new, old)
        or _says_another(new, old)
        or _in_figures(new.text) == _in_figures(old.text)
        or _content(new.text).roles != _content(old.text).roles
    ):
        return 0.0
    both = _overlap(new.text, old.text)
    return both.new + both.old if both.new >= _REPEATS and both.common else 0.0


def _says_another(new: Statement, old: Statement) -> bool:
    """Tell whether one word stands in another's place, or people do something to each other the other way round."""
    ours, theirs = _content(new.text), _content(old.text)
    pairs = zip(ours.spoken, theirs.spoken, strict=False)
    apart = [pair for pair in pairs if pair[0] != pair[1] and not _EMPTY.issuperset(pair) and not _one_form(*pair)]
    people = _named((*ours.words, *theirs.words)) | {_SELF}
    named = [[*dict.fromkeys(each for each in one.spoken if each in people)] for one in (ours, theirs)]
    in_place = len(ours.spoken) == len(theirs.spoken) and len(apart) == 1
    return in_place or (named[0] != named[1] and sorted(named[0]) == sorted(named[1]))


def _of_others(new: Statement, old: Statement) -> bool:
    """Tell whether the new text is about somebody whom the known one does not name."""
    named = new.slot is not None and plain(new.slot.who) in plain(old.text)
    return (another_subject(new, old) and not named) or not _content(new.text).roles <= _content(old.text).roles


def _of_one_kind(new: str, old: str) -> bool:
    """Tell whether the two are about two things of one kind, "locker 3" and "locker 4" where a further number is told,
    or tell of what two people did.
    """
    ours, theirs = _content(new).spoken, _content(old).spoken
    things = _first_numbered(new), _first_numbered(old)
    others = things[0] != things[1] and things[0][:1] == things[1][:1] and sum(each.isdigit() for each in ours) > 1
    who = new.split(maxsplit=1)[0], old.split(maxsplit=1)[0]
    people = all(each[0].isupper() and plain(each) not in _EMPTY for each in who) and all(
        "change" in _content(each).cues for each in (new, old)
    )
    return others or (people and set(ours[:1]).isdisjoint(theirs) and set(theirs[:1]).isdisjoint(ours))


def _of_another_thing(new: Statement, old: Statement) -> bool:
    """Tell whether the new text says what changed, or by name who, and it is nothing of the old one's: who sold her
    car seat still has a car, and the dog Rex lives when Bella died.
    """
    attributes = (each.slot.attribute if each.slot else "" for each in (new, old))
    told, held = (OPPOSITES.get(each, each) for each in attributes)
    ended = _content(new.text).words if is_over(new) or is_over(old) else ()
    if told == held and ended and old.value and (names_several(old) or not _in_both(_content(old.value).words, ended)):
        return True  # who is no longer allergic to cats may be allergic to nuts
    if told != held and ATTRIBUTES.keys() >= {told, held} and told.split()[-1] == held.split()[-1]:
        return True  # "email" and "work email"
    ours, theirs = _content(new.text), _content(old.text)
    said, known = ({word.form for word in each.words} for each in (ours, theirs))
    if ours.changing - known and _named(theirs.words) - said:
        return True
    shared = {word.form for word in _in_both(ours.words, theirs.words) if word.kind in ("word", "name")} - ours.changing
    return any(
        shared <= beside and not any(_one_form(head, word.form) for word in theirs.words)
        for head, beside in ours.changed
    )


def _named(words: Iterable[Word]) -> set[str]:
    return {word.form for word in words if word.kind == "name"}


def _first_numbered(text: str) -> tuple[str, ...]:
    """Return the first thing that goes by a number, and the number, which is no day of a month."""
    said = (*in_one_form(plain(text)), "")
    for name, number, then in zip(said, said[1:], said[2:], strict=False):
        if name.isalpha() and name not in _EMPTY and number.isdigit() and not _MONTH.fullmatch(then):
            return name, number
    return ()


def _in_figures(text: str) -> str:
    return _FIGURES.sub("0", plain(text))


def _overlap(new: str, old: str) -> Overlap:
    ours, theirs = _content(new).words, _content(old).words
    said, known = _in_both(ours, theirs), _in_both(theirs, ours)
    shared = [word for word in said if word.kind != "mark"]
    return Overlap(
        new=_share(ours, said),
        old=_share(theirs, known),
        new_things=_share([word for word in ours if word.kind != "mark"], said),
        old_things=_share([word for word in theirs if word.kind != "mark"], known),
        shared=sum(min(word.weight, 1) for word in shared),
        common=sum(word.is_common for word in shared),
    )


def _in_both(words: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    beginnings = {other.form[:_SHORTEST_BEGINNING] for other in others}  # most words are told apart by them
    return [
        word
        for word in words
        if word.form[:_SHORTEST_BEGINNING] in beginnings and any(_alike(word, other) for other in others)
    ]


def _share(words: Sequence[Word], said: Sequence[Word]) -> float:
    whole = sum(word.weight for word in words)
    return sum(word.weight for word in words if word in said) / whole if whole else 0.0


def _alike(one: Word, other: Word) -> bool:
    """Tell whether two words are one but for the ending, as "allergic" and "allergy" are."""
    return (one.kind == "mark") == (other.kind == "mark") and _one_form(one.form, other.form)


def _one_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    beginning = max(_SHORTEST_BEGINNING, round(_MOST_OF_A_WORD * len(long)))
    return short == long or (
        len(short) >= beginning and short.isalpha() and long[:beginning] == short[:beginning] and not is_hebrew(long)
    )


def _bare_forms(word: str) -> list[str]:
    """Return a word, and in Hebrew the same without the letters that are written onto it."""
    found = [word]
    while is_hebrew(found[-1]) and len(found[-1]) > _SHORTEST and found[-1][0] in HEBREW_PREFIXES:
        found.append(found[-1][1:])
    return found


@cached_if_short(_KEPT, LONGEST_KEPT)
def _content(whole: str) -> Content:
    text = whole[:_LONGEST]
    said = _GLUED.sub(" ", plain(text).replace("n't", " not"))
    found_at = [*_WORD.finditer(said)]
    tokens = [each.group() for each in found_at]
    cues, of_cues, places = _cues(tokens)
    roles, of_roles = _roles(tokens)
    stem, named = stemmer(text), names(text)
    capitals = {plain(word) for word in _WORD.findall(text) if word[0].isupper()}
    stem_of = {each: (stem(each) or [each])[0] for each in tokens}
    found: dict[str, Word] = {}
    for form in in_one_form(said):
        word = _word(form, stem, named, of_cues | of_roles, capitals)
        if word is not None:
            found[word.form] = word
    for role in sorted(roles):
        found[f"r {role}"] = Word(f"r {role}", "role", _MARK)
    spoken = tuple(_SELF if each in _SELVES else each if each in _EMPTY else stem_of[each] for each in tokens)
    clauses = (_CLAUSE.match(said, found_at[at - 1].end()) for at in places)
    things = [_thing(_WORD.findall(each[0]), language_of(text) == "english") for each in clauses if each]
    return Content(
        words=tuple(found.values()),
        roles=roles,
        cues=cues,
        spoken=spoken,
        changed=tuple((stem_of[head], frozenset(stem_of[each] for each in beside)) for head, *beside in things if head),
        changing=_named(found.values()).intersection(spoken[: min(places, default=0)]),
    )


def _thing(tokens: Sequence[str], is_english: bool) -> list[str]:
    """Return the head noun of the thing that a text goes on with, then the words that tell which one: "van" and "green"
    of "her green van", "sillita" and "coche" of "la sillita del coche". It is empty where no thing is named.
    """
    if not (is_english or _DEFINITE.issuperset(tokens[:1])):
        return [""]
    said = takewhile(lambda each: each in _OF or each in _DEFINITE or each not in _EMPTY, tokens)
    told = [*takewhile(lambda each: each not in times(), dropwhile(_DEFINITE.__contains__, said))]
    thing = [*takewhile(lambda each: each not in _OF and each not in _DEFINITE, told)]
    head = thing.pop(-1 if is_english else 0) if thing else ""
    return [head, *thing, *(each for each in told[len(thing) + 1 :] if each not in _EMPTY)]


def _word(
    form: str, stem: Callable[[str], list[str]], named: frozenset[str], idle: set[str], capitals: set[str]
) -> Word | None:
    """Return the word of a form; None for a form that tells nothing of what the text is about."""
    if not form[0].isalpha() or (form[0] in "tm" and form[1:2].isdigit()):
        return Word(form, "mark", _MARK)
    forms = _bare_forms(form)
    if any(each in language.weekdays for language in LANGUAGES for each in (*forms, form.removesuffix("s"))):
        return Word(form, "mark", _MARK)
    if (
        len(form) == 1
        or not idle.isdisjoint(forms[:2])
        or not _EMPTY.isdisjoint(forms[:2])
        or not _IN_ROLES.isdisjoint((form, f"{form}s"))
    ):
        return None
    stemmed = (stem(form) or [form])[0]
    if form in named:
        return Word(stemmed, "name", _MARK)
    return Word(stemmed, "word", _WHOLE, is_common=form not in capitals)


def _cues(tokens: Sequence[str]) -> tuple[dict[str, set[tuple[str, ...]]], set[str], list[int]]:
    """Return the phrases of each cue that a text gives, their words, and where what follows a change begins."""
    found, used, places = defaultdict[str, set[tuple[str, ...]]](set), set[str](), list[int]()
    for at, token in enumerate(tokens):
        for first in _bare_forms(token)[:2]:
            for cue, phrase in _CUES.get(first, ()):
                if tuple(tokens[at + 1 : at + len(phrase)]) == phrase[1:]:
                    found[cue].add(phrase)
                    used |= {token, *phrase}
                    places += [at + len(phrase)] if cue == "change" else []
    return dict(found), used, places


def _roles(tokens: Sequence[str]) -> tuple[frozenset[str], set[str]]:
    """Return the people of somebody's that a text names by what they are ("my sister"), and by which words."""
    found, used = set(), set()
    for at, token in enumerate(tokens):
        for length in range(_LONGEST_ROLE, 0, -1):
            rest = tuple(tokens[at + 1 : at + length])
            first = next((form for form in _bare_forms(token) if (form, *rest) in _ROLES), None)
            if first is not None and len(rest) == length - 1:
                found.add(_ROLES[first, *rest])
                used |= {first, token, *rest}
                break
    return frozenset(found), used
