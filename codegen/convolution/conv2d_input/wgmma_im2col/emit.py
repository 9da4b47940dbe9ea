"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_input.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.matmul.gemm.emit import by_column
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.matmul.gemm.wgmma.emit import facts_of_product
from autotune.codegen.matmul.gemm.wgmma.operands import product_source, stored_maps
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import row_major
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.headers import Constant

from .schedule import WgmmaInputSchedule


def emit(problem: Conv2dInputProblem, schedule: WgmmaInputSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    product = schedule.product(problem)
    chosen: dict[str, Constant] = {
        "clusters": False,
        "specialized": schedule.specialize is Specialize.SHAPE,
        "by_column": by_column(product),
        "wide_rows": schedule.wide_rows(problem),
    }
    return source(problem).scheduled(
        schedule,
        "wgmma_im2col/block",
        "conv2d_input_block",
        facts={**edges_of(product, schedule), **facts_of_product(product, schedule), **GATHERED, **chosen},
        maps=(*_maps(problem, schedule), *stored_maps(product, schedule)),
        text=product_source(product, schedule),
        workspace_bytes=schedule.workspace_bytes(product),
    )


def _maps(problem: Conv2dInputProblem, schedule: WgmmaInputSchedule) -> tuple[Argument, ...]:
    """Those by which pixels of the gradient, and filters, are copied."""
    product, dtype = schedule.product(problem), problem.dtype
    width = {operand: schedule.row_bytes(product, operand) for operand in "ab"}
    swizzle = {operand: next(one for one in Swizzle if one.bytes == width[operand]) for operand in "ab"}
    columns = {operand: width[operand] // dtype.bytes for operand in "ab"}
    pixels = (problem.batch, problem.out_height, problem.out_width, problem.out_channels)
    gradient = TensorMap(
        *("grad", dtype, pixels, row_major(pixels), (schedule.block_m, columns["a"]), swizzle["a"]),
        im2col=problem.base_pixels,
    )
    filters = (problem.out_channels, problem.kernel_h * problem.kernel_w, problem.in_channels)
    box = (schedule.block_k // schedule.cluster_m, 1, columns["b"])
    weight = TensorMap("weight", dtype, filters, row_major(filters), box, swizzle["b"])
    return Argument("map_a", "TensorMap", tensor_map=gradient), Argument("map_b", "TensorMap", tensor_map=weight)
