"""detect's problems for the contract."""

from autotune.codegen.vision.decode.problem import DTYPES
from autotune.codegen.vision.detect.problem import DetectProblem
from autotune.codegen.vision.detect.schedule import DetectSchedule

MOST = 4

FLOAT32, FLOAT16, BFLOAT16 = DTYPES

PROBLEMS = {
    "height640-width640-classes80-capacity1024-float16": DetectProblem(640, 640, 80, 1024),
    "height32-width32-classes1-capacity5-batch0-float16-maxoutput0": DetectProblem(32, 32, 1, 5, 0, max_output=0),
}
SMALL_PROBLEMS = (
    DetectProblem(64, 64, 3, 64, max_output=64),
    DetectProblem(64, 96, 2, 20, 2, FLOAT32, max_output=9),
)
OWN_CASES = [
    (DetectProblem(96, 96, 2, 150, 2, FLOAT32, max_output=100), DetectSchedule(32, 4, 1, 64, 64, 2)),
    (DetectProblem(64, 64, 3, 9, 2, max_output=30), DetectSchedule(64, 4, 4, 64, 64)),
]
