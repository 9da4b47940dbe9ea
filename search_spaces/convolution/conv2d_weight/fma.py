"""The kernel by FFMAs, as conv2d_weight knows it: sgemm's, whose B is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from autotune.codegen.convolution.conv2d_weight.fma.emit import emit
from autotune.codegen.convolution.conv2d_weight.fma.schedule import FmaWeightSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.convolution.conv2d import fma
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import depthwise
from .checks import checks


def constraints(problem: Conv2dWeightProblem, schedule: FmaWeightSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    found = list(fma.product_violations(problem, schedule, spec))
    yield from found
    if not found and schedule.block_n // schedule.vector_b > schedule.threads:
        yield (
            f"{schedule.threads} threads under the {schedule.block_n // schedule.vector_b} vectors of B along "
            f"block_n {schedule.block_n}"
        )


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of FP32, and channels have no kernel of their own."""
    return problem.unit is Unit.FP32 and not depthwise.applies(problem, spec)


KERNEL = Kernel(
    FmaWeightSchedule,
    emit,
    constraints,
    partial(fma.space, kind=FmaWeightSchedule),
    partial(fma.candidates, kind=FmaWeightSchedule),
    checks,
    fma.workload,
    applies,
)
