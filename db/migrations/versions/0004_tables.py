"""The tables of the first version, which had that number."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = None

STATUSES = ("ok", "illegal", "compile_error", "launch_error", "wrong", "timeout", "crashed")
TIME_SOURCES = ("measured", "modelled")
OUTCOMES = ("done", "interrupted", "failed")
NAME = sa.String(255)


def upgrade() -> None:
    op.create_table(
        "database_info",
        sa.Column("name", NAME, nullable=False),
        sa.Column("value", NAME, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "devices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model", NAME, nullable=False),
        sa.Column("compute_capability_major", sa.Integer(), nullable=False),
        sa.Column("compute_capability_minor", sa.Integer(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("model"),
    )
    op.create_table(
        "problems",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("operator", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("operator", "key"),
    )
    op.create_table(
        "runs",
        sa.Column("id", NAME, nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("operator", NAME, nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("sampler", NAME, nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("begun_at", sa.DateTime(), nullable=False, index=True),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("outcome", words("outcome", OUTCOMES), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="ended_has_outcome"),
    )
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("run_id", NAME, nullable=True, index=True),
        sa.Column("schedule", sa.JSON(), nullable=False),
        sa.Column("schedule_digest", NAME, nullable=False),
        sa.Column("status", words("status", STATUSES), nullable=False),
        sa.Column("time_source", words("time_source", TIME_SOURCES), nullable=False),
        sa.Column("seconds", sa.Float(53), nullable=True),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("max_error", sa.Float(53), nullable=True),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("conditions", sa.JSON(), nullable=False),
        sa.Column("lost_to", NAME, nullable=False),
        sa.Column("comparison", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("compiler", NAME, nullable=False),
        sa.Column("program_digest", NAME, nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False, index=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("device_id", "problem_id", "schedule_digest", "time_source", "program_digest", "compiler"),
        sa.CheckConstraint("seconds > 0", name="seconds_positive"),
        sa.CheckConstraint("status <> 'ok' OR seconds IS NOT NULL", name="ok_has_seconds"),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"]),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"]),
    )
    op.create_table(
        "calibrations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("uuid", NAME, nullable=False),
        sa.Column("driver", NAME, nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("conditions", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("curves", sa.JSON(), nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False, index=True),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
    )


def words(name: str, allowed: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(*allowed, name=name, native_enum=False, create_constraint=True, length=32)
