"""Views for people who ask in SQL: the best trials, and each operator's trials with its fields as columns.

autotune itself reads none of them. A view in a SQLite file is a program that may come from anywhere, so only the texts
that this file makes are accepted, of whatever operator and fields.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, inspect, select
from sqlalchemy.exc import DBAPIError

from autotune.codegen.model.schedule import KERNEL
from autotune.search_spaces.contract.registry import OPERATORS

from .models import InfoRow

BEST = "best_trials"
_OF_OPERATOR = "trials_"

COMPILER = "compiler"  # what `database_info` calls the one that was installed where a trial was stored last

# As `queries.ranked` finds them with that compiler; a test holds the two together.
_BEST = f"""\
CREATE VIEW best_trials AS
WITH installed AS (
  SELECT coalesce((SELECT value FROM database_info WHERE name = '{COMPILER}'), '') AS compiler
), verdicts AS (
  SELECT trials.*, row_number() OVER (
    PARTITION BY device_id, problem_id, schedule_digest
    ORDER BY time_source = 'modelled', trials.compiler <> installed.compiler, created_at DESC, id DESC) AS recency,
    trials.compiler <> installed.compiler AS foreign_compiler
  FROM trials CROSS JOIN installed
), places AS (
  SELECT verdicts.*, row_number() OVER (
    PARTITION BY device_id, problem_id
    ORDER BY time_source = 'modelled', foreign_compiler, EXISTS (
      SELECT 1 FROM trials AS winner
      WHERE winner.device_id = verdicts.device_id AND winner.problem_id = verdicts.problem_id
        AND winner.time_source = verdicts.time_source AND winner.compiler = verdicts.compiler
        AND winner.schedule_digest = verdicts.lost_to AND winner.status = 'ok'), seconds, id) AS place
  FROM verdicts
  WHERE recency = 1 AND status = 'ok'
)
SELECT places.id AS id, problems.operator AS operator, problems."key" AS problem, devices.model AS device,
  places.seconds AS seconds, places.time_source AS time_source, places.schedule AS schedule,
  places.compiler AS compiler, places.run_id AS run_id, places.created_at AS created_at
FROM places
JOIN problems ON problems.id = places.problem_id
JOIN devices ON devices.id = places.device_id
WHERE places.place = 1"""

_HEAD = """\
SELECT trials.id AS id, problems."key" AS problem, devices.model AS device, trials.status AS status,
  trials.seconds AS seconds, trials.time_source AS time_source,
"""
_TAIL = """\
  trials.error AS error, trials.max_error AS max_error, trials.compiler AS compiler, trials.lost_to AS lost_to,
  trials.run_id AS run_id, trials.created_at AS created_at
FROM trials
JOIN problems ON problems.id = trials.problem_id
JOIN devices ON devices.id = trials.device_id
WHERE problems.operator = '{operator}'"""
_TAKEN = frozenset(re.findall(r"AS (\w+)", _HEAD + _TAIL))
_JSON = {"problem": "problems.fields", "schedule": "trials.schedule"}
_SQLITE_FIELD = "json_extract({json}, '$.{field}')"
# What a field of that name once held may be no number: of PostgreSQL, one such value would fail the whole query.
_POSTGRESQL_FIELDS = {
    int: "CASE WHEN {json} ->> '{field}' ~ '^-?[0-9]{{1,18}}$' THEN ({json} ->> '{field}')::bigint END",
    bool: "CASE {json} ->> '{field}' WHEN 'true' THEN true WHEN 'false' THEN false END",
}


class FieldColumn(NamedTuple):
    """A column for a field of a problem or a schedule: its name, where the field is, and its type."""

    name: str
    json: str
    field: str
    kind: type


def field_columns(operator: str) -> list[FieldColumn]:
    """The columns for the fields of a registered operator."""
    of_operator = OPERATORS[operator]
    of_schedules = {one.name: one for kind in of_operator.schedule_types for one in fields(kind)}
    named = [FieldColumn(KERNEL, _JSON["schedule"], KERNEL, str)] if len(of_operator.kernels) > 1 else []
    found = {column.name: column for column in named}
    owners = (("problem", fields(of_operator.problem_type)), ("schedule", of_schedules.values()))
    for prefix, owned in owners:
        for one in owned:
            name = f"{prefix}_{one.name}" if one.name in _TAKEN or one.name in found else one.name
            kind = int if one.default is MISSING else type(one.default)
            found[name] = FieldColumn(name, _JSON[prefix], one.name, kind)
    return list(found.values())


def select_trials(operator: str, dialect: str) -> str:
    """The statement that the view of a registered operator's trials stands for, for ``sqlite`` or ``postgresql``."""
    lines = (f'  {_expression(column, dialect)} AS "{column.name}",\n' for column in field_columns(operator))
    return _HEAD + "".join(lines) + _TAIL.format(operator=operator)


