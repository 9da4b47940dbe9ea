"""Calibrations of devices."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

LENGTH = 255


def upgrade() -> None:
    op.create_table(
        "calibrations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("uuid", sa.String(LENGTH), nullable=False),
        sa.Column("driver", sa.String(LENGTH), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("conditions", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("curves", sa.JSON(), nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
    )
    op.create_index("ix_calibrations_taken_at", "calibrations", ["taken_at"])
