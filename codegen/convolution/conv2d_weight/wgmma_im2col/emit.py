"""The program of a schedule by wgmma."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_weight.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.matmul.gemm.emit import by_column
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.matmul.gemm.wgmma.emit import facts_of_product
from autotune.codegen.matmul.gemm.wgmma.operands import product_source, stored_maps
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import row_major
from autotune.codegen.model.tensor_map import Swizzle, TensorMap

from .schedule import WgmmaWeightSchedule


def emit(problem: Conv2dWeightProblem, schedule: WgmmaWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    product = problem.product
    chosen = {
        "clusters": False,
        "specialized": schedule.specialize is Specialize.SHAPE,
        "by_column": by_column(product),
        "narrow_boxes": schedule.narrow_boxes(product),
    }
    return source(problem).scheduled(
        schedule,
        "wgmma_im2col/block",
        "conv2d_weight_block",
        facts={**edges_of(product, schedule), **facts_of_product(product, schedule), **GATHERED, **chosen},
        maps=(*_maps(problem, schedule), *stored_maps(product, schedule)),
        text=product_source(product, schedule),
        workspace_bytes=schedule.workspace_bytes(product),
    )


def _maps(problem: Conv2dWeightProblem, schedule: WgmmaWeightSchedule) -> tuple[Argument, ...]:
    """Those by which some pixels of the gradient, and of what terms see, are copied."""
    product, dtype = problem.product, problem.dtype
    width = {operand: schedule.row_bytes(product, operand) for operand in "ab"}
    swizzle = {operand: next(one for one in Swizzle if one.bytes == width[operand]) for operand in "ab"}
    columns = {operand: width[operand] // dtype.bytes for operand in "ab"}
    pixels = (problem.pixels, problem.out_channels)
    rows = schedule.block_k // schedule.cluster_n
    gradient = TensorMap("grad", dtype, pixels, row_major(pixels), (rows, columns["a"]), swizzle["a"])
    images = TensorMap(
        "x",
        dtype,
        (problem.batch, problem.height, problem.width, problem.in_channels),
        (*problem.layouts["x"].strides, 1),
        (schedule.block_k, columns["b"]),
        swizzle["b"],
        im2col=problem.base_pixels,
    )
    return Argument("map_a", "TensorMap", tensor_map=gradient), Argument("map_b", "TensorMap", tensor_map=images)
