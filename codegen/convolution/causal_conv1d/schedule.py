"""How to compute a causal_conv1d."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div, largest
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import CausalConv1dProblem

_OTHER_REGISTERS = 24  # addresses and bounds


@dataclass(frozen=True)
class CausalConv1dSchedule(Schedule):
    """A thread computes vectors of channels or, if steps of a channel are neighbours, of steps.

    Attributes:
        threads: of a block.
        threads_per_row: of a block whose vectors are side by side, along a row as stored; the others have other rows.
        vector: elements of an access. Of rows of steps that begin between vectors, the first and the last elements are
            moved one by one.
        loads: vectors that a thread loads before it computes the first of them.
        rounds: how often it does so.
        prefetch: whether the loads of a round are issued before the round ahead is computed.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    threads_per_row: int = tunable(32, values=(8, 16, 32, 64, 128, 256), power_of_two=True, short="TPR")
    vector: int = tunable(8, values=(1, 2, 4, 8), power_of_two=True, short="V")
    loads: int = tunable(4, values=(1, 2, 4, 8), short="L")
    rounds: int = tunable(4, values=(1, 2, 4, 8, 16, 32), short="R")
    prefetch: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def rows(self) -> int:
        """Of channels, or of steps that are `loads`·`rounds` apart: those of a block."""
        return self.threads // self.threads_per_row

    def skewed(self, problem: CausalConv1dProblem) -> bool:
        """Whether rows may begin within a vector."""
        return any(self.vector > problem.vector_width(operand) for operand in "xy")

    def footprint(self, problem: CausalConv1dProblem) -> Footprint:
        """Filters, the steps that they see, and sums are in registers. Where channels are neighbours, the filters of
        all of the block's pass through shared memory."""
        shared_bytes = 0
        loaded = ceil_div(self.vector * problem.dtype.bytes, WORD_BYTES) * self.loads
        if problem.channels_last:
            own = self.vector * (2 * problem.width + self.loads) + (loaded if self.prefetch else 0)
            own += problem.width + self.loads if problem.numbered else 0
            shared_bytes = self.threads_per_row * self.vector * problem.width * problem.dtype.bytes
        else:
            own = (1 + self.reached(problem)) * loaded * (2 if self.prefetch else 1) + self.vector + problem.width
        return Footprint(self.threads, shared_bytes, _OTHER_REGISTERS + own, min_blocks_per_sm=self.min_blocks_per_sm)

    def reached(self, problem: CausalConv1dProblem) -> int:
        """Vectors of steps ahead of one that its filter reaches back to."""
        return ceil_div(problem.width - 1, self.vector)

    def row_vectors(self, problem: CausalConv1dProblem) -> int:
        """Vectors of a row of steps."""
        return ceil_div(problem.length + (self.vector - 1 if self.skewed(problem) else 0), self.vector)

    def blocks(self, problem: CausalConv1dProblem) -> int:
        """Some rows each; sequences without steps have one of each channel, for the final states."""
        along, steps = self.threads_per_row * self.vector, self.loads * self.rounds
        if problem.channels_last:
            chunks = ceil_div(problem.length, steps * self.rows)
            return problem.batch * largest(1, chunks) * ceil_div(problem.channels, along)
        return problem.batch * self.chunks(problem) * ceil_div(problem.channels, self.rows)

    def chunks(self, problem: CausalConv1dProblem) -> int:
        """Blocks that share a row of steps."""
        return largest(1, ceil_div(self.row_vectors(problem), self.threads_per_row * self.loads * self.rounds))
