"""How to compute the gradient of a softmax."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.rows.schedule import RowSchedule, RowStorage


@dataclass(frozen=True)
class SoftmaxBackwardSchedule(RowSchedule):
    """Rows of y and dy are reduced to one sum, then read again, and dx is written.

    Attributes:
        hold: where they wait in between: ``registers``, or ``reload`` for rows of any length.
    """

    arrays = 2

    hold: RowStorage = tunable(RowStorage.REGISTERS, values=(RowStorage.REGISTERS, RowStorage.RELOAD))
