"""How to pack weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import PackProblem

_OTHER_REGISTERS = 32  # addresses, bounds, scales and codes
# Registers that ptxas takes: of a thread, of each word that it loads, and of each of its groups.
_WANTED_REGISTERS, _WANTED_OF_WORD, _WANTED_OF_GROUP = 17.7, 1.44, 3.4


@dataclass(frozen=True)
class PackSchedule(Schedule):
    """Threads share a group of weights: they find its range, and then write its codes.

    Attributes:
        threads: of a block.
        threads_per_group: of a block that share a group, and take its vectors in turn.
        groups_per_thread: groups that a thread works on at once, all of whose loads are in flight.
        vector_width: weights of a load.
        loads_in_flight: vectors of a group that a thread loads at once. If there are no more of them, they stay in
            registers; otherwise they are read again for their codes.
        streaming: tell the caches that weights and codes are used once.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_group: int = tunable(
        32, values=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), power_of_two=True, short="TPG"
    )
    groups_per_thread: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    vector_width: int = tunable(2, values=(1, 2, 4, 8), power_of_two=True)
    loads_in_flight: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    streaming: bool = tunable(False, values=(False, True))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def vectors(self, problem: PackProblem) -> int:
        """Vectors of a group."""
        return problem.group_rows * ceil_div(problem.group_columns, self.vector_width)

    def rounds(self, problem: PackProblem) -> int:
        """Vectors of a group that a thread has."""
        return max(1, ceil_div(self.vectors(problem), self.threads_per_group))

    def held(self, problem: PackProblem) -> bool:
        """Whether a thread keeps its weights in registers."""
        return self.rounds(problem) <= self.loads_in_flight

    @property
    def groups_per_block(self) -> int:
        """Groups of a block."""
        return self.threads // self.threads_per_group * self.groups_per_thread

    def blocks(self, problem: PackProblem) -> int:
        """Blocks of the grid."""
        return ceil_div(problem.group_count, self.groups_per_block)

    def loaded(self, problem: PackProblem) -> int:
        """Vectors of a thread in flight."""
        return self.groups_per_thread * min(self.loads_in_flight, self.rounds(problem))

    def footprint(self, problem: PackProblem) -> Footprint:
        """See `Schedule`; threads of more than a warp exchange ranges in shared memory."""
        words = ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        across = self.threads // WARP * self.groups_per_thread if self.threads_per_group > WARP else 0
        loaded, groups = self.loaded(problem) * words, self.groups_per_thread
        registers = loaded + 8 * groups + _OTHER_REGISTERS
        wanted = floor(_WANTED_REGISTERS + _WANTED_OF_WORD * loaded + _WANTED_OF_GROUP * groups)
        shared = across * (2 if problem.zeros else 1) * WORD_BYTES
        return Footprint(self.threads, shared, registers, wanted_registers=wanted)
