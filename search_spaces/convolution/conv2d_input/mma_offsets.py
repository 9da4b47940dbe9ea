"""The kernel by mma.sync, as conv2d_input knows it: gemm's, both of whose operands are gathered."""

from __future__ import annotations

from functools import partial

from autotune.codegen.convolution.conv2d_input.mma_offsets.emit import emit
from autotune.codegen.convolution.conv2d_input.mma_offsets.schedule import MmaOffsetsInputSchedule
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.convolution.conv2d import mma_offsets
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .checks import checks
from .phases import in_phases


def applies(problem: Conv2dInputProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of tensor cores."""
    return problem.unit is not Unit.FP32


KERNEL = Kernel(
    MmaOffsetsInputSchedule,
    emit,
    mma_offsets.constraints,
    partial(mma_offsets.space, kind=MmaOffsetsInputSchedule),
    partial(mma_offsets.candidates, kind=MmaOffsetsInputSchedule),
    checks,
    in_phases(mma_offsets.workload),
    applies,
)
