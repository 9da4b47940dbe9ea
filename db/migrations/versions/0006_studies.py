"""Studies and claims, which Optuna's storages had beside the database; all trials that ended in those are here."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

NAME = sa.String(255)


def upgrade() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("problem_id", "device_id", "name"),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"]),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
    )
    op.create_table(
        "claims",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("schedule", sa.JSON(), nullable=False),
        sa.Column("schedule_digest", NAME, nullable=False),
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("tuner", NAME, nullable=False),
        sa.Column("until", sa.DateTime(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "schedule_digest"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"]),
    )
    # SQLite cannot add a constraint to a table, but a column that has one.
    op.execute("ALTER TABLE trials ADD COLUMN study_id INTEGER REFERENCES studies (id)")
    op.add_column("trials", sa.Column("number", sa.Integer(), nullable=True))
    op.create_index("study_number", "trials", ["study_id", "number"], unique=True)
    fastest = ["device_id", "problem_id", "status", "time_source", "compiler", "seconds"]
    op.create_index("fastest", "trials", fastest)
