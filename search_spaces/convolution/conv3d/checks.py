"""conv3d: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autotune.codegen.convolution.conv3d.problem import Conv3dProblem

Checks = Callable[[Any, Any], list[tuple[Any, Any]]]


def in_depth(checks: Checks) -> Checks:
    """Those of conv2d, of as few slices as filters of one or two places see."""

    def found(problem: Conv3dProblem, schedule: Any) -> list[tuple[Any, Any]]:
        reach = (problem.kernel_t - 1) * problem.dilation_t + 1 - 2 * problem.padding_t
        flat = replace(problem, depth=max(1, reach), stride_x_d=0, stride_x_n=0)  # type: ignore[call-arg]
        return [(_apart(small), own) for small, own in checks(flat, schedule)]

    return found


def _apart(problem: Any) -> Any:
    """The problem with slices and images that do not overlap."""
    return replace(problem, stride_x_d=0, stride_x_n=0)
