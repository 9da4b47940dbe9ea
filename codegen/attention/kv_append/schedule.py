"""How to append to a cache."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import KvAppendProblem


@dataclass(frozen=True)
class KvAppendSchedule(Schedule):
    """A thread moves a vector of a head of k or v; a warp has a head, where that is rotated or has a scale of its own.

    Attributes:
        threads: of a block.
        vector_width: elements of an access.
    """

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True, least=WARP, short="T")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8), short="V")

    def blocks(self, problem: KvAppendProblem) -> int:
        """As many as have all vectors, or all heads."""
        if problem.by_head:
            heads = problem.tokens * (2 * problem.heads + problem.heads_q)
            return ceil_div(heads, self.threads // WARP)
        of_head = (problem.head_dim + problem.value_elements) // self.vector_width
        return ceil_div(problem.tokens * problem.heads * of_head, self.threads)
