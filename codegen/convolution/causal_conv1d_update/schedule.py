"""How to compute a causal_conv1d_update."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import CausalConv1dUpdateProblem


@dataclass(frozen=True)
class CausalConv1dUpdateSchedule(Schedule):
    """A thread has a channel of a request.

    Attributes:
        threads: of a block.
    """

    threads: int = tunable(128, values=(32, 64, 128, 256, 512), power_of_two=True, least=32)

    def blocks(self, problem: CausalConv1dUpdateProblem) -> int:
        """As many as the channels of all requests take."""
        return ceil_div(problem.requests * problem.channels, self.threads)
