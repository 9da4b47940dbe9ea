"""How to compute attention by wgmma."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.parts import SPLITS
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.tensor_maps import ROW_BYTES, boxes
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Schedule, Specialize

ARCHITECTURE = "sm_90a"
CONSUMER_ROWS = 64
PRODUCT_K, PRODUCT_COLUMNS = 16, 8
_BARRIER = 8  # bytes
_TILE, _PACKED_TILE = 24, 48  # bytes of what consumers must know of a tile, and of one of packed sequences
_COUNTER_BYTES = 8
_PRODUCER_REGISTERS, _MOST_REGISTERS, _THREAD_REGISTERS = 24, 240, 255
_OTHER_REGISTERS = 28  # addresses, bounds and rows: with 24, NVRTC 13.0 runs products one after the other
_WEIGHT_REGISTERS, _PRODUCT_REGISTERS = 4, 26  # of 16 keys; beside the sums of a product
KEYS = tuple(range(32, 241, 16))


@dataclass(frozen=True)
class WgmmaSchedule(Schedule):
    """Consumers have 64 queries each, of a head or of some; tensor copies bring keys and values to stages.

    Attributes:
        consumers: warpgroups that multiply; one more has tensor copies fill the stages.
        tile_keys: keys of a stage.
        stages: of keys, and of values.
        pingpong: consumers issue products in turn, so that one's softmax goes on beside another's products.
        rescale_late: sums of values are rescaled while the products of the next keys go on, rather than ahead of them.
        rescale_rarely: only if a logit is larger by more than 8 powers of 2 than the one that weights are relative to.
        queries_apart: each consumer has its own room of queries, so that it may begin the next tile ahead of others.
        grid_blocks: blocks that stay, and take one tile after the other; 0: there is a block for each tile.
        tickets: blocks that stay take the next tile that nobody has, rather than tiles in turn.
        heads_together: heads, or packs of them, whose tiles are taken together, those that see the most keys first.
        pack_group: rows of a tile are queries of all heads that share keys, rather than of one of them.
        splits: blocks that share the keys of a tile, of which each has some; another launch adds their sums.
        min_blocks_per_sm: blocks that fit on an SM at least, which hide each other's first and last steps.
        specialize: whether the shape is compiled in.
    """

    kernel = "wgmma"

    consumers: int = tunable(2, values=(1, 2, 3), allowed=(1, 2, 3), short="C")
    tile_keys: int = tunable(128, values=KEYS, allowed=KEYS, short="TK")
    stages: int = tunable(2, values=(1, 2, 3, 4), short="S")
    pingpong: bool = tunable(False, values=(False, True))
    rescale_late: bool = tunable(False, values=(False, True))
    rescale_rarely: bool = tunable(False, values=(False, True))
    queries_apart: bool = tunable(False, values=(False, True))
    grid_blocks: int = tunable(0, least=0)
    tickets: bool = tunable(False)
    heads_together: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64), short="HT")
    pack_group: bool = tunable(False, values=(False, True))
    splits: int = tunable(1, values=SPLITS, allowed=SPLITS)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def block_rows(self) -> int:
        """Rows of a tile."""
        return self.consumers * CONSUMER_ROWS

    @property
    def query_rows(self) -> int:
        """Rows of a tile that come together."""
        return CONSUMER_ROWS if self.queries_apart else self.block_rows

    def packed_heads(self, problem: AttentionProblem) -> int:
        """Heads of q whose queries are rows of a tile; 1 of a group that no tile has whole queries of."""
        return problem.group if self.pack_group and self.query_rows % problem.group == 0 else 1

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARPGROUP * (1 + self.consumers)

    def tiles(self, problem: AttentionProblem) -> int:
        """Tiles of all heads."""
        return problem.row_tiles(self.block_rows, self.packed_heads(problem))

    def blocks(self, problem: AttentionProblem) -> int:
        """Blocks of the grid."""
        tiles = self.tiles(problem)
        return min(self.grid_blocks, tiles) if self.grid_blocks else tiles * self.splits

    def shared_bytes(self, problem: AttentionProblem) -> int:
        """Queries, stages and barriers."""
        keys, values = (boxes(dim) * ROW_BYTES for dim in (problem.head_dim, problem.value_elements))
        stage = self.tile_keys * (keys + values) + 4 * _BARRIER
        tile = _PACKED_TILE if problem.segmented else _TILE
        told = self.block_rows // self.query_rows + (problem.segmented and self.grid_blocks > 0)
        return self.block_rows * keys + self.stages * stage + told * (2 * _BARRIER + tile)

    @property
    def workspace_bytes(self) -> int:
        """A counter of tickets."""
        return _COUNTER_BYTES if self.tickets else 0

    def needed_registers(self, problem: AttentionProblem) -> int:
        """Of a consumer's thread: scores, weights and sums of values."""
        columns = round_up(problem.value_elements, PRODUCT_COLUMNS)
        return self.tile_keys // 2 + self.tile_keys // 4 + columns // 2 + _OTHER_REGISTERS

    def product_registers(self, problem: AttentionProblem) -> int:
        """Of a thread, for one product: its sums, weights, and what else ptxas wants at once."""
        columns = round_up(problem.value_elements, PRODUCT_COLUMNS)
        return max(self.tile_keys // 2, columns // 2 + _WEIGHT_REGISTERS) + _PRODUCT_REGISTERS

    @property
    def given_registers(self) -> int:
        """Registers of a thread by the launch bounds; ptxas takes all of them, for setmaxnreg."""
        return min(_THREAD_REGISTERS, 65536 // (self.threads * self.min_blocks_per_sm) // 8 * 8)

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer, with what the producer gives up."""
        taken = (self.given_registers + (self.given_registers - _PRODUCER_REGISTERS) // self.consumers) // 8 * 8
        return max(self.given_registers, min(_MOST_REGISTERS, taken))

    def footprint(self, problem: AttentionProblem) -> Footprint:
        """See `Schedule`; registers are those that a thread gets."""
        shared = self.shared_bytes(problem)
        return Footprint(
            self.threads,
            shared,
            self.given_registers,
            min_blocks_per_sm=self.min_blocks_per_sm,
            architecture=ARCHITECTURE,
        )
