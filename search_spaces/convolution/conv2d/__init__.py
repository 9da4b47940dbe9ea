"""conv2d, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d.emit import emit_reference
from autotune.codegen.convolution.conv2d.presets import PRESETS
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import depthwise, fma, mma_offsets
from .as_product import as_product
from .baselines import BASELINES
from .call import CALL


def _default(problem: Conv2dProblem, spec: DeviceSpec) -> Any:
    if depthwise.applies(problem, spec):
        return next(iter(depthwise.candidates(problem, spec)))
    if problem.unit is Unit.FP32:
        return fma.default(problem, spec)
    return next(mma_offsets.candidates(problem, spec))


OPERATOR: Operator[Conv2dProblem, Any] = Operator(
    name="conv2d",
    summary="D = activation(alpha·conv2d(X, W) + bias) + beta·C of channels-last images",
    problem_type=Conv2dProblem,
    kernels=(mma_offsets.KERNEL, fma.KERNEL, depthwise.KERNEL),
    reference=emit_reference,
    default=_default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    restated=as_product,
)
