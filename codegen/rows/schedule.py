"""How to work on the rows of a matrix: the fields and the footprint that all such operators share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import floor
from typing import Any, ClassVar, TypeVar

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import SECTOR_BYTES, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import RowProblem

_LEAST_THREADS, _MOST_THREADS = 128, 1024  # threads of a block that holds rows
_SLOT_BYTES = 16  # a warp's value in a reduction (row.cuh)
_MOST_HELD_WORDS = 32
# Addresses, bounds and sums, beside the vectors of a row that a thread holds or loads at once.
_OTHER_REGISTERS = 24
# Registers that ptxas takes if nothing caps them, for each element that a thread holds or loads at once, and vectors
# that it reads ahead of a row in shared memory; beside `own_registers`, as kernels for an H200 have them.
_WANTED_OF_ELEMENT, _READ_AHEAD = 1.2, 4


class RowStorage(StrEnum):
    """Where a row waits between the passes over it."""

    REGISTERS = "registers"
    SHARED = "shared"
    RELOAD = "reload"  # in L2 or in device memory


@dataclass(frozen=True)
class RowSchedule(Schedule):
    """A row belongs to the threads of a segment of a warp, of a block, or of all blocks of a cluster.

    Attributes:
        threads: of a block.
        threads_per_row: of a block that work on one row; the block has threads / threads_per_row rows.
        cluster: blocks that share a row, each with all of its threads.
        vector_width: elements of an access to global memory, which are aligned whether or not rows are.
        hold: where a row waits between the passes over it.
        loads_in_flight: vectors that a thread loads before it uses the first; 1 for a row that is held, whose loads
            are all in flight.
        streaming: tell the caches which accesses are the last to their data.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    reductions: ClassVar[int] = 1  # over a row, in the kernel of an operator
    arrays: ClassVar[int] = 1  # whose rows are held
    own_registers: ClassVar[int] = 20  # that ptxas takes for a thread, beside its elements

    threads: int = tunable(128, values=(32, 64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row: int = tunable(
        32, values=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), power_of_two=True, short="TPR"
    )
    cluster: int = tunable(1, values=(1, 2, 4, 8, 16), allowed=(1, 2, 4, 8, 16))
    vector_width: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    hold: RowStorage = tunable(RowStorage.REGISTERS, values=tuple(RowStorage))
    loads_in_flight: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def rows_per_block(self) -> int:
        """Rows of a block."""
        return self.threads // self.threads_per_row

    @property
    def row_step(self) -> int:
        """Elements that all threads of a row take in a round."""
        return self.cluster * self.threads_per_row * self.vector_width

    def reach(self, columns: int, aligned: int, element_bytes: int) -> int:
        """Elements from the first thread's first vector to the end of the row, at most.

        Rows that begin between vectors have the whole sector that they begin in: in others, a warp's accesses would
        begin and end within sectors, which L2 would read or write for two warps.

        Args:
            columns: of the row.
            aligned: elements that the address of every row is a multiple of.
            element_bytes: of an element.
        """
        return columns + (SECTOR_BYTES // element_bytes - aligned if self.vector_width > aligned else 0)

    def rounds(self, reach: int) -> int:
        """Vectors of a thread in a row that reaches so far."""
        return max(1, ceil_div(reach, self.row_step))

    def reach_in(self, problem: RowProblem) -> int:
        """`reach` of the rows of x."""
        return self.reach(problem.columns, problem.vector_width("x"), problem.dtype.bytes)

    def rounds_in(self, problem: RowProblem) -> int:
        """Vectors of a thread in a row of an array."""
        return self.rounds(self.reach_in(problem))

    def skewed(self, problem: RowProblem) -> bool:
        """Whether a row of x may begin within a vector."""
        return self.vector_width > problem.vector_width("x")

    def uneven(self, problem: RowProblem) -> bool:
        """Whether rows of x have vectors that are partly there."""
        return self.skewed(problem) or problem.columns % self.vector_width != 0

    @property
    def stores_together(self) -> bool:
        """Whether all lanes of a warp store a round of their vectors at once."""
        return self.hold is not RowStorage.RELOAD

    def exchanges(self, problem: RowProblem) -> bool:
        """Whether lanes exchange elements of results that are not aligned where vectors of x are.

        Words are stored one by one as fast.
        """
        (written,) = problem.written
        size = problem.element_bytes_of(written)
        whole = size < WORD_BYTES <= self.vector_width * size
        return whole and self.stores_together and not problem.alike(self.vector_width)

    def blocks(self, problem: Any) -> int:
        """Blocks of the grid, whole clusters."""
        return ceil_div(problem.rows, self.rows_per_block) * self.cluster

    @property
    def held_at(self) -> int:
        """Where rows held in shared memory begin, in bytes: behind the slots of reductions."""
        warps = self.threads // WARP if max(self.threads_per_row, self.cluster * WARP) > WARP else 0
        blocks = self.cluster + 1 if self.cluster > 1 else 0  # and a barrier
        return self.reductions * (warps + blocks) * _SLOT_BYTES

    def loaded_words(self, reach: int, element_bytes: int) -> int:
        """Registers of the vectors that a thread holds or loads at once."""
        vectors = self.rounds(reach) if self.hold is RowStorage.REGISTERS else self.loads_in_flight
        return self.arrays * vectors * ceil_div(self.vector_width * element_bytes, WORD_BYTES)

    def footprint(self, problem: Any) -> Footprint:
        """See `Schedule`: of an operator that needs no more than its rows do."""
        return self.row_footprint(self.reach_in(problem), problem.dtype.bytes)

    def row_footprint(self, reach: int, element_bytes: int) -> Footprint:
        """What a block takes of an SM."""
        row_bytes = self.arrays * self.rounds(reach) * self.threads * self.vector_width * element_bytes
        held = row_bytes if self.hold is RowStorage.SHARED else 0
        return Footprint(
            self.threads,
            self.held_at + round_up(held, _SLOT_BYTES),
            self.loaded_words(reach, element_bytes) + _OTHER_REGISTERS,
            self.cluster,
            self.min_blocks_per_sm,
            wanted_registers=self.own_registers + floor(_WANTED_OF_ELEMENT * self.elements_at_once(reach)),
        )

    def elements_at_once(self, reach: int) -> int:
        """Elements of a row that a thread holds, or loads before it uses the first."""
        vectors = {
            RowStorage.REGISTERS: self.rounds(reach),
            RowStorage.SHARED: _READ_AHEAD,
            RowStorage.RELOAD: self.loads_in_flight,
        }
        return self.vector_width * vectors[self.hold]


S = TypeVar("S", bound=RowSchedule)


def fitting_row(held: S, streamed: S, problem: RowProblem) -> S:
    """`held`, which holds rows in registers, unless their vectors take more than 32 of a thread; then `streamed`."""
    words = held.loaded_words(held.reach_in(problem), problem.dtype.bytes)
    return held if words <= _MOST_HELD_WORDS else streamed


def held_row(kind: type[S], columns: int, width: int, rounds: int) -> S:
    """A row in registers, of which a thread has about so many vectors of `width` elements."""
    wanted = ceil_div(max(1, columns), width * rounds)
    of_row = min(_MOST_THREADS, 1 << (wanted - 1).bit_length())
    threads = max(_LEAST_THREADS, of_row)
    return kind(threads=threads, threads_per_row=of_row, vector_width=width, hold=RowStorage.REGISTERS)
