"""The best trials in the database, as the rules for choosing a schedule see them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.base.log import logger
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompilerMissingError, compiler_version
from autotune.db.location import name_of, named_file
from autotune.db.pretuned import advice, digest
from autotune.db.states import TimeSource
from autotune.search_spaces.contract.generator import vouches
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec, kin_of

from . import snapshots

# SQLAlchemy takes longer to import than a call may take: it is imported only if there is no snapshot.
if TYPE_CHECKING:
    from autotune.db import Trial, TuningDB


class Record(NamedTuple):
    """The best trial of a problem, or its best shape-generic one if the best is shape-specialised.

    Attributes:
        problem, schedule: what was computed, and how.
        seconds, time_source: how long it took, measured or modelled.
        registers: of a block; 0 if that is not known.
        faster_baselines: baselines that were faster than this schedule, measured alternately with it.
        unconfirmed: whether its schedule emits another program today than the one that was timed.
        kin: the device that it was timed on, if that is another model of the same architecture.
    """

    problem: Problem
    schedule: Schedule
    seconds: float
    time_source: TimeSource
    registers: int = 0
    faster_baselines: frozenset[str] = frozenset()
    unconfirmed: bool = False
    kin: DeviceSpec | None = None

    @property
    def own_only(self) -> bool:
        """Whether it serves no other problem: its kernel would be compiled for each of them."""
        return self.schedule != self.schedule.shape_generic


def read_records(operator: Operator[Any, Any], spec: DeviceSpec, database: TuningDB) -> list[Record]:
    """The records of every problem of an operator on a device model and on its kin, those of one problem best first.

    Kin are the other models of the same architecture; of their records, those that were measured count.

    Raises:
        DatabaseError: the database cannot be read.
    """
    return _records(operator, _plain(operator, spec, database))


def few_records(
    operator: Operator[Any, Any], spec: DeviceSpec, database: TuningDB, keys: Collection[str], within: float
) -> list[Record]:
    """A record for each of these problems, by as few kernels as stay within a share of the best times; see `reduced`.

    Raises:
        DatabaseError: the database cannot be read.
    """
    from autotune.db.reduction import reduced

    trials = (one for one in database.trials(operator.name, device=spec.name) if one.problem.key in keys)
    kept = reduced(trials, within, _compiler())
    return _records(operator, [(None, [_as_json(trial) for one in kept for trial in one.trials])])


def records(operator: Operator[Any, Any], spec: DeviceSpec) -> list[Record]:
    """`read_records` of the user's database, read again when it has changed; none, with a warning, if that fails."""
    location = _location(os.environ.get("AUTOTUNE_DB"))
    if location is None:
        return []
    key = (location, operator.name, spec.name, *_field_names(operator))
    shipped = " ".join(digest(operator.name, model) for model in (spec.name, *kin_of(spec)))
    version = snapshots.version_of(location, shipped)
    known = _known.get(key)
    if known and version.name and known[0] == version.name:
        return known[1]
    plain = snapshots.load(key, version) if version.name else None
    logger.info("records of %s on %s: from the %s", operator.name, spec.name, "database" if plain is None else "cache")
    if plain is None:
        plain = _read(operator, spec)
        if plain is None:
            return []
        snapshots.save(key, version, plain)
    found = _records(operator, plain)
    _known[key] = version.name, found
    return found


def warn_without_records(operator: Operator[Any, Any], spec: DeviceSpec) -> None:
    """Say once how to get good schedules on a device model that has none of an operator."""
    own = any(record.kin is None for record in records(operator, spec))
    if not own and vouches(operator) and (text := advice(spec.name, operator.name)):
        _warn_once(text)


@cache
def _warn_once(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4)


# A record as JSON: the problem's and the schedule's fields, seconds, time source, registers of a thread, the baselines
# that were faster, and whether it is unconfirmed.
_Plain = tuple[Any, Any, float, str, int, list[str], bool]
# Those of the device itself, and of each of its kin, whose limits come first.
_Groups = list[tuple[Any, list[_Plain]]]
_known: dict[tuple[str, ...], tuple[str, list[Record]]] = {}


