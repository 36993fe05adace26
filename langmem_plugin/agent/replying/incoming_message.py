"""An incoming message of a channel: its delivery checked and cleaned, and the message that a graph keeps of it."""

import hashlib
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from typing_extensions import TypedDict

from langmem_plugin.agent.replying.sync_async_steps import Sending
from langmem_plugin.cached_property import cached_property
from langmem_plugin.conversation.media.inline_media import image_block
from langmem_plugin.conversation.message_as_dict import NOTES, noted
from langmem_plugin.conversation.quoted_and_own_words import QUOTED, Quoted, own_words
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.text_sanitizing import one_line, without_hidden

_LONGEST_NAME = 60
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
UNOPENED, _ALBUM = "unopened", "album"  # in the notes of a message
_MORE_IDS = "langmem_more_ids"  # in additional_kwargs: the ids of the messages that it was put together from
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "؟", "！", "？")


Image = str | Path | bytes
_READ = frozenset(("message_id", "sender", "sender_name", "quoted", "unopened", "album"))
"""The details that are not kept as they were given."""


class Delivery(TypedDict, total=False):
    """The delivery of a message, and the wishes for its reply: see PhoneMemory.reply."""

    message_id: str | int | Sequence[str] | None
    sent_at: datetime | None
    sender: str | int | None
    sender_name: str | None
    automated: bool
    forwarded: bool
    quoted: str | int | Quoted | None
    edited: bool
    reaction: bool
    unopened: str | None
    album: str | None
    sources: bool
    send: Sending | None
    parts: Callable[[str], Sequence[str]] | None
    raise_errors: bool


@dataclass(frozen=True)
class IncomingMessage:
    """One message of a person or a group, by its key. If it was put together from several, `more_ids` are the ids of
    the others.

    `automated` is true if nobody wrote it, `forwarded` if it holds the words of somebody else, `edited` if it was sent
    before and is now worded anew. `quoted` is the message that it answers; `reaction` is true if it is only a sign
    below that one. `answers_newest` tells whether that is the assistant's newest text; None if it is not known to be
    the assistant's at all. `unopened` names what came with it and cannot be shown; `album` is shared by several
    messages that are one. `source` is the identifier it came from: a message's id is unique there and nowhere else.
    `sender` and `sender_name` say who wrote it in a group. The other fields say how its reply is wanted: see
    PhoneMemory.reply.
    """

    owner: OwnerKey
    source: str
    text: str
    images: Sequence[str | Path | bytes] = ()
    message_id: str | None = None
    more_ids: Sequence[str] = ()
    sent_at: datetime | None = None
    sender: str | None = None
    sender_name: str | None = None
    automated: bool = False
    forwarded: bool = False
    quoted: Quoted | None = None
    edited: bool = False
    reaction: bool = False
    unopened: str | None = None
    album: str | None = None
    sources: bool = False
    send: Sending | None = None
    parts: Callable[[str], Sequence[str]] | None = None
    raise_errors: bool = False
    answers_newest: bool | None = None

    @property
    def quoted_text(self) -> str | None:
        return self.quoted.text if self.quoted is not None else None

    @property
    def claim_id(self) -> str | None:
        """The id by which the message is claimed. It is a digest, as the id of some channels is a phone number."""
        return None if self.message_id is None else claim_id_of(self.source, self.message_id)

    @property
    def own_words(self) -> str:
        """The part of the text in the sender's own words: see `quoted_and_own_words.py`."""
        return own_words(self.words)

    @cached_property
    def said(self) -> HumanMessage:
        """The message for the graph. Raises InvalidInput if none of the images can be read."""
        if not self.images:
            return self.words
        text = [{"type": "text", "text": self.text}] if self.text.strip() else []
        pictures, refused = [], None
        for image in self.images:
            try:
                pictures.append(image_block(image))
            except InvalidInput as error:
                refused = error
        if not pictures and refused is not None:
            raise refused
        told = self if refused is None else replace(self, unopened="picture")  # the model knows of one it cannot see
        return told.words.model_copy(update={"content": [*text, *pictures]})

    @cached_property
    def words(self) -> HumanMessage:
        """The message for the graph without its picture."""
        notes: dict[str, Any] = {"sender": self.sender, "sender_name": self.sender_name}
        notes |= {"forwarded": self.forwarded or None, UNOPENED: self.unopened, _ALBUM: self.album}
        notes["timestamp"] = None if self.sent_at is None else as_utc(self.sent_at).isoformat()
        told: dict[str, Any] = {name: value for name, value in notes.items() if value is not None}
        return HumanMessage(
            self.text,
            id=self.claim_id or uuid.uuid4().hex,
            response_metadata={NOTES: told} if told else {},
            additional_kwargs={
                **({QUOTED: self.quoted._asdict()} if self.quoted is not None else {}),
                **({_MORE_IDS: [claim_id_of(self.source, each) for each in self.more_ids]} if self.more_ids else {}),
            },
        )

    def is_older_than(self, age: timedelta, now: datetime) -> bool:
        return self.sent_at is not None and now - as_utc(self.sent_at) > age


