"""The ranking of messages for a question: they gain from neighbours, session, speaker and the day they were said."""

import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.find import fact_ranking
from langmem_plugin.memory.find.bm25 import Scores, WordIndex
from langmem_plugin.memory.find.corpus_cache import Corpus, best
from langmem_plugin.memory.find.dates_in_question import nearness, without_days
from langmem_plugin.memory.find.fact_ranking import Hit, Meaning, Query, match_type
from langmem_plugin.memory.find.tokenizer import asked, terms
from langmem_plugin.memory.memory_types import plain

_WORDS = 2.0
_SESSION = 1.0
_NEIGHBOUR = 0.5
_REACH = 2  # messages before and after
_SPEAKER = 1.4
_DAY = 3.0
_NEAREST = 1.5
_LATELY = 0.15
_MENTIONS = 2.0
_TOLD = 0.15
_AVERAGE_PLACE = 0.5  # the weight of a word in a talk that neither begins nor ends its row of two or three
_MOST_SESSIONS = 40  # sessions compared with each other: those that score best,
_MOST_MESSAGES = 8  # and the messages of each that score best: long talks are about much
_TEMPERATURE = 0.5  # score: how soon a message behind the best counts for nothing
_OWN_SHARE = 0.5
_FURTHEST = -60.0  # temperatures behind the best
_NOTHING = 1e-9
_ASSISTANT = "assistant"  # the role under which the assistant's words are stored, and as every chat model calls itself

_SAYING = json.loads(files(__package__).joinpath("saying_words.json").read_text("utf-8"))
_PERSONS = {role: re.compile(_SAYING[role]) for role in ("user", "assistant")}
_TALKING = re.compile(_SAYING["talking"])


def ranked_messages(corpus: Corpus, query: Query) -> list[Hit]:
    """Return the messages that fit, best first.

    A message counts by its own meaning and words, by the better neighbour at each distance up to two, by how much of
    the question its whole session covers, more if the one speaker who is named said it, and by how near it is to the
    days that are named. A speaker's name is no search word: the others use it when they address them. The best message
    of a session stands for all of it, and gains what the session's message of the nearest meaning has over that of
    other sessions: so the order of sessions is that of their best messages.
    Talks with an assistant gain by how late they were,
    by standing first or last among those that say a word of the question, by how much the person told in them and by
    what talks like them score, where no day is named.
    """
    columns = corpus.columns
    live, sessions, speakers = columns["live"], columns["session"], columns["speaker"]
    fits = corpus.fitting(query.now, query.among)
    names = corpus.speakers
    group_of = np.unique(sessions, return_inverse=True)[1]
    signals: dict[str, Scores] = {}
    spread = None
    score = np.zeros(len(corpus.ids), dtype=np.float32)
    if query.meaning is not None:
        relevance, spread = _by_meaning(corpus, query.meaning, live & columns["embedded"])
        signals |= {} if relevance is None else {"semantic": relevance}
        score += spread
    if query.mode != "semantic":
        wanted = _without_names(corpus.words.known(asked(query.text)), names)
        signals["text"], whole = _covered(corpus, wanted, group_of)
        score += _WORDS * signals["text"]
    score *= live
    # Where only one speaks, neighbours are notes one after the other and no answers to each other.
    talks = _talks(speakers, group_of)
    score = np.where(talks, _with_neighbours(score, sessions, columns["created"]), score)
    if query.mode != "semantic":
        signals["session"] = whole
        score += _SESSION * signals["session"]
    speaker = _one_meant(query.text, names)
    if speaker is not None:
        score = np.where(speakers == corpus.code_of(speaker), score * _SPEAKER, score)
    near = nearness(query.text, query.now, columns["created"])
    if near is not None:
        signals["day"] = near
        score += _DAY * near
    else:
        by_assistant = talks & (speakers == corpus.code_of(_ASSISTANT))
        assisted = fits & np.isfinite(_highest(by_assistant, group_of, by_assistant))[group_of]  # in its whole session
        late = _lateness(columns["created"], group_of, assisted)
        score += _LATELY * late
    if spread is not None:
        score += _standing_for_session(score, spread, group_of, fits & columns["embedded"])
    if near is None and assisted.any():
        # Between people it cost 8 points of the messages found: their talks are about many things, and all alike.
        score += _gained_by_talks(corpus, query, score, group_of, late=late, assisted=assisted)
    similarity = fact_ranking.similarity_of(signals.get("semantic"), signals.get("text"), len(score))
    if near is not None and _asks_only_for_days(query.text):
        similarity = np.where(near >= 1.0, near, similarity)  # said on the very days
    fits &= similarity >= query.min_relevance
    return [
        Hit(corpus.ids[row], float(score[row]), float(similarity[row]), match_type(shown), shown)
        for row in best(score, fits, query.limit)
        for shown in [{name: round(float(signal[row]), 4) for name, signal in signals.items()}]
    ]


