"""The kernel by FFMAs, as conv2d knows it: sgemm's, whose A is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d.fma.emit import emit
from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule
from autotune.codegen.convolution.conv2d.presets import fitted_fma
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.work import Unit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Draw, Space, Value
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.sgemm import legal, seeds
from autotune.search_spaces.matmul.sgemm.space import grid_blocks
from autotune.search_spaces.matmul.sgemm.space import space as sgemm_space
from autotune.search_spaces.matmul.sgemm.workload import product_workload

from . import depthwise
from .checks import checks_of_product

_LEAST_K, _LEAST_STEPS = 8, 4  # along k of a tile, and of a thread in it
_COPIES = (CopyMode.REGISTERS, CopyMode.ASYNC_COPY)
K = TypeVar("K", bound=FmaSchedule)


def constraints(problem: ConvolutionProblem, schedule: FmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond what makes that of the product illegal."""
    found = list(product_violations(problem, schedule, spec))
    yield from found
    if not found and schedule.block_k // schedule.vector_a > schedule.threads:
        yield (
            f"{schedule.threads} threads under the {schedule.block_k // schedule.vector_a} vectors of A along "
            f"block_k {schedule.block_k}"
        )


def product_violations(problem: ConvolutionProblem, schedule: FmaSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal for the product, and copies that nothing gathers."""
    if problem.unit is not Unit.FP32:
        yield f"dtype {problem.dtype}, tf32 {int(problem.tf32)}: kernel=fma multiplies float32 in FP32"
        return
    for operand in "ab":
        if (mode := getattr(schedule, f"copy_{operand}")) not in _COPIES:
            yield f"copy_{operand} {mode}: expected {' or '.join(_COPIES)}, by way of tiles in shared memory"
    yield from legal.constraints(problem.sgemm, schedule, spec)


def space(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Space[K]:
    """sgemm's, but for copies that nothing gathers, of schedules of one kind."""
    of_product = sgemm_space(problem.sgemm, spec)

    def build(draw: Draw) -> K:
        own = _gathered(problem, of_product.build(draw), spec, kind)
        return own.replace(grid_blocks=grid_blocks(problem.sgemm, spec, own, str(draw["grid"])))

    def is_copy(value: Value) -> bool:
        return str(value).partition(" ")[0] in _COPIES

    values = {one.name: one.values for one in of_product.parameters}
    loads = {name: tuple(filter(is_copy, values[name])) for name in ("load_a", "load_b")}
    fits: Any = of_product.fits
    return Space(of_product.keeping(loads).parameters, build, fits=fits)


def _gathered(problem: ConvolutionProblem, schedule: SgemmSchedule, spec: DeviceSpec, kind: type[K]) -> K:
    """The schedule of the product for this kernel: with shorter stages where pixels take registers, and as many blocks
    on an SM as fit."""
    own = kind(**{name: getattr(schedule, name) for name in field_specs(SgemmSchedule)})
    while own.footprint(problem).registers > spec.registers_per_thread:
        if own.double_buffer_fragments:
            own = own.replace(double_buffer_fragments=False)
        elif own.block_k > _LEAST_K and own.k_steps % (2 * _LEAST_STEPS) == 0:
            k_steps = own.k_steps // 2
            own = own.replace(block_k=own.block_k // 2, copy_steps=min(own.copy_steps, k_steps), grid_blocks=0)
        else:
            break
    footprint = own.footprint(problem)
    registers = min(footprint.registers, spec.registers_per_thread)
    resident = blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)
    return own.replace(min_blocks_per_sm=max(1, min(own.min_blocks_per_sm, resident)))


def candidates(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> Iterator[K]:
    """Those of the product that have such copies."""
    for schedule in seeds.candidates(problem.sgemm, spec):
        if {schedule.copy_a, schedule.copy_b} <= {*_COPIES}:
            yield _gathered(problem, schedule, spec, kind)


def default(problem: ConvolutionProblem, spec: DeviceSpec, kind: type[K]) -> K:
    """That of the product."""
    return fitted_fma(problem, _gathered(problem, seeds.default(problem.sgemm, spec), spec, kind))


def workload(problem: ConvolutionProblem, schedule: FmaSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """That of the product, which reads each element of X from memory once."""
    product = product_workload(problem.sgemm, schedule, spec)
    return (replace(product, footprint=schedule.footprint(problem), memory_bytes=problem.work.bytes),)


def applies(problem: Conv2dProblem, spec: DeviceSpec) -> bool:
    """Whether products are those of FP32, and channels have no kernel of their own."""
    return problem.unit is Unit.FP32 and not depthwise.alone(problem, spec)


KERNEL = Kernel(
    FmaSchedule,
    emit,
    constraints,
    partial(space, kind=FmaSchedule),
    partial(candidates, kind=FmaSchedule),
    checks_of_product,
    workload,
    applies,
)
