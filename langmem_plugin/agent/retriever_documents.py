"""Documents of a LangChain retriever beside the memories: asked for once a run, kept in no state."""

from langchain_core.documents import Document
from langchain_core.exceptions import LangChainException
from langchain_core.retrievers import BaseRetriever

from langmem_plugin.errors import LangMemError, client_errors
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.references.shown.plain_data import plain

log = event_log(__name__)

_KEPT_BYTES = 16_000_000
_DOCUMENT_BYTES = 2_000  # what one takes besides its text
_CLIENTS = (
    ("openai", "OpenAIError"),
    ("httpx", "HTTPError"),
    ("requests", "RequestException"),
    ("sqlalchemy.exc", "SQLAlchemyError"),
    ("chromadb.errors", "ChromaError"),
    ("grpc", "RpcError"),
)


class RetrieverDocuments:
    """What the retriever gave for each question lately; a run asks once and every model call of it shows that.

    Kept by person and question and not in the graph's state: a checkpoint would store every text again. A run that
    goes on in another process asks again.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self._kept: LruCache[tuple[str, str], list[Document]] = LruCache(_KEPT_BYTES)

    def ask(self, owner: OwnerKey, question: str) -> list[Document]:
        """Best first as the retriever ranks them; [] and a WARNING if it fails, and nobody asks again in this run."""
        try:
            found = list(self._retriever.invoke(question)) if question else []
        except _failures():
            log.warning("documents.skipped", exc_info=True, extra={"owner": masked(owner)})
            found = []
        size = sum(_DOCUMENT_BYTES + 4 * (len(each.page_content) + len(str(each.metadata))) for each in found)
        self._kept.put((owner, question), found, _DOCUMENT_BYTES + 4 * len(question) + size)
        return [_own(each) for each in found]

    def of(self, owner: OwnerKey, question: str) -> list[Document]:
        """What `ask` was given last; asked for now if that is not kept."""
        found = self._kept.get((owner, question))
        return self.ask(owner, question) if found is None else [_own(each) for each in found]


def _own(document: Document) -> Document:
    """A copy: many retrievers give everybody the very documents they hold."""
    return document.model_copy(update={"metadata": plain(document.metadata)})


def _failures() -> tuple[type[Exception], ...]:
    """What a retriever raises that cannot be reached or run; a mistake in code is not among it."""
    return (LangMemError, LangChainException, OSError, RuntimeError, *client_errors(*_CLIENTS))
