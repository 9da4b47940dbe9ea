"""How to compute dropout."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import DropoutProblem, Mask

# At least, beside the vectors of a thread: addresses, what is dropped, random words; of a vector in rows, its place.
_OTHER_REGISTERS, _PLACE_REGISTERS = 14, 2
# Registers that ptxas takes if nothing caps them: of a thread, and of each element, since it works on several at once.
_WANTED_REGISTERS, _WANTED_OF_ELEMENT = 12, 1.6
_MASK_REGISTERS = 8  # registers for a mask that is stored


@dataclass(frozen=True)
class DropoutSchedule(Schedule):
    """A thread has `items` vectors, all of whose loads are in flight before it computes the first one.

    Attributes:
        threads: of a block.
        vector_width: elements of an access.
        items: vectors of a thread; those of the block's other threads lie in between.
        streaming: tell the caches that elements are read and written once.
        counter_words: of the counter of random numbers, those that differ from element to element: 1 or 2 words of 32
            bits, of which the upper one is 0 for up to 2^34 elements.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    items: int = tunable(4, values=(1, 2, 4, 8))
    streaming: bool = tunable(False, values=(False, True))
    counter_words: int = tunable(2, values=(1, 2), allowed=(1, 2))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile(self) -> int:
        """Vectors of a tile."""
        return self.threads * self.items

    def by_rows(self, problem: DropoutProblem) -> bool:
        """Whether vectors end with rows, rather than follow each other through all of them."""
        return problem.rows > 1 and not self.wraps(problem)

    def wraps(self, problem: DropoutProblem) -> bool:
        """Whether vectors follow each other through rows that end within them."""
        return problem.rows > 1 and problem.dense and problem.columns % self.vector_width != 0

    def vectors(self, problem: DropoutProblem) -> int:
        """Vectors of x, those that are partly there included."""
        if self.by_rows(problem):
            return problem.rows * ceil_div(problem.columns, self.vector_width)
        return ceil_div(problem.elements, self.vector_width)

    def blocks(self, problem: DropoutProblem) -> int:
        """Blocks of the grid, each of which has a tile."""
        return ceil_div(self.vectors(problem), self.tile)

    def loaded_words(self, problem: DropoutProblem) -> int:
        """Registers of an item: a vector of x and one of the residual."""
        return (1 + problem.residual) * ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)

    def footprint(self, problem: DropoutProblem) -> Footprint:
        """See `Schedule`; registers are those that a kernel without spills takes at least."""
        place = _PLACE_REGISTERS * self.by_rows(problem)
        registers = self.items * (self.loaded_words(problem) + place) + self.vector_width // 2 + _OTHER_REGISTERS
        registers += _MASK_REGISTERS * (problem.mask is not Mask.NONE)
        of_item = self.loaded_words(problem) + _WANTED_OF_ELEMENT * self.vector_width
        wanted = max(registers, floor(_WANTED_REGISTERS + self.items * of_item))
        return Footprint(self.threads, 0, registers, min_blocks_per_sm=self.min_blocks_per_sm, wanted_registers=wanted)
