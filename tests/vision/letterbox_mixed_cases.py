"""letterbox_mixed's problems for the contract."""

from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.codegen.vision.letterbox.target import DTYPES, Order
from autotune.codegen.vision.letterbox_mixed.problem import MixedProblem

MOST = 4  # cases: kernels are those of letterbox

FLOAT32, FLOAT16, BFLOAT16 = DTYPES

PROBLEMS = {
    "bytes29491200-height640-width640-batch32-float32-nchw-cv2": MixedProblem(29491200, 640, 640, 32, FLOAT32),
    "bytes0-height8-width8-float16-nhwc-area-normalised-alignimages1": MixedProblem(
        0, 8, 8, order=Order.NHWC, rule=Rule.AREA, normalised=True, align_images=1
    ),
    "bytes999-height8-width6-batch0-bfloat16-nchw-corner-as_is-no_scale_up-at_corner": MixedProblem(
        999, 8, 6, 0, BFLOAT16, Order.NCHW, Rule.CORNER, False, False, False
    ),
}
SMALL_PROBLEMS = (
    MixedProblem(9000, 30, 40, 4),
    MixedProblem(2000, 20, 24, 3, FLOAT32, Order.NHWC, Rule.BICUBIC, normalised=True, align_images=1),
)
STAGED = StagedSchedule(2, 4, 8, 2, 256)
# Rows that begin anywhere, enlarged, copied and too long for a segment; the last of them ends with the bytes.
OWN_CASES = [
    (MixedProblem(30000, 24, 40, 7), STAGED),
    (MixedProblem(1501, 40, 136, 3, FLOAT32), STAGED.replace(keeps=True, copy_bytes=8)),
    (MixedProblem(47, 16, 36, 4, rule=Rule.HALF_PIXEL), STAGED.replace(copy_bytes=4, stages=3)),
    (MixedProblem(5000, 20, 40, 3, order=Order.NHWC, rule=Rule.CORNER, align_images=4), STAGED.replace(copy_bytes=4)),
    (MixedProblem(6001, 20, 40, 4, FLOAT32, align_images=1), LetterboxSchedule(16, 2, 4, 2)),
    (MixedProblem(9000, 20, 40, 4, FLOAT32, rule=Rule.AREA, align_images=1), FilteredSchedule(32, 4, 2, 2)),
]
