"""The updates and texts of Telegram's bots: updates are read, texts cut and worded, refusals told apart."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langmem_plugin.agent.commands.recognition import cleaned, typed
from langmem_plugin.channels.payloads import (
    REFUSED,
    Incoming,
    card,
    instant,
    mapping,
    mappings,
    note_refusal,
    place,
    text_in,
)
from langmem_plugin.channels.text_splitting import split
from langmem_plugin.conversation.quoted_and_own_words import Quoted

_LONGEST = 4096
_NOT_TEXT = re.compile("animation|audio|checklist|dice|document|game|paid_media|poll|sticker|story|video(_note)?|voice")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_FOR_BOT = re.compile(r"(?:\s|U){0,20}+[/\uff0f]((?:\w|U)++)@((?:\w|U)++)".replace("U", _UNSEEN.pattern))
_ANOTHERS = frozenset(("forward_origin", "forward_from", "forward_date", "via_bot"))


def incoming(update: Mapping[str, Any], username: str = "") -> list[Incoming]:
    """Return the message of an update; none for one that expects no answer, such as a pinned message, a message of
    another bot, or a command for another bot than `username`, by its name without the @.
    """
    if reaction := mapping(update.get("message_reaction")):
        return _reaction(reaction, update.get("update_id"))
    for name in ("message", "edited_message"):
        match message := mapping(update.get(name)):
            case {"message_id": int(message_id), "chat": {"id": int(chat)}} if chat:
                read = _message(message, message_id, chat, username, edited=name == "edited_message")
                return [] if read is None else [read]
    return []


def parts(text: str) -> list[str]:
    """Return the text in pieces that Telegram takes; it counts an emoji as two."""
    return split(text, _LONGEST, lambda each: len(each.encode("utf-16-le", "surrogatepass")) // 2)


def text_to(message: Incoming, text: str) -> dict[str, Any]:
    """Return the arguments of `sendMessage`."""
    return {**message.to, "text": text}


def typing(message: Incoming) -> dict[str, Any]:
    """Return the arguments of `sendChatAction`, to show for 5 seconds that an answer is being written."""
    return {**message.to, "action": "typing"}


def sent(status: int, body: Any) -> str | None:
    """Return the id of the sent text, by the API's answer. None, and an ERROR in the log, if it will never be taken.

    Raises TryLater where it may be taken later.
    """
    match body:
        case {"result": {"message_id": int(message_id)}} if status < REFUSED:
            return str(message_id)
    if status >= REFUSED:
        body = mapping(body)
        passes = "retry_after" in mapping(body.get("parameters"))
        note_refusal("telegram", status, body.get("error_code"), body.get("description"), passes=passes)
    return None


def _reaction(reaction: Mapping[str, Any], update_id: Any) -> list[Incoming]:
    """Return the sign that was just put below a message; none where one was taken back, or is no emoji."""
    before = [*mappings(reaction.get("old_reaction"))]
    added = "".join(text_in(each.get("emoji")) for each in mappings(reaction.get("new_reaction")) if each not in before)
    said = {**reaction, "from": reaction.get("user"), "text": added, "reply_to_message": reaction}
    return [replace(each, message_id=f"reaction {update_id}", reaction=True) for each in incoming({"message": said})]


def _message(message: Mapping[str, Any], message_id: int, chat: int, username: str, *, edited: bool) -> Incoming | None:
    about = _sender(message.get("from"), chat)
    if isinstance(new := message.get("migrate_to_chat_id"), int):
        return Incoming(who=f"telegram:{new}", moved_from=f"telegram:{chat}")
    # Who writes in the name of the group or of a channel seems to be a bot of Telegram's, and is a person.
    is_bot = mapping(message.get("from")).get("is_bot") and "sender_chat" not in message
    if is_bot or message.get("is_automatic_forward"):
        return None
    text = text_in(message.get("text")) or text_in(message.get("caption"))
    if named := _FOR_BOT.match(text):
        if username and _UNSEEN.sub("", named[2]).casefold() != username.lstrip("@").casefold():
            return None
        text = f"/{named[1]}{text[named.end() :]}"
    if (command := typed(cleaned(text))) and command.word == "start":  # the button of a new chat; a link may add words
        text = "/help"
    # The largest size of a picture stands last.
    pictures = [file for each in [*mappings(message.get("photo"))][-1:] if (file := text_in(each.get("file_id")))]
    document = mapping(message.get("document"))
    if text_in(document.get("mime_type")).startswith("image/"):
        pictures.append(text_in(document.get("file_id")))
    unopened = None if pictures else next(filter(_NOT_TEXT.fullmatch, message), None)
    if shown := "" if text else _shown(message):
        text, unopened = shown, None
    if not (text or pictures or (unopened and chat > 0)):  # a sticker in a group is for its other members
        return None
    # In groups without topics a thread of answers has such an id too.
    topic = message.get("message_thread_id") if message.get("is_topic_message") else None
    answered = mapping(message.get("reply_to_message"))
    return Incoming(
        who=f"telegram:{chat}",
        to={"chat_id": chat, **({"message_thread_id": topic} if isinstance(topic, int) else {})},
        text=text,
        message_id=str(message_id),
        sent_at=instant(message.get("edit_date") if edited else message.get("date")),
        pictures=pictures,
        unopened=unopened,
        forwarded=not _ANOTHERS.isdisjoint(message),
        quoted=_quoted(answered, mapping(message.get("quote"))),
        edited=edited,
        album=text_in(message.get("media_group_id")) or None,
        **about,
    )


def _quoted(answered: Mapping[str, Any], quote: Mapping[str, Any]) -> Quoted | None:
    """Return the message that is answered; the first one of a topic seems to answer the topic's beginning."""
    text = text_in(quote.get("text")) or text_in(answered.get("text")) or text_in(answered.get("caption"))
    message_id = answered.get("message_id")
    if "forum_topic_created" in answered or not (text or message_id):
        return None
    return Quoted(str(message_id) if message_id else None, text or None)


def _sender(sender: Any, chat: int) -> dict[str, Any]:
    """Return the sender in a group; none for an anonymous administrator or a channel: nobody knows who it is."""
    if chat > 0 or not isinstance(sender, Mapping) or sender.get("is_bot") or not isinstance(sender.get("id"), int):
        return {}
    name = " ".join(filter(None, (text_in(sender.get("first_name")), text_in(sender.get("last_name")))))
    return {"sender": f"telegram:{sender['id']}", "sender_name": name or None}


def _shown(message: Mapping[str, Any]) -> str:
    """Put into words a message that shows something without any."""
    match message:
        case {"venue": {"location": Mapping() as where} as venue}:
            return place({**where, "title": venue.get("title"), "address": venue.get("address")})
        case {"location": Mapping() as where}:
            return place(where)
        case {"contact": Mapping() as contact}:
            name = " ".join(filter(None, (text_in(contact.get("first_name")), text_in(contact.get("last_name")))))
            return card(name, [contact.get("phone_number")])
        case {"poll": {"question": str(question), "options": list(options)}}:
            return "\n".join([f"Poll: {question}", *(f"- {text_in(each.get('text'))}" for each in mappings(options))])
    return ""
