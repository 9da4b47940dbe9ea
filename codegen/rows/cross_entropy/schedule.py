"""How to compute the loss of rows of logits, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import tunable
from ...footprint import Footprint
from ..schedule import RowSchedule
from ..softmax.schedule import Passes
from .logits_problem import LogitsProblem


@dataclass(frozen=True)
class CrossEntropyBackwardSchedule(RowSchedule):
    """A row is read and its gradient is written."""

    reductions = 0

    def reach_in(self, problem: LogitsProblem) -> int:
        """`reach` of the rows of x."""
        return self.reach(problem.columns, problem.vector_width("x"))

    def rounds_in(self, problem: LogitsProblem) -> int:
        """Vectors of a thread in a row."""
        return self.rounds(self.reach_in(problem))

    def footprint(self, problem: LogitsProblem) -> Footprint:
        """See `Schedule`."""
        return self.row_footprint(self.reach_in(problem), problem.dtype.bytes)


@dataclass(frozen=True)
class CrossEntropySchedule(CrossEntropyBackwardSchedule):
    """A row is reduced to its maximum and its sum of exponentials; for a gradient, it is read again and written.

    Attributes:
        passes: over a row before its loss is known: ``two``, the maximum and then the sum, or ``online``, both at once.
    """

    reductions = 3  # of the maximum, the powers, and all logits where labels are smoothed

    passes: Passes = tunable(Passes.TWO, values=tuple(Passes))
