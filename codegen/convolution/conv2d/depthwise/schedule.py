"""How to compute a conv2d whose groups have few channels."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

_OTHER_REGISTERS = 40  # addresses and bounds


@dataclass(frozen=True)
class DepthwiseSchedule(Schedule):
    """A thread computes rows×columns pixels of `vector` channels, and loads once what these see.

    Attributes:
        threads: of a block.
        channel_threads: threads of a block side by side along the channels; the others have other pixels.
        vector: channels of a thread, and elements of an access.
        rows, columns: pixels of a thread. Of one row, the rows of a filter are taken in a loop.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "depthwise"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    channel_threads: int = tunable(8, values=(1, 2, 4, 8, 16, 32), power_of_two=True, short="CT")
    vector: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True, short="V")
    rows: int = tunable(1, values=(1, 2, 3, 4), short="R")
    columns: int = tunable(4, values=(1, 2, 4, 7, 8), short="C")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """The filters of the block's channels are in shared memory. Sums are in registers, and a line of what pixels
        see, or all of it if that is written out."""
        down, along = self.window(problem)
        words = ceil_div(self.vector * problem.dtype.bytes, WORD_BYTES)  # of a vector
        seen = along * words * (1 if self.rows == 1 else down)
        return Footprint(
            self.threads,
            WORD_BYTES * problem.terms * self.channel_threads * self.vector,
            self.vector * self.rows * self.columns + seen + _OTHER_REGISTERS,
            min_blocks_per_sm=self.min_blocks_per_sm,
        )

    def window(self, problem: Conv2dProblem) -> tuple[int, int]:
        """Rows and columns that the pixels of a thread see, and those between."""
        down = (self.rows - 1) * problem.stride_h + (problem.kernel_h - 1) * problem.dilation_h + 1
        along = (self.columns - 1) * problem.stride_w + (problem.kernel_w - 1) * problem.dilation_w + 1
        return down, along

    def written_out(self, problem: Conv2dProblem) -> tuple[int, int]:
        """FMAs of a thread, and places of the window, that the source has: those of one row of a filter if the thread
        has one row of pixels, else all."""
        down, along = self.window(problem)
        products = self.rows * self.columns * self.vector * problem.kernel_w * problem.channels
        return (products, along) if self.rows == 1 else (products * problem.kernel_h, down * along)

    def tiles(self, problem: Conv2dProblem) -> int:
        """Of rows×columns pixels, of all images."""
        return problem.batch * ceil_div(problem.out_height, self.rows) * ceil_div(problem.out_width, self.columns)

    def blocks(self, problem: Conv2dProblem) -> int:
        """Some channels and some tiles each."""
        channels = ceil_div(problem.in_channels, self.channel_threads * self.vector)
        return channels * ceil_div(self.tiles(problem), self.threads // self.channel_threads)
