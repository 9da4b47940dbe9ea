"""gemv on NumPy arrays, which the emulator computes."""

from itertools import zip_longest

import numpy as np
import pytest

from autotune import dispatcher
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.matmul.gemv.problem import WeightOrder
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.matmul.gemv.call import CALL

BF16 = DType.BFLOAT16.numpy


def random(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32).astype(dtype)


def layout(*shape, dtype="float32", strides=None):
    itemsize = DType(dtype).bytes
    taken = strides or tuple(step // itemsize for step in np.zeros(shape, f"V{itemsize}").strides)
    return Layout(shape, taken, dtype, itemsize, 16)


@pytest.mark.parametrize(
    ("x", "w"),
    [
        (random(33), random(9, 33)),
        (random(3, 33), random(9, 33)),
        (random(2, 4, 33), random(9, 33)),
        (random(5, 40)[:, 3:36], random(9, 48)[:, 8:41]),
        (random(3, 33), random(33, 10).T),
        (random(2, 3, 33), random(2, 9, 33)),
        (random(2, 3, 33), random(2, 33, 9).swapaxes(1, 2)),
        (random(3, 2, 33).swapaxes(0, 1), random(2, 9, 33)),
        (random(4, 33, dtype=BF16), random(8, 33, dtype=BF16)),
        (random(33, dtype=np.float16), random(8, 33, dtype=np.float16)),
    ],
)
def test_it_is_a_linear_layer(x, w):
    y = dispatcher.gemv(x, w)
    expected = x.astype(np.float64) @ w.astype(np.float64).swapaxes(-1, -2)
    assert (y.dtype, y.shape) == (x.dtype, expected.shape)
    tolerance = 1e-5 if x.dtype == np.float32 else 1e-2
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=tolerance, atol=tolerance)


def test_bias_activation_and_residual_are_one_call():
    x, w, bias, residual = random(3, 33), random(9, 33), random(9), random(3, 9)
    expected = Activation.SILU.apply(0.5 * (x @ w.T).astype(np.float64) + bias) + residual
    assert dispatcher.gemv(x, w, bias, activation="silu", alpha=0.5, beta=1.0, out=residual) is residual
    np.testing.assert_allclose(residual, expected, rtol=1e-5, atol=1e-5)


def test_no_vectors_and_no_inputs():
    assert dispatcher.gemv(random(0, 33), random(9, 33)).shape == (0, 9)
    np.testing.assert_array_equal(dispatcher.gemv(random(2, 0), random(3, 0), random(3)), [random(3)] * 2)


def test_the_order_of_weights_follows_their_strides():
    bound = {
        **dict.fromkeys(("bias", "scales", "zeros")),
        "activation": "identity",
        "group_size": 0,
        "beta_nonzero": False,
    }
    for strides, order in (((64, 1), WeightOrder.NK), ((1, 48), WeightOrder.KN)):
        weight = layout(48, 64, strides=strides)
        problem = CALL.bind(input=layout(2, 64), weight=weight, out=layout(2, 48), **bound).problem
        assert problem.order is order
        assert (problem.n, problem.k, problem.m, problem.ldw) == (48, 64, 2, max(strides))


def test_weights_may_be_one_for_the_batch():
    x, w = random(2, 3, 8), random(5, 8)
    shared = np.broadcast_to(w, (2, 5, 8))
    np.testing.assert_allclose(dispatcher.gemv(x, shared), x @ w.T, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((layout(2, 8), layout(5, 9)), r"input has shape \(2, 8\) and weight \(5, 9\): expected"),
        ((layout(2, 8), layout(8)), "expected"),
        ((layout(2, 8), layout(3, 5, 8)), r"expected input of shape \(3, vectors, 8\)"),
        (
            (layout(2, 8, dtype="float64"), layout(5, 8)),
            "input has dtype float64: gemv takes float32, bfloat16, float16",
        ),
        ((layout(2, 8), layout(5, 8, dtype="float16")), "weight has dtype float16: expected that of input, float32"),
        (
            (layout(2, 8), layout(5, 8), layout(4)),
            r"bias has dtype float32 and shape \(4,\): expected float32 of shape",
        ),
    ],
)
def test_wrong_inputs_are_named(arguments, message):
    types(arguments, message)


def types(arguments, message, group_size=0):
    inputs = dict(zip_longest(("input", "weight", "bias", "scales", "zeros"), arguments))
    with pytest.raises((TypeError, ValueError), match=message):
        CALL.types(**inputs, activation="identity", group_size=group_size)


