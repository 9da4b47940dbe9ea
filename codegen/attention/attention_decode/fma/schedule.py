"""How to decode by fused multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

_OTHER_REGISTERS = 26  # addresses, bounds, and weights
_ADDING_REGISTERS, _LEAST_ADDING = 14, 92  # more of blocks that add parts, and what these take at least


@dataclass(frozen=True)
class FmaSchedule(Parts):
    """Some lanes have a key each and multiply it by all rows of a block, which are queries of heads that share keys.

    Attributes:
        threads: of a block.
        rows: of a block.
        lanes: that have a key together.
        keys_in_flight: keys and values that a thread loads before it uses the first.
        vector_width: elements of a load.
        splits: parts that the keys of a request are cut into at most, where there is no fixed grid.
        part_tiles: tiles that a part has at least.
        grid_blocks: blocks at most, of which those of a head have equal shares of the keys of all requests; 0: requests
            are cut by their own length.
        cluster: whether blocks that have parts of the same keys add their sums through each other's shared memory.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    kernel = "fma"

    threads: int = tunable(128, values=(64, 128, 256), power_of_two=True, least=WARP, short="T")
    rows: int = tunable(1, values=(1, 2, 3, 4, 5, 6, 7, 8), short="R")
    lanes: int = tunable(32, values=(4, 8, 16, 32), allowed=(1, 2, 4, 8, 16, 32), short="L")
    keys_in_flight: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True, short="KF")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8), short="V")
    splits: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="S")
    part_tiles: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="PT")
    grid_blocks: int = tunable(0, least=0, short="G")
    cluster: bool = tunable(False, values=(False, True), short="C")
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def tile_keys(self) -> int:
        """Keys that a block takes at once."""
        return self.threads // self.lanes * self.keys_in_flight

    def own_elements(self, problem: AttentionDecodeProblem) -> tuple[int, int]:
        """Elements of a key and of a value that a thread has."""
        dims = problem.head_dim, problem.value_elements
        keys, values = (ceil_div(dim, self.vector_width * self.lanes) * self.vector_width for dim in dims)
        return keys, values

    def footprint(self, problem: AttentionDecodeProblem) -> Footprint:
        """See `Schedule`; in shared memory each warp leaves its result."""
        shared = self.sum_bytes(problem, self.threads // WARP)
        keys, values = self.own_elements(problem)
        words = ceil_div(self.vector_width * problem.dtype_of("k").bytes, WORD_BYTES)  # of a load
        loaded = self.keys_in_flight * (keys + values) // self.vector_width * words
        registers = self.rows * (keys + values + self.keys_in_flight + 4) + loaded + _OTHER_REGISTERS
        if self.splits > 1 or self.grid_blocks:
            registers = max(registers + _ADDING_REGISTERS, _LEAST_ADDING)
        wanted = self.wanted_registers(registers)
        return Footprint(
            self.threads, shared, registers, self.cluster_blocks, self.min_blocks_per_sm, wanted_registers=wanted
        )
