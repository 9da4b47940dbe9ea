"""How to compute the gradients of a norm."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...fields import tunable
from ...footprint import Footprint
from ...integers import ceil_div
from ..schedule import Hold, RowSchedule
from .problem import NormBackwardProblem

_WORD = 4  # bytes


@dataclass(frozen=True)
class NormBackwardSchedule(RowSchedule):
    """Blocks take rows in turn, and add up what goes to weights and biases in their columns.

    Attributes:
        cluster: blocks that share a row: one.
        hold: where the row and its sums wait: ``registers``, or ``reload``, with the sums in the workspace.
        grid_blocks: blocks of the grid, if there are rows for so many.
        prefetch: load a row into registers while the one before is computed.
    """

    reductions = 2

    cluster: int = tunable(1, values=(1,), allowed=(1,))
    hold: Hold = tunable(Hold.REGISTERS, values=(Hold.REGISTERS, Hold.RELOAD))
    grid_blocks: int = tunable(128, short="grid")
    prefetch: bool = tunable(False, values=(False, True))

    def rounds_in(self, problem: NormBackwardProblem) -> int:
        """Vectors of a thread in a row."""
        return self.rounds(problem.columns)

    def grid(self, problem: NormBackwardProblem) -> int:
        """Blocks of the grid; at least one writes sums, of no rows, too."""
        needed = ceil_div(problem.rows, self.rows_per_block) if problem.columns else 0
        return max(min(self.grid_blocks, needed), int(problem.summed > 0 and problem.columns > 0))

    def workspace_bytes(self, problem: NormBackwardProblem) -> int:
        """A sum of each block for each column, for weights and for biases."""
        return self.grid(problem) * problem.summed * problem.columns * _WORD

    def footprint(self, problem: NormBackwardProblem) -> Footprint:
        """See `Schedule`; shared memory has what the rows of threads of a block add up."""
        base = self.row_footprint(problem.columns, problem.dtype.bytes)
        loaded = self.loaded_words(problem.columns, problem.dtype.bytes)
        held = self.hold is Hold.REGISTERS
        sums = self.rounds_in(problem) * self.vector_width * problem.summed if held else 0
        added = self.threads * self.vector_width * _WORD if problem.summed and self.rows_per_block > 1 else 0
        registers = base.registers + loaded * (1 + 2 * self.prefetch) + sums + 2 * self.vector_width
        return replace(base, registers=registers, shared_bytes=base.shared_bytes + added)
