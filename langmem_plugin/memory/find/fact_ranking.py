"""The ranking of one owner's rows for one query, with the reasons. No I/O.

A row's score is how near its meaning is to the question's, plus the part of the question's words that it has, which
counts more where the model did not learn the language. What must not be eaten, taken or done gains where there is talk
of such things. What is likely about the question gains a little by being new, used and sure. How surely a row is about
the question, in [0, 1], is told by meaning and words alone; bounds compare with that.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.embedder import MOST_ODDS, Calibration, Embedder, Vector
from langmem_plugin.memory.find.bm25 import Group, Scores
from langmem_plugin.memory.find.corpus import Corpus, microseconds
from langmem_plugin.memory.find.question import (
    NOTHING_EXACT,
    ExactQuery,
    Groups,
    Wording,
    by_aliases,
    exact_query,
    terms_like,
    with_full_names,
)
from langmem_plugin.memory.find.tokenizer import asked, language_of, stemmed, stems_of, telling, terms
from langmem_plugin.memory.models import EVERYTHING, Explanation, Filter, Left, MatchType, Mode, storable

LIKELY = 0.5
"""The relevance of a row that is about a question as likely as not."""
POINT = 20.0
"""The logarithm of the odds by which sixty facts differ in their nearness to a question."""

_COVERED_MIDPOINT = 0.25  # the part of the query at which a text is about it as likely as not
_COVERED_SLOPE = 12.0
_BEHIND = 4.2  # the distance behind the nearest, in the logarithm of the odds, that does not count against a memory
_RECENCY, _RECENT_DAYS = 0.06, 30.0
_USE, _OFTEN_USED = 0.05, 20.0
_CONFIDENCE = 0.04
_GAINS_ALL_FROM = 0.7  # the similarity from which a row gains all
_MICROSECONDS_A_DAY = 86_400e6


def semantic(cosines: Scores, calibration: Calibration, fits: NDArray[np.bool_]) -> Scores:
    """Return the relevance of each row by its calibrated cosine.

    A row far behind the nearest of the rows that fit is less relevant than its cosine says: the question is
    about something else.
    """
    odds = calibration.slope * (cosines - calibration.midpoint)  # logarithms
    if fits.any():
        odds = odds - np.maximum(calibration.slope * (cosines[fits].max() - cosines) - _BEHIND, 0.0)
    relevance: Scores = (1.0 / (1.0 + np.exp(np.clip(-odds, -MOST_ODDS, MOST_ODDS)))).astype(np.float32)
    return relevance


def similarity_of(relevance: Scores | None, coverage: Scores | None, rows: int) -> Scores:
    """Return how surely a row is about the query, in [0, 1]. A signal that did not run is None.

    With both, either may suffice, but few shared words say little. Words alone are read as the cosine is,
    by a curve: a text that covers a third of the query, weighted by rarity, is at 0.7.
    """
    if coverage is None:
        return np.zeros(rows, dtype=np.float32) if relevance is None else relevance
    if relevance is None:
        curve = 1.0 / (1.0 + np.exp(-_COVERED_SLOPE * (coverage - _COVERED_MIDPOINT)))
        return np.where(coverage > 0, curve, 0.0).astype(np.float32)
    doubt = (1.0 - relevance) * (1.0 - np.clip(coverage, 0.0, 1.0) ** 2)
    return (1.0 - doubt).astype(np.float32)


@dataclass(frozen=True)
class Lived:
    """The gain of each row from its use, age and confidence, in points of the score: at most 0.15 together."""

    recency: Scores
    use: Scores
    confidence: Scores

    @property
    def total(self) -> Scores:
        return self.recency + self.use + self.confidence

    def where_relevant(self, similarity: Scores) -> "Lived":
        """Reduce the gain of rows that are hardly relevant: no irrelevant row is lifted over a relevant one."""
        gate = np.clip((similarity - LIKELY) / (_GAINS_ALL_FROM - LIKELY), 0.0, 1.0)
        return Lived(*((each * gate).astype(np.float32) for each in (self.recency, self.use, self.confidence)))


def lived(used: NDArray[np.int64], uses: NDArray[np.int32], confidence: Scores, now: int) -> Lived:
    """Return the gain of each row from its life.

    Recency halves every 30 days since the last use (or the creation); use grows with its logarithm and is full at 20
    uses. `used` and `now` are microseconds since 1970.
    """
    recency = _RECENCY * np.exp2(-days(used, now) / _RECENT_DAYS)
    use = _USE * np.minimum(np.log1p(uses) / np.log1p(_OFTEN_USED), 1.0)
    return Lived(*(each.astype(np.float32) for each in (recency, use, _CONFIDENCE * confidence)))


def days(used: NDArray[np.int64], now: int) -> NDArray[np.float64]:
    """Return the days since a row was used or told last; 0 for a time to come."""
    since: NDArray[np.float64] = np.maximum(now - used, 0) / _MICROSECONDS_A_DAY
    return since


MOST_CONSIDERED = 50
_WORDS = 0.75  # the points of all of the question's words beside its meaning,
_WORDS_ALONE = 3.0  # and the points where the model does not know the language
_ALIKE = 8  # texts that differ only in their figures, of which one is enough for a talk
_SUBJECT = 0.3  # points of a text that must be known where there is talk of eating, medicine or effort


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and the meaning of cosines with it: None where the model does not know its language."""

    vector: Vector
    calibration: Calibration | None
    is_known: bool = True
    """True where the model learned the language; False where it only knows some of its words."""


