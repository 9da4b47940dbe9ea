"""How to decode by the tensor cores of warps."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

_CHUNK = 32  # elements of keys that four lanes load together
_COLUMNS = 64  # of values that eight lanes load together
_OTHER_REGISTERS = 48  # addresses, bounds, rows, and weights


@dataclass(frozen=True)
class MmaSyncSchedule(Parts):
    """Each warp multiplies the 16 rows of a block, queries of heads that share keys, by keys of its own.

    Keys and values go from global memory to the registers that products take them from.

    Attributes:
        threads: of a block.
        warp_keys: that a warp takes at once.
        vector_width: elements of a load.
        splits: parts that the keys of a request are cut into at most.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "mma_sync"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    rows = 16
    warp_keys: int = tunable(16, values=(16, 32), allowed=(16, 32), short="WK")
    vector_width: int = tunable(2, values=(2, 4, 8), allowed=(2, 4, 8), short="V")
    splits: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="S")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile_keys(self) -> int:
        """Keys that a block takes at once."""
        return self.threads // WARP * self.warp_keys

    def footprint(self, problem: AttentionDecodeProblem) -> Footprint:
        """See `Schedule`; in shared memory each warp leaves its result."""
        chunks, columns = ceil_div(problem.head_dim, _CHUNK), ceil_div(problem.value_elements, _COLUMNS)
        loaded = self.warp_keys // 8 * (4 * chunks + 8 * columns)
        registers = 8 * chunks + 32 * columns + loaded + self.warp_keys // 2 + _OTHER_REGISTERS
        shared = self.state_bytes(problem) * self.threads // WARP
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
