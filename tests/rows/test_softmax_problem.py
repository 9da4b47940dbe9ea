"""What a softmax problem says about itself."""

import numpy as np
import pytest
from refusals import refused

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.verification import Mismatch, compare, poisoned

BF16 = DType.BFLOAT16


test_impossible_problem_is_refused = refused(
    lambda **fields: SoftmaxProblem.from_dict(fields),
    [
        ({"rows": -1, "columns": 7}, "rows=-1: expected 0 or more"),
        ({"rows": 5, "columns": 2**30 + 1}, "columns=1073741825: expected 0 … 1073741824"),
        ({"rows": 5, "columns": 7, "dtype": "int32"}, "dtype=int32: expected one of float32, bfloat16, float16"),
        ({"rows": 5, "columns": 7, "ldy": 6}, "ldy=6: expected at least the 7 elements of a row, or 0"),
        ({"rows": 5, "columns": 0, "lse": True},
         "columns=0: expected at least 1, of whose exponentials lse is the sum"),
        ({"rows": 5, "columns": 7, "align_x": 2}, "align_x=2: expected one of 4, 8, 16 bytes"),
    ],
)  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "widths"),
    [
        (SoftmaxProblem(64, 64), (4, 4)),
        (SoftmaxProblem(64, 64, BF16), (8, 8)),
        (SoftmaxProblem(64, 63, BF16), (1, 1)),
        (SoftmaxProblem(64, 63, BF16, ldx=64, ldy=66), (8, 2)),
        (SoftmaxProblem(64, 64, BF16, align_x=2), (1, 8)),
    ],
)
def test_widths(problem, widths):
    assert problem.widths == widths


def test_work_counts_each_element_once():
    operations = {Unit.FP32: 4 * 35, Unit.SPECIAL: 35}
    assert SoftmaxProblem(5, 7, BF16).work == Work(2 * 2 * 35, operations)
    assert SoftmaxProblem(5, 7, BF16, lengths=True).work == Work(2 * (35 + 17) + 4 * 5, operations)
    for rows, mask_rows in ((5, 5), (8, 8), (21, 13)):  # a mask of 8 rows serves two blocks
        masked = SoftmaxProblem(rows, 7, BF16, mask=Mask.ADD, queries=8, heads=2)
        assert masked.work.bytes == 2 * 7 * (2 * rows + mask_rows)


@pytest.mark.parametrize(("rows", "queries", "columns"), [(12, 4, 6), (12, 6, 4), (13, 5, 5), (3, 7, 5), (1, 1, 9)])
def test_work_counts_what_causal_rows_keep(rows, queries, columns):
    problem = SoftmaxProblem(rows, columns, causal=True, queries=queries, lse=True)
    offset = int(problem.scalars["causal_offset"])
    kept = (np.arange(columns) <= (np.arange(rows) % queries + offset)[:, None]).sum()
    assert problem.work.bytes == 4 * (rows * columns + kept + rows)


def test_causal_blocks_are_square_unless_stated():
    assert SoftmaxProblem(100, 33, causal=True) == SoftmaxProblem(100, 33, causal=True, queries=33)
    assert SoftmaxProblem(100, 33, queries=7) == SoftmaxProblem(100, 33)
    with pytest.raises(ValueError, match=r"^rows=4294967296: expected at most 4294967295 of blocks$"):
        SoftmaxProblem(2**32, 4, causal=True)


def test_an_output_that_lies_as_the_input_may_be_the_input():
    assert SoftmaxProblem(4, 8).tensors[1].in_place == "x"
    assert SoftmaxProblem(4, 8, ldx=8, ldy=16).tensors[1].in_place == ""


def test_reference_is_the_definition():
    problem = SoftmaxProblem(3, 4, lengths=True, ldx=5, ldy=6)
    x = np.float32([[0, 1, 2, 3, 9], [1e4, 1e4 - 1, np.nan, 5, 9], [7, 7, 7, 7, 9]])
    lengths = np.int32([4, 2, 0])
    y = problem.reference({"x": x.reshape(-1)[:14], "lengths": lengths}, {"temperature": 0.5})["y"]
    e = np.exp(np.float64([0, 2, 4, 6]))
    np.testing.assert_allclose(y[:4], e / e.sum(), rtol=1e-14)
    np.testing.assert_allclose(y[6:10], [1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2)), 0, 0], rtol=1e-14)
    assert np.isnan(y[12:16]).all()


def test_the_reference_of_logarithms_is_the_definition():
    problem = SoftmaxProblem(3, 3, log=True, causal=True, zero_rows=True, lse=True)
    x = np.float32([[1, 9, 9], [2, 2, 9], [-np.inf, -np.inf, -np.inf]]).reshape(-1)
    found = problem.reference({"x": x}, {"temperature": 0.5, "causal_offset": 0})
    half, impossible = np.log(0.5), -np.inf
    np.testing.assert_allclose(found["y"][:6], [0, impossible, impossible, half, half, impossible], rtol=1e-14)
    np.testing.assert_array_equal(found["y"][6:], impossible)
    np.testing.assert_allclose(found["lse"], [2, 4 - half, impossible], rtol=1e-14)


def test_inputs_have_rows_of_every_kind():
    x = SoftmaxProblem(64, 256).inputs(0)["x"].reshape(64, 256)
    assert np.isnan(x).any(axis=1).sum() == 1
    assert (x == np.inf).any(axis=1).sum() == 1
    assert (x == -np.inf).all(axis=1).sum() == 1
    assert (x.max(axis=1) > 9000).sum() >= 1
    assert (x == x[:, :1]).all(axis=1).sum() == 2  # the constant one, and that of -infinity
    assert (np.isfinite(x).all(axis=1)).sum() >= 60


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 9), (2, 1), (3, 100), (500, 7)])
def test_lengths_are_within_the_row_and_add_up_to_half(rows, columns):
    lengths = SoftmaxProblem(rows, columns, lengths=True).inputs(0)["lengths"]
    assert 0 <= lengths.min() <= lengths.max() <= columns
    if rows > 1:
        assert abs(int(lengths.sum()) - rows * columns // 2) <= rows


@pytest.mark.parametrize("columns", [16, 8192])
def test_the_tolerance_is_that_of_float32(columns):
    """A result that is off in its 16th bit is wrong."""
    problem = SoftmaxProblem(64, columns)
    inputs = problem.inputs(0)
    expected = problem.reference(inputs, problem.scalars)["y"]
    x, y = problem.tensors
    with np.errstate(invalid="ignore", over="ignore"):  # infinity - infinity
        exponents = x.view(inputs["x"]) - x.view(inputs["x"]).max(axis=1, keepdims=True)
        terms = np.exp2(exponents * np.float32(np.log2(np.e)))
        found = (terms / terms.sum(axis=1, keepdims=True)).reshape(-1)
    assert isinstance(compare(y, found, expected, poisoned(y)), float)
    assert isinstance(compare(y, found * np.float32(1 + 2**-16), expected, poisoned(y)), Mismatch)
