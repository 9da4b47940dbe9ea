"""How to compute a softmax of rows that many blocks share."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import Passes
from autotune.codegen.rows.split.schedule import SplitRowSchedule

_SUM_BYTES = 8  # the maximum and the sum of a piece


@dataclass(frozen=True)
class SplitSchedule(SplitRowSchedule):
    """Of each piece, the maximum and the sum of exponentials; then the row is written."""

    passes = Passes.ONLINE
    skip = False

    def workspace_bytes(self, problem: SoftmaxProblem) -> int:
        """The sum of each piece."""
        return _SUM_BYTES * self.blocks(problem)
