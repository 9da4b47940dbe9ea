"""How to compute the loss of rows of logits, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.rows.schedule import RowSchedule
from autotune.codegen.rows.softmax.schedule import Passes

_BARRIER_BYTES = 16
_PASSES = (Passes.TWO, Passes.ONLINE)


@dataclass(frozen=True)
class CrossEntropyBackwardSchedule(RowSchedule):
    """A row is read and its gradient is written."""

    reductions = 0


@dataclass(frozen=True)
class CrossEntropySchedule(CrossEntropyBackwardSchedule):
    """A row is reduced to its maximum and its sum of exponentials; for a gradient, it is read again and written.

    Attributes:
        passes: over a row before its loss is known: ``two``, the maximum and then the sum, or ``online``, both at once.
        early: load a row before its target is known, and in vain if the row is ignored.
        bulk: one thread has a row in shared memory copied there, in one go for each round.
    """

    own_registers = 23
    reductions = 3  # the maximum, the powers, and all logits where labels are smoothed

    passes: Passes = tunable(Passes.TWO, values=_PASSES, allowed=_PASSES)
    early: bool = tunable(False, values=(False, True))
    bulk: bool = tunable(False, values=(False, True))

    @property
    def held_at(self) -> int:
        """See `RowSchedule`; ahead of them is the barrier of bulk copies."""
        return super().held_at + _BARRIER_BYTES * self.bulk
