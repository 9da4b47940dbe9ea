"""conv2d_weight: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d_weight.fma.schedule import FmaWeightSchedule
from autotune.codegen.convolution.conv2d_weight.mma_offsets.schedule import MmaOffsetsWeightSchedule
from autotune.codegen.convolution.conv2d_weight.partials import PartialSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.convolution.conv2d_weight.wgmma_im2col.schedule import WgmmaWeightSchedule
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.convolution.conv2d.checks import extent_of
from autotune.search_spaces.convolution.small_grid import on_small_grid

_MOST_ROWS = 2**15  # filters of a tile times its pixels, all of whose products take long enough
G = TypeVar("G", bound=PartialSchedule)
S = TypeVar("S", FmaWeightSchedule, MmaOffsetsWeightSchedule, WgmmaWeightSchedule)


def checks(problem: Conv2dWeightProblem, schedule: S) -> list[tuple[Conv2dWeightProblem, S]]:
    """Whole tiles; and edges on all sides, of two images with gaps, just aligned enough."""
    m, n, k = schedule.block_m, schedule.block_n, schedule.block_k
    clusters = 2 if schedule.grid_blocks else 1
    steps = max(2, clusters * getattr(schedule, "cluster_k", 1))  # one for each of the blocks that share a tile
    whole = _small(problem, schedule, 1, min(m, _MOST_ROWS // (steps * k)), n, steps * k, gap=False)
    pixels = max(steps, schedule.stages) * k + k // 2
    filters = min(m // 2 + 1, _MOST_ROWS // pixels)
    ragged = _small(problem, schedule, 2, filters, n // 2 + 1, pixels // 2 + 1, gap=True)
    return [(one, on_small_grid(one, schedule)) for one in (whole, ragged)]


def _small(
    problem: Conv2dWeightProblem, schedule: S, batch: int, filters: int, terms: int, pixels: int, *, gap: bool
) -> Conv2dWeightProblem:
    """A problem of the kinds of another, with about so many pixels in each image."""
    aligned = vectors(problem, schedule)
    unit = box(problem, schedule) if isinstance(schedule, WgmmaWeightSchedule) else aligned["x"]
    # Terms are stored in vectors, so their number is a multiple of one.
    channels = round_up(ceil_div(terms, problem.kernel_h * problem.kernel_w), max(unit, aligned["d"]))
    columns, groups = 5 if gap else 4, min(problem.groups, 2)
    fields: dict[str, Any] = {
        "batch": batch,
        "in_channels": channels * groups,
        "out_channels": round_up(filters, aligned["grad"]) * groups,
        "groups": groups,
        **{f"stride_x_{axis}": 0 for axis in "nhw"},
        **{f"align_{operand}": vector * problem.dtype.bytes for operand, vector in aligned.items()},
    }
    for side, extent, out in (("h", "height", ceil_div(pixels, columns)), ("w", "width", columns)):
        fields[extent] = extent_of(problem, side, out)
    small = replace(problem, **fields)
    if not gap:
        return small
    column = small.in_channels + aligned["x"]
    row = small.width * column
    strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": row, "stride_x_n": small.height * row + aligned["x"]}
    return replace(small, **strides)


def checks_of_groups(
    problem: Conv2dWeightProblem, schedule: G, groups: int, side_by_side: int, aligned: Mapping[str, int]
) -> list[tuple[Conv2dWeightProblem, G]]:
    """Whole tiles and blocks; and two images with gaps, whose rows and groups end within one, which blocks share.

    Args:
        problem: of whose kinds they are.
        schedule: that they prove.
        groups: of a part of a block.
        side_by_side: parts of a block along the groups.
        aligned: elements of the accesses to each tensor.
    """
    schedule = schedule.replace(splits=min(schedule.splits, 3))
    bytes_of = {f"align_{name}": vector * problem.dtype.bytes for name, vector in aligned.items()}
    found = []
    for batch, rows, columns, count in (
        (1, 2, schedule.columns, groups),
        (2, 3, schedule.columns + 1, groups * (side_by_side + 1)),
    ):
        fields: dict[str, Any] = {"batch": batch, "groups": count, **{f"stride_x_{axis}": 0 for axis in "nhw"}}
        fields |= {"in_channels": count * problem.channels, "out_channels": count * problem.filters, **bytes_of}
        fields |= {"height": extent_of(problem, "h", rows), "width": extent_of(problem, "w", columns)}
        small = replace(problem, **fields)
        if batch > 1:
            column = small.in_channels + aligned["x"]
            strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": small.width * column + aligned["x"]}
            small = replace(small, **strides)
        found.append((small, schedule))
    return found


def box(problem: Conv2dWeightProblem, schedule: WgmmaWeightSchedule) -> int:
    """Channels of a copy of what terms see."""
    return schedule.row_bytes(problem.product, "b") // problem.dtype.bytes


def vectors(problem: Conv2dWeightProblem, schedule: S) -> dict[str, int]:
    """Elements of the accesses to each tensor."""
    if isinstance(schedule, WgmmaWeightSchedule):
        operands = (("grad", "a"), ("x", "b"), ("d", "d"))
        return {name: schedule.vector(problem.product, operand) for name, operand in operands}
    d = schedule.vector_c if isinstance(schedule, FmaWeightSchedule) else schedule.vector_d
    return {"grad": schedule.vector_a, "x": schedule.vector_b, "d": d}
