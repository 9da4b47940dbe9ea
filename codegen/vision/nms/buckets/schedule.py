"""How to keep boxes class by class."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.nms.layout import KNOWN_WORDS, MASK_BYTES, TILE, candidate_bytes, pairs_of_tiles
from autotune.codegen.vision.nms.problem import NmsProblem

BUCKETS = 255  # of boxes by their class; one more, in a byte, has those that do not count
PART_TILES = 32  # that a block writes
_REGISTERS = 64


@dataclass(frozen=True)
class BucketsSchedule(Schedule):
    """Boxes are sorted by scores, then by classes, and a cluster of blocks goes through those of each class.

    Attributes:
        threads: of a block.
        chunk: boxes that are compared with each other, and with those that were kept before, at once.
        cluster: blocks, which share the comparisons of a window.
        window: boxes of a class that a cluster goes through at a time.
        blocks_per_image: that compare what a window keeps with what is behind it.
    """

    kernel = "buckets"

    threads: int = tunable(512, values=(128, 256, 512, 1024), power_of_two=True, least=2 * TILE)
    chunk: int = tunable(1024, allowed=(64, 128, 256, 512, 1024), values=(128, 256, 512, 1024))
    cluster: int = tunable(1, values=(1, 2, 4, 8, 16), allowed=(1, 2, 4, 8, 16))
    window: int = tunable(8192, values=(2048, 4096, 8192, 16384, 32768), least=TILE)
    blocks_per_image: int = tunable(528, values=(33, 132, 264, 528, 1056), least=1)

    def blocks(self, problem: NmsProblem) -> int:
        """A thread for each box."""
        return ceil_div(problem.images * problem.candidates, self.threads)

    def gather_blocks(self, problem: NmsProblem) -> int:
        """A warp for each tile of each image."""
        return ceil_div(problem.images * ceil_div(problem.candidates, TILE), self.threads // WARP)

    def sweep_blocks(self, problem: NmsProblem, first: int) -> int:
        """A cluster for each bucket of each image that may have boxes from the first one of a window on."""
        return problem.images * min(BUCKETS, problem.candidates // max(1, first)) * self.cluster

    def windows(self, problem: NmsProblem) -> int:
        """Launches that a class takes which has all boxes."""
        return max(1, ceil_div(problem.candidates, self.window))

    def compare_blocks(self, problem: NmsProblem) -> int:
        """As many for each image, and no more than it has pairs of tiles to compare, a warp for each."""
        pairs = ceil_div(problem.candidates, TILE) * ceil_div(self.window, TILE)
        return problem.images * max(1, min(self.blocks_per_image, ceil_div(pairs, self.threads // WARP)))

    def write_blocks(self, problem: NmsProblem) -> int:
        """One for each part of each image, at least one."""
        return problem.images * max(1, ceil_div(problem.candidates, PART_TILES * TILE))

    def sweep_footprint(self, problem: NmsProblem) -> Footprint:
        """A chunk with what its boxes suppress, and a tile of each warp."""
        tiles = self.chunk // TILE
        boxes = (self.chunk + self.threads) * candidate_bytes(problem)
        masks = pairs_of_tiles(tiles) * TILE * MASK_BYTES + (KNOWN_WORDS + 1) * tiles * WORD_BYTES
        return Footprint(self.threads, round_up(boxes + masks, 16), _REGISTERS, self.cluster)

    def write_footprint(self) -> Footprint:
        """Those of each tile of a part that are kept, and how many are kept ahead of it."""
        return Footprint(self.threads, WORD_BYTES * (PART_TILES + 1))
