"""rms_norm, layer_norm and norm_backward on NumPy arrays, which the emulator computes."""

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm.problem import LayerNormProblem
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.rows.norm.call import LAYER_CALL

BF16 = DType.BFLOAT16.numpy


def random(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32).astype(dtype)


def normalized(x, axes, eps, centered):
    x = x.astype(np.float64)
    x = x - centered * x.mean(axes, keepdims=True)
    return np.asarray(x / np.sqrt(np.square(x).mean(axes, keepdims=True) + eps))


X, WEIGHT, BIAS = random(2, 3, 40), random(40), random(40) + 1


def test_last_axes_are_normalised():
    x, weight = random(3, 4, 10), random(4, 10)
    expected = normalized(x, (1, 2), 0.1, centered=False) * weight
    for shape in ((4, 10), [np.int64(4), 10]):  # as NumPy counts
        np.testing.assert_allclose(dispatcher.rms_norm(x, shape, weight, 0.1), expected, rtol=1e-5, atol=1e-6)


def test_statistics_are_those_of_rows():
    mean, rstd = np.empty((2, 3), np.float32), np.empty((2, 3), np.float32)
    y = dispatcher.layer_norm(X, 40, WEIGHT, BIAS, mean=mean, rstd=rstd)
    np.testing.assert_allclose(y, normalized(X, (2,), 1e-5, centered=True) * WEIGHT + BIAS, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mean, X.mean(-1, dtype=np.float64), atol=1e-6)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(X.var(-1, dtype=np.float64) + 1e-5), rtol=1e-5)


def test_a_residual_is_updated_in_place():
    x, residual = random(5, 64, dtype=BF16), random(5, 64, dtype=BF16)
    total = (x.astype(np.float32) + residual.astype(np.float32)).astype(BF16)
    y = dispatcher.rms_norm(x, (64,), residual=residual, residual_out=residual, out=x)
    assert y is x
    np.testing.assert_array_equal(residual, total)
    expected = normalized(total, (1,), 1e-6, centered=False)
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=2.0**-7)


@pytest.mark.parametrize(("out_dtype", "most"), [("int8", 127), ("float8_e4m3fn", 448)])
def test_results_in_units_of_a_scale(out_dtype, most):
    scale = np.empty((2, 3), np.float32)
    y = dispatcher.rms_norm(X, 40, WEIGHT, out_dtype=DType(out_dtype), scale=scale)
    expected = normalized(X, (2,), 1e-6, centered=False) * WEIGHT
    assert y.dtype == DType(out_dtype).numpy
    np.testing.assert_allclose(scale, np.abs(expected).max(-1) / most, rtol=1e-5)
    np.testing.assert_allclose(y.astype(np.float64) * scale[..., None], expected, rtol=0.07, atol=0.51 * scale.max())


def test_gradients_that_are_not_computed_are_empty():
    dx, dw, db = dispatcher.norm_backward(X, X, (40,), centered=False, bias=False)
    assert (dx.shape, dw.shape, db.shape) == (X.shape, (0,), (0,))
    _, dw, db = dispatcher.norm_backward(X[:0], X[:0], (40,), WEIGHT)
    np.testing.assert_array_equal(dw, np.zeros(40))
    np.testing.assert_array_equal(db, np.zeros(40))


STATISTIC = np.empty((2, 3), np.float32)


test_bad_arguments_get_one_line = refused(
    lambda arguments, options: dispatcher.layer_norm(*arguments, **options),
    [
        (((X, (3, 41)), {}), r"normalized_shape=\(3, 41\): expected the last extents of input, whose shape"),
        (((X, ()), {}), r"normalized_shape=\(\): expected the last extents"),
        (((X.astype(np.int32), 40), {}), "TypeError: input has dtype int32: a norm takes float32, bfloat16, float16"),
        (((X, 40, WEIGHT[:39]), {}), r"weight has dtype float32 and shape \(39,\): expected float32 or"),
        (((X, 40, WEIGHT.astype(BF16)), {}), "weight has dtype bfloat16"),
        (((X.astype(BF16), 40, WEIGHT, BIAS.astype(BF16)), {}), "TypeError: bias has dtype bfloat16: expected that of"),
        (((X, 40, random(80)[::2]), {}), r"weight has shape .* and strides \(2,\): expected a contiguous array"),
        (((X, 40), {"residual": X}), "residual_out is missing: a residual and its sum come together"),
        (((X, 40), {"residual_out": X + 0}), "residual is missing"),
        (((X, 40), {"residual": X[:1], "residual_out": X + 0}), "residual has dtype float32 and shape"),
        (((X, 40), {"rstd": STATISTIC}), "mean is missing: expected both statistics or neither"),
        (((X, 40), {"out_dtype": np.int8}), "scale is missing: quantised results and their scales come"),
        (((X, 40), {"scale": STATISTIC}), "out_dtype is missing"),
        (((X, 40), {"out_dtype": np.int32}), "TypeError: out_dtype=int32: expected int8 or float8_e4m3fn, or None"),
        (((X.swapaxes(1, 2), (40, 3)), {}), r"expected contiguous rows of \(40, 3\); call contiguous"),
    ],
)


def test_a_residual_lies_as_the_input_does():
    wide = random(2, 3, 44)[..., :40]
    with pytest.raises(ValueError, match="rows of input, residual and residual_out are 40, 44, 40 elements apart"):
        dispatcher.layer_norm(X, 40, residual=wide, residual_out=X + 0)


def test_gradients_of_other_layouts_are_refused():
    wide = random(2, 3, 44)[..., :40]
    with pytest.raises(ValueError, match="rows of input are 40 elements apart, those of grad_output 44"):
        dispatcher.norm_backward(X, wide, 40)
    with pytest.raises(ValueError, match=r"grad_output has dtype float32 and shape \(1, 3, 40\): expected those of"):
        dispatcher.norm_backward(X, X[:1], 40)


def test_layouts_become_the_problem():
    arrays = dict.fromkeys(("residual", "residual_out", "mean", "rstd"))
    x = Layout((2, 3, 9), (36, 12, 1), "bfloat16", 2, 8)
    y = Layout((2, 3, 9), (27, 9, 1), "bfloat16", 2, 16)
    weight = Layout((9,), (1,), "float32", 4, 4)
    bias = Layout((9,), (1,), "float32", 4, 16)
    problem = LAYER_CALL.bind(input=x, weight=weight, bias=bias, out=y, normalized_shape=9, **arrays).problem
    assert problem == LayerNormProblem(6, 9, DType.BFLOAT16, float32_weight=True, ldx=12, align_x=8, ldy=9, align_w=4)
