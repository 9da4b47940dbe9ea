"""How to transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log2, prod
from typing import ClassVar

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import BANKS, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import ELEMENT_BYTES, TransposeProblem

# Beside the loaded rows, with which ptxas still keeps all loads of a 64×64 tile in flight.
_ADDRESS_REGISTERS = 16
# ptxas takes the most of these (435 kernels for an H200: a mean log error of 0.09). For a thread that loads, and for
# each word of its rows, more where elements narrower than a register change places, and fewer where stores are aligned;
_WANTED_LOADING, _WANTED_OF_WORD, _WANTED_OF_NARROW = 20.0, 1.55, 2.0
_WANTED_ALIGNED, _WANTED_OF_ALIGNED = 13.0, 1.3
# for one that stores, and for each store, whose addresses XOR keeps apart, and each of its words;
_WANTED_STORING, _WANTED_OF_STORE, _WANTED_OF_SWIZZLED, _WANTED_OF_STORED = 11.0, 3.1, 5.5, 0.6
# and for one at an edge, and for each doubling of its elements.
_WANTED_AT_EDGE, _WANTED_OF_DOUBLING = 45.0, 6.0


@dataclass(frozen=True)
class TransposeSchedule(Schedule):
    """A block moves one tile of A through shared memory; each of its threads moves micro-tiles of that tile.

    A micro-tile is vector_store rows × vector_load columns: its rows are vector loads from A, its columns, transposed
    in registers, are vector stores to shared memory and later to B.

    Where rows of B begin within sectors, tiles with the same rows of A for all of them store sectors in parts, which L2
    has to merge. With `align_stores`, what a tile stores of each row of B begins and ends on a boundary instead. Tiles
    then overlap by as many rows of A, and micro-tiles are one row high. With `align_loads`, what a tile loads of each
    row of A begins on a boundary, so that vectors may be wide, and tiles overlap by as many columns of A.

    Attributes:
        tile_m, tile_n: rows and columns of the tile that a block loads.
        rows_per_thread: rows of A that a thread loads before it stores any: its loads in flight.
        vector_load, vector_store: elements of one global load along n, and of one global store along m.
        pad: elements put behind each group of columns of the tile in shared memory: vector_load, which a thread writes
            together, or with aligned stores as many as tiles overlap by.
        swizzle: shift these rows by XOR instead.
        align_stores: bytes that the stores of a tile begin at a multiple of, in every row of B; 0 if as they happen to.
        align_loads: bytes that the loads of a tile begin at a multiple of, in every row of A; 0 if as they happen to.
        raster_group: tiles are taken in groups of this many along m, column by column in a group.
        streaming: mark loads and stores as used once, so that caches let go of them first.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    renamed: ClassVar[Mapping[str, str]] = {"group_m": "raster_group", "min_blocks": "min_blocks_per_sm"}

    tile_m: int = tunable(32)
    tile_n: int = tunable(32)
    rows_per_thread: int = tunable(4)
    vector_load: int = tunable(1, values=ELEMENT_BYTES, power_of_two=True)
    vector_store: int = tunable(1, values=ELEMENT_BYTES, power_of_two=True)
    pad: int = tunable(0, least=0)
    swizzle: bool = tunable(False)
    align_stores: int = tunable(0, least=0, allowed=(0, 32, 64, 128), values=(0, 32, 64, 128))
    align_loads: int = tunable(0, least=0, allowed=(0, 4, 8, 16), values=(0, 4, 8, 16))
    raster_group: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 256))
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: TransposeProblem) -> Footprint:
        """See `Schedule`; registers are the rows that a thread loads before it stores any, and addresses."""
        row_registers = max(1, self.vector_load * problem.element_bytes // WORD_BYTES)
        words = self.rows_per_thread * row_registers
        return Footprint(
            self.threads,
            self.shared_bytes(problem.element_bytes),
            words + _ADDRESS_REGISTERS,
            min_blocks_per_sm=self.min_blocks_per_sm,
            wanted_registers=floor(self._wanted_registers(problem, words)),
        )

    def _wanted_registers(self, problem: TransposeProblem, words: int) -> float:
        """Registers that ptxas takes of a thread that loads so many words, if nothing caps them."""
        of_word = _WANTED_OF_NARROW if problem.element_bytes < WORD_BYTES else _WANTED_OF_WORD
        loading = _WANTED_LOADING + of_word * words
        if self.align_stores:
            loading = _WANTED_ALIGNED + _WANTED_OF_ALIGNED * words
        storing = self.storing_registers(problem.element_bytes)
        if not self.ragged(problem):
            return max(loading, storing)
        return max(loading, storing, _WANTED_AT_EDGE + _WANTED_OF_DOUBLING * log2(problem.element_bytes))

    def storing_registers(self, element_bytes: int) -> float:
        """Registers that ptxas takes of a thread for its stores to B, if nothing caps them."""
        of_store = _WANTED_OF_SWIZZLED if self.swizzle else _WANTED_OF_STORE
        of_store += _WANTED_OF_STORED * max(1, self.vector_store * element_bytes // WORD_BYTES)
        return _WANTED_STORING + of_store * self.stores_per_thread

    @property
    def stores_per_thread(self) -> int:
        """Vectors of B that a thread stores."""
        return ceil_div(self.tile_m * self.tile_n, self.threads * self.vector_store)

    def blocks(self, problem: TransposeProblem) -> int:
        """Tiles of the whole batch, one block each."""
        return prod(self.tiles(problem)) * problem.batch

    @property
    def micro_tiles(self) -> int:
        """Micro-tiles of a thread, one below the other."""
        return self.rows_per_thread // self.vector_store

    @property
    def layout(self) -> str:
        """How the tile lies in shared memory: ``plain``, ``padded`` or ``swizzled``."""
        return "swizzled" if self.swizzle else "padded" if self.pad else "plain"

    @property
    def lanes_n(self) -> int:
        """Threads next to each other along n while they load."""
        return self.tile_n // self.vector_load

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.lanes_n * (self.tile_m // self.rows_per_thread)

    def overlaps(self, element_bytes: int) -> tuple[int, int]:
        """Rows and columns of A that a tile shares with the next one below it and beside it."""
        return self.align_stores // element_bytes, self.align_loads // element_bytes

    def tiles(self, problem: TransposeProblem) -> tuple[int, int]:
        """Tiles of a matrix along m and along n."""
        overlap_m, overlap_n = self.overlaps(problem.element_bytes)
        # Stores that begin on a boundary begin up to `overlap_m` - 1 elements before the matrix.
        tiles_m = ceil_div(problem.m + max(0, overlap_m - 1), self.tile_m - overlap_m)
        return tiles_m, ceil_div(problem.n, self.tile_n - overlap_n)

    def ragged(self, problem: TransposeProblem) -> bool:
        """Whether some vectors of a row are partly outside of the matrix or of a tile."""
        aligned = self.align_stores > 0 or self.align_loads > 0
        return aligned or problem.m % self.vector_store != 0 or problem.n % self.vector_load != 0

    def shared_bytes(self, element_bytes: int) -> int:
        """Bytes of the tile in shared memory, padding and the shifts of its rows included."""
        overlap_m, _ = self.overlaps(element_bytes)
        groups = ceil_div(self.tile_n, overlap_m or self.vector_load)
        return (self.tile_n * (self.tile_m + overlap_m) + groups * self.pad) * element_bytes

    def group_shift(self, element_bytes: int) -> int:
        """Elements by which each row group must move against the one before it, so that no two threads meet in a bank.

        While a warp stores micro-tiles, shared memory serves as many threads at once as it has banks for: those of
        `lanes_n` row groups, or fewer; threads of one row group are neighbours in their row anyway. Rows of less
        than all banks are shifted well by padding, but not by XOR.
        """
        vector_bytes = self.vector_store * element_bytes
        served = min(WARP, BANKS * WORD_BYTES // vector_bytes)
        vectors = max(1, WORD_BYTES // vector_bytes, served // self.lanes_n)
        return vectors * self.vector_store