def view_of(operator: str) -> str:
    """The name of the view of an operator's trials."""
    return f"{_OF_OPERATOR}{operator}"


def is_ours(name: str, text: str, *, before_migration: bool) -> bool:
    """Whether this or another version of autotune made a view of SQLite.

    Before a migration its name decides: the migration drops it, and nobody reads it until then.
    """
    if before_migration:
        return _named_by_us(name)
    return (name == BEST and text == _BEST) or bool(name.startswith(_OF_OPERATOR) and _MADE_HERE.fullmatch(text))


def drop_views(connection: Connection) -> None:
    """Drop all views of ours, before a migration."""
    for name in filter(_named_by_us, inspect(connection).get_view_names()):
        _drop(connection, name)


def make_views(connection: Connection) -> None:
    """Make all views, after a migration."""
    for name in (BEST, *map(view_of, OPERATORS)):
        _make(connection, name, _text(name, connection.dialect.name))


def renew_views(connection: Connection, operator: str) -> None:
    """Make the view of an operator's trials and that of the best ones, unless they are there with the fields of today.

    A user who may store trials but make no views goes on without, and an operator that is not registered has none.
    """
    present = inspect(connection).get_view_names()
    for name in (BEST, *([view_of(operator)] if operator in OPERATORS else [])):
        text = _text(name, connection.dialect.name)
        made_as = connection.scalar(select(InfoRow.value).where(InfoRow.name == _fact(name)))
        if name not in present or made_as != _digest(text):
            with suppress(DBAPIError), connection.begin_nested():
                if name in present:
                    _drop(connection, name)
                _make(connection, name, text)


def _named_by_us(name: str) -> bool:
    return name == BEST or name.startswith(_OF_OPERATOR)


def _text(name: str, dialect: str) -> str:
    return (
        _BEST if name == BEST else f"CREATE VIEW {name} AS\n{select_trials(name.removeprefix(_OF_OPERATOR), dialect)}"
    )


def _make(connection: Connection, name: str, text: str) -> None:
    connection.exec_driver_sql(text)
    connection.execute(delete(InfoRow).where(InfoRow.name == _fact(name)))
    connection.execute(insert(InfoRow).values(name=_fact(name), value=_digest(text)))


def _drop(connection: Connection, name: str) -> None:
    connection.exec_driver_sql(f"DROP VIEW {connection.dialect.identifier_preparer.quote(name)}")


def _fact(name: str) -> str:
    """What `database_info` calls the digest of a view's text; PostgreSQL does not keep the text."""
    return f"view {name}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _expression(column: FieldColumn, dialect: str) -> str:
    form = _SQLITE_FIELD if dialect == "sqlite" else _POSTGRESQL_FIELDS.get(column.kind, "{json} ->> '{field}'")
    return form.format(json=column.json, field=column.field)


def _pattern() -> re.Pattern[str]:
    """What the view of any operator with any fields looks like in SQLite."""
    operator = re.escape("{operator}")
    head, tail = re.escape(f"CREATE VIEW {_OF_OPERATOR}{{operator}} AS\n{_HEAD}"), re.escape(_TAIL)
    field = re.escape("  " + _SQLITE_FIELD).replace(re.escape("{json}"), r"(?:problems\.fields|trials\.schedule)")
    line = field.replace(re.escape("{field}"), r"\w+") + r' AS "\w+",\n'
    parts = (head.replace(operator, r"(?P<operator>\w+)"), f"(?:{line})*", tail.replace(operator, "(?P=operator)"))
    return re.compile("".join(parts), re.ASCII)


_MADE_HERE = _pattern()
