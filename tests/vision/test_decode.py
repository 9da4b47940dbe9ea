"""What decode computes, by hand and in float64; what its calls refuse; and bugs planted in its kernels."""

from dataclasses import replace

import numpy as np
import pytest
from planted import check_caught
from vision.decode_cases import FLOAT32

from autotune import dispatcher
from autotune.codegen.vision.decode.numbers import expected_bin, sigmoid
from autotune.codegen.vision.decode.problem import DecodeProblem
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.codegen.vision.decode_anchors.problem import AnchorsProblem
from autotune.emulator import verify
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.vision import decode_anchors
from autotune.search_spaces.vision.decode import OPERATOR

SPEC = named_device("h200")
SPLIT = DecodeSchedule(32, 4)


def test_sigmoids_are_as_exact_as_float32_is():
    x = np.linspace(-86, 86, 40001, dtype=np.float32)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    assert np.abs(sigmoid(x) / exact - 1).max() < 4 * 2.0**-24
    odd = np.array([-np.inf, -200, 200, np.inf, 0, np.nan], np.float32)
    np.testing.assert_array_equal(sigmoid(odd), np.array([0, 0, 1, 1, 0.5, np.nan], np.float32))


def test_distances_are_means_of_bins():
    logits = np.random.default_rng(0).normal(0, 3, (4, 16, 500)).astype(np.float32)
    weights = np.exp(logits.astype(np.float64))
    exact = (weights * np.arange(16)[:, None]).sum(1) / weights.sum(1)
    np.testing.assert_allclose(expected_bin(logits), exact, rtol=2e-6)


def test_a_box_is_where_its_point_is():
    """The only point of the last level: 16 pixels from the left and the top, with sides 1, 2, 3 and 0 strides away."""
    head = np.full((1, 64 + 3, 21), -9.0, np.float32)
    for side, bin_ in enumerate((1, 2, 3, 0)):
        head[0, 16 * side + bin_, 20] = 200.0
    head[0, 64 + 1, 20] = head[0, 64 + 2, 20] = 1.0
    boxes, scores, ids, indices, count = dispatcher.decode(head, 32, 32, 0.5, capacity=3)
    assert count.tolist() == [1]
    assert boxes[0, 0].tolist() == [16 - 32, 16 - 64, 16 + 96, 16]
    assert (ids[0, 0], indices[0, 0]) == (1, 20)
    assert scores[0, 0] == pytest.approx(0.7310586)


def given(classes, threshold=0.5, capacity=30):
    """A problem of 21 points whose classes have the same logits everywhere."""

    class Given(DecodeProblem):
        @property
        def scalars(self):
            return {"threshold": threshold}

        def inputs(self, seed):
            head = np.zeros((self.channels, self.points), np.float32)
            head[64:] = np.array(classes, np.float32)[:, None]
            return {"head": head.ravel()}

    return Given(32, 32, len(classes), capacity, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("classes", "threshold", "count", "best"),
    [
        ([0, -1], 0.5, 0, None),  # a score that is the threshold does not pass
        ([-1, 0], 0.49, 21, 1),
        ([2, 3, 3, -9, 3, 1], 0.5, 21, 1),
        ([np.nan] * 6 + [1.0], 0.5, 21, 6),
        ([np.nan] * 6, 0.0, 0, None),
        ([np.nan] * 6, -1.0, 21, 0),
        ([-np.inf, np.inf], 0.999, 21, 1),
    ],
)
def test_classes_that_are_equal_or_odd(classes, threshold, count, best):
    problem = given(classes, threshold)
    found = problem.reference(problem.inputs(0), problem.scalars)
    assert found["count"].tolist() == [count]
    assert set(found["ids"][:count].tolist()) == ({best} if count else set())
    verify(problem, OPERATOR.program(problem, SPLIT, SPEC), seeds=(2,))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"head": np.zeros((67, 21), np.float32)}, r"head has shape \(67, 21\): expected \(pictures, 64 \+ classes"),
        ({"head": np.zeros((1, 67, 22), np.float32)}, "head has 22 points: expected 21 of 32x32 pixels"),
        ({"head": np.zeros((1, 64, 21), np.float32)}, "classes=0: expected 1"),
        ({"width": 33}, "width=33: expected a multiple of 32"),
        ({"capacity": -1}, "capacity=-1: expected 0 or more"),
    ],
)
def test_what_a_call_refuses(changed, said):
    usual = {"head": np.zeros((1, 67, 21), np.float32), "height": 32, "width": 32}
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.decode(**usual | changed)


