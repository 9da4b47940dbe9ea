"""How to put two attentions together."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import AttentionMergeProblem


@dataclass(frozen=True)
class AttentionMergeSchedule(Schedule):
    """A thread has a vector of a row.

    Attributes:
        threads: of a block.
        vector_width: elements of an access.
    """

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True, short="T")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8), short="V")

    def blocks(self, problem: AttentionMergeProblem) -> int:
        """As many as have all vectors."""
        return ceil_div(problem.rows * (problem.head_dim // self.vector_width), self.threads)