@dataclass(frozen=True)
class Query:
    """A question to the memory; `meaning` is None where its mode compares no meaning.

    Whatever is not in `exact` need not be in the answers.
    """

    text: str
    meaning: Meaning | None
    mode: Mode
    limit: int
    min_relevance: float
    where: Filter
    now: datetime
    exact: ExactQuery = NOTHING_EXACT
    wordings: Sequence[Wording] = ()
    """The question with other names in it, by the owner's aliases."""
    apart: bool = False
    """True where texts that differ only in their figures come behind the best of them, where there is
    no room for all.
    """

    @property
    def words(self) -> str:
        """Return the words to search by, without those of which only a beginning is given."""
        return self.exact.words if self.exact else self.text

    @classmethod
    def of(
        cls,
        embedder: Embedder,
        text: str,
        mode: Mode,
        *,
        limit: int,
        min_relevance: float,
        where: Filter,
        now: datetime,
        operators: bool = False,
        groups: Groups = (),
    ) -> Self:
        """Embed `text` where its meaning is to be compared, with the full names of `groups` behind it, where
        others were said.

        Raises EmbeddingUnavailable. In a search by words, or with `operators`, quotes make a phrase and a star ends the
        beginning of a word.
        """
        text = storable(text)
        if exact := exactly_asked(text, mode, operators=operators):
            text = exact.text
        wordings = by_aliases(exact.words if exact else text, groups) if groups else []
        meaning = None
        if mode != "text":
            meant = with_full_names(text, wordings, groups)
            meaning = Meaning(embedder.query(meant), embedder.calibration_of(text), embedder.understands(text))
        return cls(text, meaning, mode, limit, min_relevance, where, now, exact, wordings)


def exactly_asked(text: str, mode: Mode, *, operators: bool) -> ExactQuery:
    """Return the phrases and beginnings of words that must be there, in a search that heeds the marks of such."""
    return exact_query(text) if (operators and mode != "semantic") or mode == "text" else NOTHING_EXACT


@dataclass(frozen=True)
class Hit:
    """A memory found, by id; for the other fields see Found."""

    id: str
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]
    explanation: Explanation
    left: Left | None = None


def ranked(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]] = ()) -> list[Hit]:
    """Return the hits, best first, at most `query.limit`, none below `query.min_relevance`.

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors. Of an exact query only the rows
    that may hold its phrases are returned, with certainty 1: their texts tell whether they do.
    """
    if not corpus.ids:  # most often so in the shared scope
        return []
    scored = _scored(corpus, query, nearest)
    return [_hit(corpus, query, scored, row) for row in _kept(corpus, query, scored)]


def considered(
    corpus: Corpus,
    query: Query,
    nearest: Sequence[tuple[str, float]] = (),
    *,
    most: int = MOST_CONSIDERED,
    held: Collection[str] | None = None,
    guarded: bool = False,
) -> list[Hit]:
    """Return the hits, and behind them the rows that were not kept, best first, each with the reason; at
    most `most` of all.

    Of an exact query, `held` are the ids of what has its phrases: all, or the best `most`. Where it is `guarded`,
    nothing is told of what the filter leaves out.
    """
    scored = _scored(corpus, query, nearest)
    if held is not None:
        scored = replace(scored, holds=scored.holds & np.isin(corpus.ids, list(held)))
    kept = _kept(corpus, query, scored)
    left = np.array(corpus.columns["live"])
    left[kept] = False
    if guarded:
        left &= scored.fits
    expired = corpus.columns["expires"] <= microseconds(query.now)
    hits = [_hit(corpus, query, scored, row) for row in kept[: max(most, 0)]]
    for row in best(scored.score, left, most - len(hits)):
        reason: Left = "below the bound" if scored.similarity[row] < query.min_relevance else "beyond the limit"
        if not scored.holds[row]:
            reason = "without the phrase"
        if not scored.fits[row]:
            reason = "expired" if expired[row] else "left out by the filter"
        hits.append(replace(_hit(corpus, query, scored, row), left=reason))
    return hits


