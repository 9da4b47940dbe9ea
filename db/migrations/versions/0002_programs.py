"""Trials are told apart by their program and compiler; conditions, lost runs and comparisons get columns of their own.

Rows are copied as they are. The digest of a source takes the place of the program's: no program of today has it, so
the trial counts as stale. Names inside of the JSON values are no concern of a migration: `autotune.db.upgrade` brings
them up to date after any migration.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

STATUSES = ("ok", "illegal", "compile_error", "launch_error", "wrong", "timeout", "crashed")
TIME_SOURCES = ("measured", "modelled")
CONDITIONS = ("sm_mhz", "memory_mhz", "celsius", "clock_event_reasons")
ROWS = 500  # at once
LENGTH = 255


def upgrade() -> None:
    op.drop_table("meta")  # it said which shipped trials were taken in; each file of them is looked at anew
    op.create_table(
        "database_info",
        sa.Column("name", sa.String(LENGTH), nullable=False),
        sa.Column("value", sa.String(LENGTH), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    # SQLite cannot change a table's constraints, and PostgreSQL would keep the names of sequences and indices of a
    # table that is renamed: so the table is made anew on both.
    op.execute("CREATE TEMPORARY TABLE old_trials AS SELECT * FROM trials")
    op.execute("CREATE UNIQUE INDEX old_trials_id ON old_trials (id)")
    op.drop_table("trials")
    op.create_table("trials", *columns(), *constraints())
    op.create_index("ix_trials_created_at", "trials", ["created_at"])
    trials = sa.table("trials", *columns())
    for rows in old_rows():
        op.bulk_insert(trials, [new_row(row) for row in rows])
    op.execute("DROP TABLE old_trials")


def columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.Integer(), nullable=False),
        sa.Column("schedule", sa.JSON(), nullable=False),
        sa.Column("schedule_digest", sa.String(LENGTH), nullable=False),
        sa.Column("status", words("status", STATUSES), nullable=False),
        sa.Column("time_source", words("time_source", TIME_SOURCES), nullable=False),
        sa.Column("seconds", sa.Float(53), nullable=True),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("max_error", sa.Float(53), nullable=True),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("conditions", sa.JSON(), nullable=False),
        sa.Column("lost_to", sa.String(LENGTH), nullable=False),
        sa.Column("comparison", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("compiler", sa.String(LENGTH), nullable=False),
        sa.Column("program_digest", sa.String(LENGTH), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
    ]


def constraints() -> list[sa.Constraint]:
    return [
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("device_id", "problem_id", "schedule_digest", "time_source", "program_digest", "compiler"),
        sa.CheckConstraint("seconds > 0", name="seconds_positive"),
        sa.CheckConstraint("status <> 'ok' OR seconds IS NOT NULL", name="ok_has_seconds"),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"]),
        sa.ForeignKeyConstraint(["device_id"], ["devices.id"]),
    ]


def words(name: str, allowed: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(*allowed, name=name, native_enum=False, create_constraint=True, length=32)


def old_rows() -> Iterator[Sequence[sa.Row[Any]]]:
    """The rows of revision 0001 in batches, oldest first; of those with the same new key, the newest one."""
    added = ("conditions", "lost_to", "comparison", "program_digest")
    same_columns = [column for column in columns() if column.name not in added]
    old = sa.table("old_trials", *same_columns, sa.Column("source", sa.String(LENGTH)))
    key = (old.c.device_id, old.c.problem_id, old.c.schedule_digest, old.c.time_source, old.c.source, old.c.compiler)
    newest = sa.func.row_number().over(partition_by=key, order_by=(old.c.created_at.desc(), old.c.id.desc()))
    numbered = sa.select(old.c.id, newest.label("number")).subquery()
    connection = op.get_bind()
    connection.execute(sa.delete(old).where(old.c.id.in_(sa.select(numbered.c.id).where(numbered.c.number > 1))))
    query = sa.select(old).order_by(old.c.id).limit(ROWS)
    last = -1
    while rows := connection.execute(query.where(old.c.id > last)).all():
        yield rows
        last = rows[-1].id


def new_row(row: sa.Row[Any]) -> dict[str, Any]:
    """A row without its id, which the database gives anew in the same order."""
    values = {name: value for name, value in row._mapping.items() if name not in ("id", "source")}
    environment = dict(row.environment)
    lost_to, contest = environment.pop("lost_to", ""), environment.pop("contest", None)
    return values | {
        "conditions": {name: environment.pop(name) for name in CONDITIONS if name in environment},
        "lost_to": lost_to if isinstance(lost_to, str) else "",
        "comparison": contest if is_comparison(contest) else None,
        "environment": environment,
        "program_digest": row.source,
    }


def is_comparison(value: Any) -> bool:
    """Whether a value of a JSON column, which anybody may have written, is what today's rows have."""
    if not isinstance(value, dict) or set(value) != {"own", "others", "libraries"}:
        return False
    others, libraries = value["others"], value["libraries"]
    return (
        isinstance(others, dict)
        and isinstance(libraries, dict)
        and all(isinstance(seconds, float) and 0 < seconds < 1e6 for seconds in (value["own"], *others.values()))
        and all(isinstance(version, str) for version in libraries.values())
    )
