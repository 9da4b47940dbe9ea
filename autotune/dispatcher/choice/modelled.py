"""The seed that the time model finds fastest, or the default of an operator that it does not know."""

from __future__ import annotations

from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.operator import IllegalScheduleError, Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

TIE = 1.005  # modelled times count as equal up to this ratio


def preferred(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> tuple[Schedule, float]:
    """The fastest of an operator's seeds by the time model, shape-generic, and its modelled seconds.

    The model gives many large tiles the same time. Of those the first one is taken, since seeds are sorted by guess.
    Seeds that were tuned as shape-generic kernels come before those that were tuned as shape-specialised ones. Of an
    operator that is not `counted`, the default comes first: the model would choose by occupancy alone.
    """
    seconds = ranked(operator, problem, spec)
    return next(iter(seconds.items()))


def ranked(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> dict[Schedule, float]:
    """An operator's seeds, shape-generic, and the modelled seconds of each: the `preferred` one, then by time.

    Raises:
        IllegalScheduleError: no schedule is legal, such as for sizes with more tiles than a grid has blocks.
    """
    seeds = operator.seeds(problem, spec)
    if not seeds:
        why = operator.violations(problem, operator.default(problem, spec), spec)[0]
        raise IllegalScheduleError(f"{operator.name} {problem.key} has no legal schedule on {spec.name}: {why}")
    general = [schedule.shape_generic for schedule in seeds]
    tuned_so = [schedule for schedule, same in zip(seeds, general, strict=True) if schedule == same]
    ordered = dict.fromkeys([*tuned_so, *general])
    seconds = {schedule: operator.forecast(problem, schedule, spec).seconds for schedule in ordered}
    least = min(seconds.values())
    found = dict(sorted(seconds.items(), key=lambda one: max(one[1], TIE * least)))
    default = operator.default(problem, spec).shape_generic
    return found if operator.counted or default not in found else {default: found[default], **found}
