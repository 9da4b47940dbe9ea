"""The tables of the first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

STATUSES = ("ok", "illegal", "compile_error", "launch_error", "wrong", "timeout", "crashed")
TIME_SOURCES = ("measured", "modelled")


def upgrade() -> None:
    op.create_table(
        "devices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("compute_capability_major", sa.Integer(), nullable=False),
        sa.Column("compute_capability_minor", sa.Integer(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("model"),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("value", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "problems",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("operator", sa.String(255), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("operator", "key"),
    )
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("schedule", sa.JSON(), nullable=False),
        sa.Column("schedule_digest", sa.String(255), nullable=False),
        sa.Column("status", _words("status", STATUSES), nullable=False),
        sa.Column("time_source", _words("time_source", TIME_SOURCES), nullable=False),
        sa.Column("seconds", sa.Float(53), nullable=True),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("max_error", sa.Float(53), nullable=True),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("compiler", sa.String(255), nullable=False),
        sa.Column("generator", sa.String(255), nullable=False),
        sa.Column("source", sa.String(255), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("device_id", "problem_id", "schedule_digest", "time_source", "generator"),
        sa.CheckConstraint("seconds > 0", name="seconds_positive"),
        sa.CheckConstraint("status <> 'ok' OR seconds IS NOT NULL", name="ok_has_seconds"),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"]),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
    )
    op.create_index("ix_trials_created_at", "trials", ["created_at"])


def _words(name: str, words: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(*words, name=name, native_enum=False, create_constraint=True, length=32)
