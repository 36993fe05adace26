"""Documents of a LangChain retriever beside the memories: asked for once a run, kept in no state."""

import logging
from collections import OrderedDict

from langchain_core.documents import Document
from langchain_core.exceptions import LangChainException
from langchain_core.retrievers import BaseRetriever

from langmem_plugin import forks
from langmem_plugin.errors import LangMemError, client_errors
from langmem_plugin.phones import masked

log = logging.getLogger(__name__)

_MOST_KEPT = 256
_CLIENTS = (
    ("openai", "OpenAIError"),
    ("httpx", "HTTPError"),
    ("requests", "RequestException"),
    ("sqlalchemy.exc", "SQLAlchemyError"),
    ("chromadb.errors", "ChromaError"),
    ("grpc", "RpcError"),
)


class Documents:
    """What the retriever gave for each question lately; a run asks once and every model call of it shows that.

    Kept by person and question and not in the graph's state: a checkpoint would store every text again. A run that
    goes on in another process asks again.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self._kept: OrderedDict[tuple[str, str], list[Document]] = OrderedDict()
        self._lock = forks.Lock()

    def ask(self, owner: str, question: str) -> list[Document]:
        """Best first as the retriever ranks them; [] and a WARNING if it fails, and nobody asks again in this run."""
        try:
            found = list(self._retriever.invoke(question)) if question else []
        except _failures():
            log.warning("documents.skipped", exc_info=True, extra={"owner": masked(owner)})
            found = []
        with self._lock:
            self._kept[owner, question] = found
            self._kept.move_to_end((owner, question))
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def of(self, owner: str, question: str) -> list[Document]:
        """What `ask` was given last; asked for now if that is not kept."""
        with self._lock:
            found = self._kept.get((owner, question))
        return self.ask(owner, question) if found is None else found


def _failures() -> tuple[type[Exception], ...]:
    """What a retriever raises that cannot be reached or run; a mistake in code is not among it."""
    return (LangMemError, LangChainException, OSError, RuntimeError, *client_errors(*_CLIENTS))
