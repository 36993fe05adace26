"""Take what people say into their memories: read in their own words, allowed by them, each fact stored once.

The facts read in a session's messages are first noted in its job, together with how far was read; then each fact is
stored in the very transaction that takes it off the job. A process may be killed anywhere in between: the next one goes
on where it was, and asks no model again about what was read.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from pydantic import ValidationError
from sqlalchemy import Connection

from langmem_plugin.errors import InvalidInput, LangMemError, StoreUnavailable, UnknownSession
from langmem_plugin.facts import FactType
from langmem_plugin.facts.guards import asks_not_to_keep, corrects, is_corrected
from langmem_plugin.facts.redacted_text import is_redacted
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.memory_types import Remembered
from langmem_plugin.telemetry import is_failure, timing
from langmem_plugin.writing.extracted_fact import ExtractedFact, Extractor
from langmem_plugin.writing.extraction_input import OwnWords, Said, owners_of
from langmem_plugin.writing.extraction_jobs import ClaimKeeper, ClaimLost, ExtractionJobs, Job
from langmem_plugin.writing.model_reconciliation import ModelReconciliation

log = event_log(__name__)

_AT_ONCE = 20  # messages read together


class Allows(Protocol):
    """The rule that tells whether a person let facts of this kind be remembered, before it was `said_at`."""

    def __call__(self, owner: OwnerKey, fact_type: FactType, sensitive: bool, *, said_at: datetime) -> bool: ...


class Extracted(list[Memory]):
    """The memories that were stored or wait for the person's word; where there are none, `why` says the reason."""

    def __init__(self, made: Iterable[Memory] = (), *, why: str = "") -> None:
        super().__init__(made)
        self.why = why


