"""How to compute a conv2d whose groups have few channels, by tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.depthwise_rolling.schedule import RollingSchedule
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div

PAIR = 2  # channels of a register, and columns of pixels of a product
QUAD = 4  # lanes that share a row of a product
_OTHER_REGISTERS = 40  # addresses and bounds


@dataclass(frozen=True)
class DepthwiseMmaSchedule(RollingSchedule):
    """A thread goes down rows×columns pixels of `vector` channels, whose products are those of a warp's tensor cores.

    Attributes:
        channel_threads: the 4 threads that share a row of a product.
        keep_filters: whether a thread keeps its part of the filters in registers, rather than load it for each row.
    """

    kernel = "depthwise_mma"

    channel_threads: int = tunable(QUAD, values=(QUAD,), short="CT")
    vector: int = tunable(8, values=(2, 4, 8), power_of_two=True, least=PAIR, short="V")
    columns: int = tunable(2, values=(2, 4, 6, 8), least=PAIR, short="C")
    keep_filters: bool = tunable(True, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))

    def slots(self, problem: Conv2dProblem) -> int:
        """Pairs of terms that a row of a filter has."""
        return problem.kernel_w * ceil_div(problem.channels, PAIR)

    def filter_words(self, problem: Conv2dProblem) -> int:
        """Of a thread's part of the filters: a pair of terms for each pair of its channels."""
        return problem.kernel_h * self.slots(problem) * self.vector // PAIR

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """Filters are in shared memory; sums, a row of X, the next ones and maybe filters in registers."""
        _, along = self.window(problem)
        seen = (1 + problem.stride_h) * along * self.vector // PAIR
        filters = self.filter_words(problem) if self.keep_filters else self.slots(problem) * self.vector // PAIR
        wanted = self.vector * self.open_rows(problem) * self.columns + seen + filters + _OTHER_REGISTERS
        shared_bytes = WORD_BYTES * WARP * self.filter_words(problem)
        return Footprint(self.threads, shared_bytes, wanted, min_blocks_per_sm=self.min_blocks_per_sm)

    def written_out(self, problem: Conv2dProblem) -> tuple[int, int]:
        """Products of tensor cores, and places of the window, that the source has: those of a step down."""
        _, along = self.window(problem)
        products = ceil_div(self.slots(problem), PAIR) * problem.kernel_h * self.columns * self.vector // PAIR**2
        return products, along * problem.stride_h
