"""conv3d, as the rest of the project knows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.convolution.conv2d.emit import emit_naive, emit_reference
from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv3d.problem import Conv3dProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.convolution import conv2d
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .baselines import BASELINES
from .call import CALL
from .checks import in_depth
from .derivative import DERIVATIVE


def _default(problem: Conv3dProblem, spec: DeviceSpec) -> Any:
    if problem.unit is Unit.FP32:
        return conv2d.fma.default(problem, spec, FmaSchedule)
    wgmma = conv2d.wgmma_im2col.KERNEL
    if wgmma.applies(problem, spec) and (first := next(iter(wgmma.candidates(problem, spec)), None)):
        return first
    return next(conv2d.mma_offsets.candidates(problem, spec, MmaOffsetsSchedule))


_KERNELS: tuple[Kernel[Any, Any], ...] = (conv2d.wgmma_im2col.KERNEL, conv2d.mma_offsets.KERNEL, conv2d.fma.KERNEL)
OPERATOR: Operator[Conv3dProblem, Any] = Operator(
    name="conv3d",
    summary="D = activation(alpha·conv3d(X, W) + bias) + beta·C of channels-last images with a depth",
    problem_type=Conv3dProblem,
    kernels=tuple(replace(one, checks=in_depth(one.checks)) for one in _KERNELS),
    reference=emit_reference,
    default=_default,
    presets={"naive": emit_naive},
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
