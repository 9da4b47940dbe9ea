"""Pictures of many sizes by a table: which entries are empty, what calls refuse, and bugs planted in the kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from vision.letterbox_mixed_cases import STAGED

from autotune import dispatcher
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.target import DTYPES
from autotune.codegen.vision.letterbox_mixed.problem import MixedProblem
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.vision.letterbox_mixed import OPERATOR

SPEC = named_device("h200")
MOST = (1 << 63) - 1


def packed(*pictures):
    """The bytes of pictures, and their table."""
    begins = np.cumsum([0, *(one.size for one in pictures)])[:-1]
    entries = [(begin, *one.shape[:2], 3 * one.shape[1]) for begin, one in zip(begins, pictures, strict=True)]
    return np.concatenate([one.ravel() for one in pictures]), np.array(entries, np.int64)


def test_each_picture_is_what_it_is_alone():
    random = np.random.default_rng(0)
    pictures = [random.integers(0, 256, (*size, 3), np.uint8) for size in ((9, 7), (40, 21), (5, 33))]
    target, placement = dispatcher.letterbox_mixed(*packed(*pictures), 16, 24, rule="half_pixel", dtype="float32")
    for number, picture in enumerate(pictures):
        alone = dispatcher.letterbox(picture[None], 16, 24, rule="half_pixel", dtype="float32")
        assert np.array_equal(target[number], alone[0][0])
        assert np.array_equal(placement[number], alone[1][0])


@pytest.mark.parametrize(
    "entry",
    [
        (1, 4, 5, 15),  # ends behind the last byte
        (0, 5, 4, 13),
        (-1, 4, 5, 15),
        (0, 4, 5, 14),  # rows overlap
        (0, 0, 5, 15),
        (0, 4, -5, 15),
        (0, 2, 1, MOST),
        (0, MOST, 1, 3),
        (0, 1, MOST, MOST),
        (MOST, 1, 1, 3),
        (-MOST - 1, 1, 1, 3),
    ],
)
def test_what_does_not_lie_within_the_bytes_is_empty(entry):
    images = np.full(60, 200, np.uint8)
    table = np.array([(0, 4, 5, 15), entry], np.int64)
    target, placement = dispatcher.letterbox_mixed(images, table, 4, 8, pad=7, scale=1, dtype="float32")
    assert (target[0, :, :, 1:6] == 200).all()
    assert (target[1] == 7).all()
    assert placement.tolist() == [[1, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"images": np.zeros((1, 2, 3), np.uint8)}, r"images has shape \(1, 2, 3\): expected \(bytes,\)"),
        ({"images": np.zeros(9, np.float32)}, "images has dtype float32: letterbox_mixed takes uint8"),
        (
            {"table": np.zeros((2, 3), np.int64)},
            r"table has dtype int64 and shape \(2, 3\): expected int64 of shape \(2, 4\)",
        ),
        ({"table": np.zeros((2, 4), np.int32)}, "table has dtype int32"),
        ({"table": np.zeros(4, np.int64)}, r"table has shape \(4,\): expected \(pictures, 4\)"),
        ({"order": "chw"}, "order='chw': expected one of nchw, nhwc"),
    ],
)
def test_what_a_call_refuses(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.letterbox_mixed(
            **{"images": np.zeros(9, np.uint8), "table": np.zeros((1, 4), np.int64), "height": 2, "width": 4} | given
        )


MANY = MixedProblem(6001, 40, 48, 4, DTYPES[0])
BUGS = {
    "a picture may end behind the bytes": (MANY, "height - 1 > (behind", "height - 2 > (behind"),
    "a word ends behind the bytes": (MANY, "0 < valid && valid < 4", "false"),
    "rows may overlap": (MANY, "row >= channels * width &&", ""),
    "a picture may begin ahead of the bytes": (MANY, "begin < 0 ? -1 : ", ""),
    "rows begin where copies do": (MANY, "offsets_[i] + shift", "offsets_[i]"),
    "copies begin where rows do": (MANY, "row * picture_.row - shift_of(row)", "row * picture_.row"),
    "no room is left for what lies ahead of a row": (MANY, "rows_shift ? copied - 1 : 0", "0"),
    "a part is copied for which there is no room": (replace(MANY, bytes=60000), "bytes_ <= segment", "true"),
    "the pixel behind the last one is read": (
        replace(MANY, bytes=60000, height=80, width=100, rule=Rule.HALF_PIXEL),
        "behind < picture_.width * pixel_bytes ? pixel_bytes : 0",
        "pixel_bytes",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    problem, right, wrong = BUGS[bug]
    check_caught(problem, OPERATOR.program(problem, STAGED, SPEC), right, wrong, seeds=(0, 5, 1, 2, 3, 4))
