"""The kernels by Winograd's minimal filtering, as conv2d knows them: sgemm's, between transforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.winograd.emit import emit
from autotune.codegen.convolution.conv2d.winograd.schedule import OperandsSchedule, PixelsSchedule, WinogradSchedule
from autotune.codegen.convolution.problem import TILES
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.sgemm import legal, seeds
from autotune.search_spaces.matmul.sgemm.space import space as sgemm_space
from autotune.search_spaces.matmul.sgemm.workload import workload as sgemm_workload

from .checks import checks_of_transforms

_MOST_BYTES = 2**31  # of transformed operands and products
_ACCESS = 4  # instructions of a load or a store, with its address and bounds


def constraints(problem: Conv2dProblem, schedule: WinogradSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the products illegal."""
    if not problem.transforms:
        yield (
            f"winograd={problem.winograd}, filters of {problem.kernel_h}×{problem.kernel_w}, stride {problem.stride}, "
            f"dilation {problem.dilation}, {problem.groups} groups: expected {' or '.join(map(str, TILES))}, 3×3, and "
            "1 of the others"
        )
        return
    if (size := _bytes(problem)) > _MOST_BYTES:
        yield f"transformed operands of {size} bytes over {_MOST_BYTES}"
    yield from legal.constraints(problem.transformed, schedule, spec)


def _bytes(problem: Conv2dProblem) -> int:
    return DType.FLOAT32.bytes * sum(problem.transformed_sizes)


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[WinogradSchedule]:
    """That of the products."""
    of_products = sgemm_space(problem.transformed, spec)

    def build(draw: Draw) -> WinogradSchedule:
        return _own(of_products.build(draw))

    fits: Any = of_products.fits
    return Space(of_products.parameters, build, fits=fits)


def _own(schedule: SgemmSchedule) -> WinogradSchedule:
    return WinogradSchedule(**{name: getattr(schedule, name) for name in field_specs(SgemmSchedule)})


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[WinogradSchedule]:
    """Those of the products."""
    yield from map(_own, seeds.candidates(problem.transformed, spec))


def default(problem: Conv2dProblem, spec: DeviceSpec) -> WinogradSchedule:
    """That of the products."""
    return _own(seeds.default(problem.transformed, spec))


def workload(problem: Conv2dProblem, schedule: WinogradSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the products, between transforms."""
    a, b, c = problem.transformed_sizes
    images, pixels = problem.work.bytes, problem.pixels * problem.out_channels * problem.dtype.bytes
    return (
        _transform(
            problem, OperandsSchedule(), DType.FLOAT32.bytes * (a + b), images - pixels, problem.transform_vector
        ),
        *sgemm_workload(problem.transformed, schedule, spec),
        _transform(problem, PixelsSchedule(), pixels, DType.FLOAT32.bytes * c, problem.pixel_vector),
    )


def _transform(
    problem: Conv2dProblem, schedule: OperandsSchedule | PixelsSchedule, stored: int, loaded: int, vector: int
) -> Workload:
    """A launch whose threads load and store each place of a tile."""
    blocks, places = schedule.blocks(problem), problem.filtering.side**2
    accesses = 2 * places * schedule.threads / WARP
    return Workload(
        blocks=blocks,
        footprint=schedule.footprint(problem),
        memory_bytes=stored + loaded,
        instructions=2 * accesses * vector,  # additions, of rows and of columns
        load_instructions=_ACCESS * accesses,
        lines=accesses * max(1.0, WARP * vector * DType.FLOAT32.bytes / LINE_BYTES),
        bytes_loaded=loaded / max(1, blocks),
        bytes_stored=stored / max(1, blocks),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether operands can be transformed, and there is room for them."""
    return problem.transforms and _bytes(problem) <= _MOST_BYTES


KERNEL = Kernel(WinogradSchedule, emit, constraints, space, candidates, checks_of_transforms, workload, applies)
