"""conv2d_input's problems for the contract, and schedules that are hard to get right."""

from autotune.codegen.convolution.conv2d_input.fma.schedule import FmaInputSchedule
from autotune.codegen.convolution.conv2d_input.mma_offsets.schedule import MmaOffsetsInputSchedule
from autotune.codegen.convolution.conv2d_input.overlap_add.schedule import OverlapAddSchedule
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.convolution.conv2d_input.wgmma_im2col.schedule import WgmmaInputSchedule
from autotune.codegen.model.dtype import DType

FP16, BF16 = DType.FLOAT16, DType.BFLOAT16

PROBLEMS = {
    "c64-k64-h56-w56-n32-r3s3-ph1-pw1-float32": Conv2dInputProblem(64, 64, 56, 56, 32, padding_h=1, padding_w=1),
    "c256-k256-h14-w14-n32-r3s3-ph1-pw1-bfloat16": Conv2dInputProblem(
        256, 256, 14, 14, 32, padding_h=1, padding_w=1, dtype=BF16
    ),
    "c128-k128-h56-w56-n32-r3s3-sh2-sw2-ph1-pw1-bfloat16": Conv2dInputProblem(
        128, 128, 56, 56, 32, 3, 3, 2, 2, 1, 1, dtype=BF16
    ),
    "c512-k1024-h28-w28-n32-r1s1-sh2-sw2-float32-tf32": Conv2dInputProblem(
        512, 1024, 28, 28, 32, 1, 1, 2, 2, tf32=True
    ),
    "c3-k5-h6-w7-n2-r5s3-sh3-sw2-ph5-pw1-dh2-float16-aligngrad2-alignweight2-sxn300-sxh30-sxw4-alignx2": (
        Conv2dInputProblem(
            3, 5, 6, 7, 2, 5, 3, 3, 2, 5, 1, 2, dtype=FP16, stride_x_n=300, stride_x_h=30, stride_x_w=4, align_x=2,
            align_grad=2, align_weight=2,
        )
    ),
    # Products of matrices, as they are.
    "c256-k64-h56-w56-n32-r1s1-bfloat16": Conv2dInputProblem(256, 64, 56, 56, 32, 1, 1, dtype=BF16),
    "c256-k64-h56-w56-n32-r1s1-float32": Conv2dInputProblem(256, 64, 56, 56, 32, 1, 1),
    "c512-k128-h28-w28-n32-r1s1-float32-tf32-sxw1024": Conv2dInputProblem(
        512, 128, 28, 28, 32, 1, 1, tf32=True, stride_x_w=1024
    ),
    "c12-k9-h5-w7-n2-r1s1-dh2-float16-aligngrad2-alignweight8-sxw20": Conv2dInputProblem(
        12, 9, 5, 7, 2, 1, 1, dilation_h=2, dtype=FP16, align_grad=2, align_weight=8, stride_x_w=20
    ),
    "c12-k9-h5-w7-n2-r1s1-float32-aligngrad4-alignx8": Conv2dInputProblem(
        12, 9, 5, 7, 2, 1, 1, align_grad=4, align_x=8
    ),
    "c8-k8-h5-w5-n0-r3s3-bfloat16": Conv2dInputProblem(8, 8, 5, 5, 0, dtype=BF16),
}  # fmt: skip
SMALL_PROBLEMS = (
    Conv2dInputProblem(16, 8, 10, 10, 1, padding_h=1, padding_w=1),
    # Phases of different taps, one of none; rows that no pixel of the result sees; gaps.
    Conv2dInputProblem(6, 10, 7, 8, 2, 3, 3, 2, 4, 3, 4, 1, 2, stride_x_w=8, stride_x_h=65, align_x=4, align_grad=4),
    Conv2dInputProblem(8, 20, 4, 5, 2, 1, 1, 3, 1, tf32=True),
    Conv2dInputProblem(16, 24, 5, 7, 2, 3, 2, padding_h=1, dtype=BF16),
)
# Ways of wgmma that few schedules take: filters that blocks share, tiles in turn, blocks that share a tile, phases.
_WGMMA = (
    (
        Conv2dInputProblem(72, 64, 9, 8, 2, padding_h=1, padding_w=2, dilation_w=2, dtype=BF16),
        "BM=64 BN=64 BK=64 stages=2 consumers=1 wait_depth=1 tensor_store=1 cluster_m=2",
    ),
    (
        Conv2dInputProblem(72, 40, 12, 12, 2, 3, 3, 2, 2, 1, 1, dtype=BF16),
        "BM=64 BN=64 BK=64 stages=3 consumers=2 pingpong=1 wait_depth=1 grid_blocks=2 whole_tiles=1",
    ),
    (
        Conv2dInputProblem(136, 128, 9, 16, 1, padding_h=1, padding_w=1, dtype=FP16),
        "BM=64 BN=128 BK=64 stages=2 consumers=1 cluster_k=2 tensor_store=1",
    ),
    (
        Conv2dInputProblem(32, 40, 9, 17, 2, 2, 3, 1, 3, 1, 0, 3, 1, dtype=FP16),
        "BM=64 BN=32 BK=32 stages=2 consumers=1 vector_d=2",
    ),
)  # fmt: skip
# Few channels: tiles that images end within, filters in passes, taps that reach beyond; gaps; phases that none sees.
_OVERLAP_ADD = (
    (
        Conv2dInputProblem(3, 24, 21, 37, 2, 7, 7, 2, 2, 3, 3, dtype=BF16),
        "threads=128 R=8 C=16 tiles=2",
    ),
    (
        Conv2dInputProblem(3, 8, 9, 20, 2, 5, 4, 3, 1, 2, 5, 1, 2, dtype=FP16, stride_x_w=4),
        "threads=128 R=8 C=16 FR=2 tiles=1 min_blocks_per_sm=2",
    ),
    (
        Conv2dInputProblem(1, 16, 9, 20, 1, 3, 3, 2, 4, 0, 0, 3, 2, dtype=BF16),
        "threads=256 R=4 C=16 FR=4 tiles=4 specialize=shape",
    ),
)
OWN_CASES = [
    (
        Conv2dInputProblem(24, 40, 8, 7, 2, 3, 3, 2, 2, 1, 1, dtype=BF16),
        MmaOffsetsInputSchedule(block_m=32, block_n=32, block_k=32, warp_m=16, warp_n=16, stages=2, grid_blocks=3),
    ),
    (
        Conv2dInputProblem(20, 12, 8, 7, 2, 3, 3, 2, 1, 1, 1, stride_x_w=24),
        FmaInputSchedule(
            block_m=64,
            block_n=32,
            block_k=16,
            warp_m=32,
            warp_n=32,
            thread_m=8,
            thread_n=4,
            stages=2,
            vector_a=4,
            vector_b=4,
            vector_c=4,
            grid_blocks=3,
        ),
    ),
    *((problem, WgmmaInputSchedule.parse(words.split())) for problem, words in _WGMMA),
    *((problem, OverlapAddSchedule.parse(words.split())) for problem, words in _OVERLAP_ADD),
]
MOST = 7
