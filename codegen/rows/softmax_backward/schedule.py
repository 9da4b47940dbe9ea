"""How to compute the gradient of a softmax."""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import tunable
from ...footprint import Footprint
from ..schedule import Hold, RowSchedule
from .problem import SoftmaxBackwardProblem


@dataclass(frozen=True)
class SoftmaxBackwardSchedule(RowSchedule):
    """Rows of y and dy are reduced to one sum, then read again, and dx is written.

    Attributes:
        hold: where they wait in between: ``registers``, or ``reload`` for rows of any length.
    """

    arrays = 2

    hold: Hold = tunable(Hold.REGISTERS, values=(Hold.REGISTERS, Hold.RELOAD))

    def reach_in(self, problem: SoftmaxBackwardProblem) -> int:
        """`reach` of the rows that are read."""
        return self.reach(problem.columns, problem.vector_width("x"))

    def rounds_in(self, problem: SoftmaxBackwardProblem) -> int:
        """Vectors of a thread in a row of an array."""
        return self.rounds(self.reach_in(problem))

    def footprint(self, problem: SoftmaxBackwardProblem) -> Footprint:
        """See `Schedule`."""
        return self.row_footprint(self.reach_in(problem), problem.dtype.bytes)
