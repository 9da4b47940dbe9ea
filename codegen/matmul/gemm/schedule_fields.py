"""The fields of a gemm's schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.schedule import Schedule, Specialize

PRODUCT_M, PRODUCT_N = 16, 8  # rows and columns of a product of tensor cores by mma.sync


class Instruction(StrEnum):
    """What multiplies."""

    MMA_SYNC = "mma_sync"  # tensor cores on the registers of a warp
    WGMMA = "wgmma"  # tensor cores on what tensor copies bring to shared memory (sm_90a)


class SharedLayout(StrEnum):
    """How 8 neighbouring rows of a tile come to lie in different banks."""

    SWIZZLED = "swizzled"  # by XOR of their 16-byte units
    PADDED = "padded"  # by 16 bytes after each row


class Prepare(StrEnum):
    """What a launch ahead of the product does with an operand, whose copy the product then takes."""

    NONE = "none"
    COPY = "copy"  # to the workspace, where rows are aligned to 16 bytes
    TRANSPOSE = "transpose"  # likewise, so that rows run along k


_UNUSED: Mapping[Instruction, tuple[str, ...]] = {
    Instruction.MMA_SYNC: (
        "consumers",
        "pingpong",
        "wait_depth",
        "tensor_store",
        "cluster_m",
        "cluster_n",
        "cluster_k",
        "swap",
        "whole_tiles",
    ),
    Instruction.WGMMA: (
        "warp_m", "warp_n", "vector_a", "vector_b", "shared_layout", "double_buffer_fragments",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class GemmScheduleFields(Schedule):
    """A block computes tiles of D of block_m×block_n, which are shared by warps or by consumers, as `instruction` says.

    Fields that an instruction does not use have their defaults (`unused`).

    Attributes:
        instruction: what multiplies.
        block_m, block_n: rows and columns of a block's tile of D.
        block_k: columns of op(A) and rows of op(B) in a stage of shared memory.
        warp_m, warp_n: rows and columns of a warp's tile, of mma_sync.
        stages: tiles of A and B in shared memory, all but one of which are being copied.
        vector_a, vector_b: elements of a copy to shared memory, by way of registers if they are less than 4 bytes.
        vector_d: elements of an access to D and C.
        prepare_a, prepare_b: whether A (B) is copied to the workspace first, for vectors that its own rows are not
            aligned for.
        shared_layout: how tiles in shared memory avoid bank conflicts.
        double_buffer_fragments: whether a warp loads what it multiplies next while it multiplies.
        promote: of float8, terms along k whose sums are added to sums in FP32, since tensor cores keep about 14 bits;
            0 for sums in tensor cores alone.
        consumers: warpgroups that multiply, of wgmma; one more has tensor copies fill the stages.
        pingpong: each consumer has a tile of its own, so that it stores one while others multiply.
        wait_depth: stages whose products are under way when the next are issued.
        tensor_store: whether tensor copies store D from shared memory, while the next tile is multiplied; of blocks
            that share no tile along k, they load C, too.
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

    instruction: Instruction = tunable(Instruction.MMA_SYNC, values=tuple(Instruction))
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
    def unused(self) -> tuple[str, ...]:
        """The fields that the instruction does not use."""
        return _UNUSED[self.instruction]
