"""How to compute the gradients of attention by the tensor cores of warps."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

PRODUCT = 16  # rows of a product, and its terms
TILES = (16, 32, 48, 64, 96, 128)
_OTHER_REGISTERS = 40  # addresses, bounds, statistics, and fragments that are loaded


@dataclass(frozen=True)
class MmaSyncSchedule(Schedule):
    """A pass for dk and dv, and one for dq: warps have some rows each; threads copy others to stages of shared memory.

    Attributes:
        threads: of a block.
        warp_rows: of a warp: keys, or queries in the pass for dq.
        tile_queries: queries of a stage.
        tile_keys: keys of a stage in the pass for dq.
        stages: of other rows.
        together: whether dk and dv are added up in one pass, rather than in one each.
        vector_width: elements of a copy.
        heads_together: heads whose tiles are taken together, those that meet the most rows first.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "mma_sync"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    warp_rows: int = tunable(16, values=(16, 32), allowed=(16, 32), short="WR")
    tile_queries: int = tunable(32, values=TILES, allowed=TILES, short="TQ")
    tile_keys: int = tunable(64, values=TILES, allowed=TILES, short="TK")
    stages: int = tunable(2, values=(2, 3), least=2, short="S")
    together: bool = tunable(True, values=(False, True))
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    heads_together: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64), short="HT")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def block_rows(self) -> int:
        """Rows of a block's tile."""
        return self.threads // WARP * self.warp_rows

    def blocks(self, problem: AttentionBackwardProblem) -> int:
        """Blocks of a pass that has keys."""
        return problem.key_tiles(self.block_rows)

    def query_blocks(self, problem: AttentionBackwardProblem) -> int:
        """Blocks of the pass that has queries."""
        return problem.row_tiles(self.block_rows)

    def footprint(self, problem: AttentionBackwardProblem) -> Footprint:
        """Of a pass that has keys."""
        columns = problem.head_dim, problem.value_elements
        summed = sum(columns) if self.together else max(columns)
        return self._footprint(problem, self.tile_queries, summed, 2 * WORD_BYTES)

    def query_footprint(self, problem: AttentionBackwardProblem) -> Footprint:
        """Of the pass that has queries."""
        return self._footprint(problem, self.tile_keys, problem.head_dim, 0)

    def _footprint(self, problem: AttentionBackwardProblem, others: int, columns: int, statistics: int) -> Footprint:
        """Registers are sums of gradients, scores and their gradients, and factors of 16 rows, for those of others take
        the place of their scores."""
        dims = problem.head_dim, problem.value_elements
        row = sum((2 * ceil_div(dim, PRODUCT) | 1) * WIDEST_ACCESS for dim in dims)
        shared = self.block_rows * row + self.stages * others * (row + statistics)
        tiles = self.warp_rows // PRODUCT
        registers = tiles * (columns // 2 + others) + others // 4 + _OTHER_REGISTERS
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
