"""Picks the new messages of conversations that are imported again and have grown since."""

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import select

from langmem_plugin.conversation.transcript import written_at
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import message
from langmem_plugin.database.schema import in_parts
from langmem_plugin.portability.records import ImportedRecord, ImportedRecords, ImportedSession


def only_new(records: ImportedRecords, database: Database, thread: str) -> Iterator[ImportedRecord]:
    """A session of which the thread holds a part is given as one of the messages that it does not hold.

    Messages are known by their ids, so these must be the same each time they are read.
    """
    for record in records:
        if isinstance(record, ImportedSession):
            held = _held(database, thread, [each.id for each in record.messages if each.id])
            more = [each for each in record.messages if each.id not in held]
            if held and more:
                began_at = written_at(more[0]) or record.began_at
                yield replace(record, messages=more, source_id=str(more[0].id), began_at=began_at)
                continue
        yield record


def _held(database: Database, thread: str, ids: list[str]) -> set[str]:
    found: set[str] = set()
    with database.read() as connection:
        for part in in_parts(ids):
            query = select(message.c.message_id).where(message.c.thread == thread, message.c.message_id.in_(part))
            found.update(connection.execute(query).scalars())
    return found
