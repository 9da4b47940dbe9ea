"""How to find boxes."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import Detections

_REGISTERS = 40
_BEST_BYTES = 2 * WORD_BYTES  # a logit and its class


@dataclass(frozen=True)
class DecodeSchedule(Schedule):
    """A launch finds the best class of each point, and how many of a block's points pass; another one places these.

    Attributes:
        points: of a block.
        splits: threads of a point, which have a part of its classes each.
        vector_width: neighbours of a thread, whose logits it loads together.
    """

    points: int = tunable(128, values=(32, 64, 128, 256, 512), power_of_two=True, least=WARP)
    splits: int = tunable(2, values=(1, 2, 4, 8, 16), power_of_two=True)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)

    @property
    def threads(self) -> int:
        """Of a block that finds the best classes."""
        return self.points // self.vector_width * self.splits

    def tiles(self, problem: Detections) -> int:
        """Blocks of a picture."""
        return ceil_div(problem.points, self.points)

    def blocks(self, problem: Detections) -> int:
        """One for each part of each picture's points."""
        return problem.batch * self.tiles(problem)

    def footprint(self, problem: Detections) -> Footprint:
        """The best logit and its class of each thread's points, then a sum of each warp."""
        shared = max(self.points * self.splits * _BEST_BYTES, WARP * WORD_BYTES)
        return Footprint(self.threads, shared, _REGISTERS + 2 * self.vector_width)

    def write_footprint(self) -> Footprint:
        """A thread for each point, two sums of each warp, and the points that pass."""
        return Footprint(self.points, (2 * WARP + self.points) * WORD_BYTES, _REGISTERS)
