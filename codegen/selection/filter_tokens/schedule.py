"""How to find what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.selection.sampling.schedule import LEAST_CANDIDATES, MASS_BYTES

from .problem import FilterTokensProblem

_OTHER_REGISTERS = 48


@dataclass(frozen=True)
class FilterTokensSchedule(Schedule):
    """A block finds the floor of a row by its digits, and writes the row.

    Attributes:
        threads: of a block.
        vector_width: elements of a load.
        loads_in_flight: vectors that a thread loads before it uses the first.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
    """

    candidates = LEAST_CANDIDATES  # whose memory has the sums of a digit
    samples = 0
    streaming = False  # a row is read several times

    threads: int = tunable(512, values=(256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    loads_in_flight: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))

    def blocks(self, problem: FilterTokensProblem) -> int:
        """One for each row."""
        return problem.rows

    def footprint(self, problem: FilterTokensProblem) -> Footprint:
        """See `Schedule`."""
        warps, words = self.threads // WARP, ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        shared = (self.candidates + warps) * MASS_BYTES + (2 * warps + 2) * WORD_BYTES
        registers = self.loads_in_flight * words + _OTHER_REGISTERS
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
