"""Runs migrations in the transaction of the connection that `autotune.db.schema` passes."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
