"""dispatcher.gemm: what it computes, and what it refuses."""

import numpy as np
import pytest
from refusals import refused

from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.matmul.gemm import OPERATOR

OPTIONS = {"packed": None, "allow_tf32": False, "fast_accumulation": False, "bucket_rows": False}
SCALES = {"scale_a": None, "scale_b": None}
BYTES = "float8_e4m3fn"


def layout(*shape, dtype="float16", transposed=False, alignment=16):
    itemsize = DType(dtype).bytes
    array = np.empty(shape, f"V{itemsize}")
    strides = [stride // itemsize for stride in array.strides]
    if transposed:
        array = np.empty((*shape[:-2], shape[-1], shape[-2]), f"V{itemsize}").swapaxes(-1, -2)
        strides = [stride // itemsize for stride in array.strides]
    return Layout(shape, tuple(strides), dtype, itemsize, alignment)


def bound(**arrays):
    given = dict.fromkeys(("bias", "residual", "scale_a", "scale_b", "preactivation", "dtype"))
    given |= {"activation": "identity"} | OPTIONS | arrays
    return OPERATOR.call.bind(**given) if OPERATOR.call else None


def test_a_column_major_result_is_the_transposed_product():
    found = bound(
        a=layout(5, 7), b=layout(7, 9, transposed=True), out=layout(5, 9, transposed=True), bias=layout(9, alignment=2)
    )
    problem = found.problem
    assert (problem.m, problem.n, problem.k, problem.layout, problem.bias) == (9, 5, 7, "nt", "column")
    others = {"scale_a": "scale_b", "scale_b": "scale_a", "preactivation": "z"}
    assert found.pointers == {"a": "b", "b": "a", "residual": "c", "out": "d"} | others


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("float16", "float16"), ("float32", "float32"), ("float8_e5m2", "bfloat16"), ("int8", "int32")],
)
def test_results_have_the_type_that_sums_fit(dtype, result):
    arrays = {"a": layout(5, 7, dtype=dtype), "b": layout(7, 9, dtype=dtype), "bias": None, "residual": None}
    assert OPERATOR.call is not None
    types = OPERATOR.call.types(**arrays, activation="identity", dtype=None, **OPTIONS | SCALES | {"allow_tf32": True})
    assert types["out"].dtype == result


def test_either_operand_may_have_the_other_type_of_float8():
    e4m3, e5m2 = layout(5, 7, dtype="float8_e4m3fn"), layout(7, 9, dtype="float8_e5m2")
    for transposed, first in ((False, "float8_e4m3fn"), (True, "float8_e5m2")):
        out = layout(5, 9, dtype="bfloat16", transposed=transposed)
        problem = bound(a=e4m3, b=e5m2, out=out, fast_accumulation=True).problem
        assert (problem.dtype, problem.mixed, problem.fast_accumulation) == (first, True, True)


def floats(*shape, transposed=False):
    return layout(*shape, dtype="float32", transposed=transposed)


@pytest.mark.parametrize(
    ("scale_a", "scale_b", "scales"),
    [
        (floats(1), floats(1, 1), "tensor_scales"),
        (floats(5), floats(200), "row_scales"),
        (floats(5, 1), floats(1, 200), "row_scales"),
        (floats(5, 3), floats(3, 2, transposed=True), "block_scales"),
    ],
)
def test_shapes_say_what_has_a_scale(scale_a, scale_b, scales):
    arrays = {
        "a": layout(5, 300, dtype=BYTES),
        "b": layout(300, 200, dtype=BYTES),
        "scale_a": scale_a,
        "scale_b": scale_b,
    }
    assert bound(**arrays, out=layout(5, 200)).problem.scales == scales


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"scale_b": None}, "one of scale_a and scale_b is given: expected both"),
        (
            {"scale_a": layout(1)},
            "scales have dtypes float16 and float32, for a of float8_e4m3fn: expected float32, for",
        ),
        ({"scale_a": floats(2)}, r"scale_a has shape \(2,\) and scale_b \(1,\): expected one element each, "),
        ({"scale_a": floats(5, 3), "scale_b": floats(3, 2)}, r"the transposed view of scale_b has shape \(2, 3\), str"),
        (
            {"scale_a": floats(5, 3), "scale_b": floats(3, 2, transposed=True), "out": layout(5, 200, transposed=True)},
            "out is column-major: expected a row-major result with scales of blocks",
        ),
    ],
)
def test_other_scales_are_refused(changed, complaint):
    arrays = {"a": layout(5, 300, dtype=BYTES), "b": layout(300, 200, dtype=BYTES), "out": layout(5, 200)}
    with pytest.raises((TypeError, ValueError), match=complaint):
        bound(**arrays | {"scale_a": floats(1), "scale_b": floats(1)} | changed)


