"""Boxes that go to a target and back, and bugs planted in the way back."""

import numpy as np
import pytest
from planted import caught

from autotune import dispatcher
from autotune.codegen.vision.letterbox.rule import placed
from autotune.codegen.vision.scale_boxes.emit import emit
from autotune.codegen.vision.scale_boxes.problem import ScaleBoxesProblem
from autotune.codegen.vision.scale_boxes.schedule import ScaleBoxesSchedule

SOME, SPLIT = ScaleBoxesProblem(40, 3), ScaleBoxesProblem(40, 3, 4)


def test_boxes_come_back_to_the_picture():
    boxes = np.array([[(0, 0, 1920, 1080), (30, 60, 300, 900)]], np.float32)

    place = placed(1080, 1920, (640, 640), True, True)
    placement = np.array([[place.ratio, place.left, place.top]], np.float32)
    in_target = boxes * placement[0, 0] + placement[0, [1, 2, 1, 2]]
    np.testing.assert_allclose(dispatcher.scale_boxes(in_target, placement, 1080, 1920), boxes, atol=1e-3)
    outside = dispatcher.scale_boxes(in_target * 3 - 300, placement, 1080, 1920)
    assert outside[0, 0].tolist() == [0, 0, 1920, 1080]


def test_what_a_call_refuses():
    boxes, placement = np.zeros((2, 5, 4), np.float32), np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"boxes has shape \(2, 5, 3\): expected \(…, boxes, 4\)"):
        dispatcher.scale_boxes(boxes[..., :3], placement, 9, 9)
    with pytest.raises((TypeError, ValueError), match=r"placement has dtype float32 and shape \(1, 3\): expected"):
        dispatcher.scale_boxes(boxes, placement[:1], 9, 9)


test_planted_bugs_are_caught = caught(
    lambda problem, schedule: emit(problem, ScaleBoxesSchedule(schedule)),
    [
        (SOME, 64, "corner % 2 == 0 ? arguments.width", "corner < 2 ? arguments.width"),
        (SOME, 64, "placement[1 + corner % 2]", "placement[1 + corner / 2]"),
        (SOME, 64, "moved > 0.0f ? moved", "!(moved <= 0.0f) ? moved"),
        (SOME, 64, "own / arguments.count * 3", "0"),
        (SPLIT, 64, "first + i);", "i);"),
    ],
)
