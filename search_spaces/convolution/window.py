"""What threads load of images for pixels side by side, counted for the time model."""

from __future__ import annotations

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.model.integers import ceil_div, round_up


def lines_of_load(channel_threads: int, vector_bytes: int, apart: int) -> float:
    """Cache lines of a warp's load of a vector by each thread.

    Args:
        channel_threads: threads side by side along the channels.
        vector_bytes: of a vector.
        apart: bytes from the vector of such threads to that of the next ones.
    """
    piece = max(min(LINE_BYTES, apart), channel_threads * vector_bytes)
    return max(1.0, WARP / channel_threads * piece / LINE_BYTES)


def apart(problem: ConvolutionProblem, columns: int) -> int:
    """Bytes of X from what a thread's pixels see to what those beside them do."""
    return columns * problem.stride_w * problem.layouts["x"].strides[-1] * problem.dtype.bytes


def share_of_groups(problem: ConvolutionProblem, block_groups: int) -> float:
    """The share of the groups of blocks that there is."""
    return problem.groups / round_up(problem.groups, block_groups)


def share_inside(problem: ConvolutionProblem, columns: int, rows: int = 1) -> float:
    """The share of the places seen by tiles of so many pixels that is in images; nothing is loaded of others."""
    return _inside(problem, "w", "width", columns) * _inside(problem, "h", "height", rows)


def share_stored(problem: ConvolutionProblem, columns: int, rows: int = 1) -> float:
    """The share of the pixels of tiles that there is."""
    along = problem.out_width / (columns * ceil_div(problem.out_width, columns))
    return along * problem.out_height / (rows * ceil_div(problem.out_height, rows))


def _inside(problem: ConvolutionProblem, side: str, extent: str, pixels: int) -> float:
    kernel, stride, padding, dilation = (
        getattr(problem, f"{name}_{side}") for name in ("kernel", "stride", "padding", "dilation")
    )
    step, tiles = pixels * stride, ceil_div(getattr(problem, f"out_{extent}"), pixels)
    window = (pixels - 1) * stride + (kernel - 1) * dilation + 1
    behind = (tiles - 1) * step - padding + window - getattr(problem, extent)  # of the last tile
    outside: int = sum(
        min(window, reach - tile * step)
        for reach in (padding, behind)
        for tile in range(min(tiles, ceil_div(max(0, reach), step)))
    )
    share: float = 1 - outside / (tiles * window)
    return max(0.0, share)
