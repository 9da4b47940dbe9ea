"""gemm, and what is computed as one: schedules by modelled time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from typing import TypeVar

from autotune.codegen.matmul.gemm.schedule import GemmSchedule
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.forecast import forecast
from autotune.search_spaces.machine.workload import Workload

P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=GemmSchedule)
_TIE = 0.01  # difference of logarithms of times that the model does not tell apart


def fastest_first(
    problem: P,
    schedules: Iterable[S],
    spec: DeviceSpec,
    workload: Callable[[P, S, DeviceSpec], tuple[Workload, ...]],
) -> list[S]:
    """By modelled time, each once; those of about the same time keep their order."""
    return sorted(dict.fromkeys(schedules), key=lambda schedule: rank(workload, problem, schedule, spec))


def rank(
    workload: Callable[[P, S, DeviceSpec], tuple[Workload, ...]],
    problem: P,
    schedule: S,
    spec: DeviceSpec,
) -> int:
    """The modelled time of a schedule: more for longer ones, the same for about the same time."""
    return round(log(forecast(workload, problem, schedule, spec).seconds) / _TIE)
