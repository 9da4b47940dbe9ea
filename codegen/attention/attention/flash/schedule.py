"""How to compute attention by fused multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule, Specialize

_OTHER_REGISTERS = 80  # addresses, bounds and what is loaded, of loops that are unrolled


@dataclass(frozen=True)
class FlashSchedule(Schedule):
    """A block has some queries of a head, a warp some of these; tiles of keys and values wait in shared memory.

    Attributes:
        threads: of a block.
        rows_per_warp: queries of a warp, which keys and values that it reads from shared memory serve.
        tile_keys: keys of a tile.
        vector_width: elements of a load.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "flash"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    rows_per_warp: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True, short="RPW")
    tile_keys: int = tunable(32, values=(32, 64), allowed=(32, 64), short="TK")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def block_rows(self) -> int:
        """Queries of a block."""
        return self.threads // WARP * self.rows_per_warp

    def blocks(self, problem: AttentionProblem) -> int:
        """Blocks of the grid."""
        return problem.row_tiles(self.block_rows)

    def footprint(self, problem: AttentionProblem) -> Footprint:
        """See `Schedule`."""
        keys, values = ceil_div(problem.head_dim, 2), ceil_div(problem.value_elements, 2)
        words = self.block_rows * keys + self.tile_keys * (keys | 1) + self.tile_keys * values
        columns = 2 * ceil_div(values, WARP)
        registers = self.rows_per_warp * (columns + self.tile_keys // WARP + 2) + _OTHER_REGISTERS
        return Footprint(self.threads, WORD_BYTES * words, registers, min_blocks_per_sm=self.min_blocks_per_sm)
