"""softmax on NumPy arrays, which the emulator computes."""

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.contract.bound import bound
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.rows.softmax.call import CALL

BF16 = DType.BFLOAT16.numpy


def softmax(x, temperature=1.0):
    scaled = x.astype(np.float64) / temperature
    terms = np.exp(scaled - scaled.max(axis=-1, keepdims=True, initial=-np.inf))
    return np.asarray(terms / terms.sum(axis=-1, keepdims=True), np.float64)


def random(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape, np.float32).astype(dtype)


@pytest.mark.parametrize(
    ("x", "tolerance"),
    [
        (random(33), 1e-6),
        (random(3, 4, 31), 1e-6),
        (random(5, 40)[:, 3:36], 1e-6),
        (random(5, 64, dtype=BF16), 5e-3),
        (random(5, 7, dtype=np.float16), 1e-3),
        (random(4, 6, 5)[:, ::2], 1e-6),
    ],
)
def test_any_rows(x, tolerance):
    y = dispatcher.softmax(x, dim=x.ndim - 1, temperature=0.7)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    np.testing.assert_allclose(y.astype(np.float64), softmax(x, 0.7), rtol=tolerance)


def test_the_output_may_be_the_input():
    x = random(6, 50)
    expected = softmax(x)
    assert dispatcher.softmax(x, out=x) is x
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_lengths_cut_rows_off():
    x = random(2, 3, 9)
    lengths = np.int32([[9, 1, 4], [0, 8, 2]])
    y = dispatcher.softmax(x, lengths=lengths)
    masked = np.where(np.arange(9) < lengths[..., None], x, -np.inf)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(y, softmax(masked), rtol=1e-6)


@pytest.mark.parametrize("offset", [-2, 0, 4])
def test_a_causal_call_masks_each_matrix(offset):
    x = random(2, 3, 5, 9)
    x[..., -1] = np.nan  # which no row keeps
    y = dispatcher.softmax(x, causal=True, causal_offset=offset - 1, zero_rows=True)
    masked = np.where(np.tri(5, 9, offset - 1, bool), x, -np.inf)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(y, np.nan_to_num(softmax(masked), nan=0.0), rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 9), (1, 1, 5, 9), (2, 1, 5, 9), (2, 3, 5, 9)])
@pytest.mark.parametrize("dtype", [np.float32, bool])
def test_a_mask_is_shared_by_the_matrices_ahead_of_it(shape, dtype):
    x, numbers = random(2, 3, 5, 9), np.random.default_rng(1).standard_normal(shape, np.float32)
    mask = numbers if dtype is np.float32 else numbers < 1
    y = dispatcher.softmax(x, temperature=0.7, mask=mask)
    logits = x / 0.7 + mask if dtype is np.float32 else np.where(mask, x / 0.7, -np.inf)
    np.testing.assert_allclose(y, softmax(logits), rtol=1e-5)
    other = dispatcher.softmax(x, temperature=0.7, mask=np.repeat(mask, 2, -1)[..., ::2].copy(), out=x)
    np.testing.assert_array_equal(other, y)


def test_a_log_softmax_and_the_logarithms_of_sums():
    x, lse = random(4, 31), np.empty(4, np.float32)
    x[1, ::2], x[2], x[3, 5] = -np.inf, -np.inf, np.inf
    y = dispatcher.softmax(x, temperature=0.5, log=True, lse=lse)
    with np.errstate(invalid="ignore", divide="ignore"):
        np.testing.assert_allclose(lse, np.logaddexp.reduce(2 * x, -1), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(y, np.log(softmax(x, 0.5)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(dispatcher.log_softmax(x, temperature=0.5), y)
    zero = dispatcher.softmax(x, log=True, zero_rows=True)
    assert (zero[2] == -np.inf).all() and np.isnan(zero[3]).all()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (2, 0, 5)])
def test_an_empty_array(shape):
    assert dispatcher.softmax(np.ones(shape, np.float32)).shape == shape


X = random(4, 5)


test_bad_arguments_get_one_line = refused(
    lambda x, options: dispatcher.softmax(x, **options),
    [
        ((X, {"dim": 0}), "dim=0: softmax takes the last axis, -1 or 1"),
        ((X.T, {}), "expected contiguous rows, evenly spaced, that do not overlap; call contiguous"),
        ((np.array(1, np.float32), {}), r"input has shape \(\): expected rows along a last axis"),
        ((X.astype(np.int32), {}), "TypeError: input has dtype int32: softmax takes float32, bfloat16, float16"),
        ((X, {"temperature": 0.0}), "temperature=0.0: expected more than 0"),
        ((X, {"lengths": np.ones(4, np.int64)}), r"dtype int64 and shape \(4,\): expected int32 of shape"),
        ((X, {"lengths": np.ones(5, np.int32)}), r"int32 and shape \(5,\): expected int32 of shape \(4,\)"),
        (
            (X, {"lengths": np.ones(8, np.int32)[::2]}),
            r"lengths has shape .* and strides \(2,\): expected a contiguous array",
        ),
        ((X[0], {"causal": True}), r"input has shape \(5,\): expected matrices along two last axes"),
        ((X, {"mask": X > 0, "out": X > 0}), "TypeError: out has dtype bool: expected float32"),
        ((X, {"mask": X.astype(np.float16)}), "TypeError: mask has dtype float16: expected bool or float32, that of"),
        ((X, {"mask": X[:3]}), r"mask has shape \(3, 5\), and input \(4, 5\): expected \(4, 5\), or the"),
        ((X, {"mask": np.broadcast_to(X[:1], X.shape)}), "mask has shape .* and strides"),
        ((X, {"causal": True, "causal_offset": 0.5}), "TypeError: causal_offset=0.5: expected an integer"),
        (
            (X, {"lse": np.ones(8, np.float32)[::2]}),
            r"lse has shape .* and strides \(2,\): expected a contiguous array",
        ),
        ((X, {"out": X.astype(np.float16)}), "TypeError: out has dtype float16: expected float32"),
        ((X, {"out": X[::-1]}), "out"),
    ],
)


def test_a_plan_checks_the_temperature():
    with pytest.raises(ValueError, match=r"temperature=0\.0: expected more than 0"):
        dispatcher.plan("softmax", X, temperature=0.0)


def test_layouts_become_the_problem():
    x = Layout((2, 3, 9), (36, 12, 1), "bfloat16", 2, 8)
    y = Layout((2, 3, 9), (27, 9, 1), "bfloat16", 2, 16)
    options = dict.fromkeys(("log", "causal", "zero_rows", "batch_invariant"), False) | {"dim": -1}
    binding = bound(CALL, dict.fromkeys(CALL.arrays) | {"input": x, "out": y}, options)
    assert binding.problem == SoftmaxProblem(6, 9, DType.BFLOAT16, ldx=12, align_x=8, ldy=9)
    assert [binding.tensor_of(name) for name in ("input", "out")] == ["x", "y"]
