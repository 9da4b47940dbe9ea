"""decode_anchors's problems for the contract."""

from autotune.codegen.vision.decode.problem import DTYPES
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.codegen.vision.decode_anchors.problem import AnchorsProblem

MOST = 5

FLOAT32, FLOAT16, BFLOAT16 = DTYPES

PROBLEMS = {
    "height640-width640-classes80-capacity4096-float16": AnchorsProblem(640, 640, 80, 4096),
    "height384-width672-classes1203-capacity300-batch32-bfloat16": AnchorsProblem(384, 672, 1203, 300, 32, BFLOAT16),
    "height32-width32-classes1-capacity0-float32": AnchorsProblem(32, 32, 1, 0, dtype=FLOAT32),
    "height32-width32-classes1-capacity5-batch0-float16": AnchorsProblem(32, 32, 1, 5, 0),
}
SMALL_PROBLEMS = (
    AnchorsProblem(64, 64, 10, 300),
    AnchorsProblem(64, 32, 3, 5, 2, FLOAT32),
    AnchorsProblem(32, 96, 1, 200, 2, BFLOAT16),
)
OWN_CASES = [
    (AnchorsProblem(64, 64, 5, 400, 2, FLOAT32), DecodeSchedule(32, 4, 4)),
    (AnchorsProblem(64, 128, 3, 9, 2), DecodeSchedule(64, 4, 8)),
]
