"""What scan's problems say, and how arrays are read as what it scans."""

import numpy as np
import pytest
from refusals import refused
from scan_cases import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, MAX, MIN, PRODUCT, SUM

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.work import Unit
from autotune.codegen.scan.scan.inputs import factors, levels
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.bound import bound, output_types
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.scan.scan import OPERATOR

X = np.array([[3, 1, 4, 1, 5, 9, 2]], np.float32)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [3, 4, 8, 9, 14, 23, 25]),
        ({"exclusive": True}, [0, 3, 4, 8, 9, 14, 23]),
        ({"reverse": True}, [25, 22, 21, 17, 16, 11, 2]),
        ({"exclusive": True, "reverse": True}, [22, 21, 17, 16, 11, 2, 0]),
        ({"op": PRODUCT}, [3, 3, 12, 12, 60, 540, 1080]),
        ({"op": PRODUCT, "exclusive": True}, [1, 3, 3, 12, 12, 60, 540]),
        ({"op": MAX}, [3, 3, 4, 4, 5, 9, 9]),
        ({"op": MAX, "exclusive": True}, [-np.inf, 3, 3, 4, 4, 5, 9]),
        ({"op": MIN, "reverse": True, "exclusive": True}, [1, 1, 1, 2, 2, 2, np.inf]),
        ({"flags": True}, [3, 4, 4, 5, 5, 14, 2]),
        ({"flags": True, "exclusive": True}, [0, 3, 0, 4, 0, 5, 0]),
        ({"flags": True, "reverse": True}, [4, 1, 5, 1, 14, 9, 2]),
        ({"flags": True, "reverse": True, "exclusive": True}, [1, 0, 1, 0, 9, 0, 0]),
        ({"offsets": True, "segments": 5}, [3, 4, 4, 5, 5, 14, 2]),
        ({"init": True}, [7, 8, 12, 13, 18, 27, 29]),
        ({"init": True, "exclusive": True}, [4, 7, 8, 12, 13, 18, 27]),
        ({"init": True, "op": MAX, "reverse": True}, [9, 9, 9, 9, 9, 9, 4]),
        ({"init": True, "flags": True, "exclusive": True}, [4, 7, 4, 8, 4, 9, 4]),
    ],
    ids=str,
)
def test_reference(fields, expected):
    problem = ScanProblem(1, 7, **fields)
    inputs = {"x": X.reshape(-1)}
    if problem.flags:
        inputs["flags"] = np.array([0, 0, 9, 0, 1, 0, 1], np.uint8)
    if problem.offsets:
        inputs["offsets"] = np.array([0, 2, 4, 4, 6, 7])
    if problem.init:
        inputs["init"] = np.array([4], np.float32)
    np.testing.assert_array_equal(problem.reference(inputs, {})["y"], np.array(expected))


def test_wide_sums_are_those_of_64_bits():
    problem = ScanProblem(1, 5, dtype=INT32, wide=True)
    x = np.array([-1, 2**31 - 1, 2**31 - 1, 2**31 - 1, 5], np.int32)
    expected = np.cumsum(x, dtype=np.int64)
    np.testing.assert_array_equal(problem.reference({"x": x}, {})["y"], expected)
    np.testing.assert_array_equal(dispatcher.scan(x), expected)


test_problems_that_cannot_be = refused(
    lambda **fields: ScanProblem(**{"rows": 1, "columns": 9, **fields}),
    [
        ({"wide": True}, r"^wide=True: expected a sum or product of int32, not sum of float32$"),
        ({"wide": True, "dtype": INT32, "op": MAX}, r"not max of int32$"),
        ({"flags": True, "offsets": True, "segments": 1}, r"^flags=True, offsets=True: expected one of them$"),
        ({"flags": True, "rows": 2, "ldx": 10}, r"^ldx=10: expected the 9 elements of a row, or 0, for segments$"),
        ({"flags": True, "rows": 2, "ldy": 11}, r"^ldy=11: expected the 9 elements of a row, or 0, for segments$"),
        ({"offsets": True}, r"^segments=0: expected at least 1 with offsets$"),
        ({"segments": 3}, r"^segments=3: expected 0 without offsets$"),
        ({"align_flags": 3}, r"^align_flags=3: expected one of 1, 2, 4, 8, 16 bytes$"),
    ],
)


