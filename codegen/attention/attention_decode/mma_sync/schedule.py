"""How to decode by the tensor cores of warps."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.cache import Scales
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

_CHUNK = 32  # elements of keys that four lanes load together
_COLUMNS = 64  # of values that eight lanes load together
_VECTOR = 8  # elements of a cache that are copied side by side
_LIVE = 4  # a part of what is read from a stage is in registers at once
_OTHER_REGISTERS = 48  # addresses, bounds, rows, and weights


@dataclass(frozen=True)
class MmaSyncSchedule(Parts):
    """Each warp multiplies the 16 rows of a block, queries of heads that share keys, by keys of its own, or by some
    elements of keys that all warps have.

    Keys and values go from global memory to the registers that products take them from, or first to stages of shared
    memory.

    Attributes:
        threads: of a block.
        warp_keys: that a warp takes at once.
        vector_width: elements of a load of a cache.
        splits: parts that the keys of a request are cut into at most, where there is no fixed grid.
        part_tiles: tiles that a part has at least.
        stages: of a warp's keys and values in shared memory; 0: they are loaded to registers.
        share_keys: whether the warps of a block share keys, and each has some elements of keys and values.
        grid_blocks: blocks at most, of which those of a head have equal shares of the keys of all requests; 0: requests
            are cut by their own length.
        cluster: whether blocks that have parts of the same keys add their sums through each other's shared memory.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "mma_sync"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    rows = 16
    warp_keys: int = tunable(16, values=(16, 32), allowed=(16, 32), short="WK")
    vector_width: int = tunable(2, values=(2, 4, 8, 16), allowed=(2, 4, 8, 16), short="V")
    splits: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="S")
    part_tiles: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="PT")
    stages: int = tunable(0, values=(0, 2, 3, 4), least=0, allowed=(0, 2, 3, 4, 5, 6, 7, 8), short="ST")
    share_keys: bool = tunable(False, values=(False, True), short="SK")
    grid_blocks: int = tunable(0, least=0, short="G")
    cluster: bool = tunable(False, values=(False, True), short="C")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def key_warps(self) -> int:
        """Warps of a block that have different keys."""
        return 1 if self.share_keys else self.threads // WARP

    @property
    def tile_keys(self) -> int:
        """Keys that a block takes at once."""
        return self.key_warps * self.warp_keys

    def values_in_keys(self, problem: AttentionDecodeProblem) -> bool:
        """Whether warps take values from the keys that all of them have copied."""
        return problem.latent and self.share_keys and self.stages > 0

    def footprint(self, problem: AttentionDecodeProblem) -> Footprint:
        """See `Schedule`; in shared memory are stages and sums of products, and then states."""
        warps = self.threads // WARP
        chunks, columns = (
            ceil_div(elements, of_one * warps // self.key_warps)
            for elements, of_one in ((problem.head_dim, _CHUNK), (problem.value_elements, _COLUMNS))
        )
        loaded = self.warp_keys // 8 * (4 * chunks + 8 * columns)
        live = loaded // _LIVE if self.stages else loaded
        registers = 8 * chunks + 32 * columns + live + self.warp_keys // 2 + _OTHER_REGISTERS
        of_values = 0 if self.values_in_keys(problem) else 8 * columns
        vectors = ceil_div(chunks, 2) * 8 + of_values + (problem.scales is Scales.TOKEN)
        row_bytes = _VECTOR * problem.dtype_of("k").bytes * vectors
        staged = self.stages * warps * self.warp_keys * row_bytes
        summed = WORD_BYTES * self.threads * self.warp_keys if self.share_keys else 0
        shared = max(staged + summed, self.sum_bytes(problem, self.key_warps))
        # Of products that warps add, a thread loads most of those of all warps at once.
        exchanged = 3 * warps * self.warp_keys // 8 if self.share_keys else 0
        wanted = self.wanted_registers(registers + exchanged)
        return Footprint(
            self.threads, shared, registers, self.cluster_blocks, self.min_blocks_per_sm, wanted_registers=wanted
        )
