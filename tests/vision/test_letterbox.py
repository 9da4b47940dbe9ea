"""What letterbox's pixels are, by OpenCV and by hand; what its calls refuse; and bugs planted in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from vision.letterbox_cases import FILTERED, FLOAT32, NCHW, NHWC, STAGED, WIDE

from autotune import dispatcher
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.rule import Rule, placed, resized
from autotune.emulator import verify
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.vision.letterbox import OPERATOR

SPEC = named_device("h200")
# The first channel of cv2.resize(picture(height, width), (columns, rows), interpolation=cv2.INTER_LINEAR), by OpenCV
# 4.12.0; 5.0.0 makes the same.
OPENCV = {
    (4, 6): [[17, 163, 127, 88, 225], [108, 119, 128, 134, 137], [100, 169, 116, 60, 120]],
    (5, 3): [
        [0, 62, 156, 171, 182],
        [26, 70, 137, 177, 204],
        [69, 84, 106, 187, 241],
        [48, 78, 124, 177, 212],
        [10, 68, 154, 162, 168],
        [33, 61, 103, 152, 185],
        [69, 67, 64, 137, 185],
        [153, 121, 74, 102, 121],
        [204, 154, 80, 81, 82],
    ],
    (8, 6): [[80, 120, 152], [136, 128, 112], [160, 168, 104], [88, 112, 128]],
}

# Likewise Image.resize of Pillow 13.0.0, of the first channel in float32, cut off at 0 and 255.
PILLOW = {
    (Rule.TRIANGLE, (8, 10)): [
        [123.8, 130.08, 142.83, 104.16],
        [126.57, 145, 108.48, 107.37],
        [148.15, 137.68, 98.48, 127.39],
    ],
    (Rule.TRIANGLE, (2, 3)): [[0, 97.5, 165.75, 182], [39, 94.62, 160.62, 215], [78, 91.75, 155.5, 248]],
    (Rule.BICUBIC, (8, 10)): [
        [120.83, 129.65, 149.56, 99.29],
        [124.45, 147.94, 106.94, 106.36],
        [150.14, 139.51, 90.47, 129.6],
    ],
    (Rule.BICUBIC, (2, 3)): [[0, 96.91, 177.96, 178.6], [34.35, 88.68, 166.72, 219.54], [82.44, 80.45, 155.48, 255]],
}


def picture(height, width):
    number = np.arange(height * width * 3).reshape(height, width, 3)
    return ((number * number * 7 + number * 31) % 256).astype(np.uint8)


@pytest.mark.parametrize("size", OPENCV)
def test_pixels_are_those_of_opencv(size):
    levels = np.array(OPENCV[size])
    assert np.array_equal(resized(picture(*size), *levels.shape, Rule.CV2)[..., 0], levels)


@pytest.mark.parametrize(("rule", "size"), PILLOW)
def test_filters_are_those_of_pillow(rule, size):
    np.testing.assert_allclose(resized(picture(*size), 3, 4, rule)[..., 0], PILLOW[rule, size], atol=0.01)


@pytest.mark.parametrize("target", [(2, 3), (3, 4), (5, 7), (11, 6)])
def test_an_area_is_the_mean_of_what_a_pixel_covers(target):
    levels, (height, width) = picture(5, 7), target
    repeated = levels.repeat(height, 0).repeat(width, 1).reshape(height, 5, width, 7, 3)
    np.testing.assert_allclose(resized(levels, *target, Rule.AREA), repeated.mean((1, 3)), rtol=1e-4)


@pytest.mark.parametrize(
    ("size", "target", "options", "place"),
    [
        ((1080, 1920), (640, 640), (True, True), (1 / 3, 360, 640, 0, 140)),
        ((10, 20), (640, 640), (False, True), (1.0, 10, 20, 310, 315)),
        ((10, 21), (12, 24), (False, True), (1.0, 10, 21, 1, 1)),  # the odd column is behind the picture
        ((10, 20), (15, 15), (True, False), (0.75, 8, 15, 0, 0)),  # 7.5 rows: ties to even
        ((6, 20), (15, 15), (True, False), (0.75, 4, 15, 0, 0)),  # 4.5
        ((1, 4000), (640, 640), (True, True), (0.16, 1, 640, 0, 319)),  # none would be left
        ((0, 9), (4, 4), (True, True), (0, 0, 0, 0, 0)),
    ],
)
def test_places(size, target, options, place):
    assert placed(*size, target, *options) == pytest.approx(place)


def test_the_numbers_of_a_call():
    images = np.zeros((1, 2, 2, 3), np.uint8)
    images[..., 0], images[..., 1] = 255, 51
    mean, std = np.array([0.5, 0, 0], np.float32), np.array([1, 0.5, 1], np.float32)
    target, placement = dispatcher.letterbox(images, 2, 4, mean=mean, std=std, pad=0, dtype="float32")
    assert placement.tolist() == [[1, 1, 0]]
    np.testing.assert_allclose(target[0, :, 0], [[-0.5] * 4, [0, 0.4, 0.4, 0], [0, 1, 1, 0]], rtol=1e-6)


def test_pictures_may_be_parts_of_others():
    pictures = np.random.default_rng(0).integers(0, 256, (2, 9, 11, 4), np.uint8)
    part = pictures[:, 2:8, 1:9, :3]
    found = dispatcher.letterbox(part, 7, 8, dtype="float32")[0]
    assert np.array_equal(found, dispatcher.letterbox(part.copy(), 7, 8, dtype="float32")[0])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"images": np.zeros((2, 2, 3), np.uint8)}, r"images has shape \(2, 2, 3\): expected \(images, height, width"),
        ({"images": np.zeros((1, 2, 2, 3), np.float32)}, "images has dtype float32: letterbox takes uint8"),
        ({"mean": np.zeros(3, np.float32)}, "mean and std: std is left out; expected both or none"),
        ({"rule": "nearest"}, "rule='nearest': expected one of cv2, half_pixel, corner, area, triangle, bicubic"),
        ({"order": "chw"}, "order='chw': expected one of nchw, nhwc"),
        ({"dtype": "float64"}, "dtype=float64: expected one of float32, float16, bfloat16"),
        ({"width": 0}, "width=0: expected 1"),
        ({"images": np.zeros((1, 2, 2, 3), np.uint8)[..., ::-1]}, "images has shape .* contiguous elements"),
    ],
)
def test_what_a_call_refuses(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.letterbox(**{"images": np.zeros((1, 2, 2, 3), np.uint8), "height": 2, "width": 4} | given)


DOWN = LetterboxProblem(33, 47, 20, 24, 2, FLOAT32, NHWC, normalised=True, stride_images_w=4)
HALF = LetterboxProblem(7, 9, 20, 24, 1, FLOAT32, rule=Rule.HALF_PIXEL)
BUGS = {
    "rows are rounded once": (
        DOWN,
        "(down.near * above >> 16) + (down.far * below >> 16)",
        "((down.near * above + down.far * below) >> 16)",
    ),
    "rows have no fraction at edges": (
        replace(DOWN, picture_height=5, picture_width=7),
        "at_edges = rows;",
        "at_edges = false;",
    ),
    "weights are cut off": (
        DOWN,
        "rint(static_cast<double>(part * 2048.0f))",
        "floor(static_cast<double>(part * 2048.0f))",
    ),
    "sides are cut off": (DOWN, "rint(side * ratio)", "floor(side * ratio)"),
    "channels are not swapped": (DOWN, "return 2 - channel;", "return channel;"),
    "pixels lie side by side": (DOWN, "arguments.stride_images_w, arguments", "3, arguments"),
    "the last row is that behind it": (HALF, "first + 1 < side ? first + 1 : side - 1", "first + 1"),
    "taps are not waited for": (HALF, "  __syncthreads();\n  const int column", "  const int column"),
    "a picture begins at the edge": (DOWN, "y - shared.place.top, first", "y, first"),
    "neighbours are one channel": (DOWN, "(part * pixels + i) / 3", "i"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    problem, right, wrong = BUGS[bug]
    check_caught(problem, OPERATOR.program(problem, WIDE, SPEC), right, wrong, seeds=(0, 2))


ROWS = LetterboxProblem(40, 48, 21, 24, 2, FLOAT32, NHWC)
LARGER = LetterboxProblem(11, 12, 40, 48)
KEEPING = STAGED.replace(rows=16, keeps=True)
BUGS_OF_ROWS = {
    "lanes begin before all copies have landed": (
        ROWS,
        STAGED,
        "async_wait<stages - 1>();\n    __syncwarp();",
        "async_wait<stages - 1>();",
    ),
    "a stage is copied to while lanes read it": (
        replace(ROWS, order=NCHW),
        STAGED,
        "    __syncwarp();  // all lanes have read",
        "    // all lanes have read",
    ),
    "one row too many is under way": (ROWS, STAGED, "async_wait<stages - 1>()", "async_wait<stages>()"),
    "the row below is left out": (ROWS, STAGED, "down.first != down.second && down.far != 0", "false"),
    "two words have six bytes": (LARGER, KEEPING, "behind == 3 ? first + 8 : first", "first"),
    "lanes do not wait for what others store": (
        ROWS,
        STAGED,
        "piece.bits;\n    }\n    __syncwarp();",
        "piece.bits;\n    }",
    ),
    "a row ends with the warp's columns": (ROWS, STAGED, "own * pixels < 3 * (arguments_.width - first)", "true"),
    "all columns are of the picture": (replace(ROWS, picture_width=20), STAGED, "!has || !filled_", "!has"),
    "copies end with the last pixel's word": (
        ROWS,
        STAGED,
        "__shfl_sync(0xffffffffu, last, 31) + 12",
        "__shfl_sync(0xffffffffu, last, 31)",
    ),
    "a row that is kept is taken for the next": (
        LARGER,
        KEEPING,
        "had_both && needs.down.first == before.second",
        "had_both",
    ),
    "the row above is not read again": (ROWS, KEEPING, "!needs.moved && needs.down.first != before.first", "false"),
}


@pytest.mark.parametrize("bug", BUGS_OF_ROWS)
def test_bugs_of_staged_rows_are_caught(bug):
    problem, schedule, right, wrong = BUGS_OF_ROWS[bug]
    check_caught(problem, OPERATOR.program(problem, schedule, SPEC), right, wrong, seeds=(0, 2))


SMALLER = LetterboxProblem(50, 60, 20, 40, 2, FLOAT32, NHWC, Rule.BICUBIC, center=False)
ENLARGED = replace(SMALLER, picture_height=7, picture_width=9)


@pytest.mark.parametrize("preset", OPERATOR.presets)
def test_presets_have_filters(preset):
    for problem in (SMALLER, replace(ENLARGED, rule=Rule.AREA)):
        verify(problem, OPERATOR.presets[preset](problem), seeds=(0,))


def test_a_kernel_refuses_the_rules_of_others():
    for schedule, said in ((WIDE, "rule area has a filter"), (STAGED, "rule area has a filter")):
        assert any(said in one for one in OPERATOR.violations(replace(SMALLER, rule=Rule.AREA), schedule, SPEC))
    assert "rule cv2 has two taps, and no filter" in OPERATOR.violations(DOWN, FILTERED, SPEC)


BUGS_OF_FILTERS = {
    "rows are overwritten before all have added them": (SMALLER, "      __syncthreads();\n    }", "    }"),
    "rows are added before all are narrow": (SMALLER, "begin, end);\n      __syncthreads();", "begin, end);"),
    "a row that two turns have is begun again": (SMALLER, "down.first > begin ? down.first : begin", "down.first"),
    "the last rows are left out": (SMALLER, "begin < end; begin +=", "begin + narrowed < end; begin +="),
    "levels are not cut off": (ENLARGED, "fminf(fmaxf(sum / down.total, 0.0f), 255.0f)", "sum / down.total"),
    "a filter has the width of the picture's pixels": (SMALLER, "step > 1 ? step : 1.0", "1.0"),
    "a filter is narrower than a pixel": (ENLARGED, "step > 1 ? step : 1.0", "step"),
    "pixels that are covered in part count as one": (
        replace(SMALLER, rule=Rule.AREA),
        "fmaxf(static_cast<float>(i), begin)",
        "static_cast<float>(i)",
    ),
}


@pytest.mark.parametrize("bug", BUGS_OF_FILTERS)
def test_bugs_of_filters_are_caught(bug):
    problem, right, wrong = BUGS_OF_FILTERS[bug]
    check_caught(problem, OPERATOR.program(problem, FILTERED, SPEC), right, wrong, seeds=(0, 2))
