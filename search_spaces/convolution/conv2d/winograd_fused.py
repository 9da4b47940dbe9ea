"""The kernel by Winograd's minimal filtering whose blocks transform what they multiply, as conv2d knows it."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.winograd_fused.emit import emit
from autotune.codegen.convolution.conv2d.winograd_fused.schedule import (
    PLACES,
    FiltersSchedule,
    WinogradFusedSchedule,
)
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from .checks import checks_of_blocks

_TILE, _VECTOR, _MOST_SUMS = 2, 4, 128
_TRANSFORMS = 5  # instructions of an element of a tile: its load, additions, and a store
_LIKELY = ((32, 64), (16, 128), (64, 32), (16, 64), (32, 32))  # tiles and filters of a block


def constraints(problem: Conv2dProblem, schedule: WinogradFusedSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if not problem.transforms or problem.winograd != _TILE:
        yield f"winograd={problem.winograd}: expected {_TILE}, and filters of 3×3 with a stride of 1"
    elif problem.pixel_vector % _VECTOR:
        yield f"{problem.out_channels} filters and ldd={problem.ldd}: expected multiples of {_VECTOR}, aligned so"
    if schedule.sums > _MOST_SUMS:
        yield f"{schedule.sums} sums of a thread over {_MOST_SUMS}"


def space(problem: Conv2dProblem, spec: DeviceSpec) -> Space[WinogradFusedSchedule]:
    """Fields are drawn; blocks have as few filters as registers take."""
    return Space(field_parameters(WinogradFusedSchedule), _build)


def _build(draw: Draw) -> WinogradFusedSchedule:
    own = WinogradFusedSchedule.from_dict(dict(draw))
    return own.replace(block_n=min(own.block_n, _MOST_SUMS * own.threads // PLACES // own.block_m))


def candidates(problem: Conv2dProblem, spec: DeviceSpec) -> Iterator[WinogradFusedSchedule]:
    """Large blocks first."""
    for specialize in (Specialize.SHAPE, Specialize.NONE):
        for tiles, filters in _LIKELY:
            yield WinogradFusedSchedule(block_m=tiles, block_n=filters, specialize=specialize)


def workload(problem: Conv2dProblem, schedule: WinogradFusedSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the filters; and of blocks whose steps load tiles, copy filters and multiply."""
    filters = FiltersSchedule()
    _, size, _ = problem.transformed_sizes
    weight = problem.out_channels * problem.terms
    steps = ceil_div(problem.in_channels, schedule.block_k)
    elements = PLACES * schedule.block_m * schedule.block_k
    copied = PLACES * schedule.block_n * schedule.block_k
    products = elements * schedule.block_n
    bytes_of = DType.FLOAT32.bytes
    return (
        Workload(
            blocks=filters.blocks(problem),
            footprint=filters.footprint(problem),
            memory_bytes=bytes_of * (weight + size),
            instructions=PLACES * _TRANSFORMS * problem.transform_vector * filters.threads / WARP,
            bytes_loaded=bytes_of * weight / max(1, filters.blocks(problem)),
            bytes_stored=bytes_of * size / max(1, filters.blocks(problem)),
        ),
        Workload(
            blocks=schedule.blocks(problem),
            footprint=schedule.footprint(problem),
            memory_bytes=problem.work.bytes + bytes_of * size,
            steps=steps,
            instructions=products / WARP + _TRANSFORMS * elements / WARP,
            load_instructions=copied / _VECTOR / WARP,
            unit_clocks=products / spec.rate(Unit.FP32),
            shared_clocks=PLACES * schedule.block_k * 2 * (schedule.block_m + schedule.block_n) * bytes_of / LINE_BYTES,
            lines=elements / schedule.block_k + copied * bytes_of / LINE_BYTES,
            bytes_loaded=bytes_of * (elements / 4 + copied),
            bytes_stored=bytes_of * _TILE**2 * schedule.block_m * schedule.block_n,
        ),
    )


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether tiles of 2×2 pixels may be transformed, and filters come in vectors."""
    return problem.transforms and problem.winograd == _TILE and problem.pixel_vector % _VECTOR == 0


KERNEL = Kernel(
    WinogradFusedSchedule,
    emit,
    constraints,
    space,
    candidates,
    checks_of_blocks,
    workload,
    applies,
)
