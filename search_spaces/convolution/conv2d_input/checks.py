"""conv2d_input: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.convolution.conv2d_input.fma.schedule import FmaInputSchedule
from autotune.codegen.convolution.conv2d_input.mma_offsets.schedule import MmaOffsetsInputSchedule
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.convolution.conv2d_input.wgmma_im2col.schedule import WgmmaInputSchedule
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.convolution.small_grid import on_small_grid

S = TypeVar("S", FmaInputSchedule, MmaOffsetsInputSchedule, WgmmaInputSchedule)


def checks(problem: Conv2dInputProblem, schedule: S) -> list[tuple[Conv2dInputProblem, S]]:
    """Whole tiles of a phase; and edges on all sides, of two images with gaps, just aligned enough."""
    m, n, k = schedule.block_m * schedule.cluster_m, schedule.block_n, schedule.block_k
    whole = _small(problem, schedule, 1, m, n, 2 * k, gap=False)
    ragged = _small(problem, schedule, 2, m // 2 + 1, n // 2 + 1, schedule.stages * k + k // 2 + 1, gap=True)
    return [(one, _shared(one, schedule)) for one in (whole, ragged)]


def _small(
    problem: Conv2dInputProblem, schedule: S, batch: int, rows: int, channels: int, terms: int, *, gap: bool
) -> Conv2dInputProblem:
    """A problem of the kinds of another, with about so many rows of a phase in each image."""
    aligned = vectors(problem, schedule)
    columns = 5 if gap else 4
    unit = max(aligned["weight"], aligned["x"])
    fields: dict[str, Any] = {
        "batch": batch,
        "in_channels": round_up(channels, unit),
        "out_channels": round_up(ceil_div(terms, problem.most_taps), aligned["grad"]),
        **{f"stride_x_{axis}": 0 for axis in "nhw"},
        **{f"align_{operand}": vector * problem.dtype.bytes for operand, vector in aligned.items()},
    }
    for side, extent, count in (("h", "height", ceil_div(rows, columns)), ("w", "width", columns)):
        kernel, stride, padding, dilation = (
            getattr(problem, f"{name}_{side}") for name in ("kernel", "stride", "padding", "dilation")
        )
        fields[extent] = max(count * stride - gap, (kernel - 1) * dilation + 1 - 2 * padding, 1)
    small = replace(problem, **fields)
    if not gap or getattr(schedule, "tensor_store", False):
        return small
    column = small.in_channels + aligned["x"]
    strides: dict[str, Any] = {"stride_x_w": column, "stride_x_h": small.width * column + aligned["x"], "stride_x_n": 0}
    return replace(small, **strides)


def vectors(problem: Conv2dInputProblem, schedule: S) -> dict[str, int]:
    """Elements of the accesses to each tensor."""
    if isinstance(schedule, WgmmaInputSchedule):
        product = schedule.product(problem)
        operands = (("grad", "a"), ("weight", "b"), ("x", "d"))
        return {name: schedule.vector(product, operand) for name, operand in operands}
    d = schedule.vector_c if isinstance(schedule, FmaInputSchedule) else schedule.vector_d
    return {"grad": schedule.vector_a, "weight": schedule.vector_b, "x": d}


def _shared(small: Conv2dInputProblem, schedule: S) -> S:
    """The schedule on few blocks; of phases, where tiles are whole, in turn."""
    if schedule.grid_blocks and small.phased and isinstance(schedule, WgmmaInputSchedule):
        return schedule.replace(grid_blocks=2 * schedule.cluster, whole_tiles=True)
    return on_small_grid(small, schedule)
