"""How to compute a conv2d whose groups have few channels, by tensor cores, from rows that are copied ahead."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.depthwise_mma.schedule import PAIR, QUAD, DepthwiseMmaSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up

LANES_W = WARP // QUAD  # threads of a warp side by side along a row of pixels
_BARRIER_BYTES = 16  # of a stage
_OTHER_REGISTERS = 28  # addresses and bounds


@dataclass(frozen=True)
class DepthwiseStagesSchedule(DepthwiseMmaSchedule):
    """As `DepthwiseMmaSchedule`; the rows of X that a block's pixels see are copied to shared memory, a stage each.

    Attributes:
        threads: of a block, whose pixels are side by side.
        channel_threads: threads side by side along the channels, 4 of each warp.
        stages: rows of X that are copied ahead, or in use.
    """

    kernel = "depthwise_stages"

    threads: int = tunable(96, values=(32, 64, 96, 128, 192, 256), least=WARP)
    vector: int = tunable(8, values=(4, 8), power_of_two=True, least=PAIR, short="V")
    channel_threads: int = tunable(QUAD, values=(4, 8, 12, 16, 24), least=QUAD, short="CT")
    stages: int = tunable(4, values=(2, 3, 4, 6), least=1)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 5, 6, 8))

    @property
    def channel_warps(self) -> int:
        """Warps of a block side by side along the channels."""
        return max(1, self.channel_threads // QUAD)

    @property
    def block_columns(self) -> int:
        """Pixels of a block side by side."""
        return max(1, self.threads // WARP // self.channel_warps) * LANES_W * self.columns

    @property
    def block_channels(self) -> int:
        """Channels of a block."""
        return self.channel_threads * self.vector

    def box(self, problem: Conv2dProblem) -> tuple[int, int, int, int]:
        """What a tensor copy reads of X for a row: images, rows, columns and channels."""
        reach = (problem.kernel_w - 1) * problem.dilation_w
        return 1, 1, (self.block_columns - 1) * problem.stride_w + reach + 1, self.block_channels

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """Stages and filters are in shared memory; sums, a row of X and maybe filters in registers."""
        _, along = self.window(problem)
        _, _, columns, channels = self.box(problem)
        stage = round_up(columns * channels * problem.dtype.bytes, LINE_BYTES) + _BARRIER_BYTES
        words = self.filter_words(problem)
        filters = words if self.keep_filters else self.slots(problem) * self.vector // PAIR
        wanted = self.vector * self.open_rows(problem) * self.columns + along * self.vector // PAIR + filters
        return Footprint(
            self.threads,
            self.stages * stage + WORD_BYTES * WARP * self.channel_warps * words,
            wanted + _OTHER_REGISTERS,
            min_blocks_per_sm=self.min_blocks_per_sm,
        )

    def blocks(self, problem: Conv2dProblem) -> int:
        """Some channels, rows and columns of an image each."""
        rows, columns = ceil_div(problem.out_height, self.rows), ceil_div(problem.out_width, self.block_columns)
        return problem.batch * rows * columns * ceil_div(problem.in_channels, self.block_channels)
