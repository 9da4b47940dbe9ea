"""How to compute a conv2d_weight whose groups have few channels by tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d_weight.partials import PartialSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

SIDE = 16  # filters and pixels of a product, and channels of two of them
QUAD = 4  # lanes that share a row of a product, and pixels of a lane in one
_OTHER_REGISTERS = 28  # addresses and bounds


@dataclass(frozen=True)
class GroupedMmaWeightSchedule(PartialSchedule):
    """A warp adds up all filters of some groups, under all rows of taps or one. Four of its threads have tiles.

    Attributes:
        group_warps: warps of a block side by side along the groups.
        tile_warps: warps of a block with the same sums, of other pixels.
        groups: of a warp, side by side, with 16 channels at most.
        rows_apart: whether a warp has one row of taps, and warps of the block the others.
        columns: pixels of a tile.
        ahead: whether a warp loads its next tiles before it multiplies.
        splits: blocks that share the pixels of some groups. A second launch adds up what they found.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "grouped_mma"

    group_warps: int = tunable(1, values=(1, 2, 4), power_of_two=True, short="GW")
    tile_warps: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True, short="TW")
    groups: int = tunable(2, values=(1, 2, 4, 8, 16), power_of_two=True, short="G")
    rows_apart: bool = tunable(False, values=(False, True))
    columns: int = tunable(4, values=(4, 8), least=QUAD, power_of_two=True, short="C")
    ahead: bool = tunable(True, values=(False, True))
    splits: int = tunable(64, values=(1, 4, 16, 32, 64, 128, 256, 512))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def rows(self, problem: Conv2dWeightProblem) -> int:
        """Of taps that a warp has."""
        return 1 if self.rows_apart else problem.kernel_h

    def parts(self, problem: Conv2dWeightProblem) -> int:
        """Threads of a block with other sums."""
        return WARP * self.group_warps * (problem.kernel_h // self.rows(problem))

    def block_threads(self, problem: Conv2dWeightProblem) -> int:
        """Of a block."""
        return self.parts(problem) * self.tile_warps

    def slices(self, problem: Conv2dWeightProblem) -> int:
        """Of filters, each of which a product has as rows."""
        return ceil_div(self.groups * problem.filters, SIDE)

    def products(self, problem: Conv2dWeightProblem) -> int:
        """Of a warp for a tile of each thread, all of which the source has."""
        return 2 * self.rows(problem) * problem.kernel_w * self.slices(problem) * self.columns // QUAD

    def sums(self, problem: Conv2dWeightProblem) -> int:
        """Of a thread."""
        return self.products(problem) * QUAD * QUAD // self.columns

    def loads(self, problem: Conv2dWeightProblem) -> int:
        """Of a thread for a tile, of a pair each."""
        return self.rows(problem) * self.window(problem) + self.slices(problem) * self.columns

    def footprint(self, problem: Conv2dWeightProblem) -> Footprint:
        """Sums are in registers, and what is loaded of a tile, or of two; then shared memory has the sums of
        half of the warps."""
        shared = WORD_BYTES * self.sums(problem) * self.parts(problem) * (self.tile_warps // 2)
        loaded = self.loads(problem) * (2 if self.ahead else 1)
        registers = self.sums(problem) + loaded + _OTHER_REGISTERS
        return Footprint(self.block_threads(problem), shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def group_blocks(self, problem: Conv2dWeightProblem) -> int:
        """Blocks that have all groups."""
        return ceil_div(problem.groups, self.group_warps * self.groups)

    def blocks(self, problem: Conv2dWeightProblem) -> int:
        """Some groups and some tiles each."""
        return self.group_blocks(problem) * self.splits
