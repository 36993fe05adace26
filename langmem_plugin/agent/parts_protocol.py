"""The protocol of the parts of a PhoneMemory that answering works with; parts.py of the package makes them."""

from collections.abc import Callable
from concurrent.futures import Executor
from datetime import datetime
from typing import Protocol

from langchain_core.messages import BaseMessage

from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.person_of_run import ServedPerson
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.database import Database
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.people.person_turns import PersonTurns
from langmem_plugin.portability.document_exporter import Exporter
from langmem_plugin.privacy.erasure import Erasure
from langmem_plugin.settings import Settings
from langmem_plugin.writing.confirmation import Confirmations
from langmem_plugin.writing.consent import Consents
from langmem_plugin.writing.extraction_worker import ExtractionWorker
from langmem_plugin.writing.provenance import Provenance


class AgentParts(Protocol):
    """The parts of a PhoneMemory, all made before the first message comes in."""

    settings: Settings
    database: Database
    service: MemoryService
    saver: ConversationSaver
    sessions: SessionManager
    turns: PersonTurns
    people: People
    person_settings: PersonSettings
    person: ServedPerson
    consent: Consents
    confirmations: Confirmations
    provenance: Provenance
    erasure: Erasure
    exporter: Exporter
    questions: OpenQuestions
    past_sessions: PastSessionIndexer
    extraction: ExtractionWorker | None
    count_tokens: Callable[[BaseMessage], int]
    now: Callable[[], datetime]

    searches: bool
    """True if past sessions are searched."""
    asks_consent: bool

    @property
    def executor(self) -> Executor: ...
