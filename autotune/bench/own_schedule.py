"""The schedule that autotune enters into a comparison."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..compiler import compiler_version
from ..db.states import TimeSource
from ..log import logger
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator

if TYPE_CHECKING:
    from ..db import Trial, TuningDB


class OwnSchedule(NamedTuple):
    """A schedule, and the measured record of the problem that it comes from, if there is one."""

    schedule: Schedule
    record: Trial | None = None

    @property
    def recorded(self) -> bool:
        """Whether there is a record."""
        return self.record is not None

    @property
    def source(self) -> str:
        """``record`` or ``default``."""
        return "record" if self.recorded else "default"


def find_own_schedule(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, database: TuningDB
) -> OwnSchedule:
    """The best measured record of the problem on this device model; without one that is legal here, the default."""
    best = database.best(operator.name, problem.key, spec.name, compiler_version())
    if best is not None and best.time_source is TimeSource.MEASURED:
        with suppress(ValueError):  # a record of another version
            schedule = operator.schedule_type.from_dict(best.schedule)
            if not operator.violations(problem, schedule, spec):
                logger.info("%s %s: its record serves", operator.name, problem.key)
                return OwnSchedule(schedule, best)
    logger.info("%s %s: the default schedule serves", operator.name, problem.key)
    return OwnSchedule(operator.default(problem, spec))
