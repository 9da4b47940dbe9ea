"""The kernel by mma.sync, as conv2d_weight knows it: gemm's, whose B is gathered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from autotune.codegen.convolution.conv2d_weight.mma_offsets.emit import emit
from autotune.codegen.convolution.conv2d_weight.mma_offsets.schedule import MmaOffsetsWeightSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.convolution.conv2d import mma_offsets
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from . import depthwise
from .checks import checks


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d_weight.mma_offsets"):
    """What this kernel takes beside the product.

    Attributes:
        gathered: times the instructions of a copy. Each of B's has a pixel of its own, which goes on in each step.
    """

    gathered: float


def workload(
    problem: Conv2dWeightProblem, schedule: MmaOffsetsWeightSchedule, spec: DeviceSpec
) -> tuple[Workload, ...]:
    """That of the product, with what its gathered copies take."""
    (product,) = mma_offsets.workload(problem, schedule, spec)
    return (replace(product, load_instructions=Costs.of(spec).gathered * product.load_instructions),)


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of tensor cores, and channels have no kernel of their own."""
    return problem.unit is not Unit.FP32 and not depthwise.applies(problem, spec)


KERNEL = Kernel(
    MmaOffsetsWeightSchedule,
    emit,
    mma_offsets.constraints,
    partial(mma_offsets.space, kind=MmaOffsetsWeightSchedule),
    partial(mma_offsets.candidates, kind=MmaOffsetsWeightSchedule),
    checks,
    workload,
    applies,
)