MANY = DecodeProblem(64, 96, 5, 200, 2, FLOAT32)
ANCHORED = AnchorsProblem(64, 64, 5, 300, 2, FLOAT32)
BUGS = {
    "the last of equal classes": (given([2, 3, 3, -9, 3, 1]), "one.id < other.id", "one.id > other.id"),
    "the last of a thread's equal classes": (
        given([-9] * 8 + [1, 0, 0, 0, 1]),
        "logit > best[i].logit",
        "logit >= best[i].logit",
    ),
    "parts ahead do not count": (MANY, "i < own.number; i += points", "i < 0; i += points"),
    "warps ahead do not count": (MANY, "threadIdx.x) / 32 ? of_warps[i] : 0", "threadIdx.x) / 32 ? 0 : 0"),
    "the bins of one side": (MANY, "((side - sides) * bins + i)", "(i - sides * bins)"),
    "a box ends at the same place": (MANY, "side < 2 ? center - distance", "side < 4 ? center - distance"),
    "more than there is room for": (replace(MANY, capacity=9), "count < room ? count : room", "count"),
    "a product is fused": (MANY, "return __fadd_rn(__fmul_rn(a, b), c);", "return fmaf(a, b, c);"),
    "threads are not waited for": (MANY, "= best[i];\n  __syncthreads();", "= best[i];"),
    "the first level's anchors": (ANCHORED, "(cell.level * boxes_of_place + cell.anchor)", "(cell.anchor)"),
    "boxes that are none": (ANCHORED, "return __fmul_rn(is_box(), likely);", "return likely;"),
    "the next picture's anchor": (ANCHORED, "image * boxes_of_place + cell.anchor", "image + cell.anchor"),
    "columns for rows": (ANCHORED, "axis == 0 ? cell.place % columns", "axis == 1 ? cell.place % columns"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    problem, right, wrong = BUGS[bug]
    schedule = SPLIT if "warps" not in bug else DecodeSchedule(64, 2)
    operator = decode_anchors.OPERATOR if problem is ANCHORED else OPERATOR
    check_caught(problem, operator.program(problem, schedule, SPEC), right, wrong, seeds=(0, 2))


def test_a_box_is_where_its_anchor_is():
    """The second anchor of the middle level, in the second row and the first column of four."""
    heads = [np.full((1, 3 * 7, 64 // stride, 32 // stride), -20.0, np.float32) for stride in (8, 16, 32)]
    heads[1][0, 7:14, 1, 0] = [0, 0, 0, 0, 2, -1, 1]
    anchors = np.zeros((3, 3, 2), np.float32)
    anchors[1, 1] = 10, 30
    boxes, scores, ids, indices, count = dispatcher.decode_anchors(*heads, anchors, 0.5, capacity=2)
    assert count.tolist() == [1]
    assert boxes[0, 0].tolist() == [8 - 5, 24 - 15, 8 + 5, 24 + 15]  # as wide as its anchor
    assert (ids[0, 0], indices[0, 0]) == (1, 3 * 32 + 8 + 2)
    assert scores[0, 0] == pytest.approx(0.8807971 * 0.7310586)


def test_a_score_that_is_no_number_is_no_box():
    """Of all but one box, it is certain that they are one; of that, it is not a number."""
    heads = [np.full((1, 3 * 6, 32 // stride, 64 // stride), 20, np.float32) for stride in (8, 16, 32)]
    heads[1][0, 6 + 4, 1, 2] = np.nan
    *_, indices, count = dispatcher.decode_anchors(*heads, np.ones((3, 3, 2), np.float32), -1.0, capacity=126)
    assert count.tolist() == [3 * 42 - 1]
    assert {*range(3 * 42)} - {*indices[0, :125].tolist()} == {3 * 32 + 8 + 4 + 2}


def test_a_side_that_is_no_number_is_that_of_a_box():
    head = np.zeros((1, 64 + 1, 21), np.float32)
    head[0, 3, 20] = np.nan
    boxes, *_, count = dispatcher.decode(head, 32, 32, 0.25, capacity=21)
    assert count.tolist() == [21]
    assert np.argwhere(np.isnan(boxes)).tolist() == [[0, 20, 0]]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"head8": np.zeros((1, 20, 4, 4), np.float32)},
            r"head8 has shape \(1, 20, 4, 4\): expected \(pictures, 3 · \(5",
        ),
        (
            {"head32": np.zeros((1, 18, 2, 1), np.float32)},
            r"head32 has .* shape \(1, 18, 2, 1\): expected float32 of sh",
        ),
        ({"head8": np.zeros((1, 18, 3, 4), np.float32)}, "height=24: expected"),
        ({"anchors": np.zeros(18, np.float32)}, r"anchors has .* shape \(18,\): expected float32 of shape \(3, 3, 2\)"),
    ],
)
def test_what_a_call_with_anchors_refuses(changed, said):
    sides = {"head8": 4, "head16": 2, "head32": 1}
    usual = {name: np.zeros((1, 18, side, side), np.float32) for name, side in sides.items()}
    given = usual | {"anchors": np.zeros((3, 3, 2), np.float32)} | changed
    if given["head8"].shape[2] == 3:
        given["head16"] = given["head16"][:, :, :1]
        given["head32"] = given["head32"][:, :, :0]
    with pytest.raises((TypeError, ValueError), match=said):
        dispatcher.decode_anchors(**given)
