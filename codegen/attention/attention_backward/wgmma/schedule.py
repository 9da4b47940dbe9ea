"""How to compute the gradients of attention by wgmma."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.tensor_maps import ROW_BYTES, boxes
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize

ARCHITECTURE = "sm_90a"
CONSUMER_ROWS = 64
PRODUCT_COLUMNS = 8
TILES = (16, 32, 48, 64, 80, 96, 112, 128)
_BARRIER = 8  # bytes
_PRODUCER_REGISTERS, _MOST_REGISTERS, _THREAD_REGISTERS = 24, 240, 255
_OTHER_REGISTERS = 24  # addresses, bounds and statistics
_PRODUCT_REGISTERS = 26  # beside the sums of a product


@dataclass(frozen=True)
class WgmmaSchedule(Schedule):
    """A pass for dk and dv, and one for dq: consumers have 64 rows each; tensor copies bring others to stages.

    Attributes:
        consumers: warpgroups that multiply and have 64 keys each; one more has tensor copies fill the stages.
        tile_queries: queries of a stage.
        stages: of queries.
        together: whether dk and dv are added up in one pass, rather than in one each.
        single_pass: whether that pass adds up dq, too, in any order, which takes no pass of its own then. A consumer
            has 64 queries of a stage, or there are 64, and each has as many columns of dq.
        ahead: whether the products of the next rows are issued before all of the last ones are waited for.
        query_consumers: warpgroups that have 64 queries each in the pass for dq.
        tile_keys: keys of a stage in that pass.
        query_stages: of keys.
        heads_together: heads whose tiles are taken together, those that meet the most rows first.
        min_blocks_per_sm: blocks that fit on an SM at least.
        query_blocks_per_sm: the same in the pass for dq.
        specialize: whether the shape is compiled in.
    """

    kernel = "wgmma"

    consumers: int = tunable(2, values=(1, 2, 3), allowed=(1, 2, 3), short="C")
    tile_queries: int = tunable(64, values=TILES, allowed=TILES, short="TQ")
    stages: int = tunable(2, values=(1, 2, 3), short="S")
    together: bool = tunable(True, values=(False, True))
    single_pass: bool = tunable(False, values=(False, True), short="SP")
    ahead: bool = tunable(True, values=(False, True))
    query_consumers: int = tunable(2, values=(1, 2, 3), allowed=(1, 2, 3), short="QC")
    tile_keys: int = tunable(128, values=TILES, allowed=TILES, short="TK")
    query_stages: int = tunable(2, values=(1, 2, 3), short="QS")
    heads_together: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64), short="HT")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3))
    query_blocks_per_sm: int = tunable(1, values=(1, 2, 3))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def block_keys(self) -> int:
        """Keys of a block's tile."""
        return self.consumers * CONSUMER_ROWS

    @property
    def block_queries(self) -> int:
        """Queries of a block's tile in the pass for dq."""
        return self.query_consumers * CONSUMER_ROWS

    def blocks(self, problem: AttentionBackwardProblem) -> int:
        """Blocks of a pass that has keys."""
        return problem.key_tiles(self.block_keys)

    def query_blocks(self, problem: AttentionBackwardProblem) -> int:
        """Blocks of the pass that has queries."""
        return problem.row_tiles(self.block_queries)

    def footprint(self, problem: AttentionBackwardProblem) -> Footprint:
        """Of a pass that has keys; registers are those that a thread gets."""
        return self.key_pass(problem).footprint

    def key_pass(self, problem: AttentionBackwardProblem) -> Pass:
        """A pass that has keys."""
        dims = problem.head_dim, problem.value_elements
        summed = _columns(*dims) if self.together else max(map(_columns, dims))
        return Pass(
            dims,
            summed,
            self.consumers,
            self.tile_queries,
            self.stages,
            self.min_blocks_per_sm,
            2 * WORD_BYTES,
            2 * self.block_keys * self.tile_queries * problem.dtype.bytes if self.single_pass else 0,
            self.sum_columns(problem) if self.single_pass else 0,
        )

    def sum_columns(self, problem: AttentionBackwardProblem) -> int:
        """Columns of dq that a consumer has of 64 queries, in a single pass; 0 if they cannot be shared out."""
        if self.tile_queries == self.consumers * CONSUMER_ROWS:
            return _columns(problem.head_dim)
        whole, left = divmod(boxes(problem.head_dim), self.consumers)
        return 0 if left or self.tile_queries != CONSUMER_ROWS else whole * ROW_BYTES // problem.dtype.bytes

    def sum_bytes(self, problem: AttentionBackwardProblem) -> int:
        """Of the sums of dq, in a single pass."""
        tiles = ceil_div(problem.queries, self.tile_queries)
        if problem.segmented:  # each sequence may begin one, and empty ones keep its place
            tiles = problem.queries // self.tile_queries + problem.batch
        return problem.all_heads * tiles * self.consumers * self.sum_columns(problem) * CONSUMER_ROWS * WORD_BYTES

    def query_pass(self, problem: AttentionBackwardProblem) -> Pass:
        """The pass that has queries."""
        dims, blocks = (problem.head_dim, problem.value_elements), self.query_blocks_per_sm
        return Pass(dims, _columns(dims[0]), self.query_consumers, self.tile_keys, self.query_stages, blocks)


class Pass(NamedTuple):
    """What a block of a pass takes.

    Attributes:
        dims: elements of a head of q and k, and of v.
        summed: columns of the gradients that are added up.
        consumers: warpgroups, which have 64 rows each.
        others: rows of a stage.
        stages: of others.
        blocks: that fit on an SM at least.
        statistics: bytes of another row's.
        buffers: bytes of gradients of scores.
        parts: columns of dq that a consumer adds elsewhere.
    """

    dims: tuple[int, int]
    summed: int
    consumers: int
    others: int
    stages: int
    blocks: int
    statistics: int = 0
    buffers: int = 0
    parts: int = 0

    @property
    def footprint(self) -> Footprint:
        """Of a block; registers are those that a thread gets."""
        row = sum(boxes(dim) * ROW_BYTES for dim in self.dims)
        others = self.stages * (self.others * (row + self.statistics) + 4 * _BARRIER)
        return Footprint(
            self._threads,
            self.consumers * CONSUMER_ROWS * row + others + self.buffers + _BARRIER,
            self._given_registers,
            min_blocks_per_sm=self.blocks,
            architecture=ARCHITECTURE,
        )

    def violations(self) -> Iterator[str]:
        """Why a consumer's threads have not enough registers.

        Beside sums of gradients they have scores and their gradients, or what takes their place: factors, the next
        scores, and a part of dq.
        """
        scores, factors = self.others // 2, self.others // 4
        needed = self.summed // 2 + max(2 * scores, scores + factors + self.parts // 2) + _OTHER_REGISTERS
        product = max(self.others, *map(_columns, self.dims)) // 2 + _PRODUCT_REGISTERS
        given = self._given_registers
        taken = max(given, min(_MOST_REGISTERS, (given + (given - _PRODUCER_REGISTERS) // self.consumers) // 8 * 8))
        if needed > taken:
            yield f"about {needed} registers over the {taken} of a consumer's threads"
        elif product > given:
            yield f"about {product} registers of a product over the {given} that threads begin with"

    @property
    def _threads(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    @property
    def _given_registers(self) -> int:
        """Registers of a thread by the launch bounds; ptxas takes all of them, for setmaxnreg."""
        return min(_THREAD_REGISTERS, 65536 // (self._threads * self.blocks) // 8 * 8)


def _columns(*dims: int) -> int:
    return sum(round_up(dim, PRODUCT_COLUMNS) for dim in dims)
