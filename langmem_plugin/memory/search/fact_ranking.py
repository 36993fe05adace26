"""One query against one owner's corpus: which rows, in which order, and why. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.explanation import Explanation, Left
from langmem_plugin.memory.models import Filter, MatchType, Mode, storable
from langmem_plugin.memory.search import near_equals, score_fusion
from langmem_plugin.memory.search.corpus import Corpus, microseconds
from langmem_plugin.memory.search.score_fusion import Scores
from langmem_plugin.memory.search.tokenizer import asked

MOST_CONSIDERED = 50
_AS_LIKELY_AS_NOT = 0.5


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and what cosines with it mean."""

    vector: Vector
    calibration: Calibration


@dataclass(frozen=True)
class Query:
    """What is asked. `meaning` is None where meaning is not to be compared: by mode, or by language."""

    text: str
    meaning: Meaning | None
    mode: Mode
    limit: int
    min_relevance: float
    where: Filter
    now: datetime

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
    ) -> Self:
        """Embeds `text` where its meaning is to be compared. Raises EmbeddingUnavailable."""
        text = storable(text)
        by_meaning = mode != "text" and embedder.understands(text)
        meaning = Meaning(embedder.query(text), embedder.calibration) if by_meaning else None
        return cls(text, meaning, mode, limit, min_relevance, where, now)


@dataclass(frozen=True)
class Hit:
    """A memory found, by id; see Found for the meaning of the rest."""

    id: str
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]
    explanation: Explanation
    left: Left | None = None


def ranked(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]] = ()) -> list[Hit]:
    """Best first, at most `query.limit`, none below `query.min_relevance`.

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors.
    """
    scored = _scored(corpus, query, nearest)
    return [_hit(corpus, query, scored, row) for row in _kept(query, scored)]


def considered(
    corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]] = (), *, most: int = MOST_CONSIDERED
) -> list[Hit]:
    """The same, and behind them what was not kept, best first, each with the reason why; at most `most` of all."""
    scored = _scored(corpus, query, nearest)
    kept = _kept(query, scored)
    left = np.array(corpus.columns["live"])
    left[kept] = False
    expired = corpus.columns["expires"] <= microseconds(query.now)
    hits = [_hit(corpus, query, scored, row) for row in kept[: max(most, 0)]]
    for row in best(scored.score, left, most - len(hits)):
        reason: Left = "below the bound" if scored.similarity[row] < query.min_relevance else "beyond the limit"
        if not scored.fits[row]:
            reason = "expired" if expired[row] else "left out by the filter"
        hits.append(replace(_hit(corpus, query, scored, row), left=reason))
    return hits


@dataclass(frozen=True)
class _Scored:
    """Of every row of a corpus for one question."""

    fits: NDArray[np.bool_]
    score: Scores
    similarity: Scores
    signals: Mapping[str, Scores]
    measures: tuple[Scores | None, Scores | None, Scores | None, Scores | None]
    """The cosine and the relevance that it means; BM25 and the part of the question that it covers."""
    terms: Mapping[str, Scores]


def _scored(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]]) -> _Scored:
    rows, columns = len(corpus.ids), corpus.columns
    fits = corpus.fitting(query.where, query.now)
    cosines = relevance = scores = coverage = None
    unit, terms = 1.0, dict[str, Scores]()
    if query.meaning is not None:
        cosines = corpus.compared(query.meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest)
        embedded, calibration = fits & columns["embedded"], query.meaning.calibration
        relevance, _ = score_fusion.semantic(cosines, calibration, embedded)
        near = near_equals.nearness(cosines, calibration, embedded)
        unit = near.unit
        terms["meaning"] = near.score
    if query.mode != "semantic":
        scores, ceiling = corpus.words.scores(corpus.words.known(asked(query.text)))
        coverage = scores / max(ceiling, 1e-6)
        terms["words"] = score_fusion.by_words(coverage)
    similarity = score_fusion.similarity(relevance, coverage, rows)
    lived = near_equals.lived(columns["used"], columns["uses"], columns["confidence"], microseconds(query.now))
    lived = lived.among_near_equals(similarity, unit)
    terms |= {"recency": lived.recency, "use": lived.use, "confidence": lived.confidence}
    signals = {name: each for name, each in (("semantic", relevance), ("text", coverage)) if each is not None}
    score = sum(terms.values(), np.zeros(rows, dtype=np.float32))
    return _Scored(fits, score, similarity, signals, (cosines, relevance, scores, coverage), terms)


def _kept(query: Query, scored: _Scored) -> list[int]:
    return list(best(scored.score, scored.fits & (scored.similarity >= query.min_relevance), query.limit))


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
        days=round(float(near_equals.days(columns["used"], microseconds(query.now))), 3),
        uses=int(columns["uses"]),
        confidence=float(columns["confidence"]),
    )
    score = float(scored.score[row])
    return Hit(corpus.ids[row], score, similarity, match_type(signals), signals, explanation)


def foremost(corpus: Corpus, where: Filter, now: datetime, limit: int) -> list[str]:
    """The ids of those that rank first when nothing is asked."""
    columns = corpus.columns
    lived = near_equals.lived(columns["used"], columns["uses"], columns["confidence"], microseconds(now))
    return [corpus.ids[row] for row in best(lived.total, corpus.fitting(where, now), limit)]


def best(scores: NDArray[np.float32], fits: NDArray[np.bool_], limit: int) -> Sequence[int]:
    """The rows of the highest scores among those that fit, best first; equal scores keep their order."""
    if limit <= 0:
        return []
    rows = np.flatnonzero(fits)
    if len(rows) > limit:
        bound = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= bound]
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")][:limit]]


def match_type(signals: dict[str, float]) -> MatchType:
    """Which signals found it: words only, meaning only, or both."""
    by_words = signals.get("text", 0.0) > 0.0
    by_meaning = signals.get("semantic", 0.0) >= _AS_LIKELY_AS_NOT
    if by_words and by_meaning:
        return "hybrid"
    return "exact" if by_words else "semantic"
