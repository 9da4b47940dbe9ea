"""How to normalise rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.rows.schedule import RowSchedule

from .problem import NormProblem


def weight_width(problem: NormProblem, schedule: RowSchedule) -> int:
    """Elements of the weight or of the bias that are loaded at once."""
    aligned = min(problem.align_w, WIDEST_ACCESS) // problem.weight_dtype.bytes
    return 1 if schedule.skewed(problem) else min(schedule.vector_width, aligned)


@dataclass(frozen=True)
class RmsNormSchedule(RowSchedule):
    """A row is reduced to its mean square, then read again and written."""

    reductions = 2  # the squares, and the largest result

    def footprint(self, problem: NormProblem) -> Footprint:
        """See `Schedule`; vectors of x and of the residual are loaded at once."""
        reach, size = self.reach_in(problem), problem.dtype.bytes
        footprint = self.row_footprint(reach, size)
        loaded = self.loaded_words(reach, size) if problem.residual else 0
        return replace(footprint, registers=footprint.registers + loaded)


class Passes(StrEnum):
    """How the mean and the variance of a row are found."""

    TWO = "two"  # first the mean, then the variance: two reductions over the threads of a row
    WELFORD = "welford"  # both at once, merged from those of parts
    SHIFTED = "shifted"  # both at once, of differences from the mean of a thread's first vector


@dataclass(frozen=True)
class LayerNormSchedule(RmsNormSchedule):
    """A row is reduced to its mean and its variance, then read again and written.

    Attributes:
        passes: over a row before it is written: ``two``, the mean and then the variance; or both at once,
            ``welford`` merged from those of parts, ``shifted`` of differences from the mean of a thread's first vector.
    """

    own_registers = 30
    reductions = 4  # the first element of a sum, the elements, the squares, and the largest result

    passes: Passes = tunable(Passes.TWO, values=tuple(Passes))
