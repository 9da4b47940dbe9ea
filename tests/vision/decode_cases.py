"""decode's problems for the contract."""

from autotune.codegen.vision.decode.problem import DTYPES, DecodeProblem
from autotune.codegen.vision.decode.schedule import DecodeSchedule

MOST = 6

FLOAT32, FLOAT16, BFLOAT16 = DTYPES

PROBLEMS = {
    "height640-width640-classes80-capacity4096-float16": DecodeProblem(640, 640, 80, 4096),
    "height384-width672-classes1203-capacity300-batch32-bfloat16": DecodeProblem(384, 672, 1203, 300, 32, BFLOAT16),
    "height32-width32-classes1-capacity0-float32": DecodeProblem(32, 32, 1, 0, dtype=FLOAT32),
    "height32-width32-classes1-capacity5-batch0-float16": DecodeProblem(32, 32, 1, 5, 0),
}
SMALL_PROBLEMS = (
    DecodeProblem(64, 96, 10, 126),
    DecodeProblem(64, 32, 3, 5, 2, FLOAT32),
    DecodeProblem(32, 160, 1, 200, 2, BFLOAT16),
)
OWN_CASES = [
    (DecodeProblem(96, 96, 5, 400, 2, FLOAT32), DecodeSchedule(32, 4)),
    (DecodeProblem(64, 64, 3, 9, 2), DecodeSchedule(64, 8, 2)),
    (DecodeProblem(64, 128, 7, 90, 2), DecodeSchedule(64, 4, 8)),
    (DecodeProblem(32, 32, 1, 30, dtype=FLOAT32), DecodeSchedule(64, 1)),
]
