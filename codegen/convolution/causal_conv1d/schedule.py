"""How to compute a causal_conv1d."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import CausalConv1dProblem

_OTHER_REGISTERS = 32  # addresses and bounds


@dataclass(frozen=True)
class CausalConv1dSchedule(Schedule):
    """A thread computes vectors of channels or, if steps of a channel are neighbours, of steps.

    Attributes:
        threads: of a block.
        vector: elements of an access.
        loads: vectors that a thread loads before it computes the first of them.
        rounds: how often it does so.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=32)
    vector: int = tunable(8, values=(1, 2, 4, 8), power_of_two=True, short="V")
    loads: int = tunable(4, values=(1, 2, 4, 8), short="L")
    rounds: int = tunable(4, values=(1, 2, 4, 8, 16, 32), short="R")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: CausalConv1dProblem) -> Footprint:
        """Filters, the steps that they see, and sums are in registers."""
        if problem.channels_last:
            own = self.vector * (2 * problem.width + self.loads + 2)
        else:
            reached = ceil_div(problem.width - 1, self.vector) + 1
            loaded = ceil_div(self.vector * problem.dtype.bytes, WORD_BYTES)  # registers of an access
            own = reached * (self.vector + self.loads * loaded) + self.vector
        return Footprint(self.threads, 0, _OTHER_REGISTERS + own, min_blocks_per_sm=self.min_blocks_per_sm)

    def blocks(self, problem: CausalConv1dProblem) -> int:
        """Some vectors each; sequences without steps have one of each channel, for the final states."""
        if problem.channels_last:
            chunks = max(1, ceil_div(problem.length, self.loads * self.rounds))
            return ceil_div(problem.batch * ceil_div(problem.channels, self.vector) * chunks, self.threads)
        vectors = problem.batch * problem.channels * max(1, ceil_div(problem.length, self.vector))
        return ceil_div(vectors, self.threads * self.loads * self.rounds)
