"""The parts of a PhoneMemory: opened in order, each with those that it needs, and closed in the reverse order."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.serde.base import SerializerProtocol

from langmem_plugin import process_forks
from langmem_plugin.agent.commands.command_dispatch import Commands
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.memory_in_prompt import RetrieverDocuments
from langmem_plugin.agent.models import NoEmbeddings, embedding_model, extraction_model
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.person_of_run import ServedPerson, owner_of_thread
from langmem_plugin.agent.recall_and_write_steps import TurnContext
from langmem_plugin.agent.replying.reply_to_message import Channel
from langmem_plugin.agent.summary_of_left_out import Summaries
from langmem_plugin.agent.turn_report import TurnReports
from langmem_plugin.agent.write_permission import RunWriting
from langmem_plugin.conversation.saver import ConversationSaver, SwitchedOffSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.conversation.window import estimated_tokens
from langmem_plugin.database import Database
from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.tenant_locations import vector_index_of
from langmem_plugin.errors import InvalidInput
from langmem_plugin.facts import statements
from langmem_plugin.housekeeping import Housekeeping
from langmem_plugin.identifiers import normalised
from langmem_plugin.insight import Insight
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import opened_stores
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.people.person_turns import PersonTurns
from langmem_plugin.portability.document_exporter import Exporter
from langmem_plugin.portability.document_importer import DocumentImporter
from langmem_plugin.portability.product_importer import Importer
from langmem_plugin.privacy.audit_log import AuditLog
from langmem_plugin.privacy.erasure import Erasure
from langmem_plugin.settings import ERASE_AFTER, Settings, checked_tenant
from langmem_plugin.store import MemoryStore
from langmem_plugin.tracing import TRACE_POLICY
from langmem_plugin.writing.confirmation import Confirmations
from langmem_plugin.writing.consent import Consents
from langmem_plugin.writing.extracted_fact import RuleExtraction
from langmem_plugin.writing.extraction import Extraction
from langmem_plugin.writing.extraction_input import OwnWords, WhoseWords
from langmem_plugin.writing.extraction_jobs import ClaimKeeper, ExtractionJobs
from langmem_plugin.writing.extraction_worker import ExtractionWorker
from langmem_plugin.writing.model_extraction import ModelExtraction
from langmem_plugin.writing.model_reconciliation import ModelReconciliation
from langmem_plugin.writing.provenance import Provenance

_utc_now = partial(datetime.now, UTC)


def _refuse_names(**objects: object) -> None:
    if wrong := [name for name, given in objects.items() if isinstance(given, str | dict)]:
        raise InvalidInput(f"{wrong[0]} takes the object itself: what a name or a file says is for Settings(…)")


class Parts:
    """The parts, connected, with the background work begun: `memory.people`, `memory.insight` and so on.

    Raises DataDirectoryError, ConfigurationError or StoreUnavailable.
    """

    def __init__(
        self,
        url: str | Path | None = None,
        *,
        tenant: str | None = None,
        settings: Settings | None = None,
        embeddings: Embeddings | None = None,
        retriever: BaseRetriever | None = None,
        serde: SerializerProtocol | None = None,
        count_tokens: Callable[[BaseMessage], int] = estimated_tokens,
        summarise: BaseChatModel | None = None,
        extraction_model: BaseChatModel | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        _refuse_names(settings=settings, embeddings=embeddings, summarise=summarise, extraction_model=extraction_model)
        settings = settings or Settings()
        if tenant is not None:
            settings = settings.model_copy(update={"tenant": checked_tenant(tenant)})
        self.settings, self.now, self.count_tokens = settings, now, count_tokens
        self.searches = settings.remembers and settings.search_past_sessions
        self.asks_consent = settings.extracts and settings.ask_for_consent
        with ExitStack() as opened:  # if a part cannot be made, the opened ones are closed again
            # A memory that is switched off writes no file.
            kept = settings.enable_memory_system
            self.database = opened.enter_context(
                open_database(settings, url) if kept else Database("sqlite://", region=settings.default_region)
            )
            self.executor = opened.enter_context(process_forks.Threads("langmem", 32))
            self.service = opened.enter_context(self._new_service(embeddings))
            self.instructions = self.service.instructions
            self.saver = opened.enter_context(self._new_saver(serde))
            self.media = self.saver.media
            self.person_settings = PersonSettings(self.database, settings)
            self.people = self._new_people()
            self.person = ServedPerson(settings, self.people, self.database)
            self.turns = PersonTurns(self.saver)
            self.sessions = SessionManager(self.saver, settings, person_of=self.people.person_of)

            self.consent = Consents(self.database, key_of=self.people.resolve, enabled=settings.remembers, now=now)
            self.confirmations = Confirmations(self.service, self.consent)
            self.provenance = Provenance(self.service, self.saver, self.sessions)
            self.audit = AuditLog.from_settings(settings, self.database, now)
            self.erasure = Erasure(
                self.database, self.saver, self.service, self.people, erase_after=ERASE_AFTER, now=now
            )
            self.questions = OpenQuestions(self.database, now=now, silence=settings.session_timeout)
            self.exporter = Exporter(self.saver, self.service, now)
            self.documents = DocumentImporter(self.saver, self.service, self.people.resolve)
            self.importer = Importer(self.saver, self.service, self.people.resolve)

            self.commands = Commands(self)
            self.past_sessions = PastSessionIndexer(
                self.saver, self.sessions, self.service.history, self.commands.knows, self.people.person_of
            )
            opened.callback(self.past_sessions.close)
            self.extraction = self._new_extraction(extraction_model) if settings.extracts else None
            if self.extraction is not None:
                opened.callback(self.extraction.close)
            self.context = TurnContext(
                self,
                self.commands,
                RetrieverDocuments(retriever) if retriever else None,
                Summaries(summarise) if summarise else None,
            )
            self.trace_policy = TRACE_POLICY
            self.writing = RunWriting(self)
            self.store = MemoryStore(
                self.service,
                person_of=self.people.resolve,
                fenced=self.writing.fenced,
                executor=self.executor,
            )
            self.key_value = lambda phone: KeyValueMemory(self.service, self.people.resolve(phone))
            self.channel = Channel(self, self.commands, self.context)
            self.reports = TurnReports(self, self.context)
            self.insight = opened.enter_context(
                Insight(self.service, settings, self.person_settings.time_zone, self.people.resolve)
            )
            self.housekeeping = Housekeeping(
                self.saver,
                self.service.retention,
                archived_for=settings.archived_for,
                every=settings.sweep_every,
                finish_erasures=self.erasure.due_done,
                settle_audit=self.audit.settle,
            )
            opened.callback(self.housekeeping.close)
            self._start_background_work()
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Wait for what is running and close the database."""
        # They are stopped before the model is closed, or they would report that it failed.
        self.past_sessions.worker.stop()
        self.service.background.closing.set()
        if self.extraction is not None:
            self.extraction.worker.stop()
            self.extraction.work.close()
        self.service.embedder.close()  # work that waits for a model would delay the close
        self._opened.close()

    def _start_background_work(self) -> None:
        if self.settings.enable_memory_system:
            self.housekeeping.start()
        if self.searches:
            self.past_sessions.worker.start()
        if self.extraction is not None:
            self.extraction.start()
        embeds = not isinstance(self.service.embedder.embeddings, NoEmbeddings)
        if embeds and (self.settings.sweep_every or self.extraction):  # a command has nothing in its background
            self.service.reembedding.begin_after_change()

    def _godfather(self) -> str | None:
        phone = self.settings.godfather_phone
        return normalised(phone, self.settings.default_region) if phone else None

    def _new_service(self, embeddings: Embeddings | None) -> MemoryService:
        settings = self.settings
        if not settings.remembers:
            return MemoryService(self.database, embeddings=NoEmbeddings(), now=self.now)
        godfather, (index, collection) = self._godfather(), vector_index_of(settings)
        return MemoryService(
            self.database,
            embeddings=embeddings or embedding_model(settings.embedding_model),
            now=self.now,
            owner_limit=settings.owner_limit,
            index_after=settings.index_after,
            open_collection=opened_stores(index, self.database) if index else None,
            always_indexed={godfather: collection} if godfather and collection else {},
        )

    def _new_saver(self, serde: SerializerProtocol | None) -> ConversationSaver:
        kind = ConversationSaver if self.settings.enable_memory_system else SwitchedOffSaver
        return kind.from_settings(
            self.settings,
            self.database,
            serde=serde,
            count_tokens=self.count_tokens,
            now=self.now,
            executor=self.executor,
        )

    def _new_people(self) -> People:
        return People(
            self.database,
            self.saver,
            self.service,
            person_settings=self.person_settings,
            keeps=self._godfather(),
            enabled=self.settings.enable_memory_system,
            now=self.now,
        )

    def _new_extraction(self, model: BaseChatModel | None) -> ExtractionWorker:
        settings = self.settings
        jobs = ExtractionJobs(self.database, quiet=settings.extract_after, now=self.now)
        keeper = ClaimKeeper(jobs)
        whose = WhoseWords(self.database, owner_of_thread, self.people.person_of)
        if model is None:
            model = extraction_model(settings.extraction)
        extraction = Extraction(
            jobs,
            keeper,
            OwnWords(self.saver, whose, is_command=self.commands.knows, zone_of=self.person_settings.time_zone),
            RuleExtraction(statements) if model is None else ModelExtraction(model),
            self.service,
            allowed=self.consent.allowed,
            person_of=self.people.person_of,
            reconciliation=None if model is None else ModelReconciliation(model, self.service),
        )
        return ExtractionWorker(jobs, keeper, extraction)
