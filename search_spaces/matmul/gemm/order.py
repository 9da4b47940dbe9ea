"""gemm: schedules by modelled time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from typing import TypeVar

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.time_model import program_seconds
from autotune.search_spaces.machine.workload import Workload

S = TypeVar("S", bound=GemmSchedule)
_TIE = 0.01  # difference of logarithms of times that the model does not tell apart


def fastest_first(
    problem: GemmProblem,
    schedules: Iterable[S],
    spec: DeviceSpec,
    workload: Callable[[GemmProblem, S, DeviceSpec], tuple[Workload, ...]],
) -> list[S]:
    """By modelled time, each once; those of about the same time keep their order."""
    return sorted(dict.fromkeys(schedules), key=lambda schedule: rank(workload(problem, schedule, spec), spec))


def rank(launches: tuple[Workload, ...], spec: DeviceSpec) -> int:
    """The modelled time of launches: more for longer ones, the same for about the same time."""
    return round(log(program_seconds(launches, spec)) / _TIE)
