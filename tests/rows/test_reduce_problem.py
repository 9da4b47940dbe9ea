"""What a reduce problem says about itself."""

import numpy as np
import pytest
from refusals import refused

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import DTYPES, Axis, ReduceProblem
from autotune.verification import compare, poisoned

SUM, MEAN, L2, DOT, DIST, MAX, MIN, ARGMAX, ARGMIN = Operation
ALL, LAST, FIRST, SEGMENTS = Axis
FLOAT32, FLOAT16, BFLOAT16, INT32 = DTYPES


def test_all_elements_are_one_row():
    assert ReduceProblem(5, 7, axis=ALL) == ReduceProblem(1, 35, axis=ALL, ldx=99)
    assert ReduceProblem(5, 7, axis=ALL, ldx=7).key == "rows1-columns35-sum-all-float32"


test_impossible_problem_is_refused = refused(
    ReduceProblem,
    [
        ({"rows": -1, "columns": 7}, "rows=-1: expected 0 or more"),
        ({"rows": 5, "columns": 7, "dtype": DType.FLOAT64}, "dtype=float64: expected one of float32, float16, bfl"),
        ({"rows": 5, "columns": 7, "ldx": 6}, "ldx=6: expected at least the 7 elements of a row, or 0"),
        ({"rows": 5, "columns": 7, "align_x": 2}, "align_x=2: expected one of 4, 8, 16 bytes"),
        ({"rows": 5, "columns": 7, "ldx": 8, "axis": ALL}, "ldx=8: expected the 7 elements of a row, or 0, for axis=a"),
        ({"rows": 5, "columns": 0, "op": MAX}, "rows=5, columns=0: max of no elements along axis=last"),
        ({"rows": 0, "columns": 5, "op": ARGMAX, "axis": FIRST}, "argmax of no elements along axis=first"),
        ({"rows": 0, "columns": 5, "op": ARGMIN, "axis": ALL}, "argmin of no elements along axis=all"),
        ({"rows": 5, "columns": 7, "axis": SEGMENTS}, "segments=0: expected at least 1 with axis=segments"),
        ({"rows": 5, "columns": 7, "segments": 2}, "segments=2: expected 0 without axis=segments"),
        ({"rows": 5, "columns": 7, "offset_dtype": INT32}, "offset_dtype=int32: expected int64 without axis=segments"),
        (
            {"rows": 2, "columns": 2**30, "axis": SEGMENTS, "segments": 2, "offset_dtype": INT32},
            "offset_dtype=int32: expected int64 for 2147483648 elements",
        ),
        ({"rows": 5, "columns": 7, "op": MEAN, "dtype": INT32}, "dtype=int32: mean takes float32, float16 or bfloat16"),
    ],
)


@pytest.mark.parametrize(
    ("op", "dtype", "result"),
    [
        (SUM, FLOAT32, FLOAT32),
        (SUM, FLOAT16, FLOAT16),
        (SUM, INT32, DType.INT64),
        (MEAN, BFLOAT16, BFLOAT16),
        (L2, FLOAT16, FLOAT16),
        (MAX, BFLOAT16, BFLOAT16),
        (ARGMIN, INT32, DType.INT64),
        (MAX, INT32, INT32),
        (ARGMAX, BFLOAT16, DType.INT64),
    ],
)
def test_result_dtypes_are_those_of_pytorch(op, dtype, result):
    assert ReduceProblem(5, 7, op, dtype=dtype).tensors[1].dtype is result


@pytest.mark.parametrize(
    ("fields", "width"),
    [({"columns": 64}, 4), ({"columns": 66}, 2), ({"columns": 63}, 1), ({"columns": 63, "ldx": 64}, 4)],
)
def test_rows_must_be_aligned_to_reduce_columns_by_vectors(fields, width):
    assert ReduceProblem(5, axis=FIRST, **fields).vector_width("x") == width
    assert ReduceProblem(1, axis=FIRST, **fields).vector_width("x") == 4
    assert ReduceProblem(5, **fields).vector_width("x") == 4