def test_segments_are_those_of_all_elements():
    assert ScanProblem(3, 5, flags=True) == ScanProblem(1, 15, flags=True)
    assert ScanProblem(0, 5, offsets=True, segments=2).key == "rows1-columns0-sum-float32-offsets-segments2"


def test_work_counts_segments_and_floating_point_additions():
    assert ScanProblem(1, 100).work.bytes == 800
    assert ScanProblem(1, 100).work.count(Unit.FP32) == 100
    assert ScanProblem(1, 100, dtype=FLOAT64).work.count(Unit.FP64) == 100
    assert ScanProblem(1, 100, MAX).work.count(Unit.FP32) == 0
    assert ScanProblem(1, 100, dtype=INT32, wide=True).work.bytes == 1200
    assert ScanProblem(1, 100, flags=True).work.bytes == 900
    assert ScanProblem(1, 100, offsets=True, segments=9).work.bytes == 880


def test_vectors_of_a_single_row_need_no_whole_row():
    assert ScanProblem(1, 1003).widest == 4
    assert ScanProblem(2, 1003).widest == 1
    assert ScanProblem(1, 1003, dtype=INT32, wide=True).widest == 2
    assert ScanProblem(1, 1003, dtype=FLOAT16, flags=True, align_flags=2).widest == 2


def test_products_of_factors_are_exact_over_any_range():
    x = factors(np.random.default_rng(0), 20_000, FLOAT16).astype(np.float64)
    exponents = np.cumsum(np.log2(np.abs(x)))
    assert exponents.max() - exponents.min() <= 4


