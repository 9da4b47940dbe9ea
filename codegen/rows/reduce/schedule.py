"""How to reduce."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import INT_MAX, ceil_div, round_up, widest_divisor
from autotune.codegen.model.schedule import Schedule, Specialize

from .operation import Operation
from .problem import Axis, ReduceProblem

_OTHER_REGISTERS = 24  # addresses and bounds, beside vectors and partial results
# Registers that ptxas takes: of a thread, more if it reads elements from shared memory, and of each word that it loads.
_WANTED_REGISTERS, _WANTED_STAGED, _WANTED_OF_WORD = 38, 48, 0.6


@dataclass(frozen=True)
class ReduceSchedule(Schedule):
    """A block has threads side by side on a row, and rows of such threads one below the other.

    Along rows (`Axis.LAST`, `Axis.ALL`), the threads of a row reduce it together, and a block has several rows. Along
    columns (`Axis.FIRST`), each thread reduces a few columns, and all of the block's rows of threads share a strip.

    Attributes:
        threads: of a block.
        threads_per_row: threads side by side on a row.
        vector_width: elements of a load.
        loads_in_flight: vectors that a thread loads before it uses the first: along the row, or of as many rows.
        staged: of short segments, all threads of a block copy those of all of its segments to shared memory.
        splits: blocks that share a row or a strip of columns; the last one to finish combines their partial results.
        folded: of columns whose rows begin between vectors, take as many rows as one, so that it does not. Those of a
            strip are split.
        streaming: mark loads as used once, so that caches let go of them first.
        specialize: whether the shape is compiled in.
    """

    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row: int = tunable(32, power_of_two=True, short="TPR")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    loads_in_flight: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    splits: int = tunable(1)
    staged: bool = tunable(False, values=(False, True))
    folded: bool = tunable(False, values=(False, True))
    streaming: bool = tunable(False, values=(False, True))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def rows_per_block(self) -> int:
        """Rows of threads of a block."""
        return self.threads // self.threads_per_row

    @property
    def strip(self) -> int:
        """Columns that the block's threads load at once."""
        return self.threads_per_row * self.vector_width

    def fold(self, problem: ReduceProblem) -> int:
        """Rows that are taken as one: the fewest whose elements are whole vectors."""
        return self.vector_width // widest_divisor(self.vector_width, problem.columns) if self.folded else 1

    def tile(self, problem: ReduceProblem) -> int:
        """Elements of a row, or of a column, that a block loads in a step."""
        across = self.rows_per_block if problem.axis is Axis.FIRST else self.strip
        return across * self.loads_in_flight

    def tiles(self, problem: ReduceProblem) -> int:
        """Tiles of a row, or of a column: so many blocks can share it."""
        return max(1, ceil_div(ceil_div(problem.reduced, self.fold(problem)), self.tile(problem)))

    def groups(self, problem: ReduceProblem) -> int:
        """Groups of rows, or strips of columns, that are reduced apart from each other."""
        results = problem.results * self.fold(problem)
        return ceil_div(results, self.strip if problem.axis is Axis.FIRST else self.rows_per_block)

    def blocks(self, problem: ReduceProblem) -> int:
        """Blocks of the grid."""
        return self.groups(problem) * self.splits

    def wide(self, problem: ReduceProblem) -> bool:
        """Whether an index along the reduced axis, of a tile beyond the last one at most, may take over 31 bits.

        Or, of rows that are folded, how many elements such a tile is beyond the last element.
        """
        beyond = self.splits * self.tile(problem)
        if self.folded and (beyond + 2 * self.tile(problem)) * self.vector_width * problem.columns > INT_MAX:
            return True
        return problem.longest + beyond + self.vector_width > INT_MAX

    def partial_bytes(self, problem: ReduceProblem) -> int:
        """Bytes of a partial result in a kernel."""
        if problem.op.indexed:
            return 16 if self.wide(problem) else 8
        return 8 if problem.op is Operation.SUM and not problem.dtype.is_float else 4

    def workspace_bytes(self, problem: ReduceProblem) -> int:
        """A partial result of each block and result, and ticket counters; nothing without splits."""
        if self.splits == 1:
            return 0
        results = self.strip if problem.axis is Axis.FIRST else 1
        counters = self.groups(problem) + self.folded
        return self.blocks(problem) * results * self.partial_bytes(problem) + counters * WORD_BYTES

    @property
    def staged_tile(self) -> int:
        """Elements that a block copies to shared memory at once."""
        return self.threads * self.vector_width * self.loads_in_flight

    def held_at(self, problem: ReduceProblem) -> int:
        """Where they begin there, in bytes: behind a partial result of each warp."""
        return round_up(self._warps_apart * self.partial_bytes(problem), WIDEST_ACCESS)

    @property
    def _warps_apart(self) -> int:
        """Warps whose partial results meet in shared memory."""
        return self.threads // WARP if self.threads_per_row > WARP else 0

    def footprint(self, problem: ReduceProblem) -> Footprint:
        """See `Schedule`; registers are the vectors in flight, partial results, and addresses.

        There is a partial result for each element of a vector, but one index for all along rows. Shared memory has all
        of a block along columns, and one of each warp along rows, and the elements that are staged.
        """
        partial = self.partial_bytes(problem)
        vectors = (
            self.loads_in_flight * problem.op.arrays * ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        )
        one_of_vector = problem.op.indexed and problem.axis is not Axis.FIRST
        partials = 1 if one_of_vector else self.vector_width
        registers = vectors + partials * partial // WORD_BYTES + _OTHER_REGISTERS
        if self.staged:
            staged = self.held_at(problem) + self.staged_tile * problem.dtype.bytes
            return Footprint(self.threads, staged, registers - vectors, wanted_registers=_WANTED_STAGED)
        shared = self.threads * self.vector_width if problem.axis is Axis.FIRST else self._warps_apart
        wanted = floor(_WANTED_REGISTERS + _WANTED_OF_WORD * vectors)
        return Footprint(self.threads, shared * partial, registers, wanted_registers=wanted)