def _plain(operator: Operator[Any, Any], spec: DeviceSpec, database: TuningDB) -> _Groups:
    groups: _Groups = [(None, [_as_json(trial) for trial in database.serving(operator.name, spec.name, _compiler())])]
    for kin in database.kin(operator.name, spec):
        trials = database.serving(operator.name, kin.model, _compiler())
        measured = [_as_json(trial) for trial in trials if trial.time_source is TimeSource.MEASURED]
        if measured:
            groups.append((kin.limits, measured))
    return groups


def _field_names(operator: Operator[Any, Any]) -> list[str]:
    """What a snapshot's values are called: an operator whose fields have other names cannot read them."""
    kinds = (operator.problem_type, *operator.schedule_types)
    return [name for kind in kinds for name in (kind.__name__, *(field.name for field in fields(kind)))]


def _compiler() -> str | None:
    """The compiler in use, whose trials come first; None if there is none, and kernels come from the cache only."""
    try:
        return compiler_version()
    except CompilerMissingError:
        return None


def _as_json(trial: Trial) -> _Plain:
    from autotune.db.freshness import changed_program  # here: processes that find a snapshot do without

    assert trial.seconds is not None  # one that serves is ok, and has samples
    registers, faster = trial.resources.get("registers", 0), sorted(trial.faster_baselines)
    unconfirmed = bool(changed_program(trial))
    return trial.problem.fields, trial.schedule, trial.seconds, trial.time_source, registers, faster, unconfirmed


def _records(operator: Operator[Any, Any], groups: _Groups) -> list[Record]:
    found: list[Record] = []
    for limits, plain in groups:
        with suppress(ValueError):  # limits that another version stored
            found += _of_device(operator, plain, device_spec(limits) if limits else None)
    return found


def _of_device(operator: Operator[Any, Any], plain: Iterable[_Plain], kin: DeviceSpec | None) -> list[Record]:
    found: list[Record] = []
    for problem_fields, schedule_fields, seconds, time_source, registers, faster, unconfirmed in plain:
        # A trial of another version may have fields that this one does not know.
        with suppress(ValueError):
            problem = operator.problem_type.from_dict(problem_fields)
            schedule = operator.schedule(schedule_fields)
            of_block = registers * getattr(schedule, "threads", 0)
            source, beaten_by = TimeSource(time_source), frozenset(faster)
            found.append(Record(problem, schedule, seconds, source, of_block, beaten_by, unconfirmed, kin))
    return [*found, *_for_others(found)]


def _for_others(found: Iterable[Record]) -> list[Record]:
    """If only a shape-specialised kernel was tried: the same schedule, shape-generic, assumed to be as fast."""
    serving = {record.problem for record in found if not record.own_only}
    return [
        record._replace(schedule=record.schedule.shape_generic, faster_baselines=frozenset())
        for record in found
        if record.own_only and record.problem not in serving
    ]


def _location(text: str | None) -> str | None:
    """Where a database is. It is opened only if no file has its name; None if it cannot be opened."""
    file = named_file(name_of(text))
    if file and _is_there(file):
        return str(file)
    database = _database(text)
    return database.location if database else None


def _read(operator: Operator[Any, Any], spec: DeviceSpec) -> _Groups | None:
    """The records in the user's database; None, with a warning, if it cannot be read."""
    from autotune.db import DatabaseError

    database = _database(os.environ.get("AUTOTUNE_DB"))
    if database is None:
        return None
    try:
        # No connection stays open: SQLite's must not be carried into a process that is forked from this one.
        with database:
            return _plain(operator, spec, database)
    except DatabaseError as error:
        _warn(error)
        return None


def _is_there(file: Path) -> bool:
    with suppress(OSError):  # a folder that may not be entered
        return file.exists()
    return False


@cache
def _database(text: str | None) -> TuningDB | None:
    """A database, opened once by the process; None, with one warning, if that fails."""
    from autotune.db import DatabaseError
    from autotune.db.substitute import to_read

    try:
        return to_read(text, create=True)
    except DatabaseError as error:
        _warn(error)
        return None


def _warn(error: Exception) -> None:
    warnings.warn(f"schedules are chosen without records: {error}", RuntimeWarning, stacklevel=2)
