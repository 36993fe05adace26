"""The ranking of one owner's rows for one query. No I/O.

A row's score is the nearness of its meaning to the question's, plus the part of the question's words that it has, which
counts more where the model did not learn the language. What limits what somebody may eat, take or do is as near as the
nearer of its own words and of the occasions on which such a thing must be known. What is likely about the question
gains a little by being new, used and sure. How surely a row is about the question, in [0, 1], is told by its own
meaning and words alone; bounds compare with that.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import MOST_ODDS, Calibration
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.find.bm25 import Scores
from langmem_plugin.memory.find.corpus_cache import Corpus, best
from langmem_plugin.memory.find.tokenizer import asked, telling
from langmem_plugin.memory.keep.changes_and_checksums import microseconds
from langmem_plugin.memory.keep.vectors import Vector
from langmem_plugin.memory.memory_types import EVERYTHING, Filter, MatchType, Mode, storable

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
_WORDS = 0.75  # the points of all of the question's words beside its meaning,
_WORDS_ALONE = 3.0  # and the points where the model does not know the language
_ALIKE = 8  # texts that differ only in their figures, of which one is enough for a talk
_ON_OCCASION = 0.7  # the certainty at which a question is about an occasion
_OCCASIONS: list[str] = json.loads(files(__package__).joinpath("occasions.json").read_text("utf-8"))["occasions"]


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


def lived(corpus: Corpus, now: datetime) -> Scores:
    """Return the gain of each row from its life, in points of the score: at most 0.15.

    Recency halves every 30 days since the last use (or the creation); use grows with its logarithm and is full at 20
    uses.
    """
    columns = corpus.columns
    days = np.maximum(microseconds(now) - columns["used"], 0) / _MICROSECONDS_A_DAY
    use = np.minimum(np.log1p(columns["uses"]) / np.log1p(_OFTEN_USED), 1.0)
    gain = _RECENCY * np.exp2(-days / _RECENT_DAYS) + _USE * use + _CONFIDENCE * columns["confidence"]
    gained: Scores = gain.astype(np.float32)
    return gained


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and the meaning of cosines with it: None where the model does not know its language.

    `occasion` is its cosine with the nearest occasion on which limits must be known, `is_occasion` says that it is one.
    """

    vector: Vector
    calibration: Calibration | None
    is_known: bool = True
    """True where the model learned the language; False where it only knows some of its words."""
    occasion: float = -1.0
    is_occasion: bool = False


@dataclass(frozen=True)
class Query:
    """A question to the memory; `meaning` is None where its mode compares no meaning.

    `among` are the ids of what its filter lets through, None for everything. `apart` is true where texts that differ
    only in their figures come behind the best of them, where there is no room for all.
    """

    text: str
    meaning: Meaning | None
    mode: Mode
    limit: int
    min_relevance: float
    where: Filter
    now: datetime
    apart: bool = False
    among: Collection[str] | None = None

    @classmethod
    def of(
        cls,
        embedder: Embedder,
        text: str,
        mode: Mode,
        *,
        limit: int,
        min_relevance: float,
        now: datetime,
        where: Filter = EVERYTHING,
    ) -> Self:
        """Embed `text` where its meaning is to be compared. Raises EmbeddingUnavailable."""
        text = storable(text)
        meaning = None
        if mode != "text":
            vector = embedder.query(text)
            occasion = float(np.max(np.vecdot(embedder.texts(_OCCASIONS), vector)))
            is_occasion = telling(text) and embedder.calibration.relevance(occasion) >= _ON_OCCASION
            curve, is_known = embedder.calibration_of(text), embedder.understands(text)
            meaning = Meaning(vector, curve, is_known, occasion, is_occasion)
        return cls(text, meaning, mode, limit, min_relevance, where, now)


@dataclass(frozen=True)
class Hit:
    """A row found, by id; for the other fields see Found."""

    id: str
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]


