"""How to bring boxes back to their pictures."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import ScaleBoxesProblem


@dataclass(frozen=True)
class ScaleBoxesSchedule(Schedule):
    """A thread has a box.

    Attributes:
        threads: of a block.
    """

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True)

    def blocks(self, problem: ScaleBoxesProblem) -> int:
        """A thread for each box."""
        return ceil_div(problem.batch * problem.count, self.threads)
