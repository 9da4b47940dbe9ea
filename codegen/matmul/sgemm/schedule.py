"""How an sgemm is computed: tiles, layouts, pipelines, orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import SgemmProblem

# Registers for addresses, counters and predicates, as ptxas used them beyond the arrays in 16×8 and 8×8 thread tiles.
ADDRESS_REGISTERS = 30
# As ptxas used them for 3455 schedules of an H200: more than the footprint says in the median of those that no cap
# binds, and, beyond the elements in flight (split_k_reduction.cuh), where clusters may share tiles. Occupancy comes out
# right for 92 % of them.
_MORE_REGISTERS, _FIX_UP_REGISTERS = 15, 80
_STAGED_PAD = 16  # elements behind each row of C in shared memory (epilogue.cuh)


class LaneMap(StrEnum):
    """The order of the 32 lanes of a warp in its tile."""

    ROW_MAJOR = "row_major"
    Z_ORDER = "z_order"


class CopyMode(StrEnum):
    """How tiles are copied from global to shared memory: through registers, or by cp.async.

    `DIRECT` loads what a thread multiplies from global memory to its registers, without shared memory.
    `TRANSPOSE_FIRST` is cp.async from the workspace, where a launch of its own has transposed the operand.
    """

    REGISTERS = "registers"
    ASYNC_COPY = "async_copy"
    DIRECT = "direct"
    TRANSPOSE_FIRST = "transpose_first"


class FfmaOrder(StrEnum):
    """The order of a thread's FFMAs at one k."""

    ROW = "row"
    COLUMN = "column"
    SERPENTINE_ROW = "serpentine_row"
    SERPENTINE_COLUMN = "serpentine_column"
    ZIGZAG = "zigzag"