def wordings_of(query: Query) -> list[Wording]:
    """Return the question as it was asked, and with other names in it, by the owner's aliases."""
    return [Wording(query.words, ()), *query.wordings]


def asked_groups(corpus: Corpus, query: Query, words: str) -> list[Group]:
    """Return the terms by which the corpus is searched: of each of these words, and of each beginning of
    one in the query.
    """
    return [*_groups_of(corpus, words), *_groups_begun(corpus, query.exact)]


def _groups_of(corpus: Corpus, words: str) -> list[Group]:
    return [(term,) for term in corpus.words.known(asked(words))]


def _groups_begun(corpus: Corpus, exact: ExactQuery) -> list[Group]:
    return [tuple(_terms_like(corpus, each)) for each in exact.beginnings]


def may_hold(corpus: Corpus, exact: ExactQuery) -> NDArray[np.bool_]:
    """Return the rows that have a word for each of the phrases' words, in whatever order."""
    fits = np.ones(len(corpus.ids), dtype=np.bool_)
    for each in {each for phrase in exact.phrases for each in phrase}:
        terms = _terms_like(corpus, each.word) if each.begins else stems_of(each.word)
        if each.begins or terms:  # else texts are not searched by this word
            has = np.zeros_like(fits)
            for term in terms:
                has[corpus.words.rows(term)] = True
            fits &= has
    return fits


def _terms_like(corpus: Corpus, beginning: str) -> frozenset[str]:
    return terms_like(corpus.words.terms(), beginning)


@dataclass(frozen=True)
class _Scored:
    """The scores of every row of a corpus for one question."""

    fits: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    """True for the rows that may have the phrases of an exact query."""
    score: Scores
    similarity: Scores
    signals: Mapping[str, Scores]
    measures: tuple[Scores | None, Scores | None, Scores | None, Scores | None]
    """The cosine, the relevance that it means, the BM25, and the part of the question that a row covers."""
    terms: Mapping[str, Scores]
    covering: "_Covering | None"


@dataclass(frozen=True)
class _Covering:
    """Return the BM25 of each row by the wording of the question it covers best, and the part of the
    question that this is.
    """

    scores: Scores
    coverage: Scores
    wordings: Sequence[Wording]
    best: NDArray[np.intp]


def _covering(corpus: Corpus, query: Query) -> _Covering:
    wordings, measured = wordings_of(query), []
    for each in wordings:
        bm25, ceiling = corpus.words.grouped(asked_groups(corpus, query, each.text))
        measured.append((bm25, bm25 / np.float32(max(ceiling, 1e-6))))
    rows, chosen = np.arange(len(corpus.ids)), np.argmax([each[1] for each in measured], axis=0)  # of equals the first
    scores, coverage = (np.stack(each)[chosen, rows] for each in zip(*measured, strict=True))
    return _Covering(scores, coverage, wordings, chosen)


def _scored(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]]) -> _Scored:
    """Return the scores: the sum of what each signal adds, in points: meaning, words and what stands beside them,
    then use and age.

    A point of meaning is the cosine that means twenty more in the logarithm of the odds of being about the question,
    whatever the model. All of the question's words count three quarters of one, and three where the model does not know
    the language.
    """
    rows, columns = len(corpus.ids), corpus.columns
    fits = corpus.fitting(query.where, query.now)
    cosines = relevance = scores = coverage = covering = None
    words, terms, signals = _WORDS, dict[str, Scores](), dict[str, Scores]()
    if query.meaning is not None:
        cosines = corpus.compared(query.meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest)
        if not telling(query.text):
            relevance = np.zeros(rows, dtype=np.float32)
        elif query.meaning.calibration is not None:
            relevance = semantic(cosines, query.meaning.calibration, fits & columns["embedded"])
        slope = POINT if query.meaning.calibration is None else query.meaning.calibration.slope
        terms["meaning"] = cosines * np.float32(slope / POINT)
        words = _WORDS if query.meaning.is_known else _WORDS_ALONE
    if query.mode != "semantic":
        covering = _covering(corpus, query)
        scores, coverage = covering.scores, covering.coverage
        # A memory that waits for its vector is found by its words meanwhile.
        weight = np.where(columns["embedded"], words, _WORDS_ALONE).astype(np.float32)
        terms["words"] = weight * coverage
        if wanted := to_be_known(query.text):
            known = np.zeros(rows, dtype=np.float32)
            for term in wanted:
                known[corpus.words.rows(term)] = 1.0
            signals["subject"], terms["subject"] = known, known * np.float32(_SUBJECT)
    similarity = similarity_of(relevance, coverage, rows)
    if relevance is not None and coverage is not None:
        similarity = np.where(columns["embedded"], similarity, similarity_of(None, coverage, rows))
    holds = np.ones(rows, dtype=np.bool_)
    if query.exact:
        holds, similarity = may_hold(corpus, query.exact), np.ones(rows, dtype=np.float32)
    gains = _lived(corpus, query.now).where_relevant(similarity)
    terms |= {"recency": gains.recency, "use": gains.use, "confidence": gains.confidence}
    signals |= {name: each for name, each in (("semantic", relevance), ("text", coverage)) if each is not None}
    score = sum(terms.values(), np.zeros(rows, dtype=np.float32))
    return _Scored(fits, holds, score, similarity, signals, (cosines, relevance, scores, coverage), terms, covering)


