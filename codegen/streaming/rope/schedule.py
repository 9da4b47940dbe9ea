"""How to rotate heads."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import Angles, RopeProblem

# At least, beside what a thread loads: addresses, and for each pair a sine, a cosine and a frequency.
_OTHER_REGISTERS = 16
# Registers that ptxas takes if nothing caps them: of a thread, more if it computes angles, and of each of its pairs
# (146 kernels for an H200: a mean log error of 0.06).
_WANTED_REGISTERS, _WANTED_COMPUTING, _WANTED_OF_PAIR = 18, 12, 2


@dataclass(frozen=True)
class RopeSchedule(Schedule):
    """A thread has a unit of several heads of a token: vectors that it rotates by the same sines and cosines.

    A unit is a vector of pairs or, where that cannot be, a vector of their first and one of their second elements.

    Attributes:
        threads: of a block.
        vector_width: elements of an access.
        heads_per_thread: heads of a token that a thread rotates, all of whose loads are in flight at once.
        apart: give the units of a block that are rotated to its first threads, those that are copied to others.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    heads_per_thread: int = tunable(1, values=(1, 2, 4, 8), short="HPT")
    apart: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def vectors(self, problem: RopeProblem) -> int:
        """Vectors of a unit."""
        return 1 if problem.interleaved and self.vector_width > 1 else 2

    def pairs(self, problem: RopeProblem) -> int:
        """Pairs of a unit."""
        return self.vectors(problem) * self.vector_width // 2

    def units(self, problem: RopeProblem) -> int:
        """Units of a head: those that are rotated, and vectors that are copied."""
        rotated = problem.rotated // (self.vectors(problem) * self.vector_width)
        return rotated + (problem.head_dim - problem.rotated) // self.vector_width

    def slots(self, problem: RopeProblem) -> int:
        """Groups of heads that a block has at once."""
        return self.threads // max(1, self.units(problem))

    def groups(self, problem: RopeProblem) -> int:
        """Groups of heads of a token, each of which has a slot."""
        return ceil_div(problem.heads, self.heads_per_thread)

    def items(self, problem: RopeProblem) -> int:
        """Groups of heads of all tokens."""
        return problem.batch * self.groups(problem)

    def blocks(self, problem: RopeProblem) -> int:
        """Blocks of the grid."""
        return ceil_div(self.items(problem), max(1, self.slots(problem)))

    def loaded_words(self, problem: RopeProblem) -> int:
        """Registers of a head's unit."""
        return self.vectors(problem) * ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)

    def footprint(self, problem: RopeProblem) -> Footprint:
        """See `Schedule`; registers are those that a kernel without spills takes at least."""
        of_pair = 2 if problem.angles is Angles.TABLE else 4
        angles = of_pair * self.pairs(problem)
        loaded = self.heads_per_thread * self.loaded_words(problem)
        registers = loaded + angles + _OTHER_REGISTERS
        computing = _WANTED_COMPUTING * (problem.angles is Angles.COMPUTED)
        wanted = _WANTED_REGISTERS + computing + loaded + _WANTED_OF_PAIR * self.pairs(problem)
        return Footprint(self.threads, 0, registers, min_blocks_per_sm=self.min_blocks_per_sm, wanted_registers=wanted)