@dataclass(frozen=True)
class SgemmSchedule(Schedule):
    """A block computes block_m×block_n elements of C, a warp warp_m×warp_n of them, a thread thread_m×thread_n.

    Attributes:
        block_m, block_n: rows and columns of a block's tile of C.
        block_k: columns of A and rows of B that a stage has in shared memory.
        warp_m, warp_n: rows and columns of a warp's tile. If it has fewer than 32 thread tiles, several lanes share
            one, each with a part of the steps along k.
        thread_m, thread_n: rows and columns of a thread's tile. It consists of strips of up to 4 elements; the strips
            of a warp's lanes alternate.
        warps_k: sliced-K: warps that share a warp's tile, each with a part of the block_k steps.
        lane_map: order of the lanes in the warp's tile.
        pad_a, pad_b: elements of padding after each row of the tile of A (B) in shared memory. If the copy transposes,
            after each group of vector_a (vector_b) rows, which it writes together. If the tile is K-major, after the
            rows of each strip.
        swizzle_a, swizzle_b: permute the columns of each such group by XOR instead of padding.
        stages: tiles in shared memory: 1 for a single buffer, 2 for double buffering, more for deeper prefetching.
        copy_a, copy_b: how tiles of A (B) are copied. Of an operand that lies along k, an asynchronous copy of single
            elements transposes, and one of vectors makes K-major tiles: they lie along k in shared memory, too.
            TRANSPOSE_FIRST is for such an operand, where the other side is so long that transposing it takes little.
        copy_steps: if both copies are asynchronous, the steps along k over which those of a later tile are spread.
        double_buffer_fragments: load the fragments of the next k while those of this k are multiplied.
        vector_a, vector_b, vector_c: elements of an access to global memory.
        ffma_order: order of a thread's FFMAs at one k, which affects register-bank conflicts.
        raster_group: rows of tiles that are scheduled together, for the L2 cache.
        cluster_k: blocks of a cluster (sm_90 and newer), which split a tile along k and reduce their sums through
            distributed shared memory.
        grid_blocks: blocks of the grid. Its clusters divide the steps along k of all tiles evenly: stream-K, or split-K
            if they are a multiple of the tiles. 0 is data-parallel, one cluster for each tile.
        min_blocks_per_sm: blocks that must fit on an SM, which limits the registers of a thread.
        specialize: which dimensions are compile-time constants.
    """

    renamed: ClassVar[Mapping[str, str]] = {
        "transport_a": "copy_a",
        "transport_b": "copy_b",
        "group_m": "raster_group",
        "min_blocks": "min_blocks_per_sm",
    }

    block_m: int = tunable(128, short="BM")
    block_n: int = tunable(128, short="BN")
    block_k: int = tunable(16, values=(8, 16, 32, 64), short="BK")
    warp_m: int = tunable(32, short="WM")
    warp_n: int = tunable(64, short="WN")
    thread_m: int = tunable(8, short="TM")
    thread_n: int = tunable(8, short="TN")
    warps_k: int = tunable(1, values=(1, 2, 4, 8))
    lane_map: LaneMap = tunable(LaneMap.Z_ORDER, values=tuple(LaneMap))
    pad_a: int = tunable(4, least=0)
    pad_b: int = tunable(0, least=0)
    swizzle_a: bool = tunable(False)
    swizzle_b: bool = tunable(False)
    stages: int = tunable(2, values=(1, 2, 3, 4))
    copy_a: CopyMode = tunable(CopyMode.REGISTERS)
    copy_b: CopyMode = tunable(CopyMode.REGISTERS)
    copy_steps: int = tunable(1, values=(1, 2, 4, 8, 16))
    double_buffer_fragments: bool = tunable(True, values=(False, True))
    vector_a: int = tunable(4, allowed=(1, 2, 4))
    vector_b: int = tunable(4, allowed=(1, 2, 4))
    vector_c: int = tunable(4, values=(1, 2, 4), allowed=(1, 2, 4))
    ffma_order: FfmaOrder = tunable(FfmaOrder.SERPENTINE_ROW, values=tuple(FfmaOrder))
    raster_group: int = tunable(8, values=(1, 2, 4, 8, 16))
    cluster_k: int = tunable(1, values=(1, 2, 4, 8))
    grid_blocks: int = tunable(0, least=0)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: SgemmProblem) -> Footprint:
        """See `Schedule`; registers are accumulators, fragments, tiles in flight, and addresses."""
        fragments = self.thread_m * self._k_in_registers(problem, "a")
        fragments += self.thread_n * self._k_in_registers(problem, "b")
        staged = self.staged_elements("a") + self.staged_elements("b")
        registers = self.thread_m * self.thread_n + fragments + staged + ADDRESS_REGISTERS
        wanted = registers + _MORE_REGISTERS
        if self.grid_blocks:
            under_way = 128 if self.threads * self.min_blocks_per_sm <= 256 else 64
            wanted = max(wanted, under_way + _FIX_UP_REGISTERS)
        return Footprint(
            self.threads,
            self.shared_bytes(problem),
            registers,
            self.cluster_k,
            self.min_blocks_per_sm,
            wanted_registers=wanted,
        )

    @property
    def asynchronous(self) -> bool:
        """Whether both operands are copied by cp.async."""
        return {self.copy_a, self.copy_b} <= {CopyMode.ASYNC_COPY, CopyMode.TRANSPOSE_FIRST}

    @property
    def thread_tile(self) -> str:
        """Rows and columns of a thread's tile, such as ``8×8``: one choice of a search space."""
        return f"{self.thread_m}×{self.thread_n}"

    @property
    def load_a(self) -> str:
        """How A is copied, and elements of an access, such as ``async_copy 4``: one choice of a search space."""
        return self._load("a")

    @property
    def load_b(self) -> str:
        """`load_a` of B."""
        return self._load("b")

    def _load(self, operand: str) -> str:
        """A direct operand is always accessed as widely as alignment and strips allow."""
        mode, vector = getattr(self, f"copy_{operand}"), getattr(self, f"vector_{operand}")
        return str(mode) if mode is CopyMode.DIRECT else f"{mode} {vector}"

    @property
    def layout_a(self) -> str:
        """``plain``, ``swizzle``, or ``pad`` and how many elements, such as ``pad8``: one choice of a search space."""
        return self._layout("a")

    @property
    def layout_b(self) -> str:
        """`layout_a` of B."""
        return self._layout("b")

    def _layout(self, operand: str) -> str:
        pad = getattr(self, f"pad_{operand}")
        return "swizzle" if getattr(self, f"swizzle_{operand}") else f"pad{pad}" if pad else "plain"

    @property
    def lanes_m(self) -> int:
        """Lanes along m of a warp's tile."""
        return self.warp_m // self.thread_m

    @property
    def warps_m(self) -> int:
        """Warps along m of a block's tile."""
        return self.block_m // self.warp_m

    @property
    def warps_n(self) -> int:
        """Warps along n of a block's tile."""
        return self.block_n // self.warp_n

    @property
    def lanes_k(self) -> int:
        """Lanes that share a thread's tile, each with a part of the steps along k."""
        return 32 // (self.lanes_m * (self.warp_n // self.thread_n))

    @property
    def k_steps(self) -> int:
        """Steps along k that a thread takes of a tile."""
        return self.block_k // (self.warps_k * self.lanes_k)

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.warps_m * self.warps_n * self.warps_k

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * self.warps

    def tiles(self, problem: SgemmProblem) -> int:
        """Tiles of C, of all batches."""
        return ceil_div(problem.m, self.block_m) * ceil_div(problem.n, self.block_n) * problem.batch

    @property
    def staged_c(self) -> bool:
        """Whether rows of C pass through shared memory, as each thread would store a part of a sector of them.

        Not where threads share a tile, which has its own order of stores.
        """
        alone = self.warps_k * self.cluster_k * self.lanes_k == 1 and not self.grid_blocks
        return alone and self.vector_c < strip_width(self.thread_n)

    @property
    def grid_clusters(self) -> int:
        """Clusters of a grid with a given size; 0 if there is one cluster for each tile."""
        return self.grid_blocks // self.cluster_k

    def blocks(self, problem: SgemmProblem) -> int:
        """Blocks of the grid; 0 if there is nothing to compute."""
        tiles = self.tiles(problem)
        return self.grid_blocks if tiles and self.grid_blocks else tiles * self.cluster_k

    def workspace_bytes(self, problem: SgemmProblem) -> int:
        """If clusters share tiles, each has two slots for the sums of a tile, and each slot has two counters."""
        if not self.grid_clusters or self.tiles(problem) % self.grid_clusters == 0:
            return 0
        return 16 * self.grid_blocks + 8 * self.grid_clusters * self.block_m * self.block_n

    def shared_bytes(self, problem: SgemmProblem) -> int:
        """Shared memory of a block: `stages` tiles of A and B, reused for sums that threads exchange."""
        tiles = self.stages * (self.tile_elements(problem, "a") + self.tile_elements(problem, "b"))
        return 4 * max(tiles, self._shared_sums)

    @property
    def _shared_sums(self) -> int:
        """Elements of shared memory for sums that threads exchange."""
        if self.staged_c:
            rows = next(one for one in range(32 // self.thread_n or 1, 0, -1) if self.thread_m % one == 0)
            return self.warps * rows * self.lanes_m * (self.warp_n + _STAGED_PAD)
        return self.warps_k * self.block_m * self.block_n if self.warps_k * self.cluster_k > 1 else 0

    def tile_elements(self, problem: SgemmProblem, operand: str) -> int:
        """Elements of a tile of ``a`` or ``b`` in shared memory, padding included, a multiple of 4."""
        if getattr(self, f"copy_{operand}") is CopyMode.DIRECT:
            return 0
        extent, pad = (self.block_m, self.pad_a) if operand == "a" else (self.block_n, self.pad_b)
        if self.k_major(problem, operand):
            groups = extent // strip_width(self.thread_m if operand == "a" else self.thread_n)
        else:
            groups = self.block_k // self.row_group(problem, operand)
        return round_up(self.block_k * extent + groups * pad, 4)

    def k_major(self, problem: SgemmProblem, operand: str) -> bool:
        """Whether the tile of ``a`` or ``b`` in shared memory lies along k: asynchronous vectors do not transpose."""
        mode, vector = getattr(self, f"copy_{operand}"), getattr(self, f"vector_{operand}")
        return problem.along_k(operand) and mode is CopyMode.ASYNC_COPY and vector > 1

    def _k_in_registers(self, problem: SgemmProblem, operand: str) -> int:
        """Steps along k whose elements of ``a`` or ``b`` a thread has in fragments; of a K-major tile it reads four."""
        return 4 if self.k_major(problem, operand) else 2 if self.double_buffer_fragments else 1

    def row_group(self, problem: SgemmProblem, operand: str) -> int:
        """Rows of a tile of ``a`` or ``b`` in shared memory that a thread writes, or reads, together."""
        if self.lanes_k > 1:
            return 4
        vector: int = getattr(self, f"vector_{operand}")
        first = getattr(self, f"copy_{operand}") is CopyMode.TRANSPOSE_FIRST
        return vector if problem.along_k(operand) and not first else 1

    def vector_along(self, problem: SgemmProblem, dimension: str) -> int:
        """Elements of the widest access along ``m``, ``n`` or ``k``, which a tile must be aligned to."""
        along = {
            "m": () if problem.along_k("a") else (self.vector_a,),
            "n": (self.vector_c,) if problem.along_k("b") else (self.vector_b, self.vector_c),
            "k": tuple(getattr(self, f"vector_{operand}") for operand in "ab" if problem.along_k(operand)),
        }
        return max(along[dimension], default=1)

    def staged_elements(self, operand: str) -> int:
        """Elements of ``a`` or ``b`` that a thread has in registers on their way to shared memory or fragments."""
        mode = getattr(self, f"copy_{operand}")
        if mode in (CopyMode.ASYNC_COPY, CopyMode.TRANSPOSE_FIRST):
            return 0
        if mode is CopyMode.DIRECT:
            return self.k_steps * (self.thread_m if operand == "a" else self.thread_n)
        vector: int = getattr(self, f"vector_{operand}")
        vectors = self.block_k * (self.block_m if operand == "a" else self.block_n) // vector
        return ceil_div(vectors, self.threads) * vector


def strip_width(thread_extent: int) -> int:
    """Elements of a strip of a thread's tile: the widest vector that divides its extent."""
    return next(width for width in (4, 2, 1) if thread_extent % width == 0)