def _by_meaning(corpus: Corpus, meaning: Meaning, fits: NDArray[np.bool_]) -> tuple[Scores | None, Scores]:
    """Return the relevance of each row, and its cosine between the lowest and the highest of the rows that fit."""
    cosines = corpus.compared(meaning.vector)
    relevance = None if meaning.calibration is None else fact_ranking.semantic(cosines, meaning.calibration, fits)
    if not fits.any():
        return relevance, np.zeros_like(cosines)
    low, high = float(cosines[fits].min()), float(cosines[fits].max())
    return relevance, (cosines - low) / max(high - low, 1e-6)


def _covered(corpus: Corpus, wanted: Sequence[str], group_of: NDArray[np.intp]) -> tuple[Scores, Scores]:
    """Return the part of the question's words that each message covers, and that its whole session covers."""
    words, ceiling = corpus.words.scores(wanted)
    whole, of_whole = corpus.words.grouped_scores(wanted, group_of.astype(np.int32), corpus.columns["live"])
    return words / max(ceiling, 1e-6), (whole / max(of_whole, 1e-6))[group_of]


def _with_neighbours(score: Scores, sessions: NDArray[np.int32], said_at: NDArray[np.int64]) -> Scores:
    """Add half of the better neighbour at distance 1 and a quarter at distance 2, within one session."""
    order = np.lexsort((np.arange(len(score)), said_at, sessions))
    sorted_score, sorted_sessions = score[order], sessions[order]
    added = np.zeros_like(sorted_score)
    for distance in range(1, min(_REACH, len(score) - 1) + 1):
        same = sorted_sessions[distance:] == sorted_sessions[:-distance]
        before, after = np.zeros_like(sorted_score), np.zeros_like(sorted_score)
        before[distance:] = sorted_score[:-distance] * same
        after[:-distance] = sorted_score[distance:] * same
        added += np.maximum(before, after) / distance
    gained = np.empty_like(score)
    gained[order] = sorted_score + _NEIGHBOUR * added
    return gained


