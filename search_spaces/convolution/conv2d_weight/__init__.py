"""conv2d_weight, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d_weight.emit import emit_reference
from autotune.codegen.convolution.conv2d_weight.fma.schedule import FmaWeightSchedule
from autotune.codegen.convolution.conv2d_weight.mma_offsets.schedule import MmaOffsetsWeightSchedule
from autotune.codegen.convolution.conv2d_weight.presets import PRESETS
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.convolution import conv2d
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import depthwise, fma, grouped, grouped_mma, mma_offsets, wgmma_im2col
from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE


def _default(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Any:
    if depthwise.applies(problem, spec):
        return next(depthwise.candidates(problem, spec))
    for kernel in (grouped_mma, grouped) if problem.groups > 1 else ():
        if kernel.KERNEL.applies(problem, spec):
            return next(kernel.KERNEL.candidates(problem, spec))
    if problem.unit is Unit.FP32:
        return conv2d.fma.default(problem, spec, FmaWeightSchedule)
    if wgmma_im2col.applies(problem, spec) and (first := next(wgmma_im2col.candidates(problem, spec), None)):
        return first
    return next(conv2d.mma_offsets.candidates(problem, spec, MmaOffsetsWeightSchedule))


OPERATOR: Operator[Conv2dWeightProblem, Any] = Operator(
    name="conv2d_weight",
    summary="the gradient of a conv2d by its weight, from its images and the gradient of its result",
    problem_type=Conv2dWeightProblem,
    kernels=(wgmma_im2col.KERNEL, mma_offsets.KERNEL, fma.KERNEL, depthwise.KERNEL, grouped.KERNEL, grouped_mma.KERNEL),
    reference=emit_reference,
    default=_default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
