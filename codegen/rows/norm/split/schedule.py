"""How to normalise rows that many blocks share."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.norm.schedule import Passes, RmsNormSchedule
from autotune.codegen.rows.split.schedule import SplitRowSchedule

_SQUARES_BYTES, _MOMENTS_BYTES = 4, 16  # of a piece; count, mean, squares, and what they are differences from


@dataclass(frozen=True)
class NormSplitSchedule(SplitRowSchedule):
    """Of each piece, the sum of squares, or the mean and that of differences from it; then the row is written."""

    piece_type = RmsNormSchedule
    passes = Passes.WELFORD

    def workspace_bytes(self, problem: NormProblem) -> int:
        """The sums of each piece."""
        return (_MOMENTS_BYTES if problem.centered else _SQUARES_BYTES) * self.blocks(problem)
