"""How to compute a gemm: what follows from the fields of its schedule."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LEAST_COPY, WARP, WARPGROUP, WIDEST_ACCESS, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up

from .problem import GemmProblem
from .schedule_fields import GemmScheduleFields, Instruction, Prepare, SharedLayout

ROW_UNIT = 16  # bytes of a row of ldmatrix
PRODUCT_BYTES = 32  # bytes of a row of A or a column of B that tensor cores multiply at once
LEAST_HALVES = 32  # columns of a warp with as many gates as a load has, and their factors
_STAGED_ROWS, _STAGED_PAD = 16, 8  # rows of a warp's sums on their way to D, and words between them
_OTHER_REGISTERS = 40  # addresses and bounds
_GATHER_REGISTERS = 24  # addresses of floats across k, which are loaded one by one

WGMMA_ARCHITECTURE = "sm_90a"
WGMMA_ROWS = 64  # rows of a product of wgmma
SUM_BYTES = 4
_MOST_SHARERS = 16  # as in tiling.cuh
ROW_BYTES = 128  # bytes of a row of a wgmma tile in shared memory, which is swizzled
NARROW_ROWS = (32, 64)  # bytes of a row of a tile that is no wider
_BARRIER = 8
_STORE_BUFFERS, _STORE_BYTES = 2, WGMMA_ROWS * ROW_BYTES  # buffers of a consumer, and bytes of each
_RING_BOXES = 8  # boxes of C, as in wgmma/epilogue.cuh
_PRODUCER_REGISTERS, _MOST_REGISTERS = 24, 240  # registers of a thread of wgmma


@dataclass(frozen=True)
class GemmSchedule(GemmScheduleFields):
    """`GemmScheduleFields` with what follows: tiles, blocks, shared memory, registers."""

    @property
    def warps_m(self) -> int:
        """Warps of mma_sync along m of a block's tile."""
        return 1 if self.instruction is Instruction.WGMMA else self.block_m // self.warp_m

    @property
    def warps_n(self) -> int:
        """Warps of mma_sync along n of a block's tile."""
        return 1 if self.instruction is Instruction.WGMMA else self.block_n // self.warp_n

    @property
    def threads(self) -> int:
        """Threads of a block."""
        if self.instruction is Instruction.WGMMA:
            return WARPGROUP * (1 + self.consumers)
        return WARP * self.warps_m * self.warps_n

    def tiles(self, problem: GemmProblem) -> int:
        """Tiles of D, of all batches; those of a cluster side by side count as one."""
        m, n = (problem.n, problem.m) if self.swap else (problem.m, problem.n)
        return ceil_div(m, self.block_m * self.cluster_m) * ceil_div(n, self.block_n * self.cluster_n) * problem.batch

    @property
    def cluster(self) -> int:
        """Blocks of a cluster."""
        return self.cluster_m * self.cluster_n * self.cluster_k

    def steps(self, problem: GemmProblem) -> int:
        """Steps along k of a tile; one if k is 0, since D is written even then."""
        return max(1, ceil_div(problem.k, self.block_k))

    def blocks(self, problem: GemmProblem) -> int:
        """Blocks of the grid; 0 if there is nothing to compute."""
        tiles = self.tiles(problem)
        return self.grid_blocks if tiles and self.grid_blocks else tiles * self.cluster

    def shares_tiles(self, problem: GemmProblem) -> bool:
        """Whether blocks share tiles along k."""
        if not self.grid_blocks or self.whole_tiles:
            return False
        if self.instruction is Instruction.WGMMA:
            return self.sharers(problem) > 1
        return self.tiles(problem) % self.grid_blocks > 0

    def sharers(self, problem: GemmProblem) -> int:
        """Blocks by wgmma that share each tile beyond whole waves, or clusters that share each tile."""
        if self.cluster_k > 1:
            return self.grid_blocks // max(1, self.cluster_k * self.tiles(problem))
        rest = self.tiles(problem) % self.grid_blocks
        return min(self.grid_blocks // rest, self.steps(problem), _MOST_SHARERS) if rest else 1

    def workspace_bytes(self, problem: GemmProblem) -> int:
        """If blocks share tiles, each has 16 bytes of counters and room for the sums of two tiles; by wgmma of one.

        Of blocks that share k in a cluster, each has room for its part of a tile.
        """
        tiles = 1 if self.instruction is Instruction.WGMMA else 2
        sums = tiles * SUM_BYTES * self.block_m * self.block_n // self.cluster_k
        return self.grid_blocks * (16 + sums) if self.shares_tiles(problem) else 0

    def along_k(self, problem: GemmProblem, operand: str) -> bool:
        """Whether rows of ``a`` or ``b`` run along k, once it is prepared."""
        return problem.along_k(operand) or getattr(self, f"prepare_{operand}") is Prepare.TRANSPOSE

    def rows(self, problem: GemmProblem, operand: str) -> tuple[int, int]:
        """Rows of a tile of ``a`` or ``b`` in shared memory, and the bytes of each."""
        extent = self.block_m if operand == "a" else self.block_n
        rows, columns = (extent, self.block_k) if self.along_k(problem, operand) else (self.block_k, extent)
        return rows, columns * problem.dtype.bytes

    def pad(self, problem: GemmProblem, operand: str) -> int:
        """Bytes after each row of a tile in shared memory; see mma_sync/shared_tiles.cuh."""
        if self.shared_layout is not SharedLayout.PADDED:
            return 0
        return 2 * ROW_UNIT if problem.dtype is DType.FLOAT32 and not self.along_k(problem, operand) else ROW_UNIT

    def stage_bytes(self, problem: GemmProblem) -> int:
        """Of a tile of A and one of B, by wgmma."""
        return (self.block_m + self.loaded_columns(problem)) * self.block_k * problem.dtype.bytes

    def loaded_columns(self, problem: GemmProblem) -> int:
        """Columns of a tile of B in shared memory, by wgmma: of whole boxes, where these lie side by side across k."""
        if self.along_k(problem, "a" if self.swap else "b"):
            return self.block_n
        return round_up(self.block_n, self.row_bytes(problem, "b") // problem.dtype.bytes)

    def row_bytes(self, problem: GemmProblem, operand: str) -> int:
        """Of a tile of what wgmma multiplies as ``a`` or ``b``, in shared memory."""
        tensor = "ba"["ab".index(operand)] if self.swap else operand
        extent = self.block_m if operand == "a" else self.block_n
        width = (self.block_k if self.along_k(problem, tensor) else extent) * problem.dtype.bytes
        return next((row for row in NARROW_ROWS if width <= row), ROW_BYTES)

    def narrow_rows(self, problem: GemmProblem) -> bool:
        """Whether those of a tile have less than 128 bytes."""
        return self.instruction is Instruction.WGMMA and any(self.row_bytes(problem, one) < ROW_BYTES for one in "ab")

    def shared_bytes(self, problem: GemmProblem) -> int:
        """Shared memory of a block: the stages, with barriers or reused for the sums on their way to D."""
        if self.instruction is Instruction.WGMMA:
            turns = (self.consumers if self.pingpong else 0) * _BARRIER + _BARRIER  # and who is the last one
            buffers = self.consumers * _STORE_BUFFERS * _STORE_BYTES if self._has_buffers(problem) else 0
            if self.residual_ring(problem):
                turns += self.consumers * _BARRIER + _RING_BOXES * 2 * _BARRIER
                buffers = _RING_BOXES * _STORE_BYTES
            return self.stages * (self.stage_bytes(problem) + 2 * _BARRIER) + turns + buffers
        stage = sum(
            rows * (row_bytes + self.pad(problem, operand))
            for operand in "ab"
            for rows, row_bytes in [self.rows(problem, operand)]
        )
        staged = self.threads // WARP * _STAGED_ROWS * (self.warp_n + _STAGED_PAD) * WORD_BYTES
        return max(self.stages * stage, staged)

    def store_row_bytes(self, problem: GemmProblem) -> int:
        """Of the boxes by which tensor copies store D: the most up to 128 of which what a block stores is a multiple.

        Those of elements of 4 bytes have 128.
        """
        size, columns = problem.result.bytes, self.block_n // problem.parts
        unit = 8 if size < SUM_BYTES else ROW_BYTES // size
        blocks = next(n for n in (8, 4, 2, 1) if n <= self.cluster_k and (n == 1 or columns % (unit * n) == 0))
        row = columns // blocks * size
        return max(width for width in range(ROW_UNIT, ROW_BYTES + 1, ROW_UNIT) if row % width == 0)

    def store_box(self, problem: GemmProblem) -> tuple[int, int]:
        """Rows of D in these boxes, and their bytes: with swap, columns of a tile are rows of D."""
        width = self.store_row_bytes(problem)
        if not self.swap:
            return WGMMA_ROWS, width
        return width // problem.result.bytes, ROW_BYTES

    def grouped_boxes(self, problem: GemmProblem) -> bool:
        """Whether several of these boxes fit into a buffer, and are stored together."""
        return self._has_buffers(problem) and not self.swap and 2 * self.store_row_bytes(problem) <= ROW_BYTES

    def kept_boxes(self, problem: GemmProblem) -> bool:
        """Whether tensor copies store what is before the activation, too, by boxes as those of D."""
        plain = problem.preactivation and problem.parts == 1 and not self.swap
        return plain and self._has_buffers(problem) and not self.grouped_boxes(problem)

    def residual_stages(self, problem: GemmProblem) -> bool:
        """Whether tensor copies bring C: by the stages behind those of a tile, or by a ring; it becomes D there."""
        alone = self.cluster_k == 1 and (self.whole_tiles or not self.grid_blocks)
        return problem.residual and self.tensor_store and alone and not self.swap

    def residual_ring(self, problem: GemmProblem) -> bool:
        """Whether C has boxes of its own beside the stages, which consumers that take turns fill and empty in turn."""
        return self.pingpong and self.residual_stages(problem)

    def _has_buffers(self, problem: GemmProblem) -> bool:
        """Whether D goes through shared memory that is for nothing else."""
        return self.tensor_store and not self.residual_stages(problem)

    def vector(self, problem: GemmProblem, operand: str) -> int:
        """Elements of ``a``, ``b`` or ``d`` that its rows must begin at a multiple of."""
        if self.tensor_store if operand == "d" else self.instruction is Instruction.WGMMA:
            return WIDEST_ACCESS // problem.element_bytes_of(operand)
        vector: int = getattr(self, f"vector_{operand}")
        return vector

    @property
    def consumer_sums(self) -> int:
        """Sums of a thread of a consumer, in tensor cores and in FP32."""
        sums = self.block_m * self.block_n // (WARPGROUP * (1 if self.pingpong else self.consumers))
        return sums * (2 if self.promote else 1)

    @property
    def given_registers(self) -> int:
        """Registers of a thread of wgmma by the launch bounds; ptxas takes all of them, for setmaxnreg."""
        return min(255, 65536 // (self.threads * self.min_blocks_per_sm) // 8 * 8)

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer, with what the producer gives up."""
        taken = (self.given_registers + (self.given_registers - _PRODUCER_REGISTERS) // self.consumers) // 8 * 8
        return max(self.given_registers, min(_MOST_REGISTERS, taken))

    def footprint(self, problem: GemmProblem) -> Footprint:
        """See `Schedule`; registers are sums, fragments, what goes through registers, and addresses."""
        if self.instruction is Instruction.WGMMA:
            # Those that are given are taken where `setmaxnreg` moves them from the producer to consumers.
            needed = self.given_registers if self.given_registers < _MOST_REGISTERS else self.consumer_sums
            return Footprint(
                self.threads,
                self.shared_bytes(problem),
                min(self.given_registers, needed + _OTHER_REGISTERS),
                cluster=self.cluster,
                min_blocks_per_sm=self.min_blocks_per_sm,
                architecture=WGMMA_ARCHITECTURE,
            )
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
