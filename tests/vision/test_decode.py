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
from autotune.emulator import verify
from autotune.search_spaces.machine.devices import named_device
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
BUGS = {
    "the last of equal classes": (given([2, 3, 3, -9, 3, 1]), "one.id < other.id", "one.id > other.id"),
    "the last of a thread's equal classes": (
        given([-9] * 8 + [1, 0, 0, 0, 1]),
        "logit > best.logit",
        "logit >= best.logit",
    ),
    "parts ahead do not count": (MANY, "i < own.part; i += points", "i < 0; i += points"),
    "warps ahead do not count": (MANY, "place += of_warps[i]", "place += 0"),
    "the bins of one side": (MANY, "side * bins + i", "i"),
    "a box ends at the same place": (
        MANY,
        "x + distance_of(arguments, logits, 2)",
        "x - distance_of(arguments, logits, 2)",
    ),
    "more than there is room for": (replace(MANY, capacity=9), "passes && place < arguments.capacity", "passes"),
    "a product is fused": (MANY, "return __fadd_rn(__fmul_rn(a, b), c);", "return fmaf(a, b, c);"),
    "threads are not waited for": (
        MANY,
        "  shared[threadIdx.x] = best;\n  __syncthreads();",
        "  shared[threadIdx.x] = best;",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    problem, right, wrong = BUGS[bug]
    schedule = SPLIT if "warps" not in bug else DecodeSchedule(64, 2)
    check_caught(problem, OPERATOR.program(problem, schedule, SPEC), right, wrong, seeds=(0, 2))
