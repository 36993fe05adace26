"""What is shared moves from the owner "shared", which a person may be called too, to a key that no person can have."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_BEFORE, _AFTER = "shared", "\x1fshared"
# What a person called "shared" said to remember, or their assistant did, was never written to the shared scope.
_SAID_BY_A_PERSON = ("command", "extracted_from_chat")


def upgrade() -> None:
    connection = op.get_bind()
    owner, memory, vector, access = (
        sa.Table(name, sa.MetaData(), autoload_with=connection, resolve_fks=False)
        for name in ("langmem_memory_owner", "langmem_memory", "langmem_memory_vector", "langmem_memory_access")
    )
    shared = sa.select(memory.c.memory_id).where(
        memory.c.owner == _BEFORE, memory.c.source_type.not_in(_SAID_BY_A_PERSON)
    )
    _copy(connection, owner, owner.c.owner == _BEFORE)
    for table in (memory, vector, access):
        _copy(connection, table, sa.and_(table.c.owner == _BEFORE, table.c.memory_id.in_(shared)))
    connection.execute(sa.delete(memory).where(memory.c.owner == _BEFORE, memory.c.memory_id.in_(shared)))
    # Whoever follows the person's changes, such as a vector index, starts again: rows are gone.
    again = {"change": owner.c.change + 1, "rebuild": owner.c.change + 1}
    connection.execute(sa.update(owner).where(owner.c.owner == _BEFORE).values(again))


def _copy(connection: sa.Connection, table: sa.Table, rows: sa.ColumnElement[bool]) -> None:
    values = [sa.literal(_AFTER) if column.name == "owner" else column for column in table.c]
    connection.execute(sa.insert(table).from_select(list(table.c), sa.select(*values).where(rows)))
