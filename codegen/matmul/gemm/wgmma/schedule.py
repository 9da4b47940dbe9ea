"""How to compute a gemm by wgmma."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import SUM_BYTES, GemmSchedule, Prepare
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP, WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Specialize

ARCHITECTURE = "sm_90a"
PRODUCT_ROWS = 64
ROW_BYTES = 128  # of a tile in shared memory, which are swizzled
NARROW_ROWS = (32, 64)  # bytes of a row of a tile that is no wider
_MOST_SHARERS = 16  # as in tiling.cuh
_COUNTER_BYTES = 16
_BARRIER = 8
_STORE_BUFFERS, _STORE_BYTES = 2, PRODUCT_ROWS * ROW_BYTES  # of a consumer; of each of them
_RING_BOXES = 8  # of C, as in epilogue.cuh
_PRODUCER_REGISTERS, _MOST_REGISTERS = 24, 240  # of a thread
_OTHER_REGISTERS = 40  # addresses and bounds


@dataclass(frozen=True)
class WgmmaSchedule(GemmSchedule):
    """A block's tile is shared by consumers, whose products read what tensor copies bring to shared memory (sm_90a).

    Attributes:
        consumers: warpgroups that multiply; one more has tensor copies fill the stages.
        pingpong: each consumer has a tile of its own, so that it stores one while others multiply.
        wait_depth: stages whose products are under way when the next are issued.
        tensor_store: whether tensor copies store D from shared memory, while the next tile is multiplied; of blocks
            that share no tile along k, they load C, too.
    """

    kernel = "wgmma"

    block_m: int = tunable(128, short="BM")
    block_n: int = tunable(128, short="BN")
    block_k: int = tunable(64, values=(16, 32, 64, 128), power_of_two=True, least=8, short="BK")
    stages: int = tunable(3, values=(2, 3, 4, 5, 6, 7, 8, 10, 12, 16), least=2)
    vector_d: int = tunable(2, power_of_two=True)
    prepare_a: Prepare = tunable(Prepare.NONE)
    prepare_b: Prepare = tunable(Prepare.NONE)
    promote: int = tunable(0, values=(0, 128, 256, 512), least=0)
    consumers: int = tunable(2, values=(1, 2, 3))
    pingpong: bool = tunable(False, values=(False, True))
    wait_depth: int = tunable(0, values=(0, 1), least=0)
    tensor_store: bool = tunable(False, values=(False, True))
    cluster_m: int = tunable(1, values=(1, 2), power_of_two=True)
    cluster_n: int = tunable(1, values=(1, 2), power_of_two=True)
    cluster_k: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    swap: bool = tunable(False, values=(False, True))
    raster_group: int = tunable(8, values=(1, 2, 4, 8, 16))
    grid_blocks: int = tunable(0, least=0)
    whole_tiles: bool = tunable(False)
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARPGROUP * (1 + self.consumers)

    def shares_tiles(self, problem: GemmProblem) -> bool:
        """Whether blocks share tiles along k."""
        return self.grid_blocks > 0 and not self.whole_tiles and self.sharers(problem) > 1

    def sharers(self, problem: GemmProblem) -> int:
        """Blocks that share each tile beyond whole waves, or clusters that share each tile."""
        if self.cluster_k > 1:
            return self.grid_blocks // max(1, self.cluster_k * self.tiles(problem))
        rest = self.tiles(problem) % self.grid_blocks
        return min(self.grid_blocks // rest, self.steps(problem), _MOST_SHARERS) if rest else 1

    def workspace_bytes(self, problem: GemmProblem) -> int:
        """If blocks share tiles, each has 16 bytes of counters and room for the sums of a tile.

        Of blocks that share k in a cluster, each has room for its part of a tile.
        """
        sums = SUM_BYTES * self.block_m * self.block_n // self.cluster_k
        return self.grid_blocks * (_COUNTER_BYTES + sums) if self.shares_tiles(problem) else 0

    def stage_bytes(self, problem: GemmProblem) -> int:
        """Of a tile of A and one of B."""
        return (self.block_m + self.loaded_columns(problem)) * self.block_k * problem.dtype.bytes

    def loaded_columns(self, problem: GemmProblem) -> int:
        """Columns of a tile of B in shared memory: of whole boxes, where these lie side by side across k."""
        if self.along_k(problem, "a" if self.swap else "b"):
            return self.block_n
        return round_up(self.block_n, self.row_bytes(problem, "b") // problem.dtype.bytes)

    def row_bytes(self, problem: GemmProblem, operand: str) -> int:
        """Of a tile of what is multiplied as ``a`` or ``b``, in shared memory."""
        tensor = "ba"["ab".index(operand)] if self.swap else operand
        extent = self.block_m if operand == "a" else self.block_n
        width = (self.block_k if self.along_k(problem, tensor) else extent) * problem.dtype.bytes
        return next((row for row in NARROW_ROWS if width <= row), ROW_BYTES)

    def narrow_rows(self, problem: GemmProblem) -> bool:
        """Whether those of a tile have less than 128 bytes."""
        return any(self.row_bytes(problem, one) < ROW_BYTES for one in "ab")

    def shared_bytes(self, problem: GemmProblem) -> int:
        """Shared memory of a block: the stages, barriers, and buffers for D and C."""
        turns = (self.consumers if self.pingpong else 0) * _BARRIER + _BARRIER  # and who is the last one
        buffers = self.consumers * _STORE_BUFFERS * _STORE_BYTES if self._has_buffers(problem) else 0
        if self.residual_ring(problem):
            turns += self.consumers * _BARRIER + _RING_BOXES * 2 * _BARRIER
            buffers = _RING_BOXES * _STORE_BYTES
        return self.stages * (self.stage_bytes(problem) + 2 * _BARRIER) + turns + buffers

    def store_row_bytes(self, problem: GemmProblem) -> int:
        """Of the boxes by which tensor copies store D: the most up to 128 of which what a block stores is a multiple.

        Those of elements of 4 bytes have 128.
        """
        size, columns = problem.result.bytes, self.block_n // problem.parts
        unit = 8 if size < SUM_BYTES else ROW_BYTES // size
        blocks = next(n for n in (8, 4, 2, 1) if n <= self.cluster_k and (n == 1 or columns % (unit * n) == 0))
        row = columns // blocks * size
        return max(width for width in range(WIDEST_ACCESS, ROW_BYTES + 1, WIDEST_ACCESS) if row % width == 0)

    def store_box(self, problem: GemmProblem) -> tuple[int, int]:
        """Rows of D in these boxes, and their bytes: with swap, columns of a tile are rows of D."""
        width = self.store_row_bytes(problem)
        if not self.swap:
            return PRODUCT_ROWS, width
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
        if operand == "d" and not self.tensor_store:
            return self.vector_d
        return WIDEST_ACCESS // problem.element_bytes_of(operand)

    @property
    def consumer_sums(self) -> int:
        """Sums of a thread of a consumer, in tensor cores and in FP32."""
        sums = self.block_m * self.block_n // (WARPGROUP * (1 if self.pingpong else self.consumers))
        return sums * (2 if self.promote else 1)

    @property
    def given_registers(self) -> int:
        """Registers of a thread by the launch bounds; ptxas takes all of them, for setmaxnreg."""
        return min(255, 65536 // (self.threads * self.min_blocks_per_sm) // 8 * 8)

    @property
    def consumer_registers(self) -> int:
        """Registers of a thread of a consumer, with what the producer gives up."""
        taken = (self.given_registers + (self.given_registers - _PRODUCER_REGISTERS) // self.consumers) // 8 * 8
        return max(self.given_registers, min(_MOST_REGISTERS, taken))

    def footprint(self, problem: GemmProblem) -> Footprint:
        """See `Schedule`; registers are sums and addresses, or those that a thread gets."""
        # Those that are given are taken where `setmaxnreg` moves them from the producer to consumers.
        needed = self.given_registers if self.given_registers < _MOST_REGISTERS else self.consumer_sums
        return Footprint(
            self.threads,
            self.shared_bytes(problem),
            min(self.given_registers, needed + _OTHER_REGISTERS),
            cluster=self.cluster,
            min_blocks_per_sm=self.min_blocks_per_sm,
            architecture=ARCHITECTURE,
        )
