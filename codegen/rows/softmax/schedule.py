"""How to compute a softmax."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.rows.schedule import RowSchedule

from .problem import SoftmaxProblem

_FLOAT = 4  # bytes
_WANTED_OF_MASKED = 0.8  # registers that ptxas takes for an element's mask


class Passes(StrEnum):
    """How the maximum and the sum of a row are found."""

    TWO = "two"  # first the maximum, then the sum: two reductions over the threads of a row
    ONLINE = "online"  # both at once: the sum is scaled whenever the maximum grows
    KEPT = "kept"  # as two, but exponentials wait in registers until they are written


@dataclass(frozen=True)
class SoftmaxSchedule(RowSchedule):
    """A row is reduced to its maximum and its sum of exponentials, then read again and written.

    Attributes:
        passes: over a row before it is written: ``two``, the maximum and then the sum, or ``online``, both at once;
            ``kept`` is ``two`` with floats in place of what was loaded, so that each exponential is computed once.
        skip: of rows of which a part counts, neither load nor compute vectors that do not.
        heads_first: take rows that share a row of a mask one after the other.
    """

    own_registers = 18
    reductions = 2

    passes: Passes = tunable(Passes.TWO, values=tuple(Passes))
    skip: bool = tunable(False, values=(False, True))
    heads_first: bool = tunable(False, values=(False, True))

    @property
    def stores_together(self) -> bool:
        """See `RowSchedule`; a vector that does not count is stored apart."""
        return super().stores_together and not self.skip

    def footprint(self, problem: SoftmaxProblem) -> Footprint:
        """See `Schedule`; a mask waits in registers as its row does, until both are there, and then powers do."""
        reach = self.reach_in(problem)
        footprint = self.row_footprint(reach, problem.dtype.bytes)
        words = self.loaded_words(reach, problem.dtype.bytes)
        masks = self.loaded_words(reach, problem.mask_dtype.bytes) if problem.has_mask else 0
        floats = self.loaded_words(reach, _FLOAT) if self.passes is Passes.KEPT else 0
        registers = footprint.registers + max(masks, floats - words)
        of_masks = floor(problem.has_mask * _WANTED_OF_MASKED * self.elements_at_once(reach))
        wanted = footprint.uncapped_registers + of_masks
        return replace(footprint, registers=registers, wanted_registers=wanted)
