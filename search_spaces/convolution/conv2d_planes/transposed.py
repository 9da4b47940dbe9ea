"""conv2d's kernels between transposes, as conv2d_planes knows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d_planes.emit import copies, transposed
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.codegen.layout.transpose.presets import vectorised
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.layout.transpose.workload import workload as transpose_workload
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

_SIZES = ("in_channels", "out_channels", "height", "width", "batch", "groups")


def between_transposes(kernel: Kernel[Any, Any]) -> Kernel[Any, Any]:
    """A kernel of conv2d, of arrays that launches ahead and behind transpose."""

    def constraints(problem: Conv2dPlanesProblem, schedule: Any, spec: DeviceSpec) -> Iterable[str]:
        return kernel.constraints(problem.channels_last, schedule, spec)

    def space(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> Space[Any]:
        return kernel.space(problem.channels_last, spec)

    def candidates(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> Iterable[Any]:
        return kernel.candidates(problem.channels_last, spec)

    def checks(problem: Conv2dPlanesProblem, schedule: Any) -> list[tuple[Conv2dPlanesProblem, Any]]:
        return [(_planes(small), own) for small, own in kernel.checks(problem.channels_last, schedule)]

    def workload(problem: Conv2dPlanesProblem, schedule: Any, spec: DeviceSpec) -> tuple[Workload, ...]:
        found = [
            one
            for copy in copies(problem)
            for one in transpose_workload(copy.transposed, vectorised(copy.transposed), spec)
        ]
        return (*found, *kernel.workload(problem.channels_last, schedule, spec))

    def applies(problem: Conv2dPlanesProblem, spec: DeviceSpec) -> bool:
        return kernel.applies(problem.channels_last, spec)

    return Kernel(
        kernel.schedule_type, transposed(kernel.emit), constraints, space, candidates, checks, workload, applies
    )


def _planes(problem: Conv2dProblem) -> Conv2dPlanesProblem:
    """The problem without gaps, of channels as planes."""
    names = [one.name for one in fields(problem) if not one.name.startswith(("stride_x", "ldd", "align"))]
    return Conv2dPlanesProblem(**{name: getattr(problem, name) for name in names})
