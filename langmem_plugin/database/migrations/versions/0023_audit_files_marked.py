"""How far the files of the audit log reach is noted under a name that no machine's name is a part of."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    connection = op.get_bind()
    mark = sa.table("langmem_audit_mark", *map(sa.column, ("name", "position")))
    of_files = mark.c.name.not_in(["head", "anchor"])
    newest = sa.select(mark.c.name).where(of_files).order_by(mark.c.position.desc()).limit(1)
    if connection.dialect.name == "sqlite" and (name := connection.execute(newest).scalar()) is not None:
        connection.execute(sa.update(mark).where(mark.c.name == name).values(name="files end"))
    connection.execute(sa.delete(mark).where(of_files, mark.c.name != "files end"))
