"""How to transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...schedule import Schedule, Specialize

WARP = 32
BANK_BYTES = 4
BANKS = 32


@dataclass(frozen=True)
class TransposeSchedule(Schedule):
    """A block moves one tile of A through shared memory; each of its threads moves micro-tiles of that tile.

    A micro-tile is vector_store rows × vector_load columns: its rows are vector loads from A, its columns, transposed
    in registers, are vector stores to shared memory and later to B.

    Attributes:
        tile_m, tile_n: rows and columns of the tile; powers of two.
        rows_per_thread: rows of A that a thread loads before it stores any: its loads in flight.
        vector_load, vector_store: elements of one global load along n, and of one global store along m.
        pad: elements put behind each vector_load rows of the tile in shared memory, which a thread writes together.
        swizzle: shift these rows by XOR instead.
        raster_group: tiles are taken in groups of this many along m, column by column in a group.
        streaming: mark loads and stores as used once, so that caches let go of them first.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    renamed: ClassVar[Mapping[str, str]] = {"group_m": "raster_group", "min_blocks": "min_blocks_per_sm"}

    tile_m: int = 32
    tile_n: int = 32
    rows_per_thread: int = 4
    vector_load: int = 1
    vector_store: int = 1
    pad: int = 0
    swizzle: bool = False
    raster_group: int = 1
    streaming: bool = False
    min_blocks_per_sm: int = 1
    specialize: Specialize = Specialize.NONE

    @property
    def lanes_n(self) -> int:
        """Threads next to each other along n while they load."""
        return self.tile_n // self.vector_load

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.lanes_n * (self.tile_m // self.rows_per_thread)

    @property
    def tile_elements(self) -> int:
        """Elements of the tile in shared memory, padding included."""
        return self.tile_n * self.tile_m + self.lanes_n * self.pad

    def shared_bytes(self, element_bytes: int) -> int:
        """Bytes of the tile in shared memory."""
        return self.tile_elements * element_bytes

    def group_shift(self, element_bytes: int) -> int:
        """Elements by which each row group must move against the one before it, so that no two threads meet in a bank.

        While a warp stores micro-tiles, shared memory serves as many threads at once as it has banks for: those of
        `lanes_n` row groups, or fewer; threads of one row group are neighbours in their row anyway. Rows of less
        than all banks are shifted well by padding, but not by XOR.
        """
        vector_bytes = self.vector_store * element_bytes
        served = min(WARP, BANKS * BANK_BYTES // vector_bytes)
        vectors = max(1, BANK_BYTES // vector_bytes, served // self.lanes_n)
        return vectors * self.vector_store
