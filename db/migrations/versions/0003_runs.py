"""Runs, and the run of each trial: those that are there belong to none."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

OUTCOMES = ("done", "interrupted", "failed")
LENGTH = 255


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(LENGTH), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("operator", sa.String(LENGTH), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("sampler", sa.String(LENGTH), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("begun_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("outcome", words("outcome", OUTCOMES), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="ended_has_outcome"),
    )
    op.create_index("ix_runs_begun_at", "runs", ["begun_at"])
    # Not by alembic, which adds no foreign key to a table of SQLite.
    op.execute(f"ALTER TABLE trials ADD COLUMN run_id VARCHAR({LENGTH}) REFERENCES runs (id)")
    op.create_index("ix_trials_run_id", "trials", ["run_id"])


def words(name: str, allowed: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(*allowed, name=name, native_enum=False, create_constraint=True, length=32)
