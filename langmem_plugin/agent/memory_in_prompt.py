"""The part of the memory that a model is shown: what is recalled, as numbered entries, and instructions in force."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from langchain_core.documents import Document
from langchain_core.exceptions import LangChainException
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever

from langmem_plugin.agent.citations import Citation, cites, with_sources
from langmem_plugin.agent.graph_state import Recalled, last_said
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import answered_now
from langmem_plugin.agent.prompt_texts import context_block, context_line, when_told, with_room
from langmem_plugin.agent.replying.reply_notices import note_missing
from langmem_plugin.errors import EmbeddingUnavailable, LangMemError, SessionExpired, StoreUnavailable, client_errors
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.recall_and_visibility import NOTHING_TOLD, ReplyMemory, Told
from langmem_plugin.memory.instructions.conditions import Situation
from langmem_plugin.memory.instructions.standing_instructions import Instruction, applying
from langmem_plugin.references.shown.tool_data import plain

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
_FEWEST_LINES, _SHORT_LINE = 20, 10  # tokens: few lines with the day they were said are shorter


class RetrieverDocuments:
    """The documents that the retriever gave for recent questions. A run asks once, and every model call of the run
    shows the same documents.

    They are kept by person and question and not in the graph's state: a checkpoint would store every text again. A run
    that goes on in another process asks again.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self._kept: LruCache[tuple[str, str], list[Document]] = LruCache(_KEPT_BYTES)

    def ask(self, owner: OwnerKey, question: str) -> list[Document]:
        """Ask the retriever, and keep the documents in its order, the best first. If it fails, keep [] with a WARNING,
        so that this run does not ask again.
        """
        try:
            found = list(self._retriever.invoke(question)) if question else []
        except _failures():
            log.warning("documents.skipped", exc_info=True, extra={"owner": masked(owner)})
            found = []
        size = sum(_DOCUMENT_BYTES + 4 * (len(each.page_content) + len(str(each.metadata))) for each in found)
        self._kept.put((owner, question), found, _DOCUMENT_BYTES + 4 * len(question) + size)
        return [_own(each) for each in found]

    def of(self, owner: OwnerKey, question: str) -> list[Document]:
        """Return the documents that `ask` got last for the question. Ask now if they are not kept."""
        found = self._kept.get((owner, question))
        return self.ask(owner, question) if found is None else [_own(each) for each in found]


def _own(document: Document) -> Document:
    """Return a copy: many retrievers give every caller the same documents that they hold."""
    return document.model_copy(update={"metadata": plain(document.metadata)})


def _failures() -> tuple[type[Exception], ...]:
    """Return the errors of a retriever that cannot be reached or run. Mistakes in code are not among them."""
    return (LangMemError, LangChainException, OSError, RuntimeError, *client_errors(*_CLIENTS))


