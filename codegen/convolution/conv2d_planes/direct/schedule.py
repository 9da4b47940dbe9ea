"""How to compute a conv2d_planes whose groups have one channel."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

_OTHER_REGISTERS = 32  # addresses and bounds


@dataclass(frozen=True)
class DirectSchedule(Schedule):
    """A thread computes `rows` pixels of a plane below each other, of planes where they lie.

    Attributes:
        threads: of a block, whose columns are side by side.
        rows: pixels of a thread.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "direct"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    rows: int = tunable(4, values=(1, 2, 4, 7, 8), short="R")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: Conv2dPlanesProblem) -> Footprint:
        """Sums, a filter and a row of elements are in registers."""
        registers = self.rows + problem.taps + 2 * problem.kernel_w + _OTHER_REGISTERS
        return Footprint(self.threads, 0, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def blocks(self, problem: Conv2dPlanesProblem) -> int:
        """Some columns of strips of rows each."""
        strips = problem.batch * problem.out_channels * ceil_div(problem.out_height, self.rows)
        return ceil_div(strips * problem.out_width, self.threads)
