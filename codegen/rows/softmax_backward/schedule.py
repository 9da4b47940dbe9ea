"""How to compute the gradient of a softmax."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.rows.schedule import RowSchedule, RowStorage

from .problem import SoftmaxBackwardProblem

# Of rows in registers, ptxas takes these besides, and more for each word of two elements, whose halves it keeps apart;
# fewer of logarithms, whose sum needs those of dy alone, and which it can still do with less without spilling.
_OTHER_REGISTERS = 16
_APART, _APART_LOG, _LEAST_APART_LOG = 9, 6, 3  # tenths


@dataclass(frozen=True)
class SoftmaxBackwardSchedule(RowSchedule):
    """Rows of y and dy are reduced to one sum, then read again, and dx is written.

    Attributes:
        hold: where they wait in between: ``registers``, or ``reload`` for rows of any length.
    """

    arrays = 2

    hold: RowStorage = tunable(RowStorage.REGISTERS, values=(RowStorage.REGISTERS, RowStorage.RELOAD))

    def footprint(self, problem: SoftmaxBackwardProblem) -> Footprint:
        """See `Schedule`."""
        return replace(super().footprint(problem), wanted_registers=self.register_range(problem)[1])

    def register_range(self, problem: SoftmaxBackwardProblem) -> tuple[int, int]:
        """Registers of a thread with which ptxas spills nothing, and those that it takes if nothing caps them."""
        if self.hold is not RowStorage.REGISTERS:
            registers = super().footprint(problem).registers
            return registers, registers
        words = self.loaded_words(self.reach_in(problem), problem.dtype.bytes)
        halves = words if problem.dtype.bytes < WORD_BYTES and self.vector_width > 1 else 0
        least, wanted = (_LEAST_APART_LOG, _APART_LOG) if problem.log else (_APART, _APART)
        return _OTHER_REGISTERS + words + least * halves // 10, _OTHER_REGISTERS + words + wanted * halves // 10
