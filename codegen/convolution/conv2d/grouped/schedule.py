"""How to compute a conv2d whose groups have few channels and few filters."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.schedule import Schedule, Specialize

_OTHER_REGISTERS = 40  # addresses and bounds
_PAD = 4  # words behind the filters of a term


@dataclass(frozen=True)
class GroupedSchedule(Schedule):
    """A thread computes all filters of some groups for `columns` pixels side by side.

    Attributes:
        threads: of a block.
        group_threads: threads of a block side by side along the groups; the others have other pixels.
        groups: of a thread, side by side.
        columns: pixels of a thread. The rows of a filter are taken in a loop.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "grouped"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    group_threads: int = tunable(8, values=(1, 2, 4, 8, 16, 32), power_of_two=True, short="GT")
    groups: int = tunable(2, values=(1, 2, 4, 8), power_of_two=True, short="G")
    columns: int = tunable(4, values=(1, 2, 4, 8), short="C")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def channels(self, problem: Conv2dProblem) -> int:
        """Of X that a thread sees."""
        return self.groups * problem.channels

    def filters(self, problem: Conv2dProblem) -> int:
        """Of a thread."""
        return self.groups * problem.filters

    def vector_x(self, problem: Conv2dProblem) -> int:
        """Elements of an access to X."""
        return widest_divisor(problem.layouts["x"].vector_width, self.channels(problem))

    def vector_d(self, problem: Conv2dProblem) -> int:
        """Elements of an access to D."""
        return widest_divisor(problem.layouts["d"].vector_width, self.filters(problem))

    def window(self, problem: Conv2dProblem) -> int:
        """Columns that the pixels of a thread see, and those between."""
        return (self.columns - 1) * problem.stride_w + (problem.kernel_w - 1) * problem.dilation_w + 1

    def products(self, problem: Conv2dProblem) -> int:
        """FMAs of a thread that the source has: those of a row of a filter."""
        return self.columns * self.filters(problem) * problem.kernel_w * problem.channels

    def footprint(self, problem: Conv2dProblem) -> Footprint:
        """The filters of the block's groups are in shared memory. Sums are in registers, what pixels see, as it was
        loaded and as floats, and the factors of a term."""
        filters = self.filters(problem)
        seen = self.window(problem) * self.channels(problem)
        if problem.dtype is not DType.FLOAT32:
            seen += seen // widest_divisor(WORD_BYTES // problem.dtype.bytes, self.channels(problem))
        return Footprint(
            self.threads,
            WORD_BYTES * problem.terms * (self.group_threads * filters + _PAD),
            filters * (self.columns + 1) + seen + _OTHER_REGISTERS,
            min_blocks_per_sm=self.min_blocks_per_sm,
        )

    def tiles(self, problem: Conv2dProblem) -> int:
        """Of pixels side by side, of all images."""
        return problem.batch * problem.out_height * ceil_div(problem.out_width, self.columns)

    def blocks(self, problem: Conv2dProblem) -> int:
        """Some groups and some tiles each."""
        groups = ceil_div(problem.groups, self.group_threads * self.groups)
        return groups * ceil_div(self.tiles(problem), self.threads // self.group_threads)
