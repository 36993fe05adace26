"""Alembic's entry: runs the revisions on the connection that `upgrade` hands over."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transaction_per_migration=False,
    transactional_ddl=False,  # the caller's transaction holds them all
)
context.run_migrations()