def _lived(corpus: Corpus, now: datetime) -> Lived:
    columns = corpus.columns
    return lived(columns["used"], columns["uses"], columns["confidence"], microseconds(now))


def _kept(corpus: Corpus, query: Query, scored: _Scored) -> list[int]:
    kept = scored.fits & scored.holds & (scored.similarity >= query.min_relevance)
    if not query.apart:
        return list(best(scored.score, kept, query.limit))
    rows = np.array(best(scored.score, kept, _ALIKE * query.limit), dtype=np.intp)
    _, firsts = np.unique(corpus.columns["words"][rows], return_index=True)
    repeats = np.setdiff1d(np.arange(len(rows)), firsts)
    return [int(row) for row in rows[np.concatenate([np.sort(firsts), repeats])][: max(query.limit, 0)]]


def _hit(corpus: Corpus, query: Query, scored: _Scored, row: int) -> Hit:
    columns, similarity = corpus.columns[row], float(scored.similarity[row])
    signals = {name: round(float(signal[row]), 4) for name, signal in scored.signals.items()}
    cosine, relevance, bm25, coverage = (None if each is None else float(each[row]) for each in scored.measures)
    explanation = Explanation(
        query.text,
        similarity,
        query.min_relevance,
        {name: float(term[row]) for name, term in scored.terms.items()},
        cosine,
        relevance,
        bm25,
        coverage,
        days=round(float(days(columns["used"], microseconds(query.now))), 3),
        uses=int(columns["uses"]),
        confidence=float(columns["confidence"]),
        aliases=() if scored.covering is None else scored.covering.wordings[scored.covering.best[row]].aliases,
    )
    score = float(scored.score[row])
    return Hit(corpus.ids[row], score, similarity, match_type(signals), signals, explanation)


def foremost(corpus: Corpus, now: datetime, limit: int) -> list[str]:
    """Return the ids of the rows that rank first when nothing is asked."""
    return [corpus.ids[row] for row in best(_lived(corpus, now).total, corpus.fitting(EVERYTHING, now), limit)]


def best(scores: NDArray[np.float32], fits: NDArray[np.bool_], limit: int) -> Sequence[int]:
    """Return the rows of the highest scores among those that fit, best first; equal scores keep their order."""
    if limit <= 0:
        return []
    rows = np.flatnonzero(fits)
    if len(rows) > limit:
        bound = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= bound]
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")][:limit]]


def match_type(signals: dict[str, float]) -> MatchType:
    """Return which signals found a row: words only, meaning only, or both."""
    by_words = signals.get("text", 0.0) > 0.0
    by_meaning = signals.get("semantic", 0.0) >= LIKELY
    if by_words and by_meaning:
        return "hybrid"
    return "exact" if by_words else "semantic"


class _Subject(NamedTuple):
    said: dict[str, frozenset[str]]  # by language
    told: frozenset[str]


def to_be_known(question: str) -> frozenset[str]:
    """Return the terms of what is to be known where these words are said; none for most words."""
    words, language = set(terms(question)), language_of(question)
    subjects = (each.told for each in _subjects() if not words.isdisjoint(each.said.get(language, ())))
    return frozenset().union(*subjects)


@cache
def _subjects() -> list[_Subject]:
    read = json.loads(files(__package__).joinpath("subjects.json").read_text("utf-8"))
    return [
        _Subject(
            {language: stemmed(words["said"], language) for language, words in each.items()},
            frozenset().union(*(stemmed(words["told"], language) for language, words in each.items())),
        )
        for each in read.values()
    ]