class MemoryInPrompt:
    """The memories and instructions for prompts. Texts are read again at each call: nothing forgotten is shown."""

    def __init__(self, parts: AgentParts, documents: RetrieverDocuments | None) -> None:
        self._parts, self._settings, self._person = parts, parts.settings, parts.person
        self._reminders = ReplyMemory(parts.service)
        self._documents = documents

    def recall(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """Return pairs (memory id, similarity) of the memories about the talk, best first. Behind them come, with
        similarity 0, the nearest of the other memories, as many as fit into `recall_tokens` whole.

        Return nothing, with a warning, if the memory cannot be reached. Raises SessionExpired if there is no message:
        the run resumed a conversation that is over.
        """
        if not messages:
            raise SessionExpired("this conversation has ended and its question with it: send a new message")
        owner, settings = self._person.owner(phone), self._settings
        if not settings.remembers:
            return []
        said = last_said(messages)
        if self._parts.searches and len(said) <= 1:  # a session begins, so that another may just have ended
            self._parts.past_sessions.worker.wake()
        if self._documents is not None:
            self._documents.ask(owner, "\n".join(filter(None, said)))
        try:
            beside = self._person.beside(owner, messages)
            found = self._reminders.recall(
                owner,
                self._person.role(owner),
                said,
                limit=settings.recall_limit or max(_FEWEST_LINES, settings.recall_tokens // _SHORT_LINE),
                min_similarity=settings.min_similarity,
                beside=beside,
                # An earlier question of another member of the group must not search memories that are only this one's.
                by_one=last_said(answered_now(messages)) if beside else [],
            )
        except (EmbeddingUnavailable, StoreUnavailable) as error:
            log.warning("recall.skipped", exc_info=error, extra={"owner": masked(owner)})
            if isinstance(error, StoreUnavailable):
                note_missing("recall")
            return []
        return self._in_budget(owner, found)

    def told(
        self, owner: OwnerKey, recalled: Recalled, messages: Sequence[BaseMessage] = (), *, as_last: bool = False
    ) -> Told:
        """Return the instructions and memories for the prompt as they are now, or `as_last` as they were for the last
        prompt; nothing, with a warning, in an outage.
        """
        if not self._settings.remembers:
            return NOTHING_TOLD
        try:
            memory_ids, beside = [each for each, _ in recalled], self._person.beside(owner, messages)
            role = self._person.role(owner)
            return self._reminders.told(owner, role, memory_ids, beside=beside, as_last=as_last)
        except StoreUnavailable as error:
            log.warning("recall.skipped", exc_info=error, extra={"owner": masked(owner)})
            note_missing("recall")
            return NOTHING_TOLD

    def numbered(
        self, owner: OwnerKey, messages: Sequence[BaseMessage], recalled: Recalled, told: Told | None = None
    ) -> list[Citation]:
        """Return the numbered entries of the block. A number is the place in what was recalled, whatever was forgotten
        since.

        Documents take the next numbers, and fill the part of the budget that the memories leave.
        """
        if not self._settings.remembers:
            return []
        told = told if told is not None else self.told(owner, recalled, messages)
        places = {memory_id: place for place, (memory_id, _) in enumerate(recalled, 1)}
        now = self.now_of(owner)
        shown = [Citation(places[each.id], memory=each, when=when_told(each, now)) for each in told.memories]
        if self._documents is not None:
            found = self._documents.of(owner, "\n".join(filter(None, last_said(messages))))
            offered = [Citation(place, document=each) for place, each in enumerate(found, len(recalled) + 1)]
            left = self._settings.recall_tokens - sum(map(self._cost, shown))
            shown += _fitting(offered, self._cost, left)
        return shown

    def instructions(self, owner: OwnerKey, messages: Sequence[BaseMessage], told: Told) -> list[Instruction]:
        """Return the chosen instructions that apply to the person's newest message, now, in their own time zone."""
        chosen = with_room(told.instructions, self._parts.count_tokens)
        if all(each.condition is None for each in chosen):
            return chosen
        said = next((each.text for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        return applying(chosen, Situation(self.now_of(owner), message=said, role=self._person.role(owner)))

    def with_sources(self, text: str, messages: Sequence[BaseMessage], recalled: Recalled, phone: str | None) -> str:
        """Return a reply for people, with the sources it cites below it."""
        if not cites(text):
            return text
        return with_sources(text, self.numbered(self._person.owner(phone), messages, recalled))

    def _in_budget(self, owner: OwnerKey, found: Iterable[tuple[Memory, float]]) -> Recalled:
        """Return the pairs (memory id, score) whose block fits into `recall_tokens`, in order."""
        now, scores = self.now_of(owner), dict[str, float]()

        def offered() -> Iterator[Citation]:
            for place, (memory, score) in enumerate(found, 1):
                scores[memory.id] = score
                yield Citation(place, memory=memory, when=when_told(memory, now))

        budget = self._settings.recall_tokens
        shown = _fitting(offered(), self._cost, budget)
        while shown and self._parts.count_tokens(SystemMessage(context_block(shown))) > budget:
            shown.pop()
        return [(each.memory.id, scores[each.memory.id]) for each in shown if each.memory is not None]

    def now_of(self, owner: OwnerKey) -> datetime:
        """Return the time now, in the person's own time zone."""
        return self._parts.now().astimezone(self._parts.person_settings.time_zone(owner))

    def _cost(self, shown: Citation) -> int:
        """Return how many tokens an entry takes in the prompt."""
        return self._parts.count_tokens(SystemMessage(context_line(shown) + "\n"))


def _fitting(offered: Iterable[Citation], cost: Callable[[Citation], int], budget: int) -> list[Citation]:
    """Return the entries that fit together, in order: one that is too long does not keep out the next."""
    shown = []
    for each in offered:
        if budget < 1:
            break
        if (needed := cost(each)) <= budget:
            shown.append(each)
            budget -= needed
    return shown
