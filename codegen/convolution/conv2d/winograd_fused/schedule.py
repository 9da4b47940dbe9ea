"""How to compute a conv2d by Winograd's minimal filtering in one launch, behind that of the filters."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

PLACES = 16  # of a tile of elements, for 2×2 pixels
PAD = 4  # words between rows in shared memory
_STAGES = 2
_LANES_M, _LANES_N = 4, 8  # of a warp, along the tiles and the filters
_OTHER_REGISTERS = 44  # addresses and bounds


@dataclass(frozen=True)
class WinogradFusedSchedule(Schedule):
    """A block multiplies some tiles, which it transforms, by some filters; each warp for two places of a tile.

    Attributes:
        block_m: tiles of a block.
        block_n: filters of a block.
        block_k: channels of a step.
        specialize: whether the shape is compiled in.
    """

    kernel = "winograd_fused"
    threads = 256

    block_m: int = tunable(32, values=(16, 32, 64), power_of_two=True, least=16, short="BM")
    block_n: int = tunable(64, values=(32, 64, 128), power_of_two=True, least=32, short="BN")
    block_k: int = tunable(8, values=(4, 8), power_of_two=True, least=4, short="BK")
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def sums(self) -> int:
        """Of a thread."""
        return PLACES * self.block_m * self.block_n // self.threads

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """Two stages of transformed tiles and filters are in shared memory, and later half of the sums."""
        stage = PLACES * self.block_k * (self.block_m + PAD + self.block_n)
        left = PLACES * self.block_m * (self.block_n // (self.block_n // _LANES_N // PAD) + PAD)
        ahead = PLACES * ceil_div(self.block_m * self.block_k, self.threads)
        registers = self.sums + self.block_m // _LANES_M + self.block_n // _LANES_N + ahead + _OTHER_REGISTERS
        return Footprint(self.threads, WORD_BYTES * max(_STAGES * stage, left), registers)

    def blocks(self, problem: Conv2dProblem) -> int:
        """Some tiles and some filters each."""
        return ceil_div(problem.tiles, self.block_m) * ceil_div(problem.out_channels, self.block_n)


@dataclass(frozen=True)
class FiltersSchedule(Schedule):
    """The launch ahead: a thread for each filter and some neighbouring channels."""

    threads = 128

    def blocks(self, problem: Conv2dProblem) -> int:
        """As many as there are threads for."""
        return ceil_div(problem.out_channels * problem.in_channels // problem.transform_vector, self.threads)
