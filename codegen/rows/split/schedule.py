"""How to work on rows that many blocks share: the fields and the footprint that all such kernels share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize, same_as
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule, RowStorage


@dataclass(frozen=True)
class SplitRowSchedule(Schedule):
    """Each block has a piece of a row: one launch sums the pieces, another combines the sums of a row and ends it.

    Attributes:
        blocks_per_row: pieces of a row.
        threads: of a block.
        vector_width: elements of an access to global memory, which are aligned whether or not rows are.
        loads_in_flight: vectors that a thread loads before it uses the first.
        streaming: tell the caches which accesses are the last to their data.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "split"
    piece_type: ClassVar[type[RowSchedule]] = RowSchedule  # how an operator's block goes through a whole row

    blocks_per_row: int = tunable(16, short="BPR", least=1)
    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row = same_as("threads")
    cluster = 1
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    hold = RowStorage.RELOAD
    loads_in_flight: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def piece(self) -> RowSchedule:
        """How a block goes through its piece: as through a row that it reads again."""
        return self.piece_type(
            threads=self.threads,
            threads_per_row=self.threads,
            vector_width=self.vector_width,
            hold=self.hold,
            loads_in_flight=self.loads_in_flight,
            streaming=self.streaming,
            min_blocks_per_sm=self.min_blocks_per_sm,
            specialize=self.specialize,
        )

    def rounds(self, problem: RowProblem) -> int:
        """Vectors of a thread in a piece."""
        return ceil_div(self.piece.rounds_in(problem), self.blocks_per_row)

    def blocks(self, problem: Any) -> int:
        """Blocks of the launch that sums pieces."""
        return int(problem.rows) * self.blocks_per_row

    def footprint(self, problem: Any) -> Footprint:
        """See `Schedule`: that of a row that is read again."""
        return self.piece.footprint(problem)
