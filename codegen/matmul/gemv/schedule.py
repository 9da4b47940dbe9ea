"""How to compute a gemv: what the schedules of both kernels have."""

from __future__ import annotations

from enum import StrEnum

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import GemvProblem, WeightOrder

CHUNK = 8  # weights that are decoded at once
_OTHER_REGISTERS = 32  # addresses, bounds and a vector of x


class WeightLoads(StrEnum):
    """What caches do with W, which is read once."""

    CACHED = "cached"
    NO_ALLOCATE = "no_allocate"  # L1 is left to x
    EVICT_FIRST = "evict_first"  # L2 lets go of it first, too


class GemvSchedule(Schedule):
    """Each output is a sum along k that threads of a block share, blocks of a cluster, and clusters of the grid.

    A thread has `strips` of W: rows where W is stored as n×k, vectors along n where it is stored as k×n.

    Attributes:
        threads: of a block.
        threads_per_output: of a block that share an output.
        strips: of W that a thread works on at once, with the same x.
        vector_width: stored elements of a load of W.
        loads_in_flight: vectors of each strip that a thread loads before it uses the first, which make a tile.
        stages: tiles of W in shared memory, all but one of which are being copied; 1 for loads to registers.
        shared_x: whether a block copies what a tile meets of x to shared memory, too, once for all of its threads.
        cluster: blocks of a cluster, which share outputs.
        splits: clusters that share outputs; the last one to finish adds up their sums, in the order of the clusters.
        weight_loads: what caches do with W.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    threads: int
    threads_per_output: int
    strips: int
    vector_width: int
    loads_in_flight: int
    stages: int
    shared_x: bool
    cluster: int
    splits: int
    weight_loads: WeightLoads
    min_blocks_per_sm: int
    specialize: Specialize

    def terms(self, problem: GemvProblem) -> int:
        """Terms of a sum that a thread has of a load of W."""
        return self.vector_width * problem.weights.packed if problem.order is WeightOrder.NK else 1

    def along_n(self, problem: GemvProblem) -> int:
        """Outputs of each vector that a strip of a thread has."""
        return 1 if problem.order is WeightOrder.NK else self.vector_width

    def block_n(self, problem: GemvProblem) -> int:
        """Outputs of each vector that a block computes."""
        return self.threads // self.threads_per_output * self.strips * self.along_n(problem)

    def block_k(self, problem: GemvProblem) -> int:
        """Terms of each sum that a block loads in a step."""
        return self.threads_per_output * self.loads_in_flight * self.terms(problem)

    def chunked(self, problem: GemvProblem) -> bool:
        """Whether what meets so many weights of x is loaded as they are decoded, or multiplied."""
        return problem.quantised

    def x_width(self, problem: GemvProblem) -> int:
        """Elements of an access to x."""
        if problem.transpose_x:
            return widest_divisor(problem.vector_width("x"), max(1, problem.m))
        count = self.loads_in_flight
        if problem.order is WeightOrder.NK:
            count = min(CHUNK, self.terms(problem)) if self.chunked(problem) else self.vector_width
        return min(count, problem.vector_width("x"))

    def x_pitch(self, problem: GemvProblem) -> int:
        """Elements from a vector of x to the next in shared memory."""
        return self.block_k(problem)

    def x_tile_bytes(self, problem: GemvProblem) -> int:
        """What a block copies of x in a step."""
        return problem.m * self.x_pitch(problem) * problem.dtype.bytes if self.shared_x else 0

    def steps(self, problem: GemvProblem) -> int:
        """Steps along k, of which each block that shares outputs has one at least."""
        return max(1, ceil_div(problem.k, self.block_k(problem)))

    @property
    def partitions(self) -> int:
        """Blocks that share outputs."""
        return self.cluster * self.splits

    def groups(self, problem: GemvProblem) -> int:
        """Groups of outputs, each of which a block or several compute; none if there is nothing to compute."""
        return ceil_div(problem.n, self.block_n(problem)) * problem.batch if problem.m else 0

    def blocks(self, problem: GemvProblem) -> int:
        """Blocks of the grid."""
        return self.groups(problem) * self.partitions

    def sums(self, problem: GemvProblem) -> int:
        """Accumulators of a thread; those of a group of weights are counted, too."""
        return self.strips * self.along_n(problem) * problem.m * (2 if problem.group_size else 1)

    def spread(self, problem: GemvProblem) -> int:
        """Loads of a thread whose terms of x are columns of their own to tensor cores."""
        return 1

    def parts(self, problem: GemvProblem) -> int:
        """Sums of each output that the warps of a block leave in shared memory."""
        raise NotImplementedError

    def tile_bytes(self, problem: GemvProblem) -> int:
        """What the threads of a block copy or load of W in a step."""
        return self.threads * self.strips * self.loads_in_flight * self.vector_width * problem.weight_dtype.bytes

    def shared_bytes(self, problem: GemvProblem) -> int:
        """The tiles of W and x that are not loaded to registers, and the sums of a block."""
        tiles = self.stages * (self.tile_bytes(problem) + self.x_tile_bytes(problem)) if self.stages > 1 else 0
        return round_up(tiles, 16) + round_up(self.parts(problem) * self.block_n(problem) * problem.m * WORD_BYTES, 16)

    def workspace_bytes(self, problem: GemvProblem) -> int:
        """The sums of each split, then a ticket counter for each block of a group's cluster; nothing without splits."""
        if self.splits == 1:
            return 0
        sums = self.splits * self.block_n(problem) * problem.m
        return self.groups(problem) * (sums + self.cluster) * WORD_BYTES

    def registers_beside(self, problem: GemvProblem) -> int:
        """Registers of a thread beside vectors of W in flight and sums: addresses, weights, scales on their way."""
        loads = self.loads_in_flight if self.stages == 1 else 1
        arrays = 1 + bool(problem.group_size) + problem.zeros  # that a row has a part of
        addresses = 2 * self.strips * arrays if problem.order is WeightOrder.NK else 0
        decoded = self.strips * min(CHUNK, self.terms(problem)) if problem.quantised else 0
        return addresses + decoded + self.strips * loads * (arrays - 1)

    def loaded_words(self, problem: GemvProblem) -> int:
        """Registers of the vectors of W that a thread has at once."""
        loads = self.loads_in_flight if self.stages == 1 else 1
        return self.strips * loads * ceil_div(self.vector_width * problem.weight_dtype.bytes, WORD_BYTES)

    def footprint(self, problem: GemvProblem) -> Footprint:
        """See `Schedule`; registers are the vectors of W in flight, sums, and what is beside them."""
        registers = self.loaded_words(problem) + self.sums(problem) + self.registers_beside(problem) + _OTHER_REGISTERS
        return Footprint(self.threads, self.shared_bytes(problem), registers, self.cluster, self.min_blocks_per_sm)
