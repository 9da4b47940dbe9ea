"""How to compute a gemm by mma.sync."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import SUM_BYTES, GemmSchedule, Prepare
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LEAST_COPY, WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

PRODUCT_M, PRODUCT_N = 16, 8
PRODUCT_BYTES = 32  # bytes of a row of A or a column of B that tensor cores multiply at once
LEAST_HALVES = 32  # columns of a warp with as many gates as a load has, and their factors
_ROW_UNIT = 16  # bytes of a row of ldmatrix
_STAGED_ROWS, _STAGED_PAD = 16, 8  # rows of a warp's sums on their way to D, and words between them
_SHARED_TILES = 2  # of a block that shares tiles: its first one and its last one
_COUNTER_BYTES = 16
_OTHER_REGISTERS = 40  # addresses and bounds
_GATHER_REGISTERS = 24  # addresses of floats across k, which are loaded one by one


class SharedLayout(StrEnum):
    """How 8 neighbouring rows of a tile come to lie in different banks."""

    SWIZZLED = "swizzled"  # by XOR of their 16-byte units
    PADDED = "padded"  # by 16 bytes after each row


@dataclass(frozen=True)
class MmaSyncSchedule(GemmSchedule):
    """A block's tile is shared by warps, each of which multiplies registers by tensor cores.

    Attributes:
        warp_m, warp_n: rows and columns of a warp's tile.
        vector_a, vector_b: elements of a copy to shared memory, by way of registers if they are less than 4 bytes.
        shared_layout: how tiles in shared memory avoid bank conflicts.
        double_buffer_fragments: whether a warp loads what it multiplies next while it multiplies.
    """

    kernel = "mma_sync"

    block_m: int = tunable(128, short="BM")
    block_n: int = tunable(128, short="BN")
    block_k: int = tunable(32, values=(16, 32, 64, 128), power_of_two=True, least=8, short="BK")
    warp_m: int = tunable(64, values=(16, 32, 64, 128), power_of_two=True, least=PRODUCT_M, short="WM")
    warp_n: int = tunable(64, values=(16, 32, 64, 128), power_of_two=True, least=2 * PRODUCT_N, short="WN")
    stages: int = tunable(3, values=(2, 3, 4, 5, 6, 7, 8, 10, 12, 16), least=2)
    vector_a: int = tunable(8, power_of_two=True)
    vector_b: int = tunable(8, power_of_two=True)
    vector_d: int = tunable(8, power_of_two=True)
    prepare_a: Prepare = tunable(Prepare.NONE)
    prepare_b: Prepare = tunable(Prepare.NONE)
    shared_layout: SharedLayout = tunable(SharedLayout.SWIZZLED, values=tuple(SharedLayout))
    double_buffer_fragments: bool = tunable(True, values=(False, True))
    promote: int = tunable(0, values=(0, 128, 256, 512), least=0)
    cluster_m = cluster_n = cluster_k = 1
    swap = whole_tiles = tensor_store = False
    raster_group: int = tunable(8, values=(1, 2, 4, 8, 16))
    grid_blocks: int = tunable(0, least=0)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def warps_m(self) -> int:
        """Warps along m of a block's tile."""
        return self.block_m // self.warp_m

    @property
    def warps_n(self) -> int:
        """Warps along n of a block's tile."""
        return self.block_n // self.warp_n

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARP * self.warps_m * self.warps_n

    def shares_tiles(self, problem: GemmProblem) -> bool:
        """Whether blocks share tiles along k."""
        return self.grid_blocks > 0 and self.tiles(problem) % self.grid_blocks > 0

    def workspace_bytes(self, problem: GemmProblem) -> int:
        """If blocks share tiles, each has 16 bytes of counters and room for the sums of two tiles."""
        sums = _SHARED_TILES * SUM_BYTES * self.block_m * self.block_n
        return self.grid_blocks * (_COUNTER_BYTES + sums) if self.shares_tiles(problem) else 0

    def rows(self, problem: GemmProblem, operand: str) -> tuple[int, int]:
        """Rows of a tile of ``a`` or ``b`` in shared memory, and the bytes of each."""
        extent = self.block_m if operand == "a" else self.block_n
        rows, columns = (extent, self.block_k) if self.along_k(problem, operand) else (self.block_k, extent)
        return rows, columns * problem.dtype.bytes

    def pad(self, problem: GemmProblem, operand: str) -> int:
        """Bytes after each row of a tile in shared memory; see shared_tiles.cuh."""
        if self.shared_layout is not SharedLayout.PADDED:
            return 0
        return 2 * _ROW_UNIT if problem.dtype is DType.FLOAT32 and not self.along_k(problem, operand) else _ROW_UNIT

    def shared_bytes(self, problem: GemmProblem) -> int:
        """Shared memory of a block: the stages, reused for the sums on their way to D."""
        stage = sum(
            rows * (row_bytes + self.pad(problem, operand))
            for operand in "ab"
            for rows, row_bytes in [self.rows(problem, operand)]
        )
        staged = self.threads // WARP * _STAGED_ROWS * (self.warp_n + _STAGED_PAD) * WORD_BYTES
        return max(self.stages * stage, staged)

    def vector(self, problem: GemmProblem, operand: str) -> int:
        """Elements of ``a``, ``b`` or ``d`` that its rows must begin at a multiple of."""
        vector: int = getattr(self, f"vector_{operand}")
        return vector

    def footprint(self, problem: GemmProblem) -> Footprint:
        """See `Schedule`; registers are sums, fragments, what goes through registers, and addresses."""
        sums = self.warp_m * self.warp_n // WARP * (2 if self.promote else 1)
        fragments = (self.warp_m // 4 + self.warp_n // 4) * (2 if self.double_buffer_fragments else 1)
        size = problem.dtype.bytes
        staged = sum(
            ceil_div(rows * row_bytes // size, self.threads)
            for operand in "ab"
            for rows, row_bytes in [self.rows(problem, operand)]
            if getattr(self, f"vector_{operand}") * size < LEAST_COPY
        )
        gathered = problem.dtype is DType.FLOAT32 and not (self.along_k(problem, "a") and self.along_k(problem, "b"))
        registers = sums + fragments + staged // 2 + _OTHER_REGISTERS + (_GATHER_REGISTERS if gathered else 0)
        return Footprint(
            self.threads,
            self.shared_bytes(problem),
            registers,
            min_blocks_per_sm=self.min_blocks_per_sm,
        )
