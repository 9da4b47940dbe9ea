"""How to keep boxes by many blocks."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.nms.layout import KNOWN_WORDS, MASK_BYTES, TILE, pairs_of_tiles
from autotune.codegen.vision.nms.problem import NmsProblem

_REGISTERS = 48


@dataclass(frozen=True)
class ChunksSchedule(Schedule):
    """Boxes are sorted by a radix sort, and go through in chunks, by two launches each.

    Many blocks compare the boxes of a chunk with each other, and all from there on with those that are kept of the last
    chunk. Then a block for each image finds those that are kept.

    Attributes:
        chunk: boxes.
        threads: of most blocks.
        blocks_per_image: that compare, at most.
        sweep_threads: of a block that finds those that are kept.
    """

    kernel = "chunks"

    chunk: int = tunable(1024, allowed=(64, 128, 256, 512, 1024), values=(128, 256, 512, 1024))
    threads: int = tunable(256, values=(64, 128, 256, 512), power_of_two=True, least=WARP)
    blocks_per_image: int = tunable(528, values=(8, 33, 132, 264, 528, 1056), least=1)
    sweep_threads: int = tunable(512, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)

    @property
    def tiles(self) -> int:
        """Of a chunk."""
        return self.chunk // TILE

    def mask_bytes(self, boxes: int) -> int:
        """Of all pairs of tiles of a chunk, an even number of them."""
        tiles = min(self.tiles, 2 * ceil_div(boxes, 2 * TILE))
        return pairs_of_tiles(tiles) * TILE * MASK_BYTES

    def chunks(self, problem: NmsProblem) -> int:
        """Of an image; one, if it has no box."""
        return max(1, ceil_div(problem.candidates, self.chunk))

    def blocks(self, problem: NmsProblem) -> int:
        """A thread for each box."""
        return ceil_div(problem.images * problem.candidates, self.threads)

    def gather_blocks(self, problem: NmsProblem) -> int:
        """A warp for each tile of each image."""
        return ceil_div(problem.images * ceil_div(problem.candidates, TILE), self.threads // WARP)

    def compare_blocks(self, problem: NmsProblem) -> int:
        """As many for each image, and no more than it has pairs of tiles to compare, a warp for each."""
        all_tiles = ceil_div(problem.candidates, TILE)
        tiles = min(self.tiles, all_tiles + 1)
        useful = ceil_div(pairs_of_tiles(tiles) + tiles * all_tiles, self.threads // WARP)
        return problem.images * max(1, min(self.blocks_per_image, useful))

    def sweep_footprint(self) -> Footprint:
        """What boxes of a chunk suppress, which are out, and which are kept."""
        shared = self.mask_bytes(self.chunk) + (KNOWN_WORDS + 1) * self.tiles * WORD_BYTES
        return Footprint(self.sweep_threads, round_up(shared, 16), _REGISTERS)
