"""How to compute a conv2d whose groups have few channels, going down images."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.depthwise.schedule import DepthwiseSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div

_OTHER_REGISTERS = 36  # addresses and bounds
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class RollingSchedule(DepthwiseSchedule):
    """A thread goes down rows×columns pixels of `vector` channels, and loads once each row of X that these see.

    Attributes:
        rows: pixels of a thread below each other. It has sums of those alone that see a row of X.
        columns: pixels of a thread side by side.
    """

    kernel = "depthwise_rolling"

    vector: int = tunable(2, values=(1, 2, 4, 8), power_of_two=True, short="V")
    rows: int = tunable(14, values=(4, 7, 8, 14, 16, 28, 32, 56), short="R")

    def open_rows(self, problem: Conv2dProblem) -> int:
        """Rows of pixels that see a row of X."""
        return ceil_div(problem.kernel_h, problem.stride_h)

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """The filters of the block's channels are in shared memory; sums, a row of X and the next in registers."""
        _, along = self.window(problem)
        ahead = ceil_div(along * self.vector * problem.dtype.bytes, _REGISTER_BYTES)
        wanted = self.vector * (self.open_rows(problem) * self.columns + along + 2) + ahead + _OTHER_REGISTERS
        shared_bytes = _REGISTER_BYTES * problem.terms * self.channel_threads * self.vector
        return Footprint(self.threads, shared_bytes, wanted, min_blocks_per_sm=self.min_blocks_per_sm)

    def written_out(self, problem: Conv2dProblem) -> tuple[int, int]:
        """FMAs of a thread, and places of the window, that the source has: those of a step down."""
        _, along = self.window(problem)
        return problem.terms * self.columns * self.vector, along * problem.stride_h
