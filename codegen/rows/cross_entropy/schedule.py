"""How to compute the loss of rows of logits, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.rows.schedule import RowSchedule, RowStorage
from autotune.codegen.rows.softmax.schedule import Passes

_BARRIER_BYTES = 16
_PASSES = (Passes.TWO, Passes.ONLINE)


@dataclass(frozen=True)
class CrossEntropyBackwardSchedule(RowSchedule):
    """A row is read and its gradient is written."""

    reductions = 0

    def footprint(self, problem: Any) -> Footprint:
        """See `Schedule`; a row in registers stays as it was loaded until it is written."""
        footprint = super().footprint(problem)
        held = self.hold is RowStorage.REGISTERS and not self.reductions
        return replace(footprint, wanted_registers=footprint.registers) if held else footprint


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

    @property
    def stores_together(self) -> bool:
        """See `RowSchedule`; of what was copied in one go, a thread visits what the row has."""
        return super().stores_together and not self.bulk
