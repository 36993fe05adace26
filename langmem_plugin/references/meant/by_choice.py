"""The answer to "do you mean A or B?": which of the few just named an indirect description fits better."""

import re
from collections.abc import Callable, Sequence
from datetime import date

from langmem_plugin.references.meant.by_comparison import extreme
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.name_matching import named_in
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import typed_atoms
from langmem_plugin.references.text.tokens import is_stop, normal, stem, words_of
from langmem_plugin.references.words import Comparison
from langmem_plugin.references.words.description_synonyms import SYNONYMS
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE

_TIME = 1.5  # what a period or a decade counts against a word
Closeness = Callable[[str, Sequence[str]], Sequence[float]]
"""How close in meaning a text is to each of several others: cosine, say, by whoever has an embedder."""

_FRAME = re.compile(
    r"^\W*(?:no[,.]? )?(?:it'?s |it is |its |it isn'?t )?(?:definitely )?(?:not )?(?:(?:i (?:didn|don|wasn)['`’]?t (?:mean|talking about) ))?(?:the one |the |one )?",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\?\s*\W*$")
_OR = re.compile(r"\b(?:or|which|o|cual)\b|\bאו\b|\bאיזה\b")
_NEGATION = re.compile(
    r"\b(?:not|isn'?t|n't|didn'?t|don'?t|wasn'?t|doesn'?t|never|neither|no|other than|opposite of|unlike)\b|n[`'’]t\b|\bno es\b|\bלא\b"
)
_PERIOD = re.compile(r"\b(before|after|since|prior to|until|earlier than|later than)\s+(?:the\s+)?(?:year\s+)?(\d{4})")
_DECADE = re.compile(r"\b(?:19|20)?(\d)0'?s\b|\b(\d{4})'?s\b")


def choices(ledger: Ledger) -> ShownList | None:
    """The two to four items that the assistant's last sentence offered to choose from."""
    if not ledger.shown_lists or not _CHOICE.search(ledger.reply):
        return None
    offered = ledger.shown_lists[-1]
    last = re.split(r"[.!?\n]\s", ledger.reply.strip())[-1]
    if not 2 <= len(offered.entries) <= 4 or offered.turn != ledger.turn or not _OR.search(normal(last)):
        return None
    return offered


def by_choice(utterance: Utterance, ledger: Ledger, closeness: Closeness | None = None) -> Finding | None:
    """The answer to a question that named two to four to choose from."""
    offered = choices(ledger)
    if offered is None or utterance.has("search"):
        return None
    text = utterance.text
    named = [mention.entry for mention in named_in(text, offered.entries)]
    if len(named) == 1:
        entry, how, words = named[0], 1.0, [named[0].title]
    else:
        fit = _best_fit(utterance, offered, closeness)
        if fit is None:
            return None
        entry, how, words = fit
    sort = "chosen" if how > 0.5 else "perhaps chosen"
    wanted = {stem(word) for mark in utterance.wanted_marks for word in words_of(mark.text)}
    named_wanted = len(named) == 1 and any(words & wanted for words in entry.name_words)
    if not _NEGATION.search(normal(text)) or named_wanted:
        reason = f"of those offered, the one that fits {', '.join(words)}"
        return Finding([entry], text.strip(), reason, sort, offered)
    rest = [other for other in offered.entries if other is not entry]
    if len(rest) != 1:
        return None
    reason = f"the other of the two; {', '.join(words)} tells of the one turned down"
    return Finding(rest, text.strip(), reason, sort, offered)


def _best_fit(
    utterance: Utterance, offered: ShownList, closeness: Closeness | None
) -> tuple[ItemEntry, float, list[str]] | None:
    """The entry that fits a description best, by how much (0..1), and the words that told; None when nothing tells."""
    for mark in utterance.marks:
        value = mark.values.get("comparison")
        if isinstance(value, Comparison):
            found = extreme(offered.entries, value)
            if found is not None:
                return found[0][0], 0.8, [mark.text]
    text = utterance.text
    told = [_score(text, entry, offered) for entry in offered.entries]
    near = _near(text, offered.entries, closeness) if closeness is not None else [0.0] * len(told)
    scored = sorted(
        (
            (score + 8 * close, words, entry)
            for (score, words), close, entry in zip(told, near, offered.entries, strict=True)
        ),
        key=lambda row: -row[0],
    )
    (first, words, entry), (second, _, _) = scored[0], scored[1]
    if first <= second:
        return None
    return entry, min(1.0, (first - second) / (abs(first - second) + 0.5)), words or ["in meaning"]


def _near(utterance: str, entries: Sequence[ItemEntry], closeness: Closeness) -> list[float]:
    """Closeness of the description to each entry: three parts the whole, one part its closest sentence or
    field.
    """
    said = _FRAME.sub("", utterance) or utterance
    found = []
    for entry in entries:
        whole = " ".join(str(value) for _, value in leaves(entry.item))[:600]
        parts = [
            part for _, value in leaves(entry.item) for part in re.split(r"(?<=[.!?])\s+", str(value)) if len(part) > 15
        ]
        near = list(closeness(said, [whole, *(part[:300] for part in parts[:12])]))
        found.append(0.75 * near[0] + 0.25 * max(near[1:], default=near[0]))
    return found


def _score(utterance: str, entry: ItemEntry, offered: ShownList) -> tuple[float, list[str]]:
    others = [other for other in offered.entries if other is not entry]
    held, heads = _words(entry)
    names = frozenset[str]().union(*entry.name_words)
    total, told = 0.0, []
    for word in dict.fromkeys((*words_of(utterance), *sorted(typed_atoms(utterance)))):
        if (is_stop(word) and word not in SYNONYMS) or word.isdigit():
            continue
        weight = _weight(word, held, heads)
        rival = max((_weight(word, *_words(other)) for other in others), default=0.0)
        if weight > rival:
            short = len(word) <= 3 and word[1:2] != ":"
            typed = word in GROUPS or word in NO_TYPE
            total += (weight - rival) * (1.3 if word in names else 1) * (0.6 if short else 1) * (0.4 if typed else 1)
            told.append(word)
    times = _times(normal(utterance), _year_of(entry))
    return total + _TIME * len(times), told + times


def _times(said: str, year: int | None) -> list[str]:
    """The periods and decades said that a year is in."""
    if year is None:
        return []
    periods = [
        f"{relation} {bound}"
        for relation, bound in _PERIOD.findall(said)
        if (year < int(bound)) == (relation in ("before", "prior to", "until", "earlier than"))
    ]
    decades = [match[0] for match in _DECADE.finditer(said) if year // 10 % 10 == int(match[1] or match[2][2])]
    return periods + decades


def _year_of(entry: ItemEntry) -> int | None:
    """The first that one of its fields or texts tells."""
    dates = [value for values in entry.values.values() for value in values if value.kind == "date"]
    years = [int(value.amount) for value in dates if value.unit == "year"]
    days = [date.fromordinal(int(value.amount)).year for value in dates if value.unit == "day"]
    return next(iter((*years, *days)), None)


def _words(entry: ItemEntry) -> tuple[set[str], set[str]]:
    held = set(words_of(" ".join(str(value) for _, value in leaves(entry.item))[:3000])) | entry.atoms
    return held, {_head(word) for word in held}


def _weight(word: str, held: set[str] | frozenset[str], heads: set[str]) -> float:
    if word in held:
        return 1.0
    alike = SYNONYMS.get(word) or SYNONYMS.get(stem(word))
    if alike and alike & held:
        return 0.5
    if len(word) >= 4 and word.isalpha() and _head(word) in heads:
        return 0.7
    return 0.0


def _head(word: str) -> str:
    """The first letters of a word, enough to see caramelised in caramel."""
    for ending in ("ing", "ed", "ly", "er", "ish", "ian", "an", "es"):
        if len(word) - len(ending) >= 4 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    return word[:6].rstrip("ei")
