"""How to draw."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .problem import SamplingProblem

MASS_BYTES = 8
LEAST_CANDIDATES = 2048  # whose memory has the sums of a digit, too
_BINS = 2048  # of weights, for the sums of which there is room
_OTHER_REGISTERS = 48


@dataclass(frozen=True)
class SamplingSchedule(Schedule):
    """A block finds what may be drawn of a row.

    Attributes:
        threads: of a block.
        vector_width: elements of a load.
        loads_in_flight: vectors that a thread loads before it uses the first.
        candidates: tokens that a block keeps at most.
        samples: vectors of a thread that are looked at first, for a floor that few tokens reach.
        streaming: tell the caches that elements are read once.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
    """

    threads: int = tunable(512, values=(256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    loads_in_flight: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    candidates: int = tunable(2048, values=(2048, 4096, 8192), power_of_two=True, least=LEAST_CANDIDATES)
    samples: int = tunable(1, values=(1, 2, 4))
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))

    @property
    def parts(self) -> int:
        """Of a row, each of a block."""
        return 1

    def blocks(self, problem: SamplingProblem) -> int:
        """One for each part of a row."""
        return problem.rows * self.parts

    def footprint(self, problem: SamplingProblem) -> Footprint:
        """See `Schedule`; registers are the vectors in flight, or the entries of which a block selects."""
        warps = self.threads // WARP
        bins = _BINS if problem.top_p else 0
        shared = (self.candidates + warps + bins) * MASS_BYTES + (2 * warps + 2) * WORD_BYTES
        words = ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        entries = max(self.candidates // self.threads, self.samples * self.vector_width)
        registers = max(self.loads_in_flight * words, 2 * entries) + _OTHER_REGISTERS
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
