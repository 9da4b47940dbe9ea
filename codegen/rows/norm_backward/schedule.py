"""How to compute the gradients of a norm."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule, RowStorage

from .problem import NormBackwardProblem


@dataclass(frozen=True)
class NormBackwardSchedule(RowSchedule):
    """Blocks take rows in turn, and add up what goes to weights and biases in their columns.

    Attributes:
        cluster: blocks that share a row: one.
        hold: where rows wait: in ``registers``, or in a ring in ``shared`` memory, with the sums in registers; or
            ``reload``, with the sums in the workspace.
        grid_blocks: blocks of the grid, if there are rows for so many.
        rows_ahead: rows that are loaded while one is computed: up to 1 in registers, from 1 on in shared memory.
    """

    reductions = 2
    arrays = 2

    cluster: int = tunable(1, values=(1,), allowed=(1,))
    grid_blocks: int = tunable(128, short="grid")
    rows_ahead: int = tunable(0, values=(0, 1, 2, 3), least=0, short="ahead")

    def reach_in(self, problem: RowProblem) -> int:
        """Rows never begin between vectors, since a thread adds up the same columns of all of them."""
        return problem.columns

    def blocks(self, problem: NormBackwardProblem) -> int:
        """Blocks of the grid; at least one writes sums, of no rows, too."""
        needed = ceil_div(problem.rows, self.rows_per_block) if problem.columns else 0
        return max(min(self.grid_blocks, needed), int(problem.summed > 0 and problem.columns > 0))

    def workspace_bytes(self, problem: NormBackwardProblem) -> int:
        """A sum of each block for each column, for weights and for biases."""
        return self.blocks(problem) * problem.summed * problem.columns * WORD_BYTES

    @property
    def keeps_floats(self) -> bool:
        """Whether ptxas keeps a row of x and of dy as floats from its sums to its end.

        It reads shared memory again behind a barrier, but not where a warp or less of it has a row.
        """
        return self.hold is RowStorage.REGISTERS or (self.hold is RowStorage.SHARED and self.threads_per_row <= WARP)

    def kept_of_column(self, problem: NormBackwardProblem) -> int:
        """Registers of each column of a thread: its sums, its weight, and its floats."""
        return problem.summed + problem.weight + self.arrays * self.keeps_floats

    def footprint(self, problem: NormBackwardProblem) -> Footprint:
        """See `Schedule`; with fewer registers, ptxas spills.

        When the ring is read, the rows of threads of a block add up their sums in its place.
        """
        base, width = self.row_footprint(problem.columns, problem.dtype.bytes), self.vector_width
        columns = self.rounds_in(problem) * width if self.hold is not RowStorage.RELOAD else 0
        if self.keeps_floats:  # vectors wait for their turn, or not at all
            ahead = self.rows_ahead if self.hold is RowStorage.REGISTERS else 0
            vectors = (ahead - 1) * self.loaded_words(problem.columns, problem.dtype.bytes)
        else:
            vectors = self.arrays * width
        ring = (base.shared_bytes - self.held_at) * (self.rows_ahead + 1)
        added = self.threads * width * WORD_BYTES if problem.summed and self.rows_per_block > 1 else 0
        registers = base.registers + vectors + columns * self.kept_of_column(problem)
        shared_bytes = self.held_at + max(ring, added)
        return replace(base, registers=registers, wanted_registers=registers, shared_bytes=shared_bytes)
