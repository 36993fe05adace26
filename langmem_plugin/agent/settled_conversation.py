"""What fell out of the window, as it stands now: for a summary that says nothing that was corrected or forgotten."""

from collections.abc import Sequence
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.conversation.transcript import role_of, written_at
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.corrected_messages import as_it_stands
from langmem_plugin.memory.find.message_rows import PastMessage

_EARLIER = datetime.min.replace(tzinfo=UTC)


def settled(
    service: MemoryService, owner: OwnerKey, session_id: str | None, messages: Sequence[BaseMessage]
) -> list[BaseMessage]:
    """The messages without what was forgotten, and with what holds instead where something was corrected.

    Raises StoreUnavailable.
    """
    spoken = {
        str(at): PastMessage(each.id or str(at), session_id or "", role_of(each), each.text, _said_at(each))
        for at, each in enumerate(messages)
        if isinstance(each, HumanMessage | AIMessage) and each.text.strip()
    }
    with service.database.read() as connection:
        standing = as_it_stands(connection, service.repository, owner, list(spoken.values()))
    left: list[BaseMessage] = []
    for at, each in enumerate(messages):
        said = spoken.get(str(at))
        if said is None:
            left.append(each)
        elif (shown := standing.get(said.message_id)) is not None:
            text = " ".join(filter(None, [shown.message.text, shown.note]))
            left.append(each if text == each.text else each.model_copy(update={"content": text}))
    return left


def _said_at(message: BaseMessage) -> datetime:
    """Where the channel did not say when, it is as old as any correction."""
    return written_at(message) or _EARLIER