def test_work_is_an_addition_for_each_element_and_a_product_for_each_square():
    assert ReduceProblem(5, 7, dtype=FLOAT16).work == Work(2 * 35 + 2 * 5, {Unit.FP32: 35})
    assert ReduceProblem(5, 7, L2).work == Work(4 * 35 + 4 * 5, {Unit.FP32: 70})
    assert ReduceProblem(5, 7, DOT, dtype=FLOAT16).work == Work(4 * 35 + 2 * 5, {Unit.FP32: 70})
    assert ReduceProblem(5, 7, ARGMAX, FIRST).work == Work(4 * 35 + 8 * 7, {Unit.FP32: 0})


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, BFLOAT16])
@pytest.mark.parametrize(
    ("elements", "index"),
    [
        ([1, 3, 2, 3], 1),
        ([1, np.nan, 9, np.nan], 1),
        ([-np.inf, -np.inf, -np.inf, -np.inf], 0),
        ([-np.inf, np.inf, np.inf, 0], 1),
        ([-0.0, 0.0, -1, 0.0], 0),
    ],
)
def test_extremes(dtype, elements, index):
    for axis in Axis:
        rows, columns = (4, 1) if axis is FIRST else (1, 4)
        segments = {"segments": 1} if axis is SEGMENTS else {}
        inputs = {"x": np.array(elements, dtype.numpy), "offsets": np.array([0, 4])}
        for op, expected in ((ARGMAX, index), (MAX, elements[index])):
            found = ReduceProblem(rows, columns, op, axis, dtype, **segments).reference(inputs, {})["y"]
            assert np.array_equal(found.astype(np.float64), [expected], equal_nan=True)
        negated = inputs | {"x": -inputs["x"]}
        for op, expected in ((ARGMIN, index), (MIN, -elements[index])):
            found = ReduceProblem(rows, columns, op, axis, dtype, **segments).reference(negated, {})["y"]
            assert np.array_equal(found.astype(np.float64), [expected], equal_nan=True)


def test_means_norms_and_products():
    inputs = {"x": np.array([3, -4, 0, 0], np.float32)}
    mean, norm = (ReduceProblem(2, 2, op).reference(inputs, {}) for op in (MEAN, L2))
    assert (mean["y"].tolist(), norm["y"].tolist()) == ([-0.5, 0], [5, 0])
    assert mean["y_scale"].tolist() == [0.5 + 16 * 3.5, 0]
    assert norm["y_scale"].tolist() == [17 * 5, 0]
    inputs["other"] = np.array([1, 2, 0, 7], np.float32)
    dot, dist = (ReduceProblem(2, 2, op).reference(inputs, {}) for op in (DOT, DIST))
    assert (dot["y"].tolist(), dist["y"].tolist()) == ([-5, 0], [40**0.5, 7])
    assert dot["y_scale"].tolist() == [5 + 16 * 11, 0]
    assert np.isnan(ReduceProblem(2, 0, MEAN).reference({"x": np.zeros(0, np.float32)}, {})["y"]).all()


def test_segments_without_elements():
    inputs = {"x": np.array([1, 5, 5, 2], np.float32), "offsets": np.array([0, 0, 3, 3, 4, 4])}
    expected = {
        SUM: [0, 11, 0, 2, 0],
        MEAN: [np.nan, 11 / 3, np.nan, 2, np.nan],
        MAX: [-np.inf, 5, -np.inf, 2, -np.inf],
        MIN: [np.inf, 1, np.inf, 2, np.inf],
        ARGMAX: [-1, 1, -1, 0, -1],
    }
    for op, results in expected.items():
        found = ReduceProblem(1, 4, op, SEGMENTS, segments=5).reference(inputs, {})["y"]
        np.testing.assert_array_equal(found, np.array(results, found.dtype))
    found = ReduceProblem(1, 4, MIN, SEGMENTS, INT32, 5).reference(inputs | {"x": np.arange(4, dtype=np.int32)}, {})
    assert found["y"].tolist() == [2**31 - 1, 0, 2**31 - 1, 3, 2**31 - 1]


def test_sums_are_judged_by_the_sum_of_absolute_values():
    problem = ReduceProblem(1, 4, axis=LAST, dtype=FLOAT16)
    found = problem.reference({"x": np.array([8, -8, 1, 0], np.float16)}, {})
    assert found["y"].tolist() == [1]
    assert found["y_scale"].tolist() == [1 + 17 * 2.0**-20 / FLOAT16.roundoff]


def test_sums_of_integers_are_exact():
    problem = ReduceProblem(3, 2, axis=FIRST, dtype=INT32)
    found = problem.reference({"x": np.array([2**31 - 1, -1] * 3, np.int32)}, {})
    assert found["y"].tolist() == [3 * (2**31 - 1), -3]


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.is_float])
@pytest.mark.parametrize("columns", [16, 8192])
def test_the_tolerance_is_that_of_float32_sums_rounded_once(dtype, columns):
    """Sums of one term after the other are right, those that keep no more than 16 bits on the way are not."""
    problem = ReduceProblem(64, columns, dtype=dtype)
    inputs = problem.inputs(0)
    expected = problem.reference(inputs, {})
    x, y = problem.tensors
    terms = x.view(inputs["x"]).astype(np.float32)
    narrow = np.dtype(np.float16) if dtype is DType.FLOAT32 else dtype.numpy
    rounded = np.zeros(problem.rows, narrow)
    for term in terms.T:
        rounded = (rounded.astype(np.float32) + term).astype(narrow)
    in_order = np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]
    for found, right in ((in_order, True), (rounded, False)):
        outcome = compare(y, found.astype(y.dtype.numpy), expected["y"], poisoned(y), expected["y_scale"])
        assert isinstance(outcome, float) == right
