"""The rule by which outputs are judged."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from autotune import verification
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Exact, Role, Tensor, Within
from autotune.codegen.model.work import Work
from autotune.verification import Mismatch, compare, launch_arrays, poisoned

F32 = np.float32
WITHIN = Within(absolute=0.5)
NARROW = [DType.FLOAT16, DType.BFLOAT16]


def output(dtype, size, judged):
    return Tensor.flat("y", dtype, size, Role.OUTPUT, dtype.bytes, judged)


def judge(actual, expected, judged=WITHIN, dtype=DType.FLOAT32, **more):
    """Of an output without gaps."""
    tensor = output(dtype, len(actual), judged)
    stated = np.array(expected, dtype.numpy if isinstance(judged, Exact) else np.float64)
    return compare(tensor, np.array(actual, F32).astype(dtype.numpy), stated, poisoned(tensor), **more)


def wrong(outcome):
    assert isinstance(outcome, Mismatch)
    return outcome.count, outcome.index


def test_poison_is_nan_and_all_bits():
    assert np.isnan(poisoned(output(DType.FLOAT32, 1, WITHIN))).all()
    assert poisoned(output(DType.UINT16, 3, Exact())).tolist() == [0xFFFF] * 3


def test_the_largest_error_is_returned():
    assert judge([1, 2.5, -4], [1, 2, -4.25]) == 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.75])
def test_anything_out_of_bounds_is_wrong(value):
    outcome = judge([1, value, value], [1, 2, 2])
    assert str(outcome) == f"wrong: 2 of 3 elements, first at 1: got {F32(value)}, expected 2.0"


def test_values_of_narrow_types_are_shown_as_numbers():
    assert str(judge([1.5, 3], [1.5, 2], dtype=DType.BFLOAT16)).endswith("first at 1: got 3, expected 2.0")


def test_a_probability_of_a_millionth_is_judged_by_its_own_size():
    """A softmax that is wrong by a factor of 1.0001; an absolute tolerance of 1e-6 had let it pass."""
    right = np.full(4, 1e-6)
    for factor, found in ((1.0, 0), (1.0001, 4)):
        outcome = judge(list(factor * right), list(right), Within.rounded(DType.FLOAT32, relative=1e-6))
        assert (outcome.count if isinstance(outcome, Mismatch) else 0) == found


@pytest.mark.parametrize("dtype", NARROW)
def test_rounding_an_output_to_the_nearest_number_is_right_and_to_the_next_one_wrong(dtype):
    exact = np.random.default_rng(0).random(1000) + 1e-3
    rounded = exact.astype(dtype.numpy).astype(F32)
    judged = Within.rounded(dtype)
    assert isinstance(judge(list(rounded), list(exact), judged, dtype), float)
    between = 1 + 1.4 * dtype.roundoff  # of 1 and 1 + 2 roundoff
    assert isinstance(judge([1 + 2 * dtype.roundoff], [between], judged, dtype), float)
    assert isinstance(judge([1.0], [between], judged, dtype), Mismatch)


def test_a_sum_is_judged_by_its_terms():
    """1e6 − 1e6 + 0.1 in FP32: nothing is left of a tenth, and that is right."""
    judged, scale = Within(relative=2**-22), np.array([2e6, 0.2])
    assert judge([0.125, 0.1], [0.1, 0.1], judged, scale=scale) == pytest.approx(0.025)
    assert wrong(judge([0.125, 0.125], [0.1, 0.1], judged, scale=scale)) == (1, 1)
    assert wrong(judge([0.125, 0.1], [0.1, 0.1], judged)) == (1, 0)


@pytest.mark.parametrize(
    ("actual", "expected", "right"),
    [
        (np.inf, np.inf, True),
        (-np.inf, -np.inf, True),
        (np.nan, np.nan, True),
        (np.inf, -np.inf, False),
        (np.nan, -np.inf, False),
        (3e38, np.inf, False),
        (1.0, np.nan, False),
        (np.inf, np.nan, False),
        (np.inf, 3.5e38, True),  # which FP32 rounds to infinity
        (-np.inf, 3.5e38, False),
        (np.inf, 3e38, False),
    ],
)
@pytest.mark.parametrize("judged", [Within(), Within(absolute=1.0), Within(relative=2**-24)])
def test_infinity_and_nan(actual, expected, right, judged):
    assert judge([1, actual], [1, expected], judged) == (
        0 if right else Mismatch(1, 2, 1, str(F32(actual)), str(expected))
    )


def test_what_has_exact_inputs_may_err_by_its_rounding_alone():
    tensor = output(DType.FLOAT32, 1, Within(relative=0.5))
    after, expected = {"y": np.array([1.1], F32)}, {"y": np.ones(1), "y_scale": np.full(1, 1e9)}
    problem, before = cast(Problem, SimpleNamespace(tensors=(tensor,))), {"y": poisoned(tensor)}
    exact, usual = (verification.judge(problem, before, after, expected, exact=exact)["y"] for exact in (True, False))
    assert wrong(exact) == (1, 0)
    assert usual == pytest.approx(0.1)


def test_exact_is_bit_for_bit_but_for_the_bits_of_a_nan():
    assert judge([7, -0.0, np.inf], [7, -0.0, np.inf], Exact()) == 0
    assert wrong(judge([0.0], [-0.0], Exact())) == (1, 0)
    assert wrong(judge([1.0], [1 + 1e-6], Exact())) == (1, 0)
    tensor = output(DType.FLOAT32, 1, Exact())
    assert compare(tensor, poisoned(tensor), np.array([np.nan], F32), poisoned(tensor)) == 0


@pytest.mark.parametrize("judged", [Exact(), WITHIN])
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16, DType.INT32, DType.UINT8])
@pytest.mark.parametrize("role", [Role.OUTPUT, Role.IN_OUT])
def test_a_gap_must_be_as_it_was(role, dtype, judged):
    tensor = Tensor("y", dtype, (2, 2), (3, 1), role, dtype.bytes, judged)
    expected = np.array([1, 2, 3, 4, 5], dtype.numpy if isinstance(judged, Exact) else np.float64)
    before = poisoned(tensor) if role is Role.OUTPUT else np.full(5, 7, dtype.numpy)
    actual = expected.astype(dtype.numpy)
    actual[2] = before[2]
    assert compare(tensor, actual, expected, before) == 0
    actual[2] = 3  # what the reference has there, which does not count
    outcome = compare(tensor, actual, expected, before)
    assert str(outcome) == f"wrong: 1 of 5 elements, first at 2: got {actual[2]!s}, expected the gap untouched"


def test_an_answer_that_looks_like_poison_is_not_a_gap():
    tensor = Tensor("y", DType.INT32, (2, 2), (3, 1), Role.OUTPUT, 4)
    right = np.array([-1, 0, -1, 0, -1], np.int32)
    assert compare(tensor, right, right, poisoned(tensor)) == 0
    assert wrong(compare(tensor, np.array([0, 0, -1, 0, -1], np.int32), right, poisoned(tensor))) == (1, 0)


def test_a_nan_written_in_a_gap_is_wrong_where_nan_is_the_answer_beside_it():
    tensor = Tensor("y", DType.FLOAT32, (2, 1), (2, 1), Role.OUTPUT, 4, WITHIN)
    outcome = compare(tensor, np.full(3, np.nan, F32), np.full(3, np.nan), poisoned(tensor))
    assert wrong(outcome) == (1, 1)


def test_nothing_is_right():
    assert judge([], []) == 0


def test_arrays_must_fit():
    tensor = output(DType.FLOAT32, 2, WITHIN)
    for expected in (np.zeros(3), np.zeros(2, F32)):
        with pytest.raises(ValueError, match=r"y is compared with .*; expected float64 of shape \(2,\)"):
            compare(tensor, np.zeros(2, F32), expected, poisoned(tensor))


@dataclass(frozen=True)
class Rows(Problem):
    """Two rows of three elements, four apart, that are read, and as many that are read and written."""

    key = "rows"
    work = Work(0)

    @property
    def tensors(self):
        return (
            Tensor("x", DType.FLOAT16, (2, 3), (4, 1), Role.INPUT, 2),
            Tensor("y", DType.FLOAT32, (2, 3), (4, 1), Role.IN_OUT, 4),
            Tensor("z", DType.INT32, (2, 3), (4, 1), Role.OUTPUT, 4),
        )

    def inputs(self, seed):
        return {"x": np.ones(7, np.float16), "y": np.ones(7, F32)}

    def reference(self, inputs, scalars):
        raise NotImplementedError


def test_kernels_find_poison_in_the_gaps_of_what_they_only_read():
    arrays = launch_arrays(Rows(), 0)
    np.testing.assert_array_equal(arrays["x"], np.array([1, 1, 1, np.nan, 1, 1, 1], np.float16))
    assert arrays["x"].dtype == np.float16
    assert arrays["y"].tolist() == [1] * 7
    assert arrays["z"].tolist() == [-1] * 7
