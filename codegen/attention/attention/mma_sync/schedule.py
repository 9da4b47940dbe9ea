"""How to compute attention by the tensor cores of warps."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.parts import SPLITS
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

PRODUCT = 16  # rows of a product, and its terms
KEYS = (16, 32, 48, 64, 80, 96, 112, 128)
_OTHER_REGISTERS = 32  # addresses, bounds, rows, and fragments that are loaded


@dataclass(frozen=True)
class MmaSyncSchedule(Schedule):
    """Warps have some queries of a head each; threads copy keys and values to stages of shared memory.

    Attributes:
        threads: of a block.
        warp_rows: queries of a warp.
        tile_keys: keys of a stage.
        stages: of keys and values.
        queries_in_registers: whether warps keep their queries there, rather than load them for each tile of keys.
        vector_width: elements of a copy; one goes through registers.
        heads_together: heads whose tiles are taken together, those that see the most keys first.
        splits: blocks that share the keys of a tile, of which each has some; another launch adds their sums.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "mma_sync"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    warp_rows: int = tunable(16, values=(16, 32), allowed=(16, 32), short="WR")
    tile_keys: int = tunable(64, values=KEYS, allowed=KEYS, short="TK")
    stages: int = tunable(2, values=(2, 3, 4), least=2, short="S")
    queries_in_registers: bool = tunable(True, values=(False, True))
    vector_width: int = tunable(2, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    heads_together: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64), short="HT")
    splits: int = tunable(1, values=SPLITS, allowed=SPLITS)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def block_rows(self) -> int:
        """Queries of a block."""
        return self.threads // WARP * self.warp_rows

    def blocks(self, problem: AttentionProblem) -> int:
        """Blocks of the grid."""
        return problem.row_tiles(self.block_rows) * self.splits

    def shared_bytes(self, problem: AttentionProblem) -> int:
        """Queries and stages, whose rows are an odd number of 16-byte units."""
        keys, values = (
            (2 * ceil_div(dim, PRODUCT) | 1) * WIDEST_ACCESS for dim in (problem.head_dim, problem.value_elements)
        )
        return self.block_rows * keys + self.stages * self.tile_keys * (keys + values)

    def footprint(self, problem: AttentionProblem) -> Footprint:
        """See `Schedule`; registers are scores, sums of values, queries, and the weights of 16 rows, for others take
        the place of their scores."""
        tiles, steps = self.warp_rows // PRODUCT, ceil_div(problem.head_dim, PRODUCT)
        of_tile = self.tile_keys // 2 + 4 * ceil_div(problem.value_elements, 8)
        of_tile += 4 * steps if self.queries_in_registers else 4
        registers = tiles * of_tile + self.tile_keys // 4 + _OTHER_REGISTERS
        return Footprint(self.threads, self.shared_bytes(problem), registers, min_blocks_per_sm=self.min_blocks_per_sm)