def ranked(corpus: Corpus, query: Query, nearest: Sequence[tuple[str, float]] = ()) -> list[Hit]:
    """Return the hits, best first, at most `query.limit`, none below `query.min_relevance`.

    `nearest` are the cosines that are known, by id, where the corpus holds no vectors. The score is the sum of what
    each signal adds, in points: a point of meaning is the cosine that means twenty more in the logarithm of the odds of
    being about the question, whatever the model. All of the question's words count three quarters of one, and three
    where the model does not know the language.
    """
    if not corpus.ids:  # most often so in the shared scope
        return []
    rows, columns, meaning = len(corpus.ids), corpus.columns, query.meaning
    fits = corpus.fitting(query.now, query.among)
    relevance = coverage = None
    score, signals = np.zeros(rows, dtype=np.float32), dict[str, Scores]()
    if meaning is not None:
        cosines = corpus.compared(meaning.vector) if corpus.holds_vectors else corpus.cosines(nearest)
        signals["cosine"] = cosines
        if not telling(query.text):
            relevance = np.zeros(rows, dtype=np.float32)
        elif meaning.calibration is not None:
            relevance = semantic(cosines, meaning.calibration, fits & columns["embedded"])
        if query.mode == "hybrid" and meaning.is_occasion:
            signals["occasion"] = columns["limits"].astype(np.float32)
        score = _by_meaning(cosines, query, meaning, columns["limits"])
    if query.mode != "semantic":
        coverage = signals["text"] = _covered(corpus, query.text)
        # A memory that waits for its vector is found by its words meanwhile.
        by_both = meaning is not None and meaning.is_known
        score = score + np.where(columns["embedded"] & by_both, _WORDS, _WORDS_ALONE).astype(np.float32) * coverage
    similarity = similarity_of(relevance, coverage, rows)
    if relevance is not None:
        signals["semantic"] = relevance
        if coverage is not None:
            similarity = np.where(columns["embedded"], similarity, similarity_of(None, coverage, rows))
    # No row that is hardly relevant is lifted over a relevant one.
    score = score + lived(corpus, query.now) * np.clip((similarity - LIKELY) / (_GAINS_ALL_FROM - LIKELY), 0.0, 1.0)
    kept = fits & (similarity >= query.min_relevance)
    return [
        Hit(corpus.ids[row], float(score[row]), float(similarity[row]), match_type(shown), shown)
        for row in (_apart(corpus, score, kept, query.limit) if query.apart else best(score, kept, query.limit))
        for shown in [{name: round(float(signal[row]), 4) for name, signal in signals.items()}]
    ]


def _by_meaning(cosines: Scores, query: Query, meaning: Meaning, limits: NDArray[np.bool_]) -> Scores:
    """Return the points of meaning: in a search by both, a limit has those of an occasion if they are more."""
    if query.mode == "hybrid":
        cosines = np.where(limits, np.maximum(cosines, np.float32(meaning.occasion)), cosines)
    return cosines * np.float32(POINT if meaning.calibration is None else meaning.calibration.slope) / np.float32(POINT)


def _covered(corpus: Corpus, text: str) -> Scores:
    """Return the part of a question's words, by rarity, that each row has."""
    scores, ceiling = corpus.words.scores(corpus.words.known(asked(text)))
    return scores / np.float32(max(ceiling, 1e-6))


def _apart(corpus: Corpus, score: Scores, kept: NDArray[np.bool_], limit: int) -> Sequence[int]:
    found = best(score, kept, _ALIKE * limit)
    if len(found) <= limit:
        return found
    rows = np.array(found, dtype=np.intp)
    _, firsts = np.unique(corpus.columns["words"][rows], return_index=True)
    repeats = np.setdiff1d(np.arange(len(rows)), firsts)
    return [int(row) for row in rows[np.concatenate([np.sort(firsts), repeats])][: max(limit, 0)]]


def foremost(corpus: Corpus, now: datetime, limit: int) -> list[str]:
    """Return the ids of the rows that rank first when nothing is asked."""
    return [corpus.ids[row] for row in best(lived(corpus, now), corpus.fitting(now), limit)]


def match_type(signals: dict[str, float]) -> MatchType:
    """Return which signals found a row: words only, meaning only, or both."""
    by_words = signals.get("text", 0.0) > 0.0
    by_meaning = signals.get("semantic", 0.0) >= LIKELY
    if by_words and by_meaning:
        return "hybrid"
    return "exact" if by_words else "semantic"
