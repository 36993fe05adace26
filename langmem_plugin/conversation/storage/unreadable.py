"""The stand-in for a message that cannot be read, and the report about it.

It is only shown: the row keeps what it has, for `langmem doctor` and for whoever has a backup.
"""

import threading
from collections import OrderedDict

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.errors import DamagedSession, TypeNotAllowed
from langmem_plugin.logs import event_log

log = event_log(__name__)

TEXT = "[A message that was here cannot be read any more.]"
_NOTES, _ROW = "langmem", "unreadable_row"  # in response_metadata, which no provider is sent
_MOST_REPORTED = 1_000


def stand_in(row: int, message_id: str | None) -> BaseMessage:
    """The assistant's, whoever wrote the message: nobody is made to have said it, and it needs no call or result."""
    return AIMessage(TEXT, id=message_id or f"unreadable-{row}", response_metadata={_NOTES: {_ROW: row}})


def row_behind(message: BaseMessage) -> int | None:
    """The row that a graph hands back a stand-in for."""
    notes = message.response_metadata.get(_NOTES)
    row = notes.get(_ROW) if isinstance(notes, dict) else None
    return row if isinstance(row, int) else None


class DamageReports:
    """Says once in the log that something of a session cannot be read, and what was met first: `langmem doctor` names
    all of it. As long as this process lives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reported: OrderedDict[str, None] = OrderedDict()

    def note(self, session_id: str, what: str, error: DamagedSession) -> None:
        """Raises TypeNotAllowed: what holds a type that is not allowed is not damaged, but to be allowed."""
        if isinstance(error, TypeNotAllowed):
            raise error
        self.report(session_id, what, error)

    def report(self, session_id: str, what: str, error: DamagedSession) -> None:
        with self._lock:
            known = session_id in self._reported
            self._reported[session_id] = None
            if len(self._reported) > _MOST_REPORTED:
                self._reported.popitem(last=False)
        if not known:
            log.error("session.damaged", extra={"session_id": session_id, "what": what, "error": str(error)})
