"""One query against one owner's corpus: which rows, in which order, and why. No I/O."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.explanation import Explanation, Left
from langmem_plugin.memory.models import Filter, MatchType, Mode, storable
from langmem_plugin.memory.search import near_equals, score_fusion
from langmem_plugin.memory.search.bm25 import Group, Scores
from langmem_plugin.memory.search.corpus import Corpus, microseconds
from langmem_plugin.memory.search.exact_query import NOTHING_EXACT, ExactQuery, exact_query, terms_like
from langmem_plugin.memory.search.tokenizer import asked, stems_of
from langmem_plugin.memory.search.transliteration import is_hebrew
from langmem_plugin.memory.search.wordings import MOST, Groups, Wording, by_aliases, by_sound, with_full_names

MOST_CONSIDERED = 50
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
        by_meaning = mode != "text" and embedder.understands(text)
        meant = with_full_names(text, wordings, groups)
        meaning = Meaning(embedder.query(meant), embedder.calibration_of(text)) if by_meaning else None
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


def wordings_of(corpus: Corpus, query: Query) -> list[Wording]:
    """The question as it was asked, and with other names in it: by the owner's aliases, and as the texts spell them."""
    others = [*query.wordings, *by_sound(query.words, partial(_alike, corpus))][:MOST]
    return [Wording(query.words, ()), *others]


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
    live, wordings = corpus.columns["live"], wordings_of(corpus, query)
    measured = []
    for each in wordings:
        groups = asked_groups(corpus, query, each.text)
        bm25, labels, ceiling = corpus.words.grouped(groups, corpus.labelled, live)
        words, beside = bm25 / max(ceiling, 1e-6), labels / np.float32(max(ceiling, 1e-6))
        by_text = score_fusion.by_words(words)
        by_labels = score_fusion.by_words(words + _LABELS * beside) - by_text
        measured.append((bm25, words + _SURE_BY_LABELS * beside, by_text, by_labels))
    rows, chosen = np.arange(len(corpus.ids)), np.argmax([each[1] for each in measured], axis=0)  # of equals the first
    scores, coverage, by_text, by_labels = (np.stack(each)[chosen, rows] for each in zip(*measured, strict=True))
    return _Covering(scores, coverage, by_text, by_labels, wordings, chosen)


def _alike(corpus: Corpus, name: str) -> list[str]:
    """Other spellings of a name in these memories. In its own letters only where nobody spells it as it was said."""
    others = corpus.names.alike(name)
    if any(corpus.words.holds(forms) for forms in asked(name)):
        return [each for each in others if is_hebrew(each) is not is_hebrew(name)]
    return others


def _scored(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]]) -> _Scored:
    rows, columns = len(corpus.ids), corpus.columns
    fits = corpus.fitting(query.where, query.now)
    cosines = relevance = scores = coverage = covering = None
    unit, terms = 1.0, dict[str, Scores]()
    if query.meaning is not None:
        cosines = corpus.compared(query.meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest)
        embedded = fits & columns["embedded"]
        calibration = score_fusion.against_field(cosines[embedded], query.meaning.calibration)
        relevance, _ = score_fusion.semantic(cosines, calibration, embedded)
        near = near_equals.nearness(cosines, calibration, embedded)
        unit = near.unit
        terms["meaning"] = near.score
    if query.mode != "semantic":
        covering = _covering(corpus, query)
        scores, coverage = covering.scores, covering.coverage
        terms["words"] = covering.by_text
        if covering.by_labels.any():
            terms["labels"] = covering.by_labels
    similarity = score_fusion.similarity(relevance, coverage, rows)
    holds = np.ones(rows, dtype=np.bool_)
    if query.exact:
        holds, similarity = may_hold(corpus, query.exact), np.ones(rows, dtype=np.float32)
    lived = near_equals.lived(columns["used"], columns["uses"], columns["confidence"], microseconds(query.now))
    lived = lived.among_near_equals(similarity, unit)
    terms |= {"recency": lived.recency, "use": lived.use, "confidence": lived.confidence}
    signals = {name: each for name, each in (("semantic", relevance), ("text", coverage)) if each is not None}
    score = sum(terms.values(), np.zeros(rows, dtype=np.float32))
    return _Scored(fits, holds, score, similarity, signals, (cosines, relevance, scores, coverage), terms, covering)


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
        days=round(float(near_equals.days(columns["used"], microseconds(query.now))), 3),
        uses=int(columns["uses"]),
        confidence=float(columns["confidence"]),
        aliases=() if scored.covering is None else scored.covering.wordings[scored.covering.best[row]].aliases,
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
