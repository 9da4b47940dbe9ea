"""How to compute a conv2d_input of few channels."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize

UNIT_ROWS = 32  # pixels of the gradient whose products a warp has at once
_PRODUCT_K, _PRODUCT_N = 16, 8  # terms and columns of a product of tensor cores
_SPARE = 8  # elements behind a row in shared memory, so that rows begin in different banks; rows behind the last filter
_OTHER_REGISTERS = 80  # fragments, addresses and bounds


@dataclass(frozen=True)
class OverlapAddSchedule(Schedule):
    """A block multiplies each pixel of the gradient that a tile of an image sees by some rows of all filters, and adds
    up what overlaps.

    Attributes:
        threads: of a block.
        rows, columns: of an image, a tile.
        filter_rows: rows of the filters whose products are in shared memory at a time.
        tiles: of a block, one after the other.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "overlap_add"

    threads: int = tunable(256, values=(128, 256), power_of_two=True, least=WARP)
    rows: int = tunable(16, values=(4, 8, 16, 32), short="R")
    columns: int = tunable(32, values=(16, 32, 64), short="C")
    filter_rows: int = tunable(1, values=(1, 2, 4), short="FR")
    tiles: int = tunable(4, values=(1, 2, 4, 8, 16))
    min_blocks_per_sm: int = tunable(1, values=(1, 2))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def pixels(self, problem: Conv2dInputProblem) -> int:
        """Of the gradient, that a tile sees at most, in whole units."""
        sides = zip((self.rows, self.columns), problem.stride, problem.dilation, problem.kernel_size, strict=True)
        down, along = ((extent - 1 + (taps - 1) * apart) // stride + 1 for extent, stride, apart, taps in sides)
        return round_up(down * along, UNIT_ROWS)

    def passes(self, problem: Conv2dInputProblem) -> int:
        """How often products are made and added up."""
        return ceil_div(problem.kernel_h, self.filter_rows)

    def pass_columns(self, problem: Conv2dInputProblem) -> int:
        """Columns of these products: channels of taps."""
        return round_up(self.filter_rows * problem.kernel_w * problem.in_channels, _PRODUCT_N)

    def row_elements(self, problem: Conv2dInputProblem) -> int:
        """Of a pixel of the gradient, or of a tap and channel, in shared memory."""
        return round_up(problem.out_channels, _PRODUCT_K) + _SPARE

    def sum_pitch(self, problem: Conv2dInputProblem) -> int:
        """Sums from those of a pixel to the next: an odd multiple of 8, so that rows begin in different banks."""
        columns = self.pass_columns(problem)
        return columns + (_PRODUCT_N if columns % (2 * _PRODUCT_N) == 0 else 0)

    def elements(self, problem: Conv2dInputProblem) -> int:
        """Of a tile, for each thread."""
        return ceil_div(self.rows * self.columns * problem.in_channels, self.threads)

    def footprint(self, problem: Conv2dInputProblem) -> Footprint:
        """Shared memory has the gradient, the filters, and a pass of products."""
        pixels, columns = self.pixels(problem), self.pass_columns(problem)
        rows = pixels + self.passes(problem) * columns + _SPARE
        shared_bytes = rows * self.row_elements(problem) * problem.dtype.bytes
        shared_bytes += pixels * self.sum_pitch(problem) * DType.FLOAT32.bytes
        sums = columns * UNIT_ROWS // WARP
        registers = sums + self.elements(problem) + _OTHER_REGISTERS
        return Footprint(self.threads, shared_bytes, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def all_tiles(self, problem: Conv2dInputProblem) -> int:
        """Of all images."""
        return problem.batch * ceil_div(problem.height, self.rows) * ceil_div(problem.width, self.columns)

    def blocks(self, problem: Conv2dInputProblem) -> int:
        """Some tiles each."""
        return ceil_div(self.all_tiles(problem), self.tiles)
