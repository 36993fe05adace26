"""Past messages: rows that can be searched, shown as they stand today, with corrections and without forgotten words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.memory_tables import history_message as table
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.languages.text_normalization import LONGEST_KEPT
from langmem_plugin.lru_cache import cached_if_short
from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.memory.keep.changes_and_checksums import SealedTable
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.memory_types import MatchType, Memory, bare, plain

SEALED = SealedTable(
    table,
    table.c.message_id,
    words=("speaker", "text"),
    beside=("session_id", "said_at", "of_session", "speaker", "text"),
    checked=("owner", "message_id", "session_id", "speaker", "text", "said_at", "of_session"),
)
STORED = SEALED.stored()
_SENTENCE = re.compile(r"[^.!?;\n]++[.!?;]*+")
_CUT = "[…]"
_ABOUT = frozenset({"user", "person"})  # as a model may begin a fact, and no person begins a sentence
_KEPT = 4_096  # facts and sentences whose words are at hand
_BESIDE = 4  # words of a sentence that says a fact again, besides the fact's own


@dataclass(frozen=True)
class PastMessage:
    """One message of a person or of the bot; `speaker` is a name or a role."""

    message_id: str
    session_id: str
    speaker: str
    text: str
    said_at: datetime


def as_message(row: Sequence[Any], encryption: Encryption) -> PastMessage | None:
    """Read a row of STORED; None where it does not hold what was written, or is in plain and should not be."""
    values = SEALED.read(row, encryption)
    if values is None:
        return None
    message = PastMessage(**{each.name: values[each.name] for each in fields(PastMessage)})
    texts = message.message_id, message.session_id, message.speaker, message.text
    return message if all(isinstance(each, str) for each in texts) else None


def as_values(owner: OwnerKey, message: PastMessage, of_session: str | None, encryption: Encryption) -> dict[str, Any]:
    """Return the columns of a message, but for its change."""
    return SEALED.values({"owner": owner, **asdict(message), "of_session": of_session}, encryption)


@dataclass(frozen=True)
class Shown:
    """A message as it may be shown. `corrected_by` is what holds instead of what it says, "" where that is not known;
    None while nothing was corrected.
    """

    message: PastMessage
    corrected_by: str | None

    @property
    def note(self) -> str:
        """Return a remark for a model to give with the message: "" for none."""
        if self.corrected_by is None:
            return ""
        return f"(corrected since: {self.corrected_by})" if self.corrected_by else "(no longer so)"


def as_it_stands(
    connection: Connection, repository: MemoryRepository, owner: OwnerKey, messages: Sequence[PastMessage]
) -> dict[str, Shown]:
    """Return the messages by id, without words that the person asked to be forgotten; messages of nothing
    else are left out.

    Reads the facts of these messages once, and those that were over last.
    """
    if not messages:
        return {}
    # One that is searchable from two sessions goes by both ids.
    session_of = {each.message_id.removeprefix(f"{each.session_id}/"): each.session_id for each in messages}
    held = repository.told_in(connection, owner, session_of)
    over = [each for each in held if each.status in ("superseded", "forgotten")]
    if not over:
        return {each.message_id: Shown(each, None) for each in messages}
    resting = {each.source_id for each in held if each.status in ("active", "pending")}
    superseded = [each for each in over if each.status == "superseded"]
    forgotten = [each for each in over if each.status == "forgotten"]
    now_of: dict[str, Memory | None] = {}  # many messages tell one fact, and each prompt asks for all of them
    shown: dict[str, Shown] = {}
    for each in messages:
        left = _without(each, forgotten, resting)
        if left is None:
            continue
        told = [fact for fact in superseded if _is_source(each, fact) or _saying(each, fact, each.text)]
        newest = max(told, key=_over_at, default=None)
        instead = None
        if newest is not None:
            if newest.id not in now_of:
                now_of[newest.id] = repository.instead_of(connection, newest)
            now = now_of[newest.id]
            instead = "" if now is None else now.text
            if bare(instead) == bare(newest.text):  # it is so again
                instead = None
        shown[each.message_id] = Shown(left, instead)
    return shown


def _without(message: PastMessage, forgotten: Iterable[Memory], resting: set[str | None]) -> PastMessage | None:
    text = message.text
    for fact in forgotten:
        if _is_source(message, fact):
            if fact.source_id not in resting or not fact.quote or fact.quote not in text:
                return None
            text = text.replace(fact.quote, _CUT)
        else:
            for sentence in _saying(message, fact, text):
                text = text.replace(sentence, f" {_CUT}")
    if text == message.text:
        return message
    return replace(message, text=text.strip()) if bare(text.replace(_CUT, "")) else None


def _is_source(message: PastMessage, fact: Memory) -> bool:
    return fact.source_id is not None and message.message_id in (fact.source_id, f"{fact.session_id}/{fact.source_id}")


def _saying(message: PastMessage, fact: Memory, text: str) -> list[str]:
    """Return the sentences of what is left of a message that say a fact, which was not over yet."""
    wanted, sentences = words_of(fact), _SENTENCE.findall(text)
    if not wanted or message.said_at > _over_at(fact):
        return []
    return [each for each in sentences if wanted <= (said := _terms_of(each)) and len(said) <= len(wanted) + _BESIDE]


@cached_if_short(_KEPT, LONGEST_KEPT)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def words_of(fact: Memory) -> frozenset[str]:
    """Return the words of a fact that can be searched."""
    return _terms_of(plain(fact.text)) - _ABOUT


def _over_at(fact: Memory) -> datetime:
    return fact.over_at or fact.updated_at


@dataclass(frozen=True)
class FoundMessage(Shown):
    """A message that answers a question; the other fields as in Found."""

    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]
