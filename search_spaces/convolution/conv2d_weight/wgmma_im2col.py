"""The kernel by wgmma, as conv2d_weight knows it: gemm's, whose B is copied in im2col mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.convolution.conv2d_weight.wgmma_im2col.emit import emit
from autotune.codegen.convolution.conv2d_weight.wgmma_im2col.schedule import WgmmaWeightSchedule
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import NARROW_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import LINE_BYTES
from autotune.codegen.source.wgmma import MOST_COLUMNS
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, Value
from autotune.search_spaces.convolution.conv2d.wgmma_im2col import gathering_violations
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm.order import fastest_first
from autotune.search_spaces.matmul.gemm.wgmma import legal, seeds
from autotune.search_spaces.matmul.gemm.wgmma.space import SHARED, cluster_ks, fitted, has_wgmma, on_grid, unready
from autotune.search_spaces.matmul.gemm.wgmma.space import space as gemm_space
from autotune.search_spaces.matmul.gemm.wgmma.workload import product_workload

from .checks import checks

# Rows, columns and consumers of tiles that are narrow for the product, and best for many filter gradients on an H200.
_NARROW = ((64, 192, 1), (64, 128, 1), (128, 192, 2))
_STAGES = 8  # or as many as there is room for
_ONLY = (("prepare_a", Prepare.NONE), ("prepare_b", Prepare.NONE), ("cluster_m", 1), ("swap", False))


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d_weight.wgmma_im2col"):
    """What these kernels take beside the product.

    Attributes:
        gathered: clocks of an SM for 128 bytes of rows of boxes.
    """

    gathered: float


def constraints(problem: Conv2dWeightProblem, schedule: WgmmaWeightSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    for name, only in _ONLY:
        if (value := getattr(schedule, name)) != only:
            yield f"{name} {value}: expected {only}, as rows of B are gathered"
    if found := list(_problem_violations(problem)):
        yield from found
        return
    box = schedule.row_bytes(problem.product, "b") // problem.dtype.bytes
    for name, count in (("block_n", schedule.block_n), ("channels", problem.channels)):
        if count % box:
            yield f"{name} {count}: expected a multiple of {box}, as all terms of a copy are of one tap"
    yield from legal.constraints(problem.product, schedule, spec)


def _problem_violations(problem: Conv2dWeightProblem) -> Iterator[str]:
    """What keeps tensor copies from gathering pixels, or products from taking them."""
    if problem.dtype is DType.FLOAT32:
        yield "wgmma multiplies no float32 that lies across k"
    yield from gathering_violations(problem)
    if not any(problem.channels % (width // problem.dtype.bytes) == 0 for width in NARROW_ROWS):
        yield f"{problem.channels} channels: expected a multiple of {NARROW_ROWS[0] // problem.dtype.bytes}"


def space(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Space[WgmmaWeightSchedule]:
    """gemm's, with operands as they are."""
    of_product = gemm_space(problem.product, spec)

    def build(draw: Draw) -> WgmmaWeightSchedule:
        return _own(on_grid(problem.product, spec, _gathered(problem, of_product.build(draw), spec), str(draw["grid"])))

    def fits_grid(schedule: WgmmaWeightSchedule, grid: Value) -> bool:
        return on_grid(problem.product, spec, schedule, str(grid)) == schedule

    def fits_columns(schedule: WgmmaWeightSchedule, columns: Value) -> bool:
        return schedule.block_n <= _columns(problem, int(columns))

    only: dict[str, Any] = {name: (str(value) if name.startswith("prepare") else value,) for name, value in _ONLY}
    return Space(
        of_product.keeping(only).parameters, build, fits={**of_product.fits, "grid": fits_grid, "tile_n": fits_columns}
    )


def _gathered(problem: Conv2dWeightProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaWeightSchedule:
    """The schedule of the product for this kernel, with columns of whole boxes, each of one tap."""
    own = schedule.replace(swap=False, cluster_m=1, block_n=_columns(problem, schedule.block_n))
    return _own(fitted(problem.product, own, spec))


def _columns(problem: Conv2dWeightProblem, most: int) -> int:
    """Those of a tile: of whole boxes, each with channels of one tap; of an odd number, if they are narrow."""
    widths = [width // problem.dtype.bytes for width in (ROW_BYTES, *reversed(NARROW_ROWS))]
    box = next(width for width in widths if problem.channels % width == 0)
    boxes = max(1, most // box)
    if box == widths[0]:
        return box * boxes
    odd = boxes | 1
    return box * (odd if box * odd <= MOST_COLUMNS else odd - 2)


def _own(schedule: WgmmaSchedule) -> WgmmaWeightSchedule:
    """The schedule of the kernel with the fields of another."""
    return WgmmaWeightSchedule(**{name: getattr(schedule, name) for name in field_specs(WgmmaSchedule)})


def candidates(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Iterator[WgmmaWeightSchedule]:
    """Those of the product and narrow tiles, also on a grid whose blocks share them, by modelled time."""
    product = (one for one in seeds.candidates(problem.product, spec) if one.cluster_m == 1 and not one.swap)
    found: dict[WgmmaWeightSchedule, None] = {}
    for own in chain((_gathered(problem, one, spec) for one in product), _narrow(problem, spec)):
        alone = _own(fitted(problem.product, own.replace(cluster_k=1, cluster_n=1), spec))
        several = (_own(on_grid(problem.product, spec, one, f"{SHARED}·1")) for one in dict.fromkeys((own, alone)))
        found |= {own: None} | {one: None for one in several if one.shares_tiles(problem.product)}
    yield from fastest_first(problem, found, spec, workload)


def _narrow(problem: Conv2dWeightProblem, spec: DeviceSpec) -> Iterator[WgmmaWeightSchedule]:
    """Narrow tiles, of which clusters share terms: there are few tiles of many pixels."""
    for cluster_k in cluster_ks(problem.product, spec):
        for block_m, block_n, consumers in _NARROW:
            tile = WgmmaSchedule(
                block_m=block_m, block_n=block_n, block_k=ROW_BYTES // problem.dtype.bytes, consumers=consumers,
                stages=_STAGES, wait_depth=int(consumers == 1), tensor_store=True, cluster_k=cluster_k,
            )  # fmt: skip
            yield _gathered(problem, tile, spec)


def workload(problem: Conv2dWeightProblem, schedule: WgmmaWeightSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the product, which reads each element of X from memory once. Boxes of both operands have a row for each
    pixel."""
    product = product_workload(problem.product, schedule, spec)
    lines = schedule.block_k * (schedule.block_m + schedule.block_n) * problem.dtype.bytes / LINE_BYTES
    own = replace(
        product,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        shared_clocks=max(product.shared_clocks, Costs.of(spec).gathered * lines),
    )
    return (own,)


def applies(problem: Conv2dWeightProblem, spec: DeviceSpec) -> bool:
    """Whether tensor copies gather what terms see, and wgmma multiplies it and the gradient as they are."""
    if any(_problem_violations(problem)):
        return False
    return has_wgmma(problem.product, spec) and not unready(problem.product)


KERNEL = Kernel(WgmmaWeightSchedule, emit, constraints, space, candidates, checks, workload, applies)
