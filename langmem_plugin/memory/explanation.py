"""Why a search gave what it gave: the numbers behind each result, and what was considered and not kept."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from langmem_plugin.identifiers import OwnerKey

Left = Literal["below the bound", "beyond the limit", "without the phrase", "left out by the filter", "expired"]
"""Why a candidate was not kept."""


@dataclass(frozen=True)
class Explanation:
    """What the ranking of one memory for one question has used; a signal that did not run is None.

    `cosine` of the vectors, `relevance` what it means in [0, 1], less where others are much nearer; `bm25`, and
    `coverage`, the part of the question's words, by rarity, that it is, with its tags, key, summary and category (whose
    part of the score is `labels` of the terms); `days` since it was used or told. `terms` is what each of these added
    to the score: they add up to it, times `weight`, which is below 1 for the message before the last. `bound` is the
    similarity that was asked for. `aliases` are the names that were taken for each other to find it, such as
    "k8s = Kubernetes".
    """

    question: str
    similarity: float
    bound: float
    terms: Mapping[str, float]
    cosine: float | None = None
    relevance: float | None = None
    bm25: float | None = None
    coverage: float | None = None
    days: float | None = None
    uses: int | None = None
    confidence: float | None = None
    aliases: tuple[str, ...] = ()
    weight: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"terms": dict(self.terms), "aliases": list(self.aliases)}


@dataclass(frozen=True)
class Candidate:
    """One memory that was looked at for a question: kept as an answer, or `left` for a reason. Plain data."""

    memory_id: str
    owner: OwnerKey
    text: str
    score: float
    similarity: float
    match_type: str
    explanation: Explanation
    left: Left | None = None
    category: str | None = None
    tags: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> bool:
        return self.left is None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        more = {"kept": self.kept, "tags": list(self.tags), "explanation": self.explanation.to_dict()}
        return asdict(self) | {"owner": str(self.owner)} | more
