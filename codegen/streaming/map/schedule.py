"""How to compute a map."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import MapProblem

_OTHER_REGISTERS = 20  # addresses and bounds
# Registers that ptxas takes: of a thread, of each word that it loads, of each element of a vector, and of the place of
# each of its vectors where rows are apart.
_WANTED_REGISTERS, _WANTED_OF_WORD, _WANTED_OF_ELEMENT, _WANTED_OF_PLACE = 4, 1.45, 2, 6


class LoadPolicy(StrEnum):
    """What caches do with what is read once."""

    CACHED = "cached"
    STREAMING = "streaming"  # L1 and L2 let go of it first
    NO_ALLOCATE = "no_allocate"  # L1 keeps none of it


@dataclass(frozen=True)
class MapSchedule(Schedule):
    """A thread loads some vectors of each array, computes, and stores as many.

    Arrays without gaps are one row, whose vectors the threads of a block take in turn. Of several rows, a block takes a
    tile: `threads_per_row` vectors along them, and from as many rows as its threads and their `items` make.

    Attributes:
        threads: of a block.
        threads_per_row: of a block that work on one row; all of them where there is only one.
        vector_width: results that a thread computes from one vector of each array. Accesses are of 16 bytes at most,
            and aligned: of rows that begin between vectors, the first and the last elements are moved one by one.
        items: vectors of each array that a thread loads before it computes.
        grid_blocks: blocks of a grid that take tiles in turn; 0 for a block for each tile.
        load_policy: what caches do with what is loaded.
        streaming_stores: tell the caches that results are not used soon.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row: int = tunable(256, values=(8, 16, 32, 64, 128, 256, 512), power_of_two=True, short="TPR")
    vector_width: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    items: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    grid_blocks: int = tunable(0, values=(0,), least=0)
    load_policy: LoadPolicy = tunable(LoadPolicy.CACHED, values=tuple(LoadPolicy))
    streaming_stores: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def rows_at_once(self) -> int:
        """Rows that a block has in one vector of each thread, if there are so many."""
        return self.threads // self.threads_per_row

    def tile_columns(self, problem: MapProblem) -> int:
        """Results along a row that a block computes at once."""
        return self.threads_per_row * self.vector_width * (self.items if problem.collapsed.rows == 1 else 1)

    def tile_rows(self, problem: MapProblem) -> int:
        """Rows of a tile."""
        return 1 if problem.collapsed.rows == 1 else self.rows_at_once * self.items

    def skewed(self, problem: MapProblem) -> bool:
        """Whether a row of an array may begin within a vector."""
        return not problem.collapsed.aligned(self.vector_width)

    def tiles(self, problem: MapProblem) -> int:
        """Tiles of the problem; none if there is nothing to compute."""
        whole = problem.collapsed
        reach = whole.columns + (self.vector_width - 1 if self.skewed(problem) else 0)
        along = ceil_div(reach, self.tile_columns(problem)) if problem.columns else 0
        return along * ceil_div(whole.rows, self.tile_rows(problem))

    def blocks(self, problem: MapProblem) -> int:
        """Blocks of the grid."""
        tiles = self.tiles(problem)
        return min(tiles, self.grid_blocks) if self.grid_blocks else tiles

    def item_bytes(self, problem: MapProblem) -> int:
        """Bytes of the vectors that a thread loads for one vector of results."""
        read = (name for name in problem.stored if name != "y")
        return sum(
            self.vector_width * problem.element_bytes_of(x) * (2 if x == "x" and problem.gate.packed else 1)
            for x in read
        )

    def footprint(self, problem: MapProblem) -> Footprint:
        """See `Schedule`; registers are the vectors that are in flight, and those that are computed with."""
        words = ceil_div(self.items * self.item_bytes(problem), WORD_BYTES)
        registers = words + 2 * self.vector_width + _OTHER_REGISTERS
        places = _WANTED_OF_PLACE * self.items if problem.collapsed.rows > 1 else 0
        wanted = floor(_WANTED_REGISTERS + places + _WANTED_OF_WORD * words + _WANTED_OF_ELEMENT * self.vector_width)
        return Footprint(self.threads, 0, registers, min_blocks_per_sm=self.min_blocks_per_sm, wanted_registers=wanted)
