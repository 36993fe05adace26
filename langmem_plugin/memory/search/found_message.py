"""A message that answers a question, as it may be shown, with what was said around it."""

from dataclasses import dataclass

from langmem_plugin.memory.corrected_messages import Shown
from langmem_plugin.memory.models import MatchType
from langmem_plugin.memory.search.message_rows import PastMessage
from langmem_plugin.notebook_view import Cells, Mark, Share, card


@dataclass(frozen=True)
class FoundMessage:
    """A message that answers a question; the other fields as in Found.

    `corrected_by` is what holds instead of what it says, "" where that is not known; None while nothing was corrected.
    `before` and `after` are its neighbours in the talk, where they were asked for, in the order they were said.
    `aliases` are the names that were taken for each other to find it, such as "k8s = Kubernetes".
    """

    message: PastMessage
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]
    corrected_by: str | None = None
    before: tuple[Shown, ...] = ()
    after: tuple[Shown, ...] = ()
    aliases: tuple[str, ...] = ()

    def cells(self) -> Cells:
        return {
            "said": self.message.text,
            "by": self.message.speaker,
            "at": self.message.said_at,
            "similarity": Share(self.similarity),
            "note": Mark(self.note, "warn") if self.note else None,
        }

    def _repr_html_(self) -> str:
        return card("A message that was found", self.cells())

    @property
    def note(self) -> str:
        """What is to be said with the message, for a model: "" for nothing."""
        return Shown(self.message, self.corrected_by).note


def nearest_words(text: str, at_most: int, *, before: bool) -> str:
    """Of a neighbour's text the part that is nearest to the found message: the end of what stands before it."""
    line = " ".join(text.split())
    if len(line) <= at_most:
        return line
    return f"…{line[-at_most:]}" if before else f"{line[:at_most]}…"
