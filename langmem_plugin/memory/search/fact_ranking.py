"""One query against one owner's corpus: which rows, in which order, and why. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.models import Filter, MatchType, Mode, storable
from langmem_plugin.memory.search import score_fusion
from langmem_plugin.memory.search.corpus import Corpus, microseconds
from langmem_plugin.memory.search.tokenizer import asked

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
        meaning = Meaning(embedder.query(text), embedder.calibration_of(text)) if by_meaning else None
        return cls(text, meaning, mode, limit, min_relevance, where, now)


@dataclass(frozen=True)
class Hit:
    """A memory found, by id; see Found for the meaning of the rest."""

    id: str
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]


def ranked(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]] = ()) -> list[Hit]:
    """Best first, at most `query.limit`, none below `query.min_relevance`.

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors.
    """
    rows = len(corpus.ids)
    fits = corpus.fitting(query.where, query.now)
    relevance = spread = coverage = None
    if query.meaning is not None:
        cosines = corpus.compared(query.meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest)
        compared = fits & corpus.columns["embedded"]
        calibration = score_fusion.against_field(cosines[compared], query.meaning.calibration)
        relevance, spread = score_fusion.semantic(cosines, calibration, compared)
    if query.mode != "semantic":
        scores, ceiling = corpus.words.scores(corpus.words.known(asked(query.text)))
        coverage = scores / max(ceiling, 1e-6)
    similarity = score_fusion.similarity(relevance, coverage, rows)
    columns = corpus.columns
    score = score_fusion.fused(spread, coverage, rows) + score_fusion.lived(
        columns["used"], columns["uses"], columns["confidence"], microseconds(query.now)
    )
    fits &= similarity >= query.min_relevance
    hits = []
    for row in best(score, fits, query.limit):
        signals = {
            name: round(float(signal[row]), 4)
            for name, signal in (("semantic", relevance), ("text", coverage))
            if signal is not None
        }
        hits.append(Hit(corpus.ids[row], float(score[row]), float(similarity[row]), match_type(signals), signals))
    return hits


def foremost(corpus: Corpus, where: Filter, now: datetime, limit: int) -> list[str]:
    """The ids of those that rank first when nothing is asked."""
    columns = corpus.columns
    score = score_fusion.lived(columns["used"], columns["uses"], columns["confidence"], microseconds(now))
    return [corpus.ids[row] for row in best(score, corpus.fitting(where, now), limit)]


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
