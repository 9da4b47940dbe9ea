"""How to compute a gemm: what the schedules of all kernels have."""

from __future__ import annotations

from enum import StrEnum

from autotune.codegen.model.integers import ceil_div, largest
from autotune.codegen.model.schedule import Schedule, Specialize

from .problem import GemmProblem

SUM_BYTES = 4


class Prepare(StrEnum):
    """What a launch ahead of the product does with an operand, whose copy the product then takes."""

    NONE = "none"
    COPY = "copy"  # to the workspace, where rows are aligned to 16 bytes
    TRANSPOSE = "transpose"  # likewise, so that rows run along k


class GemmSchedule(Schedule):
    """A block computes tiles of D of block_m×block_n.

    Attributes:
        block_m, block_n: rows and columns of a block's tile of D.
        block_k: columns of op(A) and rows of op(B) in a stage of shared memory.
        stages: tiles of A and B in shared memory, all but one of which are being copied.
        vector_d: elements of an access to D and C.
        prepare_a, prepare_b: whether A (B) is copied to the workspace first, for vectors that its own rows are not
            aligned for.
        promote: of float8, terms along k whose sums are added to sums in FP32, since tensor cores keep about 14 bits;
            0 for sums in tensor cores alone.
        cluster_m, cluster_n: blocks of a cluster below and beside each other, which copy to each other what they share.
        cluster_k: blocks of a cluster that multiply parts of k of one tile, and add up through shared memory.
        swap: whether tiles are those of Dᵀ = op(B)ᵀ·op(A)ᵀ, for few rows of D, which become columns of a tile: these
            are a multiple of 8, not of 64; or for B that alone lies across k, where only the first operand may in
            TF32, and the second in 16 bits is copied in boxes of 64 columns.
        raster_group: rows of tiles, or of clusters' tiles, that are taken column by column.
        grid_blocks: blocks that divide the steps along k of all tiles evenly, by wgmma of tiles beyond whole waves;
            0 for a block for each tile.
        whole_tiles: these blocks take whole tiles in turn instead.
        min_blocks_per_sm: blocks that fit on an SM at least; bounds the registers of a thread.
        specialize: whether the shape is compiled in.
    """

    block_m: int
    block_n: int
    block_k: int
    stages: int
    vector_d: int
    tensor_store: bool
    prepare_a: Prepare
    prepare_b: Prepare
    promote: int
    cluster_m: int
    cluster_n: int
    cluster_k: int
    swap: bool
    raster_group: int
    grid_blocks: int
    whole_tiles: bool
    min_blocks_per_sm: int
    specialize: Specialize

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
        return largest(1, ceil_div(problem.k, self.block_k))

    def blocks(self, problem: GemmProblem) -> int:
        """Blocks of the grid; 0 if there is nothing to compute."""
        tiles = self.tiles(problem)
        return self.grid_blocks if tiles and self.grid_blocks else tiles * self.cluster

    def shares_tiles(self, problem: GemmProblem) -> bool:
        """Whether blocks share tiles along k."""
        raise NotImplementedError

    def workspace_bytes(self, problem: GemmProblem) -> int:
        """What blocks that share tiles need of the workspace beside prepared operands."""
        raise NotImplementedError

    def along_k(self, problem: GemmProblem, operand: str) -> bool:
        """Whether rows of ``a`` or ``b`` run along k, once it is prepared."""
        return problem.along_k(operand) or getattr(self, f"prepare_{operand}") is Prepare.TRANSPOSE

    def vector(self, problem: GemmProblem, operand: str) -> int:
        """Elements of ``a``, ``b`` or ``d`` that its rows must begin at a multiple of."""
        raise NotImplementedError
