"""The kernel by wgmma, as conv2d knows it: gemm's, whose A is copied in im2col mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d.wgmma_im2col.emit import emit
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.fields import MOST_INT8
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import NARROW_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, Value
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm.tiling import share_inside
from autotune.search_spaces.matmul.gemm.wgmma import legal, seeds
from autotune.search_spaces.matmul.gemm.wgmma.space import fitted, has_wgmma, on_grid, unready
from autotune.search_spaces.matmul.gemm.wgmma.space import space as gemm_space
from autotune.search_spaces.matmul.gemm.wgmma.workload import Costs as GemmCosts
from autotune.search_spaces.matmul.gemm.wgmma.workload import product_workload

from .checks import checks_of_product

K = TypeVar("K", bound=WgmmaIm2colSchedule)
_PART_UNIT = 1024  # bytes, at a multiple of which what is swizzled begins
_MOST_REACH = {2: 255, 3: 31}  # of a tap from the first one: offsets along two dimensions have 8 bits each, else 5


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.wgmma_im2col"):
    """What these kernels take beside the product.

    Attributes:
        begun: clocks of a block that computes one tile, if there are more than SMs: few steps do not hide its start.
        covered: share of the time of its stores, where another consumer multiplies meanwhile.
        single: share of the time that a product of its rows takes to store elements one by one: rows of pixels follow
            each other, so that stores of a tile fill whole lines.
    """

    begun: float
    covered: float
    single: float


def constraints(problem: ConvolutionProblem, schedule: WgmmaIm2colSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    for name, only in (("prepare_a", Prepare.NONE), ("prepare_b", Prepare.NONE), ("cluster_n", 1), ("swap", False)):
        if (value := getattr(schedule, name)) != only:
            yield f"{name} {value}: expected {only}, as rows of A are gathered"
    if found := list(_problem_violations(problem)):
        yield from found
    else:
        yield from legal.constraints(schedule.product(problem), schedule, spec)
        part = schedule.block_n // schedule.cluster_m * schedule.row_bytes(schedule.product(problem), "b")
        if schedule.cluster_m > 1 and part % _PART_UNIT:
            yield f"block_n {schedule.block_n}: parts of {part} bytes of shared filters are no multiple of {_PART_UNIT}"


def _problem_violations(problem: ConvolutionProblem) -> Iterator[str]:
    """What keeps tensor copies from gathering pixels, or products from taking them."""
    if problem.unit is Unit.FP32:
        yield "tensor cores do not multiply float32 in FP32; expected tf32=True"
    whole_rows = problem.taps * round_up(problem.channels, ROW_BYTES)
    if problem.dtype is DType.INT8 and whole_rows > MOST_INT8:
        yield f"{whole_rows} terms of int8 in rows of {ROW_BYTES} bytes over {MOST_INT8}"
    yield from gathering_violations(problem)


def gathering_violations(problem: ConvolutionProblem) -> Iterator[str]:
    """What keeps tensor copies in im2col mode from the pixels that taps meet."""
    if problem.groups > 1:
        yield f"groups={problem.groups}: stages with some channels of a tap reach into other groups; expected 1"
    if problem.empty:
        return
    yield from problem.base_pixels.violations(problem.gathered_image)
    most = _MOST_REACH[len(problem.reach)]
    for reach in problem.reach:
        if reach > most:
            yield f"filters that reach {reach} pixels over the {most} of a tensor copy"


def space(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Space[K]:
    """gemm's, with operands as they are, of schedules of one kind."""
    of_product = gemm_space(_whole(problem, kind), spec)

    def on_own_grid(schedule: WgmmaIm2colSchedule, grid: Value) -> K:
        return _own(kind, on_grid(schedule.product(problem), spec, schedule, str(grid))).within(problem)

    def build(draw: Draw) -> K:
        return on_own_grid(_gathered(problem, of_product.build(draw), spec, kind), draw["grid"])

    def fits_grid(schedule: WgmmaIm2colSchedule, grid: Value) -> bool:
        return on_own_grid(schedule, grid) == schedule

    fits: Any = {**of_product.fits, "grid": fits_grid}
    only: dict[str, Any] = {f"prepare_{operand}": (str(Prepare.NONE),) for operand in "ab"}
    only |= {"cluster_n": (1,), "swap": (False,)} | {name: (value,) for name, value in kind.only(problem).items()}
    return Space(of_product.keeping(only).parameters, build, fits=fits)


