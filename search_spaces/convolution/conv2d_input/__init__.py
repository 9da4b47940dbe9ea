"""conv2d_input, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d_input.emit import emit_reference
from autotune.codegen.convolution.conv2d_input.fma.schedule import FmaInputSchedule
from autotune.codegen.convolution.conv2d_input.mma_offsets.schedule import MmaOffsetsInputSchedule
from autotune.codegen.convolution.conv2d_input.presets import PRESETS
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.convolution import conv2d
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import fma, mma_offsets, overlap_add, wgmma_im2col
from .as_product import as_product
from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE


def _default(problem: Conv2dInputProblem, spec: DeviceSpec) -> Any:
    if problem.unit is Unit.FP32:
        return conv2d.fma.default(problem, spec, FmaInputSchedule)
    if wgmma_im2col.applies(problem, spec) and (first := next(wgmma_im2col.candidates(problem, spec), None)):
        return first
    if overlap_add.applies(problem, spec):
        for schedule in overlap_add.candidates(problem, spec):
            if not OPERATOR.violations(problem, schedule, spec):
                return schedule
    return next(conv2d.mma_offsets.candidates(problem, spec, MmaOffsetsInputSchedule))


OPERATOR: Operator[Conv2dInputProblem, Any] = Operator(
    name="conv2d_input",
    summary="the gradient of a conv2d by its images, from the gradient of its result and the weight",
    problem_type=Conv2dInputProblem,
    kernels=(wgmma_im2col.KERNEL, mma_offsets.KERNEL, overlap_add.KERNEL, fma.KERNEL),
    reference=emit_reference,
    default=_default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_product,
)
