"""scale_boxes's problems for the contract."""

from autotune.codegen.vision.scale_boxes.problem import ScaleBoxesProblem
from autotune.codegen.vision.scale_boxes.schedule import ScaleBoxesSchedule

MOST = 3

PROBLEMS = {
    "count300": ScaleBoxesProblem(300),
    "count8400-batch32-alignboxes4": ScaleBoxesProblem(8400, 32, 4),
    "count0": ScaleBoxesProblem(0),
    "count7-batch0-alignscaled8": ScaleBoxesProblem(7, 0, align_scaled=8),
}
SMALL_PROBLEMS = (ScaleBoxesProblem(70), ScaleBoxesProblem(33, 6, 8, 16), ScaleBoxesProblem(9, 3, 16, 4))
OWN_CASES = [(ScaleBoxesProblem(64, 2), ScaleBoxesSchedule(64)), (ScaleBoxesProblem(65, 6, 4, 4), ScaleBoxesSchedule())]