def codes(*shape, dtype=np.uint8, values=256):
    return np.random.default_rng(sum(shape)).integers(0, values, shape, np.uint8).view(dtype)


def test_codes_of_4_bits_are_a_linear_layer():
    x, q, scales, zeros = random(3, 77), codes(9, 39), random(9, 3, dtype=np.float16), codes(9, 3, values=16)
    numbers = np.stack([q & 15, q >> 4], axis=-1).reshape(9, 78)[:, :77].astype(np.float64)
    for given in (None, zeros):
        zero = 8 if given is None else np.repeat(given, 32, axis=1)[:, :77]
        w = (numbers - zero) * np.repeat(scales, 32, axis=1)[:, :77]
        y = dispatcher.gemv(x, q, scales=scales, zeros=given, group_size=32)
        np.testing.assert_allclose(y, x @ w.T, rtol=1e-4, atol=1e-4)


def test_codes_of_8_bits_are_a_linear_layer():
    x, scales = random(2, 3, 40, dtype=BF16), random(2, 9, 1)
    for dtype in (np.dtype(np.int8), DType.FLOAT8_E4M3.numpy):
        q = codes(2, 9, 40, dtype=dtype, values=120)
        expected = x.astype(np.float64) @ (q.astype(np.float64) * scales).swapaxes(1, 2)
        y = dispatcher.gemv(x, q, scales=scales).astype(np.float64)
        np.testing.assert_allclose(y, expected, rtol=1e-2, atol=1e-2)


def test_scales_of_shared_weights_are_shared():
    x, q, scales = random(2, 3, 40), codes(9, 40, dtype=np.int8), random(9, 1)
    shared = [np.broadcast_to(array, (2, *array.shape)) for array in (q, scales)]
    y = dispatcher.gemv(x, shared[0], scales=shared[1])
    np.testing.assert_allclose(y, x @ (q * scales).T, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match=r"scales have .* strides \(9, 1, 1\): expected strides \(0, 1, 1\)"):
        dispatcher.gemv(x, shared[0], scales=np.ascontiguousarray(shared[1]))


X, Q8 = layout(2, 64), layout(5, 64, dtype="int8")
Q4, SCALES = layout(5, 32, dtype="uint8"), layout(5, 2)


@pytest.mark.parametrize(
    ("arguments", "group_size", "message"),
    [
        ((X, layout(5, 64, dtype="int32")), 0, "expected that of input, float32, float8_e4m3fn, int8, uint8"),
        ((X, layout(5, 64, dtype="uint8")), 32, r"weight \(5, 64\): expected \(…, k\) and \(…, n, ⌈k/2⌉\)"),
        ((X, Q8), 0, "weight has dtype int8: expected scales"),
        ((X, layout(5, 64), None, SCALES), 0, "weight has dtype float32: expected no scales"),
        ((X, Q8, None, SCALES, SCALES), 32, "expected no zeros, which codes of 4 bits have"),
        ((X, Q8, None, SCALES), 0, r"scales have shape \(5, 2\): expected \(5, 1\) for weight of shape \(5, 64\)"),
        ((X, Q8, None, layout(5, 1, dtype="float64")), 0, "scales have dtype float64: expected float32, bfloat16"),
        ((X, Q8, None, SCALES), 48, "group_size=48: expected 0 or 32 or 64 or 128 for weights of int8"),
        ((X, Q4, None, SCALES), 0, "group_size=0: expected 32 or 64 or 128 for weights of uint8"),
        ((X, Q4, None, SCALES, SCALES), 32, r"zeros have dtype float32 and shape \(5, 2\): expected uint8 of shape"),
    ],
)
def test_wrong_groups_are_named(arguments, group_size, message):
    types(arguments, message, group_size)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dispatcher.gemv(random(17, 8), random(5, 8)), "17 vectors: gemv takes 16 at most"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), activation="tanh"), "activation='tanh': expected one of"),
        (lambda: dispatcher.gemv(random(8, 2).T, random(5, 8)), "expected contiguous rows"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), random(10)[::2]), "bias has shape"),
        (lambda: dispatcher.gemv(random(2, 8, 3).swapaxes(1, 2), random(2, 5, 8)), "expected contiguous vectors"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), beta=1.0), "pass out="),
    ],
)
def test_wrong_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
