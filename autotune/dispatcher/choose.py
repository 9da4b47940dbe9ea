"""Which records serve a problem: its own, then the nearest one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from itertools import islice
from math import hypot, log
from typing import TYPE_CHECKING, Any, NamedTuple

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..codegen.source import generator_digest
from ..db.states import TimeSource
from ..search_spaces.limits import DeviceLimits
from ..search_spaces.operator import Operator

# SQLAlchemy takes longer to import than a call may take: the first that needs a record pays for it.
if TYPE_CHECKING:
    from ..db import Trial, TuningDB

_SIZES = ("m", "n", "k", "batch")  # fields of problems that say how much there is to do
_LAYOUT = ("transpose_a", "transpose_b", "element_bytes")  # fields whose change makes it another kind of kernel
_FARTHEST = 8  # ratio of two sizes beyond which the default schedule knows the problem better than a record does
_TRIED = 2


class Recorded(NamedTuple):
    """A schedule, and the key of the problem that it was found for."""

    schedule: Schedule
    key: str


def recorded(operator: Operator[Any, Any], problem: Problem, limits: DeviceLimits) -> list[Recorded]:
    """The schedules of the problem's own record and of the nearest one, if they are legal here; two at most.

    Nearest in the logarithms of the sizes, among the best trials of the same operator, device model and layout whose
    sizes are within a factor of 8. No modelled record goes before a measured one.
    """
    near = [best for best in _bests(operator, limits) if _close(problem, best.problem)]
    near.sort(key=lambda best: _rank(problem, best))
    return list(islice(_legal(operator, problem, limits, near), _TRIED))


class _Best(NamedTuple):
    """The best trial of a problem."""

    problem: Problem
    trial: Trial


def _close(problem: Problem, other: Problem) -> bool:
    same_layout = all(getattr(problem, name, None) == getattr(other, name, None) for name in _LAYOUT)
    return same_layout and max(_ratios(problem, other)) <= log(_FARTHEST)


def _rank(problem: Problem, best: _Best) -> tuple[bool, float, int, str]:
    """What decides between close records, first things first; leading dimensions and alignments come third."""
    differing = sum(getattr(problem, field.name) != getattr(best.problem, field.name) for field in fields(problem))
    modelled = best.trial.time_source is TimeSource.MODELLED
    return modelled, hypot(*_ratios(problem, best.problem)), differing, best.problem.key


def _ratios(problem: Problem, other: Problem) -> list[float]:
    """By which factor each size differs, as logarithms of at least 0."""
    pairs = ((getattr(problem, name, 1), getattr(other, name, 1)) for name in _SIZES)
    return [abs(log(max(1, size) / max(1, known))) for size, known in pairs]


def _legal(
    operator: Operator[Any, Any], problem: Problem, limits: DeviceLimits, bests: list[_Best]
) -> Iterator[Recorded]:
    for best in bests:
        # A record of another generator may have fields that this one does not know.
        with suppress(ValueError):
            schedule = operator.schedule_type.from_dict(best.trial.schedule)
            if not operator.violations(problem, schedule, limits):
                yield Recorded(schedule, best.problem.key)


def _bests(operator: Operator[Any, Any], limits: DeviceLimits) -> Iterator[_Best]:
    """The best trial of every problem of an operator on a device model; none, with a warning, without a database."""
    from ..db import DatabaseError

    database = _database(os.environ.get("AUTOTUNE_DB"))
    if database is None:
        return
    try:
        trials = database.bests(operator.name, limits.name, generator_digest())
    except DatabaseError as error:
        _warn(error)
        return
    for trial in trials:
        with suppress(ValueError):
            yield _Best(operator.problem_type.from_dict(trial.problem.fields), trial)


@cache
def _database(location: str | None) -> TuningDB | None:
    """A database, opened once for the process; None, with the one warning, if that fails."""
    from ..db import DatabaseError, TuningDB

    try:
        return TuningDB(location)
    except DatabaseError as error:
        _warn(error)
        return None


def _warn(error: Exception) -> None:
    warnings.warn(f"no records, default schedules serve: {error}", RuntimeWarning, stacklevel=2)
