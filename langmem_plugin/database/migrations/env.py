"""Alembic's entry: runs the revisions on the connection that `upgrade` hands over."""

from alembic import context

from langmem_plugin.database.migrations import VERSION_TABLE, current_schema

connection = context.config.attributes["connection"]

context.configure(
    connection=connection,
    version_table=VERSION_TABLE,
    version_table_schema=current_schema(connection),  # else one of another schema would be found
    transaction_per_migration=False,
    transactional_ddl=False,  # the caller's transaction holds them all
)
context.run_migrations()