@pytest.mark.parametrize("falling", [False, True])
def test_a_maximum_of_few_elements_is_low(falling):
    x = levels(np.random.default_rng(0), 20_000, INT32, falling)
    x = x[::-1] if falling else x
    running = np.maximum.accumulate(x)
    assert running[x.size // 4] < 30
    assert running[-1] > 90
    assert (x < 0).mean() > 0.9
    assert (np.diff(running) >= 0).all()


def layout(shape, strides=None, dtype=FLOAT32):
    dense = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    return Layout(shape, strides or dense, dtype, DType(dtype).bytes, 16)


def key(x, **options):
    call = OPERATOR.call
    assert call is not None
    known = dict.fromkeys(("flags", "offsets", "init", "dtype"))
    known |= {"dim": -1, "op": SUM, "exclusive": False, "reverse": False}
    given = known | options | {"input": x}
    inputs, chosen = ({name: given[name] for name in names} for names in (call.inputs, call.options))
    out = output_types(call, inputs, chosen)["out"]
    return bound(call, {**inputs, "out": layout(out.shape, dtype=out.dtype)}, chosen).problem.key


@pytest.mark.parametrize(
    ("x", "options", "expected"),
    [
        (layout((7,)), {}, "rows1-columns7-sum-float32"),
        (layout((5, 7)), {}, "rows5-columns7-sum-float32"),
        (layout((5, 7), (9, 1)), {"dim": 1}, "rows5-columns7-sum-float32-ldx9"),
        (layout((2, 5, 7)), {"op": "max"}, "rows10-columns7-max-float32"),
        (layout((2, 5, 7)), {"dim": None}, "rows1-columns70-sum-float32"),
        (layout((), ()), {"dim": None}, "rows1-columns1-sum-float32"),
        (layout((7,), dtype=INT32), {}, "rows1-columns7-sum-int32-wide"),
        (layout((7,), dtype=INT32), {"dtype": INT32}, "rows1-columns7-sum-int32"),
        (layout((7,), dtype=INT32), {"op": "min"}, "rows1-columns7-min-int32"),
        (layout((7,)), {"flags": layout((7,), dtype=DType.BOOL)}, "rows1-columns7-sum-float32-flags"),
        (
            layout((2, 7)),
            {"dim": None, "flags": layout((2, 7), dtype=DType.UINT8)},
            "rows1-columns14-sum-float32-flags",
        ),
        (layout((7,)), {"offsets": layout((4,), dtype=INT64)}, "rows1-columns7-sum-float32-offsets-segments3"),
        (layout((2, 7)), {"init": layout(())}, "rows2-columns7-sum-float32-init"),
        (
            layout((7,), dtype=BFLOAT16),
            {"exclusive": True, "reverse": True},
            "rows1-columns7-sum-bfloat16-exclusive-reverse",
        ),
    ],
    ids=str,
)
def test_layouts(x, options, expected):
    assert key(x, **options) == expected


test_calls_that_cannot_be = refused(
    lambda x, options: key(x, **options),
    [
        ((layout((7,), dtype="int8"), {}), "TypeError: input has dtype int8: scan takes float32, float16"),
        ((layout((5, 7)), {"dim": 0}), "dim=0: scan takes the last axis, -1 or 1, or None for all elements"),
        ((layout((), ()), {}), "expected rows along a last axis, or dim=None"),
        ((layout((7,)), {"op": "mean"}), "op='mean': expected one of sum, product, max, min"),
        ((layout((7,)), {"dtype": FLOAT16}), "TypeError: dtype=float16: expected float32 for sum of float32"),
        (
            (layout((7,), dtype=INT32), {"dtype": FLOAT16}),
            "TypeError: dtype=float16: expected int32 or int64 for sum of int32",
        ),
        ((layout((5, 7), (9, 1)), {"dim": None}), "strides \\(9, 1\\): expected a contiguous array"),
        ((layout((5, 7), (14, 2)), {}), "expected contiguous rows, evenly spaced, that do not overlap"),
        (
            (layout((5, 7)), {"flags": layout((5, 7), dtype=DType.BOOL)}),
            "expected one axis, or dim=None, for a scan of segments",
        ),
        (
            (layout((7,)), {"flags": layout((6,), dtype=DType.BOOL)}),
            "shape \\(6,\\): expected bool or uint8 of shape \\(7,\\)",
        ),
        ((layout((7,)), {"flags": layout((7,), (2,), DType.BOOL)}), "flags has shape .* expected a contiguous array"),
        (
            (layout((7,)), {"offsets": layout((4,), dtype=INT32)}),
            "offsets has dtype int32 .* expected int64 of one axis",
        ),
        ((layout((7,)), {"offsets": layout((1,), dtype=INT64)}), "of 2 or more"),
        ((layout((7,)), {"init": layout((2,))}), r"^init has dtype float32 and shape \(2,\): expected one element of "),
        ((layout((7,), dtype=INT32), {"init": layout((1,), dtype=INT32)}), "expected one element of int64"),
    ],
)


def test_calls_of_segments():
    x, flags = np.arange(1, 8, dtype=np.int64), np.array([0, 0, 1, 0, 1, 0, 0], np.bool_)
    expected = [1, 3, 3, 7, 5, 11, 18]
    np.testing.assert_array_equal(dispatcher.scan(x, flags=flags), expected)
    np.testing.assert_array_equal(dispatcher.scan(x, offsets=np.array([0, 2, 4, 7])), expected)
    np.testing.assert_array_equal(dispatcher.scan(x, init=np.array([2], x.dtype)), np.cumsum(x) + 2)
    out = x.copy()
    assert dispatcher.scan(out, flags=flags, out=out) is out
    np.testing.assert_array_equal(out, expected)
