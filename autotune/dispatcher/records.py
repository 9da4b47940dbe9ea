"""The best trials in the database, as the rules for choosing a schedule see them."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..codegen.source import generator_digest
from ..db.contests import beaten_by
from ..db.states import TimeSource
from ..search_spaces.limits import DeviceLimits
from ..search_spaces.operator import Operator

# SQLAlchemy takes longer to import than a call may take: the first that needs a record pays for it.
if TYPE_CHECKING:
    from ..db import TuningDB


class Record(NamedTuple):
    """The best trial of a problem.

    Attributes:
        problem, schedule: what was computed, and how.
        seconds, time_source: how long it took, measured or modelled.
        registers: of a block; 0 if that is not known.
        beaten_by: baselines that were faster than this schedule, measured in turns with it.
    """

    problem: Problem
    schedule: Schedule
    seconds: float
    time_source: TimeSource
    registers: int = 0
    beaten_by: frozenset[str] = frozenset()


def read_records(operator: Operator[Any, Any], limits: DeviceLimits, database: TuningDB) -> list[Record]:
    """The record of every problem of an operator on a device model.

    Raises:
        DatabaseError: the database cannot be read.
    """
    found: list[Record] = []
    for trial in database.bests(operator.name, limits.name, generator_digest()):
        assert trial.seconds is not None  # a best trial is ok, and has samples
        # A record of another generator may have fields that this one does not know.
        with suppress(ValueError):
            problem = operator.problem_type.from_dict(trial.problem.fields)
            schedule = operator.schedule_type.from_dict(trial.schedule)
            registers = trial.resources.get("registers", 0) * getattr(schedule, "threads", 0)
            found.append(Record(problem, schedule, trial.seconds, trial.time_source, registers, beaten_by(trial)))
    return found


def records(operator: Operator[Any, Any], limits: DeviceLimits) -> list[Record]:
    """`read_records` of the user's database, read again when it has changed; none, with a warning, if that fails."""
    from ..db import DatabaseError

    database = _database(os.environ.get("AUTOTUNE_DB"))
    if database is None:
        return []
    key, version = (database.location, operator.name, limits.name), _version(database.location)
    known = _known.get(key)
    if known and version and known[0] == version:
        return known[1]
    try:
        # No connection stays open: SQLite's must not be carried into a process that is forked from this one.
        with database:
            _known[key] = version, read_records(operator, limits, database)
    except DatabaseError as error:
        _warn(error)
        return []
    return _known[key][1]


_Version = tuple[tuple[int, int], ...]
_known: dict[tuple[str, str, str], tuple[_Version, list[Record]]] = {}


def _version(location: str) -> _Version:
    """When the files of a SQLite database were last written, and their sizes; empty of any other database."""
    version: list[tuple[int, int]] = []
    for path in (Path(location), Path(f"{location}-wal")):
        with suppress(OSError):
            status = path.stat()
            version.append((status.st_mtime_ns, status.st_size))
    return tuple(version)


@cache
def _database(location: str | None) -> TuningDB | None:
    """A database, looked at once by the process; None, with the one warning, if that fails."""
    from ..db import DatabaseError, TuningDB

    try:
        return TuningDB(location)
    except DatabaseError as error:
        _warn(error)
        return None


def _warn(error: Exception) -> None:
    warnings.warn(f"no records, schedules are chosen without: {error}", RuntimeWarning, stacklevel=2)
