"""How to accept and to draw."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.schedule import Schedule

from .problem import ChainSpeculativeSamplingProblem

_MASS_BYTES = 8


@dataclass(frozen=True)
class ChainSpeculativeSamplingSchedule(Schedule):
    """A block for each row.

    Attributes:
        threads: of a block.
        unrolled: numbers that a thread loads before it uses the first.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
    """

    threads: int = tunable(512, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    unrolled: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    min_blocks_per_sm: int = tunable(1, values=(1, 2))

    def tile_sizes(self, problem: ChainSpeculativeSamplingProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"rows": 1, "columns": self.threads}

    def blocks(self, problem: ChainSpeculativeSamplingProblem) -> int:
        """One for each row."""
        return problem.rows

    def footprint(self, problem: ChainSpeculativeSamplingProblem) -> Footprint:
        """See `Schedule`."""
        shared = self.threads // WARP * _MASS_BYTES
        return Footprint(self.threads, shared, min_blocks_per_sm=self.min_blocks_per_sm)
