"""How to scan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import ScanProblem

_WINDOW = 32  # words that a warp reads at once, one for each lane
_SLOT_BYTES = 16  # a carry in shared memory
_COUNTER_BYTES = 16  # tickets in the workspace
# Registers beside elements and what precedes vectors: of addresses and bounds, and of each word of a number on its way.
_OTHER_REGISTERS, _OF_NUMBERS = 24, 6
_BARRIER = _TICKET_BYTES = 8
# Of a block with several tiles under way: barriers beside those of each tile, and buffers for sums.
_BARRIERS_BESIDE, _PREFIXES, _SUMS = 4, 2, 4
_FLAGS_BEHIND = 16  # bytes behind the flags of a tile in shared memory
_ROW_SLOTS = 2  # slots of a warp, for two tiles in turn
_TILE_SLOTS = 2  # slots of a block beside its warps'


class Algorithm(StrEnum):
    """How what precedes a tile gets to it."""

    LOOK_BACK = "look_back"  # from other blocks, each of which has a tile
    PIPELINED = "pipelined"  # from other blocks, each of which stays and has several tiles under way
    BULK = "bulk"  # likewise, and results leave by bulk copies
    ROWS = "rows"  # a row's threads go through its tiles in turn


@dataclass(frozen=True)
class ScanSchedule(Schedule):
    """A tile is scanned by warps, each of which has consecutive vectors, `rounds` times 32 of them.

    Attributes:
        algorithm: ``rows`` does not share a row among blocks, the others do.
        threads: of a block; of one that stays, those that scan.
        threads_per_row: of a block that share a row.
        vector_width: elements of an access.
        rounds: vectors of a thread, all of whose loads are in flight at once unless bulk copies load them.
        stages: tiles that a block which stays has in shared memory.
        grid_blocks: of a grid of blocks that stay; 0 for as many blocks as there are tiles or rows.
        delay: nanoseconds between two looks at what is not there yet.
        streaming: tell the caches that elements are read and written once.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    algorithm: Algorithm = tunable(Algorithm.LOOK_BACK, values=tuple(Algorithm))
    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row: int = tunable(
        256, values=(8, 16, 32, 64, 128, 256, 512, 1024), power_of_two=True, least=4, short="TPR"
    )
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rounds: int = tunable(4, values=(1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17))
    stages: int = tunable(1, values=(1, 2, 3, 4))
    grid_blocks: int = tunable(0, least=0)
    delay: int = tunable(0, values=(0, 100, 350, 700), least=0)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile(self) -> int:
        """Elements of a row that its threads scan at once."""
        return self.threads_per_row * self.vector_width * self.rounds

    @property
    def rows_per_block(self) -> int:
        """Rows of a block."""
        return self.threads // self.threads_per_row

    @property
    def stays(self) -> bool:
        """Whether blocks have several tiles under way, one after the other."""
        return self.algorithm in (Algorithm.PIPELINED, Algorithm.BULK)

    def tiles(self, problem: ScanProblem) -> int:
        """Tiles of a row."""
        return ceil_div(problem.columns, self.tile)

    def blocks(self, problem: ScanProblem) -> int:
        """Blocks of the grid; none if there is nothing to write."""
        if self.stays:
            return min(self.grid_blocks, problem.rows * self.tiles(problem))
        if self.algorithm is Algorithm.LOOK_BACK:
            return problem.rows * self.tiles(problem)
        return ceil_div(problem.rows, self.rows_per_block) if problem.columns else 0

    def groups(self, problem: ScanProblem) -> tuple[int, int, int]:
        """Of a row, the tiles, the groups of tiles, and the groups of groups, each of which leaves a word."""
        tiles = self.tiles(problem)
        return tiles, ceil_div(tiles, _WINDOW), ceil_div(tiles, _WINDOW**2)

    def workspace_bytes(self, problem: ScanProblem) -> int:
        """The tickets, then a word for each of `groups`; nothing if no block waits for another."""
        if self.algorithm is Algorithm.ROWS:
            return 0
        return _COUNTER_BYTES + problem.rows * sum(self.groups(problem)) * 2 * max(WORD_BYTES, problem.number.bytes)

    @property
    def slots(self) -> int:
        """Slots for carries in shared memory; marks of heads follow them."""
        warps = self.threads // WARP
        if self.algorithm is Algorithm.LOOK_BACK:
            return _TILE_SLOTS + warps
        return _ROW_SLOTS * warps if self.threads_per_row > WARP else 0

    def footprint(self, problem: ScanProblem) -> Footprint:
        """See `Schedule`; a thread has its elements of a tile in registers, or of two tiles the sums of its vectors."""
        if self.algorithm is Algorithm.PIPELINED:
            return self._pipelined_footprint(problem)
        if self.algorithm is Algorithm.BULK:
            return self._bulk_footprint(problem)
        marks = ceil_div(self.tile, WARP) * WORD_BYTES if problem.offsets else 0
        words = problem.number.bytes // WORD_BYTES
        vector = ceil_div(self.vector_width * problem.dtype.bytes, WORD_BYTES)
        carry = 2 * words - 1 + problem.segmented
        registers = self.rounds * (vector + carry) + _OTHER_REGISTERS + _OF_NUMBERS * words
        shared = self.slots * _SLOT_BYTES + marks
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)

    def _pipelined_footprint(self, problem: ScanProblem) -> Footprint:
        number = problem.number.bytes
        registers = 3 * self.rounds * number // WORD_BYTES + _OTHER_REGISTERS + _OF_NUMBERS * number // WORD_BYTES
        tile = self.tile * problem.dtype.bytes
        return self._staged_footprint(3, tile, barriers=2, carry=number, registers=registers)

    def _bulk_footprint(self, problem: ScanProblem) -> Footprint:
        element, result, number = problem.dtype.bytes, problem.result_dtype.bytes, problem.number.bytes
        tile = self.tile * (element if element == result else element + result)
        tile += (self.tile + _FLAGS_BEHIND) * problem.flags + self.tile // WARP * WORD_BYTES * problem.offsets
        carry = number * (1 + problem.segmented)
        vectors = self.vector_width * (element + result) // WORD_BYTES
        registers = _OTHER_REGISTERS + vectors + 2 * _OF_NUMBERS * carry // WORD_BYTES
        return self._staged_footprint(4, round_up(tile, 16), barriers=3, carry=carry, registers=registers)

    def _staged_footprint(
        self, warps_beside: int, tile: int, *, barriers: int, carry: int, registers: int
    ) -> Footprint:
        """Of a block that stays: bytes of a tile and of a carry, and barriers of each stage."""
        warps = self.threads // WARP
        shared = self.stages * (tile + _TICKET_BYTES + barriers * _BARRIER) + _BARRIERS_BESIDE * _BARRIER
        shared += (_PREFIXES + _SUMS * warps) * carry
        threads = self.threads + warps_beside * WARP
        return Footprint(threads, round_up(shared, 16), registers, min_blocks_per_sm=self.min_blocks_per_sm)
