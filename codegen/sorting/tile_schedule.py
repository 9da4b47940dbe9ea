"""How tiles are sorted and merged, whatever is sorted."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, doublings, round_up
from autotune.codegen.model.schedule import Schedule, Specialize
from autotune.codegen.source.kernel_source import Entry

from .values import Values

_BOUNDS = 16  # bytes of shared memory for the bounds of a tile
_PLACE_BYTES = 2  # of a key's place in shared memory
_REGISTERS = 24  # beside keys and places, for each word of a key

_DIVIDING = 128  # threads of a block that finds parts of tiles
_PART_BYTES = 8
PART_LANES = (4, 8, 16, 32)  # that look for one of them


@dataclass(frozen=True)
class TileSchedule(Schedule):
    """A block has a tile of keys, of which each thread has as many.

    Attributes:
        threads: of a block.
        items: keys of a thread; of an odd number, the lanes' first keys are in different banks of shared memory.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(64, 128, 256, 512), power_of_two=True, least=64)
    items: int = tunable(17, values=(5, 7, 9, 11, 13, 15, 17, 21, 25))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 5, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile(self) -> int:
        """Keys of a block."""
        return self.threads * self.items

    def tiles(self, keys: int) -> int:
        """Tiles of so many keys."""
        return ceil_div(keys, self.tile)

    def levels(self, keys: int) -> int:
        """How often runs of two tiles, of four, … are merged until so many keys are one."""
        return doublings(self.tiles(keys))

    def tile_footprint(self, dtype: DType, values: Values, beside: int = 0) -> Footprint:
        """What a block takes that sorts or merges a tile of keys, with so many bytes of shared memory besides."""
        words, places = ceil_div(dtype.bytes, WORD_BYTES), values is not Values.NONE
        shared = _BOUNDS + self.tile * dtype.bytes + WIDEST_ACCESS + self.tile * _PLACE_BYTES * places
        registers = self.items * (words + places) + _REGISTERS * words
        return Footprint(
            self.threads, round_up(shared, 8) + beside, registers, min_blocks_per_sm=self.min_blocks_per_sm
        )


def dividing(name: str, tiles: int, lanes: int) -> Entry:
    """The entry that finds the parts of so many tiles, which are `part_bytes` of the workspace."""
    return Entry(name, "divide_runs", ceil_div(tiles, _DIVIDING // lanes), Footprint(_DIVIDING))


def part_bytes(tiles: int) -> int:
    """Of the workspace, for the parts of so many tiles."""
    return _PART_BYTES * tiles
