"""The program of a schedule by wgmma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.matmul.gemm.emit import by_column
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.matmul.gemm.wgmma.emit import facts_of_product
from autotune.codegen.matmul.gemm.wgmma.operands import product_source, stored_maps
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import row_major
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import Entry, KernelSource

from .schedule import WgmmaIm2colSchedule


@dataclass(frozen=True)
class Operands:
    """What tensor copies read.

    Attributes:
        images, image_strides: (batch, height, width, channels), and elements from one to the next along each axis.
        pixels: those that a filter may begin at.
        filters, filter_strides: (filters, taps, channels), likewise.
        tensors: whose arrays the images and the filters are.
        offsets: bytes from where those begin.
    """

    images: tuple[int, ...]
    image_strides: tuple[int, ...]
    pixels: Im2col
    filters: tuple[int, ...]
    filter_strides: tuple[int, ...]
    tensors: tuple[str, str] = ("x", "weight")
    offsets: tuple[int, int] = (0, 0)


def emit(problem: Conv2dProblem, schedule: WgmmaIm2colSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    filters = (problem.out_channels, problem.taps, problem.channels)
    operands = Operands(
        images=problem.layouts["x"].shape,
        image_strides=(*problem.layouts["x"].strides, 1),
        pixels=problem.base_pixels,
        filters=filters,
        filter_strides=row_major(filters),
    )
    return gathered(source(problem), schedule, schedule.product(problem), operands, "wgmma_im2col/block")


def gathered(
    own: KernelSource,
    schedule: WgmmaIm2colSchedule,
    product: GemmProblem,
    operands: Operands,
    header: str,
    *others: Entry,
    facts: Mapping[str, Constant] | None = None,
) -> Program:
    """The program of a product whose A is gathered, and of other entries of the same source.

    Args:
        own: the problem as kernels see it.
        schedule, product, operands: how what is multiplied.
        header: the file that has the kernel.
        others: see `KernelSource.scheduled`.
        facts: what else the source is specialised for.
    """
    chosen = {
        "gathered_a": True,
        "gathered_b": False,
        "clusters": False,
        "specialized": schedule.specialize is Specialize.SHAPE,
        "by_column": by_column(product) or bool(own.conditions["scaled_columns"]),
    }
    known = {
        **edges_of(product, schedule),
        **facts_of_product(product, schedule),
        **chosen,
        "wide_rows": schedule.wide_rows(own.problem),
        "joined": False,
        **(facts or {}),
    }
    return own.scheduled(
        schedule,
        header,
        "conv2d_block",
        *others,
        facts=known,
        maps=(*_maps(operands, schedule, product), *stored_maps(product, schedule)),
        text=product_source(product, schedule),
        workspace_bytes=schedule.workspace_bytes(product),
    )


def _maps(operands: Operands, schedule: WgmmaIm2colSchedule, product: GemmProblem) -> tuple[Argument, ...]:
    """Those by which pixels and filters are copied, some channels at a time."""
    dtype, row_bytes = product.dtype, schedule.row_bytes(product, "a")
    swizzle = next(one for one in Swizzle if one.bytes == row_bytes)
    columns, tf32 = row_bytes // dtype.bytes, dtype is DType.FLOAT32
    x, weight = operands.tensors
    images = TensorMap(
        *(x, dtype, operands.images, operands.image_strides, (schedule.block_m, columns), swizzle),
        offset=operands.offsets[0],
        tf32=tf32,
        im2col=operands.pixels,
    )
    box = (schedule.block_n // schedule.cluster_m, 1, columns)
    filters = TensorMap(
        *(weight, dtype, operands.filters, operands.filter_strides, box, swizzle), offset=operands.offsets[1], tf32=tf32
    )
    return Argument("map_a", "TensorMap", tensor_map=images), Argument("map_b", "TensorMap", tensor_map=filters)