def _talks(speakers: NDArray[np.int32], group_of: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return True for each message in whose session more than one speaks."""
    everybody = np.ones_like(group_of, dtype=np.bool_)
    several: NDArray[np.bool_] = _highest(speakers, group_of, everybody) != -_highest(-speakers, group_of, everybody)
    return several[group_of]


def _lateness(said_at: NDArray[np.int64], group_of: NDArray[np.intp], assisted: NDArray[np.bool_]) -> Scores:
    """Return a score for sessions with an assistant: minus the logarithm of their place, the newest first.

    Such talk goes on with what was begun, and how likely a thing is needed again falls as a power of what came since
    (Anderson and Schooler, 1991). Their average is 0, so that beside other sessions they neither gain nor lose.
    """
    newest = _highest(said_at, group_of, assisted)
    there = np.flatnonzero(np.isfinite(newest))
    late = np.zeros(len(newest), dtype=np.float32)
    if len(there):
        places = np.empty(len(there))
        places[np.argsort(-newest[there], kind="stable")] = np.log(np.arange(1, len(there) + 1))
        late[there] = places.mean() - places
    return late[group_of]


def _gained_by_talks(
    corpus: Corpus,
    query: Query,
    score: Scores,
    group_of: NDArray[np.intp],
    *,
    late: Scores,
    assisted: NDArray[np.bool_],
) -> Scores:
    """Score messages of talks with an assistant by their talk and by those like it.

    What the talk itself adds counts for its best message alone, so that few talks do not fill the first places.
    """
    wanted = corpus.words.known(asked(query.text)) if query.mode != "semantic" else []
    gains = _mentions(corpus.words, wanted, group_of, late, assisted)
    lent = _spread_over_sessions(corpus.words, score + gains, group_of, assisted)
    gains += _told(corpus, group_of, assisted)
    best_ones = score >= _highest(score, group_of, assisted)[group_of]
    return lent + np.where(best_ones, gains, np.minimum(gains, 0.0))


def _mentions(
    words: WordIndex, wanted: Iterable[str], group_of: NDArray[np.intp], late: Scores, fits: NDArray[np.bool_]
) -> Scores:
    """Score sessions by their place among those that say the words asked for; 0 on the average.

    The first and the last gain, those in the midst of many lose. A word that comes up in talk after talk tells little
    about each: the talk that brought it up and the one that had it last hold what was said of it.
    """
    sessions, first_rows = np.unique(group_of[fits], return_index=True)
    in_order = sessions[np.argsort(late[fits][first_rows], kind="stable")]
    turn = np.zeros(int(group_of.max(initial=-1)) + 1, dtype=np.intp)
    turn[in_order] = np.arange(len(in_order))
    turn_of = np.where(fits, turn[group_of], len(in_order))  # rows that do not fit come after the last
    gained, total = np.zeros(len(in_order) + 1), 0.0
    for term in dict.fromkeys(wanted):
        says = np.zeros(len(gained), dtype=np.bool_)
        says[turn_of[words.rows(term)]] = True
        holding = np.flatnonzero(says[:-1])
        if len(holding):
            rarity = np.log(1 + (len(in_order) - len(holding) + 0.5) / (len(holding) + 0.5))
            before = np.arange(len(holding))
            gained[holding] += rarity * (1 / (1 + np.minimum(before, before[::-1])) - _AVERAGE_PLACE)
            total += rarity
    if total:
        gained -= gained[:-1].mean()
        gained *= _MENTIONS / total
    return (gained[turn_of] * fits).astype(np.float32)


def _told(corpus: Corpus, group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> Scores:
    """Score sessions by how much the person said in them; 0 on the average of sessions."""
    by_person = fits & (corpus.columns["speaker"] != corpus.code_of(_ASSISTANT))
    said = np.log1p(np.bincount(group_of, corpus.words.lengths() * by_person))
    said -= said[np.unique(group_of[fits])].mean()
    gained: Scores = (_TOLD * said[group_of] * fits).astype(np.float32)
    return gained


def _spread_over_sessions(
    words: WordIndex, score: Scores, group_of: NDArray[np.intp], fits: NDArray[np.bool_]
) -> Scores:
    """Return the gain or loss of every message from the scores of sessions like its own; one number a session.

    `group_of` holds the number of each message's session; what does not fit is not looked at, and gains nothing.
    """
    rows = np.flatnonzero(fits)
    top = _highest(score, group_of, fits)
    best = np.argsort(-top, kind="stable")[:_MOST_SESSIONS]
    best = best[np.isfinite(top[best])]
    if len(best) <= 1:
        return np.zeros_like(score)
    alike = words.likeness([_best_of_session(rows[group_of[rows] == session], score) for session in best]) ** 2
    np.fill_diagonal(alike, 0.0)
    alike /= np.maximum(alike.sum(axis=1, keepdims=True), _NOTHING)
    own = np.exp(np.maximum((top[best] - top.max()) / _TEMPERATURE, _FURTHEST))
    lent = np.vecdot(alike.T, own)
    gained = np.full(len(top), np.log(_OWN_SHARE), dtype=np.float32)
    gained[best] = np.log(_OWN_SHARE + (1 - _OWN_SHARE) * lent / own)
    return _TEMPERATURE * gained[group_of] * fits


def _highest(values: NDArray[Any], group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the highest value of each session's messages that fit, by its number; minus infinity where none does."""
    highest = np.full(int(group_of.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(highest, group_of[fits], values[fits].astype(np.float64))  # of one type: ten times as fast
    return highest


def _best_of_session(rows: NDArray[np.intp], score: Scores) -> NDArray[np.intp]:
    return rows[np.argsort(-score[rows], kind="stable")[:_MOST_MESSAGES]]


def _standing_for_session(score: Scores, spread: Scores, group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> Scores:
    """Return the gain of the best message of each session; 0 for the others."""
    gains = np.zeros_like(score)
    rows = np.flatnonzero(fits)
    if len(rows):
        nearest = _highest(spread, group_of, fits)
        by_session = rows[np.lexsort((-score[rows], group_of[rows]))]
        best_rows = by_session[np.unique(group_of[by_session], return_index=True)[1]]
        nearest_of = nearest[group_of[best_rows]]
        gains[best_rows] = _NEAREST * (nearest_of - nearest_of.mean())
    return gains


def _without_names(wanted: list[str], names: Sequence[str]) -> list[str]:
    of_names = {term for name in names for term in terms(name)}
    return [term for term in wanted if term not in of_names] or wanted


def _asks_only_for_days(text: str) -> bool:
    """Tell whether a question names days alone, as "what did we talk about last week?": whatever was said
    then answers it.
    """
    rest = without_days(plain(text))
    for saying in (*_PERSONS.values(), _TALKING):
        rest = saying.sub(" ", rest)
    return not asked(rest)


def _one_meant(question: str, names: Sequence[str]) -> str | None:
    """Return the one speaker the question is about: by name, or as "I" and "you" of who asks the bot."""
    asked_in = plain(question)
    named = [name for name in names if _is_named(name, asked_in)]
    if not named:
        named = [role for role, pattern in _PERSONS.items() if role in names and pattern.search(asked_in)]
    return named[0] if len(named) == 1 else None


def _is_named(name: str, question: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(plain(name))}(?!\w)", question) is not None
