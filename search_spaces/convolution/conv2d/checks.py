"""conv2d: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d.depthwise.schedule import DepthwiseSchedule
from autotune.codegen.convolution.conv2d.depthwise_stages.schedule import DepthwiseStagesSchedule
from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule
from autotune.codegen.convolution.conv2d.grouped.schedule import GroupedSchedule
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.conv2d.wgmma_rows.schedule import WgmmaRowsSchedule
from autotune.codegen.convolution.conv2d.winograd.schedule import WinogradSchedule
from autotune.codegen.convolution.conv2d.winograd_fused.schedule import WinogradFusedSchedule
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.convolution.small_grid import on_small_grid

_WIDE = 128  # columns of a tile, beyond which one of them takes long enough: half, of int8 with twice the terms
D = TypeVar("D", bound=DepthwiseSchedule)
S = TypeVar("S", FmaSchedule, MmaOffsetsSchedule, WgmmaIm2colSchedule, WgmmaRowsSchedule)


def checks_of_product(problem: Conv2dProblem, schedule: S) -> list[tuple[Conv2dProblem, S]]:
    """Whole tiles; and edges on all sides in two images with gaps, just aligned enough. Of blocks that share tiles, two
    and more share each."""
    m, n, k = schedule.block_m * schedule.cluster_m, schedule.block_n, schedule.block_k
    whole = _small(problem, schedule, 1, m, n, 2 * k, gap=False)
    wide = _WIDE // 2 if problem.dtype is DType.INT8 else _WIDE
    filters = n // 2 + 1 + (n if n <= wide else 0)
    ragged = _small(problem, schedule, 2, m // 2 + 1, filters, schedule.stages * k + k // 2 + 1, gap=True)
    return [(small, on_small_grid(small, schedule)) for small in (whole, ragged)]


def _small(
    problem: Conv2dProblem, schedule: S, batch: int, pixels: int, filters: int, terms: int, *, gap: bool
) -> Conv2dProblem:
    """A problem of the kinds of another, with about so many pixels in each image."""
    aligned = vectors(problem, schedule)
    wide, taps = max(aligned["x"], aligned["weight"]), problem.taps
    channels = wide * max(1, ceil_div(terms, taps * wide))
    if isinstance(schedule, WgmmaRowsSchedule):
        channels = problem.channels
    columns, groups = 5 if gap else 4, min(problem.groups, 2)
    fields: dict[str, Any] = {
        "batch": batch,
        "in_channels": channels * groups,
        "out_channels": ceil_div(filters, aligned["d"]) * aligned["d"] * groups,
        "groups": groups,
        **{f"stride_x_{axis}": 0 for axis in "nhw"},
        "ldd": 0,
        **{
            f"align_{operand}": vector * (problem.result if operand == "d" else problem.dtype).bytes
            for operand, vector in aligned.items()
        },
    }
    for side, extent, out in (("h", "height", ceil_div(pixels, columns)), ("w", "width", columns)):
        fields[extent] = extent_of(problem, side, out)
    small = replace(problem, **fields)
    if not gap:
        return small
    column = small.in_channels + aligned["x"]
    row = small.width * column
    strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": row, "stride_x_n": small.height * row + aligned["x"]}
    strides["ldd"] = small.out_channels + aligned["d"]
    return replace(small, **strides)


def vectors(problem: Conv2dProblem, schedule: FmaSchedule | MmaOffsetsSchedule | WgmmaIm2colSchedule) -> dict[str, int]:
    """Elements of the accesses to each tensor."""
    if isinstance(schedule, WgmmaIm2colSchedule):
        product = schedule.product(problem)
        found = {name: schedule.vector(product, operand) for name, operand in (("x", "a"), ("weight", "b"), ("d", "d"))}
        return found | {"x": 1, "weight": 1} if isinstance(schedule, WgmmaRowsSchedule) else found
    d = schedule.vector_c if isinstance(schedule, FmaSchedule) else schedule.vector_d
    return {"x": schedule.vector_a, "weight": schedule.vector_b, "d": d}


def checks_of_channels(problem: Conv2dProblem, schedule: D) -> list[tuple[Conv2dProblem, D]]:
    """Whole tiles of a block; and a part of one along all sides."""
    return [(one, schedule) for one in _of_channels(problem, schedule, schedule.vector, schedule.columns)]


def checks_of_rows(
    problem: Conv2dProblem, schedule: DepthwiseStagesSchedule
) -> list[tuple[Conv2dProblem, DepthwiseStagesSchedule]]:
    """The same of blocks whose pixels are side by side, and whose rows tensor copies read."""
    unit = WIDEST_ACCESS // problem.dtype.bytes
    return [(one, schedule) for one in _of_channels(problem, schedule, unit, schedule.block_columns)]


def _of_channels(
    problem: Conv2dProblem, schedule: DepthwiseSchedule, unit: int, columns: int
) -> Iterator[Conv2dProblem]:
    """An image of whole tiles; and two with gaps, whose pixels begin at multiples of `unit` elements."""
    block = round_up(schedule.channel_threads * schedule.vector, unit)
    aligned: dict[str, Any] = {"align_x": unit * problem.dtype.bytes}
    aligned |= {"align_d": aligned["align_x"], "ldd": 0, **{f"stride_x_{axis}": 0 for axis in "nhw"}}
    for batch, rows, wide, channels in (
        (1, schedule.rows, columns, block),
        (2, schedule.rows + 1, columns + 1, block + unit),
    ):
        fields: dict[str, Any] = {"batch": batch, **dict.fromkeys(("in_channels", "out_channels"), channels)}
        fields["groups"] = channels // problem.channels
        for side, extent, out in (("h", "height", rows), ("w", "width", wide)):
            fields[extent] = extent_of(problem, side, out)
        small = replace(problem, **fields, **aligned)
        if batch > 1:
            column = channels + unit
            strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": small.width * column + unit}
            small = replace(small, **strides, ldd=column)
        yield small


def checks_of_groups(problem: Conv2dProblem, schedule: GroupedSchedule) -> list[tuple[Conv2dProblem, GroupedSchedule]]:
    """Whole tiles of a block; and two images with gaps, whose rows and groups end within one."""
    found = []
    vector_x, vector_d = schedule.vector_x(problem), schedule.vector_d(problem)
    aligned: dict[str, Any] = {"align_x": vector_x * problem.dtype.bytes, "align_d": vector_d * problem.dtype.bytes}
    aligned |= {"ldd": 0, **{f"stride_x_{axis}": 0 for axis in "nhw"}}
    for batch, columns, threads in ((1, schedule.columns, 1), (2, schedule.columns + 1, schedule.group_threads + 1)):
        groups = schedule.groups * threads
        fields: dict[str, Any] = {"batch": batch, "groups": groups}
        fields |= {"in_channels": groups * problem.channels, "out_channels": groups * problem.filters}
        fields |= {"height": extent_of(problem, "h", 2), "width": extent_of(problem, "w", columns)}
        small = replace(problem, **fields, **aligned)
        if batch > 1:
            column = small.in_channels + vector_x
            strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": small.width * column + vector_x}
            small = replace(small, **strides, ldd=small.out_channels + vector_d)
        found.append((small, schedule))
    return found


def checks_of_transforms(
    problem: Conv2dProblem, schedule: WinogradSchedule
) -> list[tuple[Conv2dProblem, WinogradSchedule]]:
    """Whole tiles of products; and edges on all sides."""
    schedule = schedule.replace(grid_blocks=min(schedule.grid_blocks, 3 * schedule.cluster_k))
    wide = max(schedule.vector_b, schedule.vector_c)
    channels = 2 * schedule.block_k, schedule.block_k * schedule.stages + 1
    small = _transformed(
        problem,
        [round_up(some, schedule.vector_a) for some in channels],
        [round_up(some, wide) for some in (schedule.block_n, schedule.block_n // 2 + 1)],
        schedule.block_m,
    )
    return [(one, schedule) for one in small]


def checks_of_blocks(
    problem: Conv2dProblem, schedule: WinogradFusedSchedule
) -> list[tuple[Conv2dProblem, WinogradFusedSchedule]]:
    """Whole blocks; and edges on all sides."""
    channels, filters = (2 * schedule.block_k, schedule.block_k + 1), (schedule.block_n, schedule.block_n // 2 + 4)
    return [(one, schedule) for one in _transformed(problem, channels, filters, schedule.block_m)]


def _transformed(
    problem: Conv2dProblem, channels: Sequence[int], filters: Sequence[int], tiles: int
) -> Iterator[Conv2dProblem]:
    """An image of about so many tiles for whole ones; and two whose rows and columns end within a tile."""
    for batch, seen, stored, rows, columns in zip(
        (1, 2), channels, filters, (tiles // 2, tiles // 4 - 1), (8, 5), strict=True
    ):
        fields: dict[str, Any] = {
            "batch": batch,
            "in_channels": seen,
            "out_channels": stored,
            "height": extent_of(problem, "h", max(1, rows)),
            "width": extent_of(problem, "w", columns),
            **{f"stride_x_{axis}": 0 for axis in "nhw"},
            "ldd": 0,
        }
        yield replace(problem, **fields)


def extent_of(problem: ConvolutionProblem, side: str, out: int) -> int:
    """Rows (``h``) or columns (``w``) of images whose results have so many, or one if padding makes more."""
    names = ("kernel", "stride", "padding", "dilation")
    kernel, stride, padding, dilation = (getattr(problem, f"{name}_{side}") for name in names)
    extent: int = max(1, (out - 1) * stride + (kernel - 1) * dilation + 1 - 2 * padding)
    return extent
