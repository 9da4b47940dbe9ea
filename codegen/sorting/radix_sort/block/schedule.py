"""How to sort rows by a block each."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize
from autotune.codegen.sorting.radix_sort.match import DIGIT_BITS, Advance, Match
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values

_SUMS = 32  # of warps
_COLUMN_BYTES = 2  # of a key's column in shared memory
_REGISTERS = 16  # beside keys, columns and places


@dataclass(frozen=True)
class BlockSchedule(Schedule):
    """A block sorts a row in shared memory.

    Attributes:
        threads: of a block.
        items: keys of a thread.
        digit_bits: bits of a digit.
        match: how lanes with the same digit find each other.
        advance: how a warp's places of a digit advance.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "block"

    threads: int = tunable(256, values=(32, 64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    items: int = tunable(4, values=(1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32))
    digit_bits: int = tunable(8, values=DIGIT_BITS, allowed=DIGIT_BITS, short="bits")
    match: Match = tunable(Match.BALLOTS, values=tuple(Match))
    advance: Advance = tunable(Advance.LOAD_STORE, values=tuple(Advance))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8, 16))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile(self) -> int:
        """Keys of a block."""
        return self.threads * self.items

    @property
    def bins(self) -> int:
        """Values of a digit."""
        return 1 << self.digit_bits

    def tile_sizes(self, problem: RadixSortProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"rows": 1, "columns": self.tile}

    def blocks(self, problem: RadixSortProblem) -> int:
        """A block for each row."""
        return problem.rows

    def footprint(self, problem: RadixSortProblem) -> Footprint:
        """See `Schedule`."""
        has_values = problem.values is not Values.NONE
        counts = (self.threads // WARP * self.bins + _SUMS) * WORD_BYTES
        shared = counts + self.tile * (problem.dtype.bytes + has_values * _COLUMN_BYTES)
        registers = self.items * (1 + ceil_div(problem.dtype.bytes, WORD_BYTES) + has_values) + _REGISTERS
        return Footprint(self.threads, round_up(shared, 16), registers, min_blocks_per_sm=self.min_blocks_per_sm)
