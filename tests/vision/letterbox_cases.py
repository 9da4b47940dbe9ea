"""letterbox's problems for the contract."""

from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.codegen.vision.letterbox.target import DTYPES, Order

MOST = 8  # cases of three kernels

FLOAT32, FLOAT16, BFLOAT16 = DTYPES
NCHW, NHWC = Order

PROBLEMS = {
    "pictureheight1080-picturewidth1920-height640-width640-float16-nchw-cv2": LetterboxProblem(1080, 1920, 640, 640),
    "pictureheight375-picturewidth500-height640-width640-batch64-float32-nhwc-half_pixel-normalised": LetterboxProblem(
        375, 500, 640, 640, 64, FLOAT32, NHWC, Rule.HALF_PIXEL, normalised=True
    ),
    "pictureheight0-picturewidth9-height8-width8-float16-nchw-cv2": LetterboxProblem(0, 9, 8, 8),
    "pictureheight1-picturewidth1-height8-width6-bfloat16-nchw-corner-as_is-no_scale_up-at_corner": LetterboxProblem(
        1, 1, 8, 6, 1, BFLOAT16, Order.NCHW, Rule.CORNER, False, False, False
    ),
}
SMALL_PROBLEMS = (
    LetterboxProblem(40, 60, 32, 32),
    LetterboxProblem(33, 17, 24, 20, 2, FLOAT32, NHWC, normalised=True, stride_images_w=4, stride_images_h=75),
    LetterboxProblem(9, 31, 30, 50, 2, BFLOAT16, Order.NCHW, Rule.HALF_PIXEL, False, center=False, align_target=2),
    LetterboxProblem(9, 8, 30, 50, 2, FLOAT32, NHWC, Rule.CORNER, scale_up=False),
    LetterboxProblem(40, 33, 14, 20, 2, FLOAT32, NHWC, Rule.BICUBIC, normalised=True),
)
PLAIN, WIDE = LetterboxSchedule(16, 4), LetterboxSchedule(16, 2, 4, 2)
STAGED = StagedSchedule(2, 4, 4, 2, 512, copy_bytes=4)
FILTERED = FilteredSchedule(32, 4, 2, 2)
# Enlarged forty times, a line of pixels, a picture that fits, a size that ends at a half, an empty one.
OWN_CASES = [
    (LetterboxProblem(1, 1, 40, 48), WIDE),
    (LetterboxProblem(1, 200, 30, 40, 2, FLOAT32), WIDE),
    (LetterboxProblem(200, 1, 30, 40), PLAIN),
    (LetterboxProblem(24, 36, 24, 36, rule=Rule.HALF_PIXEL, dtype=FLOAT32), WIDE),
    (LetterboxProblem(9, 10, 25, 25), PLAIN),
    (LetterboxProblem(0, 5, 12, 16, 2, normalised=True), WIDE),
    # Rows of the picture in shared memory: enlarged, two rows, a part of a copy at the end, one row of two, empty.
    (LetterboxProblem(1, 4, 40, 48), STAGED),
    (LetterboxProblem(11, 12, 40, 48, 2), STAGED.replace(rows=16, keeps=True)),
    (LetterboxProblem(60, 76, 40, 48, rule=Rule.CORNER), STAGED.replace(rows=16, keeps=True)),
    (LetterboxProblem(90, 120, 40, 136, 2, FLOAT32), STAGED.replace(copy_bytes=8)),
    (LetterboxProblem(50, 44, 24, 36, 2, stride_images_h=144, rule=Rule.HALF_PIXEL), STAGED.replace(copy_bytes=16)),
    (LetterboxProblem(48, 144, 16, 48, 1, FLOAT32, NHWC, normalised=True), STAGED.replace(pixels=2, stages=3, rows=8)),
    (LetterboxProblem(0, 8, 12, 16, 2, normalised=True), STAGED),
    # By filters: rows in several turns, a filter of the whole side, enlarged, empty.
    (LetterboxProblem(70, 90, 20, 40, 2, FLOAT32, rule=Rule.AREA, stride_images_w=4), FILTERED),
    (LetterboxProblem(200, 1, 3, 4, rule=Rule.BICUBIC), FILTERED),
    (LetterboxProblem(9, 11, 20, 40, 1, FLOAT32, NHWC, Rule.TRIANGLE, center=False), FILTERED),
    (LetterboxProblem(7, 3, 30, 20, 1, FLOAT32, rule=Rule.AREA), FILTERED),
    (LetterboxProblem(0, 5, 12, 16, 2, rule=Rule.BICUBIC), FILTERED),
]
