"""How to keep boxes by many blocks."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.nms.layout import MASK_BYTES, TILE, candidate_bytes
from autotune.codegen.vision.nms.problem import NmsProblem

_REGISTERS = 40
_VOTES = 16  # bytes: which boxes of a tile count, in front of them


@dataclass(frozen=True)
class ChunksSchedule(Schedule):
    """Boxes are sorted by a radix sort, and go through in chunks: all pairs of a chunk are compared by many blocks, a
    block for each image finds those that are kept, and many blocks compare them with the boxes behind the chunk.

    Attributes:
        chunk: boxes.
        threads: of most blocks.
    """

    kernel = "chunks"

    chunk: int = tunable(2048, values=(256, 512, 1024, 2048, 4096, 8192), power_of_two=True, least=TILE)
    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=TILE)

    @property
    def tiles(self) -> int:
        """Of a chunk."""
        return self.chunk // TILE

    def chunks(self, problem: NmsProblem) -> int:
        """Of an image; one, if it has no box."""
        return max(1, ceil_div(problem.candidates, self.chunk))

    def blocks(self, problem: NmsProblem) -> int:
        """A thread for each box."""
        return ceil_div(problem.images * problem.candidates, self.threads)

    def mask_blocks(self, problem: NmsProblem) -> int:
        """One for each pair of tiles of a chunk."""
        return problem.images * self.tiles * self.tiles

    def mask_footprint(self, problem: NmsProblem) -> Footprint:
        """A thread for each box of a tile, and the boxes of another one."""
        return Footprint(TILE, _VOTES + TILE * candidate_bytes(problem), _REGISTERS)

    def sweep_footprint(self) -> Footprint:
        """What is kept of a chunk, and what the boxes of a tile suppress."""
        shared = (self.tiles + TILE) * MASK_BYTES + 2 * WORD_BYTES
        return Footprint(self.threads, round_up(shared, 16), _REGISTERS)

    def drop_blocks(self, problem: NmsProblem) -> int:
        """A thread for each box behind the first chunk."""
        return problem.images * ceil_div(max(0, problem.candidates - self.chunk), self.threads)

    def drop_footprint(self, problem: NmsProblem) -> Footprint:
        """Boxes that are kept, one for each thread."""
        return Footprint(self.threads, self.threads * candidate_bytes(problem), _REGISTERS)
