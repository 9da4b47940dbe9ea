"""How to keep boxes by a block for each image."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.nms.layout import ENTRY_BYTES, MASK_BYTES, TILE, candidate_bytes
from autotune.codegen.vision.nms.problem import NmsProblem

_REGISTERS = 40


@dataclass(frozen=True)
class BlockSchedule(Schedule):
    """A block sorts the scores of an image, and goes through its boxes 64 at a time, in shared memory.

    Attributes:
        threads: of a block.
        slots: scores that it sorts, at least those of an image.
    """

    kernel = "block"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=TILE)
    slots: int = tunable(1024, values=(64, 128, 256, 512, 1024, 2048, 4096), power_of_two=True, least=TILE)

    def tile_sizes(self, problem: NmsProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"images": 1, "candidates": self.slots}

    def blocks(self, problem: NmsProblem) -> int:
        """One for each image."""
        return problem.images

    def footprint(self, problem: NmsProblem) -> Footprint:
        """Scores in order, the boxes that are kept, and a tile with what its boxes suppress."""
        boxes = (problem.most_kept + TILE) * candidate_bytes(problem)
        shared = self.slots * ENTRY_BYTES + boxes + TILE * MASK_BYTES + 2 * WORD_BYTES
        return Footprint(self.threads, round_up(shared, 16), _REGISTERS)
