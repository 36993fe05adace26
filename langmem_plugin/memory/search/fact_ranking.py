"""One query against one owner's corpus: which rows, in which order, and why. No I/O."""

import itertools
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
from langmem_plugin.memory.search.bm25 import Group, Scores
from langmem_plugin.memory.search.corpus import Corpus, microseconds
from langmem_plugin.memory.search.exact_query import NOTHING_EXACT, ExactQuery, exact_query, terms_like
from langmem_plugin.memory.search.tokenizer import asked, stems_of

_AS_LIKELY_AS_NOT = 0.5
_LABELS = 0.5  # what a word beside a text weighs in the order: what says it comes before what is only filed under it,
_SURE_BY_LABELS = 0.75  # and for being found at all: alone, a word beside a text is enough to be found by


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and what cosines with it mean."""

    vector: Vector
    calibration: Calibration


@dataclass(frozen=True)
class Query:
    """What is asked. `meaning` is None where meaning is not to be compared: by mode, or by language.

    What is not in `exact` is asked by the way.
    """

    text: str
    meaning: Meaning | None
    mode: Mode
    limit: int
    min_relevance: float
    where: Filter
    now: datetime
    exact: ExactQuery = NOTHING_EXACT

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
    ) -> Self:
        """Embeds `text` where its meaning is to be compared. Raises EmbeddingUnavailable.

        In a search by words, or with `operators`, quotes make a phrase and a star ends the beginning of a word.
        """
        text, exact = storable(text), NOTHING_EXACT
        if (operators and mode != "semantic") or mode == "text":
            exact = exact_query(text)
            text = exact.text
        by_meaning = mode != "text" and embedder.understands(text)
        meaning = Meaning(embedder.query(text), embedder.calibration) if by_meaning else None
        return cls(text, meaning, mode, limit, min_relevance, where, now, exact)


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

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors. Of an exact query only what may
    hold its phrases, as sure as can be: whether it does is in the texts.
    """
    rows = len(corpus.ids)
    fits = corpus.fitting(query.where, query.now)
    relevance: Scores | None = None
    spread: Scores | None = None
    coverage: Scores | None = None
    weighed: Scores | None = None
    if query.meaning is not None:
        relevance, spread = score_fusion.semantic(
            corpus.compared(query.meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest),
            query.meaning.calibration,
            fits & corpus.columns["embedded"],
        )
    if query.mode != "semantic":
        groups = asked_groups(corpus, query)
        words, labels, ceiling = corpus.words.grouped(groups, corpus.labelled, corpus.columns["live"])
        coverage = words / max(ceiling, 1e-6)
        weighed = coverage + labels * np.float32(_LABELS / max(ceiling, 1e-6))
        coverage = coverage + labels * np.float32(_SURE_BY_LABELS / max(ceiling, 1e-6))
    similarity = score_fusion.similarity(relevance, coverage, rows)
    if query.exact:
        fits &= may_hold(corpus, query.exact)
        similarity = np.ones(rows, dtype=np.float32)
    columns = corpus.columns
    score = score_fusion.fused(spread, weighed, rows) + score_fusion.lived(
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


def asked_groups(corpus: Corpus, query: Query) -> list[Group]:
    """The terms by which the corpus is searched: of each word of the question, and of each beginning of one."""
    forms = asked(query.exact.words if query.exact else query.text)
    known = corpus.words.known(forms, _Labels(corpus))
    groups: list[Group] = [(term,) for term in known]
    return groups + [tuple(_terms_like(corpus, each)) for each in query.exact.beginnings]


class _Labels:
    """The terms beside texts, looked at for a word only where no text has it."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self._corpus.labelled((term,)) is not None


def may_hold(corpus: Corpus, exact: ExactQuery) -> NDArray[np.bool_]:
    """The rows that have a word for each of the phrases' words, in whatever order."""
    fits = np.ones(len(corpus.ids), dtype=np.bool_)
    for each in {each for phrase in exact.phrases for each in phrase}:
        terms = _terms_like(corpus, each.word) if each.begins else stems_of(each.word)
        if each.begins or terms:  # else it is a word that texts are not searched by
            labelled = corpus.labelled(terms)
            has = np.zeros_like(fits) if labelled is None else labelled
            for term in terms:
                has[corpus.words.rows(term)] = True
            fits &= has
    return fits


def _terms_like(corpus: Corpus, beginning: str) -> frozenset[str]:
    return terms_like(itertools.chain(corpus.words.terms(), corpus.label_terms()), beginning)


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
