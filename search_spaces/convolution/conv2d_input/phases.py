"""What the phases of a stride do to the work of a product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.integers import largest
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

S = TypeVar("S", bound=Schedule)
Counted = Callable[[Conv2dInputProblem, S, DeviceSpec], tuple[Workload, ...]]


def in_phases(counted: Counted[S]) -> Counted[S]:
    """The workload of products with the steps that tiles have in the mean: as many as their phase sees taps."""

    def workload(problem: Conv2dInputProblem, schedule: S, spec: DeviceSpec) -> tuple[Workload, ...]:
        *ahead, product = counted(problem, schedule, spec)
        seen = problem.taps / (problem.phases * problem.most_taps)
        return (*ahead, replace(product, steps=largest(1.0, product.steps * seen)))

    return workload
