"""conv3d's problems for the contract, and a schedule by wgmma, whose tensor map has a depth."""

from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.conv3d.problem import Conv3dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType

FP16, BF16 = DType.FLOAT16, DType.BFLOAT16

PROBLEMS = {
    "c96-k64-h60-w104-r3s3-ph1-pw1-bfloat16-row-silu-d17-t2": Conv3dProblem(
        96, 64, 60, 104, 1, padding_h=1, padding_w=1, dtype=BF16, bias=Bias.ROW, activation=Activation.SILU, depth=17,
        kernel_t=2,
    ),
    "c8-k8-h5-w5-n0-r3s3-float16-d3-t3": Conv3dProblem(8, 8, 5, 5, 0, dtype=FP16, depth=3, kernel_t=3),
}  # fmt: skip
SMALL_PROBLEMS = (
    Conv3dProblem(6, 10, 6, 7, 2, 3, 2, 2, 1, 1, 2, 1, 2, groups=2, bias=Bias.ROW, residual=True, depth=5, kernel_t=2,
                  stride_t=2, padding_t=1, dilation_t=3),
    Conv3dProblem(16, 24, 5, 7, 2, padding_h=1, dtype=BF16, depth=4, kernel_t=3, padding_t=2,
                  activation=Activation.SILU),
)  # fmt: skip
OWN_CASES = [
    (
        Conv3dProblem(64, 72, 5, 6, 2, padding_w=1, dtype=BF16, depth=4, kernel_t=2, stride_t=1, padding_t=1),
        WgmmaIm2colSchedule.parse(["BM=64", "BN=64", "BK=64", "stages=2", "consumers=1", "tensor_store=1"]),
    ),
    (
        Conv3dProblem(
            72,
            64,
            6,
            6,
            2,
            2,
            3,
            2,
            1,
            1,
            1,
            2,
            1,
            dtype=FP16,
            depth=6,
            kernel_t=3,
            stride_t=2,
            padding_t=2,
            dilation_t=2,
        ),
        WgmmaIm2colSchedule.parse(
            [
                "BM=64",
                "BN=64",
                "BK=64",
                "stages=2",
                "consumers=2",
                "pingpong=1",
                "grid_blocks=1",
                "whole_tiles=1",
                "specialize=shape",
            ]
        ),
    ),
    (
        Conv3dProblem(8, 20, 4, 5, 2, 1, 1, tf32=True, depth=3, kernel_t=3, padding_t=1, residual=True),
        MmaOffsetsSchedule(
            block_m=32, block_n=32, block_k=16, warp_m=16, warp_n=16, vector_a=4, vector_b=4, vector_d=4, stages=2
        ),
    ),
]
MOST = 6
