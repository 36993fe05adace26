"""One query against one owner's corpus: which rows, in which order, and why. No I/O."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.find.bm25 import Group, Scores
from langmem_plugin.memory.find.corpus import Corpus, microseconds
from langmem_plugin.memory.find.exact_query import NOTHING_EXACT, ExactQuery, exact_query, terms_like
from langmem_plugin.memory.find.score_fusion import LIKELY, POINT, Lived, days, lived, semantic, similarity_of
from langmem_plugin.memory.find.subjects import to_be_known
from langmem_plugin.memory.find.tokenizer import asked, stems_of, telling
from langmem_plugin.memory.find.wordings import Groups, Wording, by_aliases, with_full_names
from langmem_plugin.memory.models import Explanation, Filter, Left, MatchType, Mode, storable

MOST_CONSIDERED = 50
_WORDS = 0.75  # what all of the question's words count beside its meaning,
_WORDS_ALONE = 3.0  # and where the model does not know the language
_SUBJECT = 0.3  # what is to be known where there is talk of eating, medicine or effort
_LABELS = 0.5  # what a word beside a text weighs in the order: what says it comes before what is only filed under it,
_SURE_BY_LABELS = 0.75  # and for being found at all: alone, a word beside a text is enough to be found by


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and what cosines with it mean: None where the model does not know its language."""

    vector: Vector
    calibration: Calibration | None
    is_known: bool = True
    """Whether the model learned the language, and does not only know some of its words."""


@dataclass(frozen=True)
class Query:
    """What is asked. `meaning` is None where meaning is not to be compared, by mode.

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
    wordings: Sequence[Wording] = ()
    """The question with other names in it, by the owner's aliases."""

    @property
    def words(self) -> str:
        """What texts are searched by, but for the beginnings of words."""
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
        """Embeds `text` where its meaning is to be compared, with the full names of `groups` behind it, where others
        were said. Raises EmbeddingUnavailable.

        In a search by words, or with `operators`, quotes make a phrase and a star ends the beginning of a word.
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
    """The phrases and beginnings of words that must be there, in a search that heeds the marks of such."""
    return exact_query(text) if (operators and mode != "semantic") or mode == "text" else NOTHING_EXACT


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

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors. Of an exact query only what may
    hold its phrases, as sure as can be: whether it does is in the texts.
    """
    scored = _scored(corpus, query, nearest)
    return [_hit(corpus, query, scored, row) for row in _kept(query, scored)]


def considered(
    corpus: Corpus,
    query: Query,
    nearest: Sequence[tuple[str, float]] = (),
    *,
    most: int = MOST_CONSIDERED,
    held: Collection[str] | None = None,
    guarded: bool = False,
) -> list[Hit]:
    """The same, and behind them what was not kept, best first, each with the reason why; at most `most` of all.

    Of an exact query, `held` are the ids of what has its phrases: all, or the best `most`. Where it is `guarded`, what
    the filter leaves out is not told.
    """
    scored = _scored(corpus, query, nearest)
    if held is not None:
        scored = replace(scored, holds=scored.holds & np.isin(corpus.ids, list(held)))
    kept = _kept(query, scored)
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
    """The question as it was asked, and with other names in it, by the owner's aliases."""
    return [Wording(query.words, ()), *query.wordings]


def asked_groups(corpus: Corpus, query: Query, words: str) -> list[Group]:
    """The terms by which the corpus is searched: of each of these words, and of each beginning of one in the query."""
    return [*_groups_of(corpus, words), *_groups_begun(corpus, query.exact)]


def _groups_of(corpus: Corpus, words: str) -> list[Group]:
    return [(term,) for term in corpus.words.known(asked(words), _Labels(corpus))]


def _groups_begun(corpus: Corpus, exact: ExactQuery) -> list[Group]:
    return [tuple(_terms_like(corpus, each)) for each in exact.beginnings]


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


@dataclass(frozen=True)
class _Scored:
    """Of every row of a corpus for one question."""

    fits: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    """What may have the phrases of an exact query."""
    score: Scores
    similarity: Scores
    signals: Mapping[str, Scores]
    measures: tuple[Scores | None, Scores | None, Scores | None, Scores | None]
    """The cosine and the relevance that it means; BM25 and the part of the question that it covers."""
    terms: Mapping[str, Scores]
    covering: "_Covering | None"


@dataclass(frozen=True)
class _Covering:
    """Of each row, by the wording of the question that it covers best: BM25, and the part of the question that it is,
    with what stands beside its text.
    """

    scores: Scores
    coverage: Scores
    by_text: Scores
    """What the text alone adds to the score,"""
    by_labels: Scores
    """and what is added for what stands beside it."""
    wordings: Sequence[Wording]
    best: NDArray[np.intp]


def _covering(corpus: Corpus, query: Query) -> _Covering:
    live, wordings = corpus.columns["live"], wordings_of(query)
    measured = []
    for each in wordings:
        bm25, labels, ceiling = corpus.words.grouped(asked_groups(corpus, query, each.text), corpus.labelled, live)
        by_text, beside = (found / np.float32(max(ceiling, 1e-6)) for found in (bm25, labels))
        measured.append((bm25, by_text + _SURE_BY_LABELS * beside, by_text, _LABELS * beside))
    rows, chosen = np.arange(len(corpus.ids)), np.argmax([each[1] for each in measured], axis=0)  # of equals the first
    scores, coverage, by_text, by_labels = (np.stack(each)[chosen, rows] for each in zip(*measured, strict=True))
    return _Covering(scores, coverage, by_text, by_labels, wordings, chosen)


def _scored(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]]) -> _Scored:
    """The sum of what each signal adds, in points: meaning, words and what stands beside them, then a life's little.

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
        # What waits for its vector is found by its words meanwhile.
        weight = np.where(columns["embedded"], words, _WORDS_ALONE).astype(np.float32)
        terms["words"] = weight * covering.by_text
        if covering.by_labels.any():
            terms["labels"] = weight * covering.by_labels
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


def _kept(query: Query, scored: _Scored) -> list[int]:
    kept = scored.fits & scored.holds & (scored.similarity >= query.min_relevance)
    return list(best(scored.score, kept, query.limit))


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


def foremost(corpus: Corpus, where: Filter, now: datetime, limit: int) -> list[str]:
    """The ids of those that rank first when nothing is asked."""
    return [corpus.ids[row] for row in best(_lived(corpus, now).total, corpus.fitting(where, now), limit)]


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
    by_meaning = signals.get("semantic", 0.0) >= LIKELY
    if by_words and by_meaning:
        return "hybrid"
    return "exact" if by_words else "semantic"
