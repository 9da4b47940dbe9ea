"""How to compute a conv2d_weight whose channels are groups of their own."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d_weight.partials import PartialSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

_OTHER_REGISTERS = 40  # addresses and bounds
_FLOAT = DType.FLOAT32.bytes


@dataclass(frozen=True)
class DepthwiseWeightSchedule(PartialSchedule):
    """A thread adds up all taps of `vector` channels, over tiles of `columns` pixels side by side.

    Attributes:
        threads: of a block.
        channel_threads: threads of a block side by side along the channels; the others have other pixels.
        vector: channels of a thread, and elements of an access.
        columns: pixels of a tile.
        splits: blocks that share the pixels of some channels. A second launch adds up what they found.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "depthwise"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    channel_threads: int = tunable(8, values=(1, 2, 4, 8, 16, 32), power_of_two=True, short="CT")
    vector: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True, short="V")
    columns: int = tunable(4, values=(1, 2, 4, 7, 8), short="C")
    splits: int = tunable(64, values=(1, 4, 16, 32, 64, 128, 256, 512))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def written_out(self, problem: Conv2dWeightProblem) -> int:
        """FMAs of a thread that the source has: those of a tile."""
        return problem.terms * self.columns * self.vector

    def footprint(self, problem: Conv2dWeightProblem) -> Footprint:
        """Sums, a tile and a line of what it sees are in registers; then shared memory has the sums of all threads."""
        window = self.window(problem)
        ahead = ceil_div(window * self.vector * problem.dtype.bytes, _FLOAT)
        registers = self.vector * (problem.terms + self.columns + window) + ahead + _OTHER_REGISTERS
        shared_bytes = _FLOAT * self.threads * self.vector * problem.terms
        return Footprint(self.threads, shared_bytes, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def channel_blocks(self, problem: Conv2dWeightProblem) -> int:
        """Blocks that have all channels."""
        return ceil_div(problem.in_channels, self.channel_threads * self.vector)

    def blocks(self, problem: Conv2dWeightProblem) -> int:
        """Some channels and some tiles each."""
        return self.channel_blocks(problem) * self.splits
