"""The words of people themselves in a session, and the assistant's words before them: facts are read in these alone.

A person's own words are never: what was recalled for a message, a summary of what was said before, a command, what a
machine wrote on its own, what another agent of the graph said, what was forwarded or quoted, and what cannot be read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from sqlalchemy import select

from langmem_plugin.conversation.media.media_reference import words_in
from langmem_plugin.conversation.message_as_dict import key_of, notes_of, written_at
from langmem_plugin.conversation.quoted_and_own_words import before_context, own_words, without_context
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.storage.message_rows import row_behind
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.identifiers import OwnerKey, is_group
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.writing.extraction_jobs import Job


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a person, and `before` it what the assistant said since they spoke last ("" for nothing).

    `owner` is whose words they are, and `said_at` in their own time zone. `following` is what the same person wrote
    next, and `follows` the id of what they wrote before.
    """

    row: int
    message_id: str
    owner: OwnerKey
    text: str
    said_at: datetime
    before: str = ""
    following: str = ""
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """The messages of a session not read yet, oldest first; `taken` are the rows to mark as read then."""

    said: tuple[Said, ...]
    taken: frozenset[int]
    is_all: bool


class WhoseWords:
    """The rule that tells whose a conversation is, and in a group whose each message is."""

    def __init__(
        self, database: Database, owner_of_thread: Callable[[str], str | None], person_of: Callable[[str], OwnerKey]
    ) -> None:
        self._database = database
        self._owner_of_thread = owner_of_thread
        self._person_of = person_of

    def of_thread(self, thread: str) -> OwnerKey | None:
        """The owner of a thread; None for a group, and where runs have named nobody, or two."""
        if is_group(thread):
            return None
        with self._database.read() as connection:
            noted = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
        owner = self._owner_of_thread(thread) if noted is None else noted.owner
        return self._person_of(owner) if owner else None

    def of_sender(self, thread: str, message: BaseMessage) -> OwnerKey | None:
        """Return the owner of a message in a group, by the key that the channel noted: never the group's own."""
        sender = notes_of(message).get("sender")
        if not is_group(thread) or not isinstance(sender, str) or not sender or is_group(sender):
            return None
        return self._person_of(sender)


class OwnWords:
    """The reader of people's own words for a job, at most `at_once` messages."""

    def __init__(
        self,
        saver: ConversationSaver,
        whose: WhoseWords,
        *,
        is_command: Callable[[str], bool],
        zone_of: Callable[[str], tzinfo] = lambda _: UTC,
    ) -> None:
        self._saver = saver
        self._whose = whose
        self._is_command = is_command
        self._zone_of = zone_of

    def unread(self, job: Job, taken: frozenset[int], *, at_once: int) -> Unread:
        """Return the messages of the job's session that are not read yet. Raises UnknownSession or DamagedSession."""
        of_thread = self._whose.of_thread(job.thread)
        with self._saver.checkpoints.reading(job.session_id) as checkpoints:
            rows = checkpoints.listed()
            listed = frozenset(each.row for each in rows)
            messages = checkpoints.messages_of(rows) if listed - taken else []
        said: list[Said] = []
        before: list[str] = []
        for row, message in zip(rows, messages, strict=False):
            if isinstance(message, AIMessage):
                if row_behind(message) is None and message.text.strip():
                    before.append(message.text)
            elif isinstance(message, HumanMessage):
                owner = of_thread or self._whose.of_sender(job.thread, message)
                text = self._own(message)
                if owner is not None and text:
                    said.append(
                        Said(
                            row.row,
                            key_of(message.id or f"{job.session_id}/{row.row}"),
                            owner,
                            text,
                            (written_at(message) or row.created_at).astimezone(self._zone_of(owner)),
                            storable(before_context("\n".join(before))).strip(),
                        )
                    )
                before = []
        new = [each for each in _linked(said) if each.row not in taken]
        if len(new) <= at_once:
            return Unread(tuple(new), taken | listed, is_all=True)
        now = new[:at_once]
        return Unread(tuple(now), taken | {each.row for each in now}, is_all=False)

    def _own(self, message: HumanMessage) -> str:
        # Messages of other agents in a graph have a name; LangChain's summary stands as the person's message too.
        if message.name is not None or message.additional_kwargs.get("lc_source") is not None:
            return ""
        text = storable(words_in(before_context(own_words(without_context(message)[0]))))
        return "" if not text or self._is_command(text) else text


def _linked(said: Sequence[Said]) -> list[Said]:
    """Return each message with what the same person wrote before and after it."""
    linked = list(said)
    last: dict[str, int] = {}
    for at, each in enumerate(said):
        before = last.get(each.owner)
        if before is not None:
            linked[before] = replace(linked[before], following=each.text)
            linked[at] = replace(linked[at], follows=said[before].message_id)
        last[each.owner] = at
    return linked


def owners_of(said: Sequence[Said]) -> list[str]:
    """Return the owners, each once, in the order they spoke."""
    return list(dict.fromkeys(each.owner for each in said))