def incoming_message(
    owner: OwnerKey,
    source: str,
    *,
    text: str,
    image: Image | Sequence[Image] | None,
    region: str | None,
    delivery: Delivery,
) -> IncomingMessage:
    """Make a message as a channel gives it: cleaned, and with a sender only in a group. Raises TypeError for an unknown
    detail.
    """
    if unknown := delivery.keys() - Delivery.__annotations__.keys():
        raise TypeError(f"reply() has no argument {', '.join(sorted(unknown))}: see its documentation")
    message_ids, sender, name = _ids(delivery.get("message_id")), delivery.get("sender"), delivery.get("sender_name")
    for each in ("send", "parts"):
        if (function := delivery.get(each)) is not None and not callable(function):
            raise InvalidInput(f"{each}={function!r} is no function: pass one that is called with the text to send")
    sent_at = delivery.get("sent_at")
    if sent_at is not None and not isinstance(sent_at, datetime):
        raise InvalidInput(f"sent_at={sent_at!r} is no datetime: pass datetime.fromtimestamp(…, UTC)")
    in_group = is_group(owner) and (sender or name)
    quoted = delivery.get("quoted")
    if delivery.get("edited") and not message_ids:
        raise InvalidInput("edited=True says nothing without message_id: pass the id that the message was sent with")
    as_given: dict[str, Any] = {name: value for name, value in delivery.items() if name not in _READ}
    return IncomingMessage(
        owner,
        source,
        clean(str(text or "")),
        images=_images(image),
        message_id=message_ids[0] if message_ids else None,
        more_ids=message_ids[1:],
        sender=normalised(sender, region) if in_group and sender else None,
        sender_name=shown_name(name, sender) if in_group else None,
        quoted=None if quoted is None else _quoted(source, quoted),
        unopened=_named(delivery.get("unopened")),
        album=_named(delivery.get("album")),
        **as_given,
    )


def _ids(given: str | int | Sequence[str] | None) -> list[str]:
    found = [] if given is None else [str(given)] if isinstance(given, str | int) else [str(each) for each in given]
    if not all(each.strip() for each in found):
        raise InvalidInput(f"message_id={given!r} names no message: pass the channel's own id, or leave it out")
    return found


def _images(given: Image | Sequence[Image] | None) -> Sequence[Image]:
    if given is None or given == "":
        return ()
    return given if isinstance(given, list | tuple) else [given]  # type: ignore[list-item]


def _named(given: str | int | None) -> str | None:
    return one_line(clean(str(given)))[:_LONGEST_NAME] or None if given is not None else None


def ids_of(message: BaseMessage) -> list[str]:
    """Return the id of a message and the ids of those that it was put together from."""
    more = message.additional_kwargs.get(_MORE_IDS)
    return [*([message.id] if message.id else []), *(map(str, more) if isinstance(more, list) else ())]


def put_together(messages: Sequence[HumanMessage]) -> list[HumanMessage]:
    """Join the messages of one album into one: its words first, then its pictures."""
    found: list[HumanMessage] = []
    for message in messages:
        album = noted(message, _ALBUM)
        if not found or album is None or noted(found[-1], _ALBUM) != album:
            found.append(message)
            continue
        blocks = [*_blocks(found[-1]), *_blocks(message)]
        blocks.sort(key=lambda each: each.get("type") != "text")
        more = {_MORE_IDS: [*ids_of(found[-1])[1:], *ids_of(message)]}
        kwargs = {**found[-1].additional_kwargs, **more}
        found[-1] = found[-1].model_copy(update={"content": blocks, "additional_kwargs": kwargs})
    return found


def _blocks(message: HumanMessage) -> list[Any]:
    content = message.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def claim_id_of(source: str, message_id: str) -> str:
    """Return the id by which a message with this id of the channel is claimed, and known in the conversation."""
    named = f"{source}\0{message_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(named, digest_size=16).hexdigest()


def _quoted(source: str, quoted: str | int | Quoted) -> Quoted | None:
    """Make a quote of the channel's id of the quoted message, or of its text. The conversation tells which of the two
    was given.
    """
    if isinstance(quoted, Quoted):
        text = clean(quoted.text or "").strip() or None
        return Quoted(claim_id_of(source, quoted.id) if quoted.id else None, text) if quoted.id or text else None
    text = clean(str(quoted)).strip()
    return Quoted(claim_id_of(source, text), None if isinstance(quoted, int) else text) if text else None


def clean(text: str) -> str:
    """Return the text without control characters, and with a question mark for each half of a character."""
    return _CONTROLS.sub("", storable(text.replace("\r\n", "\n").replace("\r", "\n")))


def ends_sentence(text: str) -> bool:
    return text.rstrip().endswith(_SENTENCE_ENDS)


def shown_name(name: str | None, sender: str | int | None) -> str:
    """Return a name as one short line; without a name, enough of the number to tell two people apart."""
    line = " ".join(without_hidden(clean(name or "")).replace(":", " ").split())[:_LONGEST_NAME]
    return line or masked(str(sender or ""))


def sender_of(message: BaseMessage) -> str | None:
    """Return the sender of a message in a group, by the key that the channel noted; None if it noted nobody."""
    return noted(message, "sender")


def as_utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
