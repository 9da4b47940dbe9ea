"""How to scan: what the schedules of all kernels have."""

from __future__ import annotations

from typing import ClassVar

from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import ScanProblem

WINDOW = 32  # words that a warp reads at once, one for each lane
# Registers beside elements and what precedes vectors: of addresses and bounds, and of each word of a number on its way.
OTHER_REGISTERS, OF_NUMBERS = 24, 6
_COUNTER_BYTES = 16  # tickets in the workspace
_SLOT_BYTES = 16  # a carry in shared memory


class ScanSchedule(Schedule):
    """A tile is scanned by warps, each of which has consecutive vectors, `rounds` times 32 of them.

    Attributes:
        header, function: where the kernel is, and its name.
        threads: of a block; of one that stays, those that scan.
        threads_per_row: of a block that share a row.
        vector_width: elements of an access.
        rounds: vectors of a thread, all of whose loads are in flight at once unless bulk copies load them.
        stages: tiles that a block which stays has in shared memory.
        grid_blocks: of a grid of blocks that stay.
        delay: nanoseconds between two looks at what is not there yet.
        streaming: tell the caches that elements are read and written once.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    header: ClassVar[str] = "scan"
    function: ClassVar[str]

    threads: int
    threads_per_row: int
    vector_width: int
    rounds: int
    stages: int
    grid_blocks: int
    delay: int
    streaming: bool
    min_blocks_per_sm: int
    specialize: Specialize

    @property
    def tile(self) -> int:
        """Elements of a row that its threads scan at once."""
        return self.threads_per_row * self.vector_width * self.rounds

    @property
    def rows_per_block(self) -> int:
        """Rows of a block."""
        return self.threads // self.threads_per_row

    def tiles(self, problem: ScanProblem) -> int:
        """Tiles of a row."""
        return ceil_div(problem.columns, self.tile)

    def blocks(self, problem: ScanProblem) -> int:
        """Blocks of the grid."""
        raise NotImplementedError

    def groups(self, problem: ScanProblem) -> tuple[int, int, int]:
        """Of a row, the tiles, the groups of tiles, and the groups of groups, each of which leaves a word."""
        tiles = self.tiles(problem)
        return tiles, ceil_div(tiles, WINDOW), ceil_div(tiles, WINDOW**2)

    def workspace_bytes(self, problem: ScanProblem) -> int:
        """The tickets, then a word for each of `groups`; nothing if no block waits for another."""
        return _COUNTER_BYTES + problem.rows * sum(self.groups(problem)) * 2 * max(WORD_BYTES, problem.number.bytes)

    @property
    def slots(self) -> int:
        """Slots for carries in shared memory; marks of heads follow them."""
        return 0

    def shared_bytes(self, problem: ScanProblem) -> int:
        """Shared memory of a block that does not stay: slots, and the marks of heads."""
        marks = ceil_div(self.tile, WINDOW) * WORD_BYTES if problem.offsets else 0
        return self.slots * _SLOT_BYTES + marks

    def registers(self, problem: ScanProblem) -> int:
        """Registers of a thread that has its elements of a tile there."""
        words = problem.number.bytes // WORD_BYTES
        vector = ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        carry = 2 * words - 1 + problem.segmented
        return self.rounds * (vector + carry) + OTHER_REGISTERS + OF_NUMBERS * words
