"""The kernel by FFMAs, as conv2d_input knows it: sgemm's, both of whose operands are gathered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from autotune.codegen.convolution.conv2d_input.fma.emit import emit
from autotune.codegen.convolution.conv2d_input.fma.schedule import FmaInputSchedule
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.convolution.conv2d import fma
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .checks import checks
from .phases import in_phases


def constraints(problem: Conv2dInputProblem, schedule: FmaInputSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    found = list(fma.constraints(problem, schedule, spec))
    yield from found
    if not found and schedule.block_n // schedule.vector_b > schedule.threads:
        yield (
            f"{schedule.threads} threads under the {schedule.block_n // schedule.vector_b} vectors of B along "
            f"block_n {schedule.block_n}"
        )


def applies(problem: Conv2dInputProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of FP32."""
    return problem.unit is Unit.FP32


KERNEL = Kernel(
    FmaInputSchedule,
    emit,
    constraints,
    partial(fma.space, kind=FmaInputSchedule),
    partial(fma.candidates, kind=FmaInputSchedule),
    checks,
    in_phases(fma.workload),
    applies,
)
