"""How arrays are read as what reduce reduces."""

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import row_major
from autotune.search_spaces.contract.bound import bound
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.rows.reduce import OPERATOR

CALL = OPERATOR.call
assert CALL is not None


def key(shape, strides, dim):
    layout = Layout(shape, strides, "float32", 4, 16)
    out = CALL.types(input=layout, other=None, offsets=None, op="sum", dim=dim)["out"].shape
    arrays = {"input": layout, "other": None, "offsets": None, "out": Layout(out, row_major(out), "float32", 4, 4)}
    binding = bound(CALL, arrays, {"op": "sum", "dim": dim})
    return binding.problem.key.replace("-float32", "")


@pytest.mark.parametrize(
    ("shape", "strides", "dim", "expected"),
    [
        ((5, 7), (7, 1), None, "rows1-columns35-sum-all"),
        ((5, 7), (7, 1), -1, "rows5-columns7-sum-last"),
        ((5, 7), (9, 1), 1, "rows5-columns7-sum-last-ldx9"),
        ((5, 7), (9, 1), 0, "rows5-columns7-sum-first-ldx9"),
        ((5, 7), (1, 5), -1, "rows7-columns5-sum-first"),
        ((5, 7), (1, 6), 0, "rows7-columns5-sum-last-ldx6"),
        ((2, 3, 7), (21, 7, 1), -1, "rows6-columns7-sum-last"),
        ((2, 3, 7), (21, 7, 1), 0, "rows2-columns21-sum-first"),
        ((2, 1, 7), (7, 99, 1), 1, "rows14-columns1-sum-last"),
        ((7,), (1,), 0, "rows1-columns7-sum-all"),
        ((7,), (3,), -1, "rows7-columns1-sum-first-ldx3"),
        ((7,), (3,), None, "rows7-columns1-sum-first-ldx3"),
        ((), (), None, "rows1-columns1-sum-all"),
        ((1, 7), (50, 1), 0, "rows1-columns7-sum-first"),
        ((0, 7), (7, 1), 0, "rows0-columns7-sum-first"),
        ((3, 0), (1, 1), -1, "rows3-columns0-sum-last"),
    ],
)
def test_layouts(shape, strides, dim, expected):
    assert key(shape, strides, dim) == expected


@pytest.mark.parametrize(
    ("shape", "strides", "dim"),
    [
        ((5, 7), (9, 1), None),
        ((5, 7), (14, 2), 1),
        ((5, 7), (0, 1), 1),
        ((5, 7), (3, 1), 1),
        ((2, 3, 7), (21, 7, 1), 1),
        ((2, 3, 7), (40, 7, 1), -1),
    ],
)
def test_other_layouts_are_refused(shape, strides, dim):
    with pytest.raises(ValueError, match=r"expected contiguous elements, or a matrix, .* call contiguous\(\) first"):
        key(shape, strides, dim)


test_wrong_arguments = refused(
    lambda **arguments: dispatcher.reduce(**{"input": np.zeros((2, 3), np.float32), **arguments}),
    [
        ({"op": "median"}, "op='median': expected one of sum, mean, l2, dot, dist, max"),
        ({"op": "dot"}, "TypeError: op='dot' of one array: expected 2"),
        ({"other": np.zeros((2, 3), np.float32)}, "TypeError: op='sum' of two arrays: expected 1"),
        (
            {"op": "dot", "other": np.zeros((2, 1), np.float32)},
            r"other has shape \(2, 1\) and dtype float32: expected those of input, \(2, 3\) and float32",
        ),
        (
            {"op": "dist", "other": np.zeros((3, 2), np.float32).T, "dim": 0},
            r"other has strides \(1, 2\): expected those of input, \(3, 1\); call contiguous\(\) of both first",
        ),
        (
            {"offsets": np.array([0, 6], np.int16)},
            r"offsets has dtype int16 and shape \(2,\): expected int32 or int64 of one axis of 2 or more",
        ),
        ({"offsets": np.array([0, 6]), "dim": 0}, "dim=0: expected None for segments"),
        ({"offsets": np.array([0, 0, 6, 6])[::2]}, r"offsets has shape .* expected a contiguous array"),
        (
            {"input": np.zeros((6, 2), np.float32)[:, 0], "offsets": np.array([0, 6])},
            r"input has strides \(2,\): expected a contiguous array for segments",
        ),
        ({"dim": 2}, "dim=2: expected None or -2 … 1 for input of shape"),
        (
            {"input": np.zeros((2, 3))},
            "TypeError: input has dtype float64: reduce takes float32, float16, bfloat16, int",
        ),
        ({"input": np.zeros((2, 0), np.float32), "op": "max"}, "max of no elements along axis=all"),
        ({"out": np.zeros((2, 2), np.float32)[:, 0], "dim": 1}, "out has shape .* expected a contiguous"),
    ],
)


def test_calls():
    x = np.random.default_rng(0).integers(-9, 9, (5, 6, 7)).astype(np.float32)
    assert dispatcher.reduce(x) == x.sum()
    assert np.array_equal(dispatcher.reduce(x, "max", 0), x.max(0))
    assert np.array_equal(dispatcher.reduce(x, "argmax", -1), x.argmax(-1))
    assert np.array_equal(dispatcher.reduce(x, "argmin", 0), x.argmin(0))
    assert np.array_equal(dispatcher.reduce(x, "min"), x.min())
    assert np.allclose(dispatcher.reduce(x, "mean", 0), x.mean(0))
    assert np.allclose(dispatcher.reduce(x, "l2", -1), np.linalg.norm(x, axis=-1))
    other = np.flip(x, 0).copy()
    assert dispatcher.reduce(x, "dot", other=other) == np.vdot(x, other)
    assert np.array_equal(dispatcher.reduce(x, "dot", -1, other=other), (x * other).sum(-1))
    assert np.allclose(dispatcher.reduce(x, "dist", 0, other=other), np.linalg.norm(x - other, axis=0))
    offsets = np.array([0, 70, 70, 210], np.int32)
    assert np.array_equal(dispatcher.reduce(x, offsets=offsets), [x.ravel()[:70].sum(), 0, x.ravel()[70:].sum()])
    assert dispatcher.reduce(x, "argmax", offsets=offsets).tolist() == [
        x.ravel()[:70].argmax(),
        -1,
        x.ravel()[70:].argmax(),
    ]
    out = np.zeros((5, 6), np.int64)
    integers = x.astype(np.int32)
    assert dispatcher.reduce(integers, dim=2, out=out) is out
    assert np.array_equal(out, integers.sum(2))
    narrow = x.astype(DType.BFLOAT16.numpy)
    assert np.array_equal(dispatcher.reduce(narrow, "max", 2), narrow.max(2))
