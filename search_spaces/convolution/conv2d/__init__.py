"""conv2d, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d.emit import emit_reference
from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.presets import PRESETS
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import (
    depthwise,
    depthwise_mma,
    depthwise_rolling,
    depthwise_stages,
    fma,
    grouped,
    mma_offsets,
    wgmma_im2col,
    wgmma_rows,
    winograd,
    winograd_fused,
)
from .as_product import as_product
from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE

_FUSED_CHANNELS = 128  # beyond which transformed operands are read often enough to be stored


def _default(problem: Conv2dProblem, spec: DeviceSpec) -> Any:
    if problem.channels > 1 and depthwise_mma.applies(problem, spec):
        return next(depthwise_mma.candidates(problem, spec))
    if problem.kernel_h > 1 and depthwise_rolling.applies(problem, spec):
        return next(iter(depthwise_rolling.candidates(problem, spec)))
    if depthwise.applies(problem, spec):
        return next(iter(depthwise.candidates(problem, spec)))
    if problem.groups > 1 and grouped.applies(problem, spec):
        return next(grouped.candidates(problem, spec))
    if problem.in_channels <= _FUSED_CHANNELS and winograd_fused.applies(problem, spec):
        return next(winograd_fused.candidates(problem, spec))
    if winograd.applies(problem, spec):
        return winograd.default(problem, spec)
    if problem.unit is Unit.FP32:
        return fma.default(problem, spec, FmaSchedule)
    for kernel in (wgmma_im2col, wgmma_rows):
        if kernel.KERNEL.applies(problem, spec) and (first := next(kernel.KERNEL.candidates(problem, spec), None)):
            return first
    return next(mma_offsets.candidates(problem, spec, MmaOffsetsSchedule))


OPERATOR: Operator[Conv2dProblem, Any] = Operator(
    name="conv2d",
    summary="D = activation(alpha·conv2d(X, W) + bias) + beta·C of channels-last images",
    problem_type=Conv2dProblem,
    kernels=(
        wgmma_im2col.KERNEL,
        wgmma_rows.KERNEL,
        mma_offsets.KERNEL,
        fma.KERNEL,
        winograd.KERNEL,
        winograd_fused.KERNEL,
        depthwise.KERNEL,
        depthwise_rolling.KERNEL,
        depthwise_mma.KERNEL,
        depthwise_stages.KERNEL,
        grouped.KERNEL,
    ),
    reference=emit_reference,
    default=_default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_product,
)
