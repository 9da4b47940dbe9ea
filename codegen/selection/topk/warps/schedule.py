"""How to select with a warp for each row."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.selection.topk.problem import TopkProblem

ENTRY_BYTES = 8
_OTHER_REGISTERS = 28  # addresses, bounds and counts, beside keys


@dataclass(frozen=True)
class WarpsSchedule(Schedule):
    """A warp has a row in registers.

    Attributes:
        threads: of a block, whose warps have a row each.
        vector_width: elements of a load.
        vectors: of a lane; they are to hold a whole row.
        slots: elements of a row that are ordered, of which the first k are its results.
        streaming: tell the caches that elements are read once.
    """

    kernel = "warps"

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True, least=WARP)
    vector_width: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    vectors: int = tunable(2, values=(1, 2, 3, 4, 6, 8, 12, 16))
    slots: int = tunable(32, values=(32, 64, 128, 256), power_of_two=True, least=WARP)
    streaming: bool = tunable(False, values=(False, True))

    @property
    def items(self) -> int:
        """Keys of a lane."""
        return self.vectors * self.vector_width

    def blocks(self, problem: TopkProblem) -> int:
        """As many as have all rows."""
        return ceil_div(problem.rows, self.threads // WARP)

    def footprint(self, problem: TopkProblem) -> Footprint:
        """See `Schedule`; elements are registers, too, until they are keys."""
        shared = self.threads // WARP * self.slots * ENTRY_BYTES
        return Footprint(self.threads, shared, _OTHER_REGISTERS + 2 * self.items)
