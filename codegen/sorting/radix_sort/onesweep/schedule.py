"""How to sort by decoupled look-back."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize
from autotune.codegen.sorting.radix_sort.match import DIGIT_BITS, Advance, Match
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem

_BESIDE = 32  # bytes of shared memory for the ticket and the digits that vary
_SUMS = 32  # of warps
_COUNTER_BYTES = 16  # of the workspace
_HISTOGRAM_LOADS = 8  # keys of a thread at once
_MOST_COUNTED = 1 << 31  # keys of a block of the histogram
_REGISTERS = 8  # beside keys and places; a few that spill cost less than fewer threads


@dataclass(frozen=True)
class OnesweepSchedule(Schedule):
    """A launch counts all digits; then there is one for each digit, of a block for each tile.

    Attributes:
        threads: of a block.
        items: keys of a thread.
        digit_bits: bits of a digit.
        match: how lanes with the same digit find each other.
        advance: how a warp's places of a digit advance.
        window: earlier tiles that a thread looks at at once.
        histogram_threads: of a block that counts digits.
        histogram_copies: of its table, which its lanes share.
        histogram_blocks: of the launch that counts, at most, if the rows are no more.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "onesweep"

    threads: int = tunable(512, values=(128, 256, 384, 512, 768, 1024), least=4 * WARP)
    items: int = tunable(23, values=(4, 6, 8, 11, 15, 16, 18, 20, 23, 26, 30))
    digit_bits: int = tunable(8, values=DIGIT_BITS, allowed=DIGIT_BITS, short="bits")
    match: Match = tunable(Match.BALLOTS, values=tuple(Match))
    advance: Advance = tunable(Advance.LOAD_STORE, values=tuple(Advance))
    window: int = tunable(2, values=(1, 2, 4, 8, 16))
    histogram_threads: int = tunable(512, values=(256, 512, 1024), least=4 * WARP)
    histogram_copies: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    histogram_blocks: int = tunable(528, values=(132, 264, 528, 1056))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
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
        return {"columns": self.tile}

    def tiles(self, problem: RadixSortProblem) -> int:
        """Tiles of a row."""
        return ceil_div(problem.columns, self.tile)

    def passes(self, problem: RadixSortProblem) -> int:
        """Digits of a key."""
        return ceil_div(problem.last_bit - problem.begin_bit, self.digit_bits)

    def blocks(self, problem: RadixSortProblem) -> int:
        """A block for each tile."""
        return problem.rows * self.tiles(problem)

    def pieces(self, problem: RadixSortProblem) -> int:
        """Blocks that count the digits of a row."""
        useful = ceil_div(problem.columns, self.histogram_threads * _HISTOGRAM_LOADS)
        shared = max(1, self.histogram_blocks // max(1, problem.rows))
        return max(min(useful, shared), ceil_div(problem.columns, _MOST_COUNTED))

    def footprint(self, problem: RadixSortProblem) -> Footprint:
        """See `Schedule`; a thread has its keys in registers, then its values, and where they go."""
        count = 8 if problem.wide else WORD_BYTES
        counts = self.threads // WARP * self.bins * WORD_BYTES
        value, key = problem.carried_bytes, problem.dtype.bytes
        staged = round_up(max(counts, self.tile * (key + value)), 16)
        shared = round_up(staged + (_SUMS + 2 * self.bins) * count + _BESIDE, 16)
        registers = self.items * (1 + ceil_div(max(key, value), WORD_BYTES)) + _REGISTERS
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def histogram_footprint(self, problem: RadixSortProblem) -> Footprint:
        """Of a block that counts digits."""
        shared = self.passes(problem) * self.bins * self.histogram_copies * WORD_BYTES
        return Footprint(self.histogram_threads, shared)

    def workspace_bytes(self, problem: RadixSortProblem) -> int:
        """What launches leave for others: counts and places of digits, and a word of each tile for each digit."""
        count = 8 if problem.wide else WORD_BYTES
        tables = 2 * problem.rows * self.passes(problem) * self.bins * count
        words = self.blocks(problem) * self.bins * 2 * count
        return _COUNTER_BYTES + tables + words + problem.rows * 2 * WORD_BYTES
