"""The indexing of past sessions in the background, so that they can be searched: each message once, in any process."""

from collections.abc import Callable

from langmem_plugin.agent.person_of_run import names_its_owner, owner_of_thread
from langmem_plugin.background_worker import BackgroundWorker
from langmem_plugin.conversation.media.media_reference import words_in
from langmem_plugin.conversation.message_as_dict import key_of
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.conversation.sessions import sessions_to_index
from langmem_plugin.conversation.sessions.sessions_to_index import Waiting
from langmem_plugin.errors import DamagedSession, EmbeddingUnavailable, StoreUnavailable, UnknownSession
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find.message_search import MessageHistory
from langmem_plugin.memory.find.past_messages import PastMessage

log = event_log(__name__)

_EVERY_SECONDS = 600.0
_AT_ONCE = 20


class PastSessionIndexer:
    """The indexer that makes the sessions of one database searchable.

    What is missing is read from the database, so nothing is lost with a process. A session is taken when it is over or
    silent: what is in the model's window needs no search.
    """

    def __init__(
        self,
        saver: ConversationSaver,
        manager: SessionManager,
        history: MessageHistory,
        is_command: Callable[[str], bool],
        person_of: Callable[[str], OwnerKey],
    ) -> None:
        self._saver = saver
        self._manager = manager
        self._history = history
        self._is_command = is_command
        self._person_of = person_of
        self.worker = BackgroundWorker("past-sessions", self._look)

    def close(self) -> None:
        """Wait for the session that is being taken; the others wait for the next process."""
        self.worker.stop()
        self.worker.wait()

    def catch_up(self) -> int:
        """Take what waits, here and now. Return how many messages became searchable.

        Raises EmbeddingUnavailable; what is done by then is kept.
        """
        added = 0
        while True:
            silent_since = self._saver.sessions.silence.since(self._saver.sessions.now())
            with self._saver.database.read() as connection:
                found = sessions_to_index.waiting(connection, silent_since, limit=_AT_ONCE)
            for each in found:
                if self.worker.closing.is_set():
                    return added
                added += self._take(each)
            if len(found) < _AT_ONCE:
                return added

    def claim(self, thread_id: str, owner: OwnerKey) -> None:
        """Note the owner of a run's thread, where its key does not tell: on a LangGraph server the key is a UUID."""
        thread = self._saver.sessions.thread(thread_id)
        if not thread or owner == thread or names_its_owner(thread):
            return
        with self._saver.database.read() as connection:
            if sessions_to_index.is_claimed(connection, thread, owner):
                return
        with self._saver.database.write() as connection:
            sessions_to_index.claim(connection, thread, owner, self._saver.sessions.now())

    def _look(self) -> float:
        try:
            self.catch_up()
        except (EmbeddingUnavailable, StoreUnavailable):
            if not self.worker.closing.is_set():
                log.warning("past_sessions.later", exc_info=True)
        return _EVERY_SECONDS

    def _take(self, found: Waiting) -> int:
        owner = None if found.contested else found.owner or owner_of_thread(found.thread)
        owner = owner and self._person_of(owner)
        try:
            said = [] if owner is None else self._said_in(found.session_id)
        except UnknownSession:  # it was purged meanwhile, with its searchable messages
            return 0
        except DamagedSession:
            # It is looked at again when it was rebuilt; what was taken from it before stays.
            log.warning("past_sessions.damaged", exc_info=True, extra={"session_id": found.session_id})
            with self._saver.database.write() as connection:
                sessions_to_index.take(connection, found)
            return 0
        added = self._history.follow(
            owner, found.session_id, said, lambda connection: sessions_to_index.take(connection, found)
        )
        if added:
            log.info("past_sessions.taken", extra={"phone": masked(found.thread), "messages": added})
        return added or 0

    def _said_in(self, session_id: str) -> list[PastMessage]:
        """Return the messages of a person and the assistant to each other: no tool results, no commands."""
        return [
            PastMessage(key_of(each.message_id), session_id, each.role, text, each.timestamp)
            for each in self._manager.messages(session_id)
            if (each.role == "assistant" or (each.role == "user" and not self._is_command(each.content)))
            and (text := words_in(each.content))
        ]
