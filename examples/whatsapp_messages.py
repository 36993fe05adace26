"""Reads a message as WhatsApp's Cloud API delivers it."""

from examples.assistant import NOT_OPENED

NOT_ANSWERED = ("reaction", "revoke", "system", "unsupported")  # nobody awaits an answer to these


def as_it_came(message):
    """The message itself, without the edit around it, and what `areply` is told of it."""
    context = message.get("context") or {}
    about = {"forwarded": bool(context.get("forwarded") or context.get("frequently_forwarded"))}
    match message:
        case {"edit": {"original_message_id": original, "message": dict(edited)}}:
            message, about = edited, {**about, "message_id": original, "edited": True}
    return message, {**about, "quoted": context.get("id")}


async def opened(message, api, address):
    """The text of a message, and the bytes of its picture."""
    match message:
        case {"text": {"body": text}} | {"button": {"text": text}}:
            return text, None
        case {"interactive": {"button_reply": {"title": text}} | {"list_reply": {"title": text}}}:
            return text, None
        case {"image": {"id": media_id} as image}:
            media = (await api.get(f"{address}/{media_id}")).raise_for_status().json()
            return image.get("caption", ""), (await api.get(media["url"])).raise_for_status().content
    return NOT_OPENED, None
