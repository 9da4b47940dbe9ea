"""conv2d_planes's problems for the contract, and schedules of conv2d between transposes."""

from autotune.codegen.convolution.conv2d.grouped.schedule import GroupedSchedule
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.conv2d_planes.direct.schedule import DirectSchedule
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.sgemm.schedule import LaneMap
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.convolution import conv2d
from autotune.search_spaces.machine.devices import named_device

SPEC, BF16 = named_device("h200"), DType.BFLOAT16

PROBLEMS = {
    "c64-k64-h56-w56-n32-r3s3-ph1-pw1-bfloat16-row-residual": Conv2dPlanesProblem(
        64, 64, 56, 56, 32, padding_h=1, padding_w=1, dtype=BF16, bias=Bias.ROW, residual=True
    ),
    "c4-k8-h6-w7-n2-r5s3-ph2-float32-tf32-alignx4": Conv2dPlanesProblem(
        4, 8, 6, 7, 2, 5, 3, padding_h=2, tf32=True, align_x=4
    ),
    "c8-k8-h5-w5-n0-r3s3-bfloat16": Conv2dPlanesProblem(8, 8, 5, 5, 0, dtype=BF16),
}
SMALL_PROBLEMS = (
    Conv2dPlanesProblem(6, 10, 6, 7, 2, 3, 3, 2, 1, 3, 4, 1, 2, groups=2, bias=Bias.ROW, residual=True),
    Conv2dPlanesProblem(12, 12, 6, 7, 2, padding_h=1, groups=12, dtype=BF16, activation=Activation.RELU),
)
_TRANSFORMED = Conv2dPlanesProblem(5, 7, 4, 3, 2, padding_h=1, winograd=2, activation=Activation.RELU)
_WINOGRAD = conv2d.OPERATOR.kernel("winograd")
_SMALL_TILE = "BM=32 BN=32 BK=16 WM=16 WN=16 vector_a=4 vector_b=4 vector_d=4 stages=2"
OWN_CASES = [
    (
        Conv2dPlanesProblem(
            5, 10, 9, 7, 2, 3, 2, 2, 1, 4, 1, 2, 1, groups=5, bias=Bias.ROW, activation=Activation.RELU, residual=True
        ),
        DirectSchedule(threads=32, rows=2),
    ),
    (
        Conv2dPlanesProblem(64, 64, 5, 9, 3, padding_w=1, dtype=BF16),
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
        Conv2dPlanesProblem(64, 72, 9, 8, 2, padding_h=1, padding_w=1, dtype=BF16, bias=Bias.ROW, residual=True),
        WgmmaIm2colSchedule.parse(["BM=64", "BN=64", "BK=64", "stages=2", "consumers=1", "tensor_store=1"]),
    ),
    *(
        (
            Conv2dPlanesProblem(8, 20, 4, 5, 2, 1, 1, tf32=True),
            MmaOffsetsSchedule.parse(f"{_SMALL_TILE} {words}".split()),
        )
        for words in ("shared_layout=swizzled", "shared_layout=padded double_buffer_fragments=0")
    ),
    (_TRANSFORMED, next(_WINOGRAD.candidates(_TRANSFORMED.channels_last, SPEC)).replace(lane_map=LaneMap.ROW_MAJOR)),
    (SMALL_PROBLEMS[0], GroupedSchedule(threads=64, group_threads=2)),
]
MOST = 5