def test_the_alignment_of_the_result_is_that_of_both():
    arrays = {"a": layout(5, 8), "b": layout(8, 16), "out": layout(5, 16)}
    assert bound(**arrays, residual=layout(5, 16, alignment=4)).problem.align_d == 4


def test_gated_pairs_have_half_of_the_columns():
    arrays = {"a": layout(5, 8), "b": layout(8, 16), "bias": layout(16), "packed": "halves"}
    assert OPERATOR.call is not None
    types = OPERATOR.call.types(**OPTIONS | SCALES | arrays, residual=None, activation="silu", dtype=None)
    assert {name: one.shape for name, one in types.items()} == {"out": (5, 8), "preactivation": (5, 16)}
    problem = bound(**arrays, out=layout(5, 8), preactivation=layout(5, 16, alignment=4)).problem
    assert (problem.n, problem.gate, problem.preactivation, problem.align_d) == (16, "halves", True, 4)


def test_a_plain_product_has_no_numbers_before_an_activation():
    arrays = {"a": layout(5, 8), "b": layout(8, 16), "out": layout(5, 16), "preactivation": layout(0)}
    assert not bound(**arrays).problem.preactivation
    arrays |= {name: layout(5, 16, transposed=True) for name in ("out", "preactivation")}
    assert bound(**arrays, activation="relu").problem.preactivation


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"packed": "pairs"}, "packed='pairs': expected halves or interleaved"),
        ({"packed": "halves"}, r"b has shape \(7, 9\): expected an even number of columns for packed='halves'"),
        ({"activation": "tanh"}, "activation='tanh': expected one of identity, relu, gelu, gelu_tanh, silu"),
        ({"b": layout(7, 9, dtype="bfloat16")}, "a has dtype float16 and b bfloat16"),
        ({"a": layout(7)}, r"a has shape \(7,\): expected a matrix, or a batch of them"),
        ({"b": layout(8, 9)}, r"expected \(…, m, k\) and \(…, k, n\)"),
        ({"dtype": "float64"}, "dtype=float64: expected one of float32, bfloat16, float16"),
        ({"b": layout(7, 9, dtype="int8")}, "a has dtype float16 and b int8: gemm takes two of the same of .*, or of"),
        (
            {"a": layout(5, 7, dtype="float32"), "b": layout(7, 9, dtype="float32")},
            "a has dtype float32: expected allow_tf32=True, or a call of sgemm, which multiplies in FP32",
        ),
        ({"fast_accumulation": True}, "fast_accumulation=True: expected a of float8_e4m3fn or float8_e5m2, not float1"),
        (
            {"a": layout(5, 7, dtype="int8"), "b": layout(7, 9, dtype="int8"), "dtype": "int8", "bias": layout(9)},
            r"bias has dtype float16 and shape \(9,\): expected float32 of shape",
        ),
        ({"bias": layout(5)}, r"expected float16 of shape \(9,\) or \(5, 1\)"),
        ({"residual": layout(5, 9, dtype="float32")}, r"expected float16 of shape \(5, 9\)"),
    ],
)
def test_other_arrays_are_refused(changed, complaint):
    given = {"a": layout(5, 7), "b": layout(7, 9), "bias": None, "residual": None}
    assert OPERATOR.call is not None
    with pytest.raises((TypeError, ValueError), match=complaint):
        OPERATOR.call.types(**given | {"activation": "identity", "dtype": None} | OPTIONS | SCALES | changed)


test_other_layouts_are_refused = refused(
    lambda **changed: bound(**{"a": layout(5, 7), "b": layout(7, 9), "out": layout(5, 9)} | changed),
    [
        ({"residual": layout(5, 9, transposed=True)},
         r"residual has strides \(1, 5\): expected those of out, \(9, 1\)"),
        ({"packed": "halves", "b": layout(7, 18), "out": layout(5, 9, transposed=True)},
         r"out has strides \(1, 5\): expected contiguous rows for packed='halves'"),
        ({"activation": "relu", "preactivation": layout(5, 9, transposed=True)},
         r"preactivation has strides \(1, 5\): expected \(9, 1\)"),
    ],
)  # fmt: skip
