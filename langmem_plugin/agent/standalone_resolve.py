"""`resolve` for those who use nothing else: the resolver, with the offline model for the one thing it helps with."""

from collections.abc import Sequence
from functools import cache

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import MessageLikeRepresentation

from langmem_plugin import references
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.references import Resolution


def resolve(
    utterance: str, messages: Sequence[MessageLikeRepresentation], *, model: BaseChatModel | None = None
) -> Resolution:
    """What the utterance refers to in `messages` (newest last, without the utterance itself).

    Words and the data decide. Only an indirect answer to "this or that?", such as "the quieter one", is compared in
    meaning, with the offline embedding model, which is loaded the first time that happens (half a second).
    `model`, if given, is asked once, shortly, where rules found something without being sure.
    `langmem_plugin.references.resolve` takes another measure of closeness, or none.
    """
    return references.resolve(utterance, messages, closeness=_closeness, model=model)


def _closeness(text: str, texts: Sequence[str]) -> list[float]:
    return _offline_embedder().closeness(text, texts)


@cache
def _offline_embedder() -> Embedder:
    return Embedder(OfflineEmbeddings())
