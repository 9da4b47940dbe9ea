"""How to compute a conv2d_weight whose groups have few channels and few filters."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d_weight.partials import PartialSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.codegen.model.schedule import Specialize

_OTHER_REGISTERS = 40  # addresses and bounds


@dataclass(frozen=True)
class GroupedWeightSchedule(PartialSchedule):
    """A thread adds up some filters of some groups, under all rows of taps or one, over tiles of pixels side by side.

    Attributes:
        group_threads: threads of a block side by side along the groups.
        tile_threads: threads of a block with the same sums, of other pixels.
        groups: of a thread, side by side.
        filters: of a thread, of each of its groups. Threads of the block have the others.
        rows_apart: whether a thread has one row of taps, and threads of the block the others.
        columns: pixels of a tile.
        splits: blocks that share the pixels of some groups. A second launch adds up what they found.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "grouped"

    group_threads: int = tunable(8, values=(1, 2, 4, 8, 16, 32), power_of_two=True, short="GT")
    tile_threads: int = tunable(4, values=(1, 2, 4, 8, 16, 32), power_of_two=True, short="TT")
    groups: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True, short="G")
    filters: int = tunable(1, values=(1, 2, 3, 4, 6, 8), short="F")
    rows_apart: bool = tunable(False, values=(False, True))
    columns: int = tunable(4, values=(1, 2, 4, 7, 8), short="C")
    splits: int = tunable(64, values=(1, 4, 16, 32, 64, 128, 256, 512))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def parts(self, problem: Conv2dWeightProblem) -> int:
        """Threads of a block with other sums."""
        rows = problem.kernel_h // self.rows(problem)
        return self.group_threads * rows * (problem.filters // self.filters)

    def block_threads(self, problem: Conv2dWeightProblem) -> int:
        """Of a block, of whole warps."""
        return round_up(self.parts(problem) * self.tile_threads, WARP)

    def rows(self, problem: Conv2dWeightProblem) -> int:
        """Of taps that a thread has."""
        return 1 if self.rows_apart else problem.kernel_h

    def _side_by_side(self, problem: Conv2dWeightProblem) -> int:
        """Filters of a thread that follow each other."""
        return self.filters * (self.groups if self.filters == problem.filters else 1)

    def vector_x(self, problem: Conv2dWeightProblem) -> int:
        """Elements of an access to X."""
        return widest_divisor(problem.layouts["x"].vector_width, self.groups * problem.channels)

    def vector_grad(self, problem: Conv2dWeightProblem) -> int:
        """Elements of an access to the gradient."""
        aligned = problem.align_grad // problem.dtype.bytes
        return widest_divisor(aligned, problem.out_channels, self._side_by_side(problem))

    def vector_sums(self, problem: Conv2dWeightProblem) -> int:
        """Elements of an access to sums of blocks."""
        return widest_divisor(WIDEST_ACCESS // WORD_BYTES, problem.out_channels, self._side_by_side(problem))

    def products(self, problem: Conv2dWeightProblem) -> int:
        """FMAs of a thread for a tile, all of which the source has."""
        return self.columns * self.sums(problem)

    def sums(self, problem: Conv2dWeightProblem) -> int:
        """Of a thread."""
        return self.groups * self.filters * self.rows(problem) * problem.kernel_w * problem.channels

    def footprint(self, problem: Conv2dWeightProblem) -> Footprint:
        """Sums are in registers, the gradients of a tile and a line of what it sees; then shared memory has the sums of
        half of the threads."""
        seen = self.window(problem) * self.groups * problem.channels
        ahead = ceil_div(seen * problem.dtype.bytes, WORD_BYTES)
        gradients = self.columns * self.groups * self.filters
        shared = WORD_BYTES * self.sums(problem) * self.parts(problem) * (self.tile_threads // 2)
        return Footprint(
            self.block_threads(problem),
            shared,
            self.sums(problem) + gradients + seen + ahead + _OTHER_REGISTERS,
            min_blocks_per_sm=self.min_blocks_per_sm,
        )

    def group_blocks(self, problem: Conv2dWeightProblem) -> int:
        """Blocks that have all groups."""
        return ceil_div(problem.groups, self.group_threads * self.groups)

    def blocks(self, problem: Conv2dWeightProblem) -> int:
        """Some groups and some tiles each."""
        return self.group_blocks(problem) * self.splits
