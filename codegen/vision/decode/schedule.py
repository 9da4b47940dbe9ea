"""How to find boxes."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import DecodeProblem

_REGISTERS = 40


@dataclass(frozen=True)
class DecodeSchedule(Schedule):
    """A launch finds the best class of each point, and how many of a block's points pass; another one places these.

    Attributes:
        points: of a block.
        splits: threads of a point, which have a part of its classes each.
    """

    points: int = tunable(128, values=(32, 64, 128, 256), power_of_two=True, least=WARP)
    splits: int = tunable(2, values=(1, 2, 4, 8), power_of_two=True)

    def tiles(self, problem: DecodeProblem) -> int:
        """Blocks of a picture."""
        return ceil_div(problem.points, self.points)

    def blocks(self, problem: DecodeProblem) -> int:
        """One for each part of each picture's points."""
        return problem.batch * self.tiles(problem)

    def footprint(self, problem: DecodeProblem) -> Footprint:
        """The best logit and its class of each thread, then a sum of each warp."""
        threads = self.points * self.splits
        return Footprint(threads, threads * 2 * WORD_BYTES, _REGISTERS)

    def write_footprint(self) -> Footprint:
        """A thread for each point, and two sums of each warp."""
        return Footprint(self.points, 2 * WARP * WORD_BYTES, _REGISTERS)
