"""Digests of machine code, which are not known of the trials that are there."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("trials", sa.Column("machine_code_digest", sa.String(255), nullable=False, server_default=""))
