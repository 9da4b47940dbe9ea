"""How to keep boxes by a block for each image, or a cluster of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.nms.layout import (
    ENTRY_BYTES,
    KNOWN_WORDS,
    MASK_BYTES,
    TILE,
    candidate_bytes,
    pairs_of_tiles,
)
from autotune.codegen.vision.nms.problem import NmsProblem

_LEAST = 2 * TILE  # boxes of a chunk, scores that are sorted
_REGISTERS = 48


@dataclass(frozen=True)
class BlockSchedule(Schedule):
    """The blocks of an image sort its scores, each all of them, and go through its boxes in shared memory.

    Attributes:
        threads: of a block.
        slots: scores that are sorted, at least those of an image.
        chunk: boxes that are compared with each other, and with those that were kept before, at once.
        cluster: blocks of an image, which share the comparisons.
    """

    kernel = "block"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=2 * TILE)
    slots: int = tunable(1024, values=(64, 128, 256, 512, 1024, 2048, 4096), power_of_two=True, least=_LEAST)
    chunk: int = tunable(64, values=(64, 128, 256, 512, 1024), power_of_two=True, least=_LEAST)
    cluster: int = tunable(1, values=(1, 2, 4, 8, 16), allowed=(1, 2, 4, 8, 16))

    def tile_sizes(self, problem: NmsProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"images": 1, "candidates": self.slots}

    def blocks(self, problem: NmsProblem) -> int:
        """A cluster for each image."""
        return problem.images * self.cluster

    def footprint(self, problem: NmsProblem) -> Footprint:
        """Scores in order, the boxes that are kept, and a chunk with what its boxes suppress."""
        tiles = self.chunk // TILE
        boxes = (problem.most_kept + self.chunk) * candidate_bytes(problem)
        masks = pairs_of_tiles(tiles) * TILE * MASK_BYTES + (KNOWN_WORDS + 1) * tiles * WORD_BYTES
        shared = self.slots * ENTRY_BYTES + boxes + masks
        return Footprint(self.threads, round_up(shared, 16), _REGISTERS, self.cluster)