class Extraction:
    """The work on jobs, done here or in a worker's thread."""

    def __init__(
        self,
        jobs: ExtractionJobs,
        keeper: ClaimKeeper,
        words: OwnWords,
        extractor: Extractor,
        service: MemoryService,
        *,
        allowed: Allows,
        person_of: Callable[[str], OwnerKey] = OwnerKey,
        reconciliation: ModelReconciliation | None = None,
    ) -> None:
        self._database = service.database
        self._jobs = jobs
        self._keeper = keeper
        self._words = words
        self._extractor = extractor
        self._service = service
        self._allowed = allowed
        self._person_of = person_of
        self._reconciliation = reconciliation
        self._closing = threading.Event()

    def close(self) -> None:
        """Stop: a running job ends after the step it is in, and waits for no model."""
        self._closing.set()
        self._extractor.close()
        if self._reconciliation is not None:
            self._reconciliation.close()

    def next_done(self) -> bool:
        """Work on the job that has waited for longest; False if none is due. Raises StoreUnavailable."""
        job = self._jobs.claim()
        if job is None:
            return False
        for _ in self._steps(job, raises=False):
            pass
        return True

    def of_person(self, person: str) -> list[Memory]:
        """Work here and now on all that waits in a person's conversations; return what was stored, and what
        waits for their word.

        Raises what the extractor, the embedding model or the database raises, with what is done kept.
        """
        made: list[Memory] = []
        while (job := self._jobs.claim(person)) is not None:
            made += self._steps(job, raises=True)
        return made

    def _steps(self, job: Job, *, raises: bool) -> Iterator[Memory]:
        with self._keeper.holding(job), timing(self._database.operations, "extract") as call:
            try:
                yield from self._worked(job)
            except ClaimLost:
                log.info("extraction.claim_lost", extra={"phone": masked(job.thread)})
            except UnknownSession:  # the session was purged meanwhile, its job with it
                return
            except StoreUnavailable:
                # Where this cannot be noted either, a watching process finds it out once the job is held no more.
                with contextlib.suppress(StoreUnavailable, ClaimLost):
                    self._jobs.let_go(job)
                raise
            except Exception as error:  # a provider's own error, or a mistake: no other job may wait for it
                self._not_done(job, error)
                call.failed = is_failure(error)
                if raises:
                    raise

    def _worked(self, job: Job) -> Iterator[Memory]:
        facts = [ExtractedFact.read(each) for each in job.facts]
        taken, is_all = job.taken, False
        while not is_all:
            if self._reconciliation is None:
                yield from self._stored(job, facts)
                facts = []
            self._refuse_closing()
            unread = self._words.unread(job, taken, at_once=_AT_ONCE)
            # The words of a person who wants nothing remembered are not read at all, by no model either.
            said = [each for each in unread.said if self._allowed(each.owner, "fact", False, said_at=each.said_at)]
            self._take_back(job, said)
            try:
                facts += self._read(said)
            except Exception:  # facts read before it need not wait
                yield from self._stored(job, self._weighed(job, facts))
                raise
            taken, is_all = unread.taken, unread.is_all
            with self._database.write(durable=False) as connection:
                self._jobs.note(connection, job, [each.kept() for each in facts], taken)
        yield from self._stored(job, self._weighed(job, facts))
        self._jobs.complete(job)

    def _read(self, said: Sequence[Said]) -> list[ExtractedFact]:
        return [
            fact
            for owner in owners_of(said)
            for fact in self._extractor.facts_in(tuple(each for each in said if each.owner == owner))
            if not is_redacted(fact.text)
        ]

    def _take_back(self, job: Job, said: Sequence[Said]) -> None:
        """Take back facts of a message that the next one corrects or asks not to keep: they wait for the person's
        word, or are forgotten.
        """
        new = {each.message_id for each in said}
        for each in said:
            if each.follows is None or each.follows in new or not corrects(each.text):
                continue
            owner = self._person_of(each.owner)
            for held in self._service.get_memories_by_session(job.session_id, owner=owner):
                if held.status != "active" or held.source_id != each.follows:
                    continue
                if asks_not_to_keep(each.text):
                    self._service.forget(owner, held.id, revision=held.revision)
                elif is_corrected(held.text, held.quote or held.text, each.text):
                    self._service.update(owner, held.id, revision=held.revision, status="pending")

    def _weighed(self, job: Job, facts: Sequence[ExtractedFact]) -> Sequence[ExtractedFact]:
        """Return the facts with what a model makes of each beside what is remembered, asked once about
        all of a person.
        """
        if self._reconciliation is None or not facts:
            return facts
        self._refuse_closing()
        weighed = list(facts)
        for owner in dict.fromkeys(self._person_of(each.owner) for each in facts):
            theirs = [
                number
                for number, each in enumerate(facts)
                if each.advice is None and self._person_of(each.owner) == owner and self._is_allowed(owner, each)
            ]
            advised = self._reconciliation.advised(owner, [facts[number] for number in theirs])
            for number, fact in zip(theirs, advised, strict=True):
                weighed[number] = fact
        if weighed != list(facts):
            with self._database.write(durable=False) as connection:  # the model is not asked again after a kill
                self._jobs.note(connection, job, [each.kept() for each in weighed])
        return weighed

    def _is_allowed(self, owner: OwnerKey, fact: ExtractedFact) -> bool:
        return self._allowed(owner, fact.fact_type, fact.sensitive, said_at=fact.said_at)

    def _stored(self, job: Job, facts: Sequence[ExtractedFact]) -> Iterator[Memory]:
        for number, fact in enumerate(facts):
            self._refuse_closing()
            left = [each.kept() for each in facts[number + 1 :]]
            made = self._stored_once(job, fact, left)
            if made is not None:
                yield made

    def _stored_once(self, job: Job, fact: ExtractedFact, left: Sequence[Mapping[str, Any]]) -> Memory | None:
        """Store a fact in the transaction that takes it off the job; return its memory, None where
        nothing was stored.
        """
        is_off = False

        def take_off(connection: Connection) -> None:
            nonlocal is_off
            self._jobs.note(connection, job, left)
            is_off = True

        made: Memory | None = None
        owner = self._person_of(fact.owner)
        if self._is_allowed(owner, fact):
            try:
                with self._database.provided(take_off):
                    made = self._service.remember(owner, fact.text, advice=fact.advice, **fact.fields(job.session_id))
            except (InvalidInput, ValidationError):
                # This fact can never be stored: the others are.
                log.warning("extraction.fact_refused", exc_info=True, extra={"phone": masked(owner)})
                is_off = False
        if not is_off:
            with self._database.write(durable=False) as connection:
                take_off(connection)
        return None if isinstance(made, Remembered) and made.outcome == "duplicate" else made

    def _refuse_closing(self) -> None:
        if self._closing.is_set():
            raise StoreUnavailable("the memory is being closed: another process goes on with the extraction")

    def _not_done(self, job: Job, error: Exception) -> None:
        try:
            if self._closing.is_set():
                self._jobs.let_go(job)
                return
            is_last = self._jobs.fail(job, _named(error))
        except ClaimLost:
            return
        extra = {"phone": masked(job.thread), "attempts": job.attempts}
        if is_last:
            log.error("extraction.given_up", exc_info=error, extra=extra)
        else:
            log.warning("extraction.later", exc_info=error, extra=extra)


def _named(error: Exception) -> str:
    """Name an error: ours in words, others by the class alone, because they may quote what somebody said."""
    return f"{type(error).__name__}: {error}" if isinstance(error, LangMemError) else type(error).__name__
