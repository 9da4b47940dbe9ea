"""The kernel by mma.sync, as conv2d knows it: gemm's, whose A is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d.mma_offsets.emit import emit
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.mma_sync.schedule import PRODUCT_BYTES, MmaSyncSchedule
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.gemm.mma_sync import legal, seeds
from autotune.search_spaces.matmul.gemm.mma_sync.space import on_grid
from autotune.search_spaces.matmul.gemm.mma_sync.space import space as gemm_space
from autotune.search_spaces.matmul.gemm.mma_sync.workload import product_workload

from . import depthwise
from .checks import checks_of_product

K = TypeVar("K", bound=MmaOffsetsSchedule)


@dataclass(frozen=True)
class Costs(Coefficients, section="conv2d.mma_offsets"):
    """What these kernels take beside the product.

    Attributes:
        narrow: of the time that stores of 16 bytes take, what as many accesses more for as many bytes take each.
    """

    narrow: float


def constraints(problem: ConvolutionProblem, schedule: MmaOffsetsSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    for operand in "ab":
        if (how := getattr(schedule, f"prepare_{operand}")) is not Prepare.NONE:
            yield f"prepare_{operand} {how}: expected {Prepare.NONE}, as rows are gathered"
    if problem.unit is Unit.FP32:
        yield "tensor cores do not multiply float32 in FP32; expected tf32=True"
    yield from legal.constraints(problem.product, schedule, spec)


def space(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Space[K]:
    """gemm's, with operands as they are, of schedules of one kind."""
    of_product = gemm_space(problem.product, spec)

    def build(draw: Draw) -> K:
        schedule = _gathered(problem, of_product.build(draw), spec, kind)
        return on_grid(problem.product, spec, schedule, str(draw["grid"]))

    fits: Any = of_product.fits
    kept = of_product.keeping({f"prepare_{operand}": (str(Prepare.NONE),) for operand in "ab"})
    return Space(kept.parameters, build, fits=fits)


def _gathered(problem: ConvolutionProblem, schedule: MmaSyncSchedule, spec: DeviceSpec, kind: type[K]) -> K:
    """The schedule of the product for this kernel: smaller where pixels take registers, with as many blocks on an SM as
    fit."""
    own = kind(**{name: getattr(schedule, name) for name in field_specs(MmaSyncSchedule)})
    while own.footprint(problem).registers > spec.registers_per_thread:
        if own.double_buffer_fragments:
            own = own.replace(double_buffer_fragments=False)
        elif own.block_k * problem.dtype.bytes > PRODUCT_BYTES:
            own = own.replace(block_k=own.block_k // 2)
        else:
            own = own.replace(block_m=own.block_m // 2, warp_m=own.warp_m // 2)
    footprint = own.footprint(problem)
    resident = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    blocks = max(1, min(own.min_blocks_per_sm, resident))
    # Smaller tiles, and fewer blocks at once, still share what they shared: there may be one tile of all pixels.
    return own.replace(min_blocks_per_sm=blocks, grid_blocks=min(own.grid_blocks, spec.sm_count * blocks))


def candidates(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Iterator[K]:
    """Those of the product that take its operands as they are."""
    for schedule in seeds.by_mma_sync(problem.product, spec):
        if schedule.prepare_a is schedule.prepare_b is Prepare.NONE:
            yield _gathered(problem, schedule, spec, kind)


def workload(problem: ConvolutionProblem, schedule: MmaOffsetsSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the product, which reads each element of X from memory once, and may store few elements at a time."""
    product = product_workload(problem.product, schedule, spec)
    accesses = WIDEST_ACCESS / (schedule.vector_d * problem.product.result.bytes)
    stored = product.bytes_stored * (1 + Costs.of(spec).narrow * (accesses - 1))
    memory = problem.work.bytes
    return (replace(product, footprint=schedule.footprint(problem), memory_bytes=memory, bytes_stored=stored),)


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of tensor cores, and channels have no kernel of their own."""
    return problem.unit is not Unit.FP32 and not depthwise.alone(problem, spec)


KERNEL = Kernel(
    MmaOffsetsSchedule,
    emit,
    constraints,
    partial(space, kind=MmaOffsetsSchedule),
    partial(candidates, kind=MmaOffsetsSchedule),
    checks_of_product,
    workload,
    applies,
)
