"""conv2d_planes, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d_planes.emit import emit_naive, emit_reference
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.convolution import conv2d
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import direct
from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .transposed import between_transposes

# On an H200, 3×3 in float32 took 45 µs directly and 125 between transposes; 7×7 in bfloat16 took 359 directly, where
# conv2d's kernel takes 59 and a transpose about 20.
_FEW_TAPS = 9


def _default(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> Any:
    if problem.taps <= _FEW_TAPS and direct.applies(problem, spec):
        for schedule in direct.candidates(problem, spec):
            if not any(OPERATOR.violations(problem, schedule, spec)):
                return schedule
    return conv2d.OPERATOR.default(problem.channels_last, spec)


OPERATOR: Operator[Conv2dPlanesProblem, Any] = Operator(
    name="conv2d_planes",
    summary="D = activation(alpha·conv2d(X, W) + bias) + beta·C of images whose channels are planes (NCHW)",
    problem_type=Conv2dPlanesProblem,
    kernels=(direct.KERNEL, *map(between_transposes, conv2d.OPERATOR.kernels)),
    reference=emit_reference,
    default=_default,
    presets={"naive": emit_naive},
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
