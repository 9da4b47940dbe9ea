"""How to select with blocks that read a row once."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.selection.problem import SelectionProblem

ENTRY_BYTES = 8
LEAST_CANDIDATES = 1024  # whose memory has the bins of a digit, too
_OTHER_REGISTERS = 32
_BESIDE_REGISTERS = 40  # that ptxas takes besides if nothing caps them


@dataclass(frozen=True)
class StreamSchedule(Schedule):
    """A block, or several, goes through a row and keeps what may be among its results.

    Attributes:
        threads: of a block.
        vector_width: elements of a load.
        loads_in_flight: vectors that a thread loads before it uses the first.
        splits: blocks that share a row; the last one to finish selects from what all of them left.
        candidates: elements that a block keeps at most.
        samples: vectors of a thread that are looked at first, for a floor that about k elements reach; 0: the digits of
            all elements are counted instead, which reads a row twice or more.
        streaming: tell the caches that elements are read once.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
    """

    kernel = "stream"

    threads: int = tunable(512, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    loads_in_flight: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    splits: int = tunable(1)
    candidates: int = tunable(2048, values=(1024, 2048, 4096, 8192), power_of_two=True, least=LEAST_CANDIDATES)
    samples: int = tunable(1, values=(0, 1, 2, 4), least=0)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))

    def blocks(self, problem: SelectionProblem) -> int:
        """`splits` for each row."""
        return problem.rows * self.splits

    def workspace_bytes(self, problem: SelectionProblem) -> int:
        """k entries of each block, and a ticket counter of each row; nothing without splits."""
        if self.splits == 1:
            return 0
        return self.blocks(problem) * problem.k * ENTRY_BYTES + problem.rows * WORD_BYTES

    def footprint(self, problem: SelectionProblem) -> Footprint:
        """See `Schedule`; registers are the vectors in flight, or the entries of which a block selects."""
        shared = self.candidates * ENTRY_BYTES + (2 * self.threads // WARP + 1) * WORD_BYTES
        words = ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        entries = max(self.candidates // self.threads, self.samples * self.vector_width)
        registers = max(self.loads_in_flight * words, 2 * entries) + _OTHER_REGISTERS
        wanted = registers + _BESIDE_REGISTERS
        return Footprint(
            self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm, wanted_registers=wanted
        )
