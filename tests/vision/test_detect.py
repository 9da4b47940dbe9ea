"""What detect keeps, how it says how many boxes there are, and what it refuses."""

import numpy as np
import pytest
from vision.detect_cases import FLOAT32

from autotune import dispatcher
from autotune.codegen.vision.detect.problem import DetectProblem


def logits(problem):
    return problem.inputs(0)["head"].reshape(problem.heads["head"])


def test_it_is_decode_and_then_nms():
    head = logits(DetectProblem(64, 96, 3, 40, 2, FLOAT32))
    found, scores, ids, points, count = dispatcher.decode(head, 64, 96, 0.5, capacity=40)
    chosen, kept = dispatcher.nms(found, scores, 0.3, classes=ids, counts=count, max_output=30)
    boxes, *others, as_many = dispatcher.detect(head, 64, 96, 0.5, 0.3, capacity=40, max_output=30)
    assert as_many.tolist() == kept.tolist()
    assert 0 < kept.min() <= kept.max() < 30
    for image, number in enumerate(kept):
        for whole, part in zip((found, scores, ids, points), (boxes, *others), strict=True):
            assert np.array_equal(part[image, :number], whole[image, chosen[image, :number]], equal_nan=True)
            assert set(part[image, number:].ravel().tolist()) == ({0.0} if part.dtype == np.float32 else {-1})


def test_boxes_beyond_the_capacity_do_not_count():
    head = logits(DetectProblem(64, 64, 3, 40, 1, FLOAT32))
    points, kept = dispatcher.detect(head, 64, 64, 0.5, 1.0, capacity=9, max_output=20)[-2:]
    *_, all_points, count = dispatcher.decode(head, 64, 64, 0.5, capacity=40)
    assert count[0] > 9 == kept[0]
    assert sorted(points[0, :9].tolist()) == all_points[0, :9].tolist()


def test_a_box_with_a_side_that_is_no_number_is_kept_and_drops_none():
    head = np.full((1, 64 + 1, 21), -9.0, np.float32)
    head[0, 64, [4, 5, 6]] = 3, 2, 1
    head[0, [15, 31, 47, 63]] = 20  # boxes of 15 strides to each side
    head[0, 0, 4] = np.nan
    boxes, _, _, points, kept = dispatcher.detect(head, 32, 32, 0.5, 0.1, capacity=21, max_output=3)
    assert (kept.tolist(), points.tolist()) == ([2], [[4, 5, -1]])
    assert np.isnan(boxes[0]).tolist() == [[True, False, False, False], *2 * [[False] * 4]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"head": np.zeros((66, 84), np.float32)},
            r"head has shape \(66, 84\): expected \(pictures, 64 \+ classes, points\)",
        ),
        ({"head": np.zeros((1, 66, 85), np.float32)}, "head has 85 points: expected 84 of 64x64 pixels"),
        ({"head": np.zeros((1, 66, 84))}, "head has dtype float64: detect takes float32"),
        ({"capacity": 5000}, "capacity=5000: expected 0 … 4096"),
        ({"max_output": -1}, "max_output=-1: expected 0 or more"),
    ],
)
def test_what_a_call_refuses(given, said):
    usual = {"head": np.zeros((1, 66, 84), np.float32), "height": 64, "width": 64}
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.detect(**usual | given)
