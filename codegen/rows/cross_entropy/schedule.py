"""How to compute the loss of rows of logits, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor
from typing import Any

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.rows.schedule import RowSchedule, RowStorage
from autotune.codegen.rows.softmax.schedule import Passes

_BARRIER_BYTES = 16
# Registers that ptxas takes besides for rows read again that begin between vectors: of 512 threads, 70 in place of 56,
# so that an SM has one block in place of two, which took 17 % more time on an H200.
_PARTLY_REGISTERS = 14
# Registers that ptxas takes for a loss: of a thread, more if its row is in shared memory; of each element of a vector,
# and of each element that it holds or loads ahead.
_WANTED_REGISTERS, _WANTED_SHARED, _WANTED_OF_ELEMENT, _WANTED_AHEAD = 14, 18, 2.7, 0.9
_PASSES = (Passes.TWO, Passes.ONLINE)


@dataclass(frozen=True)
class CrossEntropyBackwardSchedule(RowSchedule):
    """A row is read and its gradient is written."""

    reductions = 0

    def footprint(self, problem: Any) -> Footprint:
        """See `Schedule`."""
        footprint = super().footprint(problem)
        if self.hold is not RowStorage.RELOAD or not self.uneven(problem):
            return footprint
        return replace(footprint, wanted_registers=footprint.registers + _PARTLY_REGISTERS)


@dataclass(frozen=True)
class CrossEntropySchedule(CrossEntropyBackwardSchedule):
    """A row is reduced to its maximum and its sum of exponentials; for a gradient, it is read again and written.

    Attributes:
        passes: over a row before its loss is known: ``two``, the maximum and then the sum, or ``online``, both at once.
        early: load a row before its target is known, and in vain if the row is ignored.
        bulk: one thread has a row in shared memory copied there, in one go for each round.
    """

    reductions = 3  # the maximum, the powers, and all logits where labels are smoothed

    passes: Passes = tunable(Passes.TWO, values=_PASSES, allowed=_PASSES)
    early: bool = tunable(False, values=(False, True))
    bulk: bool = tunable(False, values=(False, True))

    def footprint(self, problem: Any) -> Footprint:
        """See `Schedule`."""
        held = {RowStorage.REGISTERS: self.rounds_in(problem), RowStorage.RELOAD: self.loads_in_flight}
        of_vector = self.vector_width * (_WANTED_OF_ELEMENT + _WANTED_AHEAD * held.get(self.hold, 0))
        wanted = _WANTED_REGISTERS + _WANTED_SHARED * (self.hold is RowStorage.SHARED) + floor(of_vector)
        return replace(super().footprint(problem), wanted_registers=wanted)

    @property
    def held_at(self) -> int:
        """See `RowSchedule`; ahead of them is the barrier of bulk copies."""
        return super().held_at + _BARRIER_BYTES * self.bulk
