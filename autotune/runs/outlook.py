"""What a tuning run would do, from what is known before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.devices.base import Device
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.sizes import SpaceSize, space_size

from .history import History

if TYPE_CHECKING:
    from autotune.db import TuningDB

_NEWEST = 200  # trials that tell how long one takes


@dataclass(frozen=True)
class Outlook:
    """What a run of one problem on one device would find.

    Attributes:
        size: of the search space.
        known: schedules that would not be tried again.
        first: those that would be tried first, in this order; the sampler's follow.
        seconds_per_trial: median of the newest trials of the operator on this device model; None if there are none.
    """

    size: SpaceSize
    known: int
    first: list[Schedule]
    seconds_per_trial: float | None


def outlook(operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB) -> Outlook:
    """Look ahead; nothing is compiled, and no trial is stored.

    Raises:
        DatabaseError: the database cannot be read.
    """
    history = History(operator, problem, device, db)
    known = history.tried()
    first = dict.fromkeys(one for one in history.first_candidates() if one not in known)
    return Outlook(space_size(operator, problem, device.spec), len(known), list(first), _pace(operator, device, db))


def _pace(operator: Operator[Any, Any], device: Device, db: TuningDB) -> float | None:
    """Seconds from one trial to the next of the same run and problem."""
    newest = db.trials(operator.name, device=device.spec.name, limit=_NEWEST)
    of_runs = [one for one in newest if one.run and one.time_source is device.time_source]
    gaps = [
        (later.created_at - earlier.created_at).total_seconds()
        for later, earlier in pairwise(of_runs)
        if (later.run, later.problem.key) == (earlier.run, earlier.problem.key)
    ]
    return median(gaps) if gaps else None