def _whole(problem: ConvolutionProblem, kind: type[WgmmaIm2colSchedule]) -> GemmProblem:
    """The product with stages of whole rows."""
    return kind(block_k=ROW_BYTES // problem.dtype.bytes).product(problem)


def _gathered(problem: ConvolutionProblem, schedule: WgmmaSchedule, spec: DeviceSpec, kind: type[K]) -> K:
    """The schedule of the product for this kernel, with stages of no more channels than a tap has."""
    row = ROW_BYTES // problem.dtype.bytes
    own = _own(kind, schedule).replace(swap=False, cluster_n=1, block_k=max(row, schedule.block_k))
    own = own.within(problem)
    shorter = own.replace(block_k=max(row, own.block_k // 2))
    own = shorter if shorter.product(problem).k < own.product(problem).k else own
    own = _own(kind, fitted(own.product(problem), own, spec))
    taps = ceil_div(own.product(problem).k, own.block_k)
    for width in NARROW_ROWS:
        narrow = own.replace(block_k=width // problem.dtype.bytes)
        fits = narrow.product(problem).k <= taps * narrow.block_k and problem.dtype is not DType.FLOAT32
        if fits and not any(constraints(problem, narrow, spec)):
            return narrow
    return own


def _own(kind: type[K], schedule: WgmmaSchedule) -> K:
    """The schedule of a kernel with the fields of another."""
    return kind(**{name: getattr(schedule, name) for name in field_specs(WgmmaSchedule)})


def candidates(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Iterator[K]:
    """Those of the product that share no pixels."""
    for schedule in seeds.candidates(_whole(problem, kind), spec):
        if schedule.cluster_n == 1 and not schedule.swap:
            yield _gathered(problem, schedule, spec, kind)


def workload(problem: ConvolutionProblem, schedule: WgmmaIm2colSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the product, which reads each element of X from memory once. Rows of D that are stored 16 bytes at a time
    take as long as by tensor copies."""
    costs, product = Costs.of(spec), schedule.product(problem)
    work = product_workload(product, schedule, spec)
    inside = share_inside(product.n, schedule.block_n) * (costs.single if schedule.vector_d == 1 else 1.0)
    stored = inside * work.bytes_stored / (GemmCosts.of(spec).pairs if schedule.wide_rows(problem) else 1)
    alone = not schedule.grid_blocks and work.blocks > spec.sm_count
    own = replace(
        work,
        footprint=schedule.footprint(problem),
        memory_bytes=problem.work.bytes,
        unit_clocks=work.unit_clocks + (costs.begun / work.steps if alone else 0.0),
        bytes_stored=stored * (costs.covered if schedule.pingpong else 1.0),
    )
    return (own,)


def applies(
    problem: ConvolutionProblem, spec: DeviceSpec, kind: type[WgmmaIm2colSchedule] = WgmmaIm2colSchedule
) -> bool:
    """Whether tensor copies gather the pixels, and wgmma multiplies them as they are."""
    if any(_problem_violations(problem)):
        return False
    whole = _whole(problem, kind)
    return has_wgmma(whole, spec) and not unready(whole)


KERNEL = Kernel(
    WgmmaIm2colSchedule,
    emit,
    constraints,
    partial(space, kind=WgmmaIm2colSchedule),
    partial(candidates, kind=WgmmaIm2colSchedule),
    checks_of_product,
    workload,
    applies,
)
