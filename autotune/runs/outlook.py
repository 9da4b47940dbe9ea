"""What a tuning run would do, from what is known before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import TimeSource
from autotune.devices.base import Device
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.sizes import SpaceSize, space_size

from .history import History

if TYPE_CHECKING:
    from autotune.db import TuningDB

_DRAWS, _FEW_DRAWS = 1000, 10  # that the share of legal schedules is estimated from
_NEWEST = 200  # trials that tell how long one takes


@dataclass(frozen=True)
class Outlook:
    """What a run of one problem on one device would find.

    Attributes:
        size: of the search space.
        known: schedules that would not be tried again.
        first: those that would be tried first, in this order; the sampler's follow. Of a brief outlook there are none.
        seconds_per_trial: median of the newest trials of the operator on this device model; None if there are none.
    """

    size: SpaceSize
    known: int
    first: list[Schedule]
    seconds_per_trial: float | None


def outlook(
    operator: Operator[Any, Any],
    problem: Problem,
    device: Device,
    db: TuningDB,
    seconds_per_trial: float | None,
    *,
    brief: bool = False,
) -> Outlook:
    """Look ahead; nothing is compiled, and no trial is stored. Of some schedules, the operator is `asked_for`.

    `pace` tells the seconds of a trial. A brief outlook, for one of many problems, takes some 20 ms in place of a
    second or two: the legal share is estimated from fewer draws, and what would be tried first is left out.

    Raises:
        DatabaseError: the database cannot be read.
    """
    history, spec = History(operator, problem, device, db), device.spec
    known = {one for one in history.tried() if not operator.violations(problem, one, spec)}
    others = [] if brief else [one for one in dict.fromkeys(history.first_candidates()) if one not in known]
    first = [one for one in others if not operator.violations(problem, one, spec)]
    size = space_size(operator, problem, spec, _FEW_DRAWS if brief else _DRAWS)
    return Outlook(size, len(known), first, seconds_per_trial)


def pace(db: TuningDB, operator: str, model: str, time_source: TimeSource) -> float | None:
    """Seconds from one trial to the next of the same run and problem; None if there are none."""
    newest = db.trials(operator, device=model, limit=_NEWEST)
    of_runs = [one for one in newest if one.run and one.time_source is time_source]
    gaps = [
        (later.created_at - earlier.created_at).total_seconds()
        for later, earlier in pairwise(of_runs)
        if (later.run, later.problem.key) == (earlier.run, earlier.problem.key)
    ]
    return median(gaps) if gaps else None
