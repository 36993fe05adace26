"""The answer to "do you mean A or B?", by words and, where there is a measure of it, by closeness in meaning."""

import re
from collections.abc import Callable, Sequence

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
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE

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
    """How much more the words said tell of an entry than of any other, and which do."""
    others = frozenset[str]().union(*(_words(other) for other in offered.entries if other is not entry))
    names = frozenset[str]().union(*entry.name_words)
    told = [
        word
        for word in dict.fromkeys((*words_of(utterance), *sorted(typed_atoms(utterance))))
        if not is_stop(word) and not word.isdigit() and word in _words(entry) and word not in others
    ]
    return sum((1.3 if word in names else 1) * (0.4 if word in GROUPS or word in NO_TYPE else 1) for word in told), told


def _words(entry: ItemEntry) -> set[str]:
    return set(words_of(" ".join(str(value) for _, value in leaves(entry.item))[:3000])) | entry.atoms
