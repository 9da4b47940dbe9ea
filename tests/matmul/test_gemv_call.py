"""gemv on NumPy arrays, which the emulator computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from autotune import dispatcher
from autotune.codegen.dtype import DType
from autotune.codegen.matmul.gemv.activation import Activation
from autotune.codegen.matmul.gemv.problem import WeightOrder
from autotune.search_spaces.layouts import Layout
from autotune.search_spaces.matmul.gemv.call import CALL

BF16 = DType.BFLOAT16.numpy
Numbers = npt.NDArray[Any]


def random(*shape: int, dtype: Any = np.float32) -> Numbers:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32).astype(dtype)


def layout(*shape: int, dtype: str = "float32", strides: tuple[int, ...] | None = None) -> Layout:
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
def test_it_is_a_linear_layer(x: Numbers, w: Numbers) -> None:
    y = dispatcher.gemv(x, w)
    expected = x.astype(np.float64) @ w.astype(np.float64).swapaxes(-1, -2)
    assert (y.dtype, y.shape) == (x.dtype, expected.shape)
    tolerance = 1e-5 if x.dtype == np.float32 else 1e-2
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=tolerance, atol=tolerance)


def test_bias_activation_and_residual_are_one_call() -> None:
    x, w, bias, residual = random(3, 33), random(9, 33), random(9), random(3, 9)
    expected = Activation.SILU.apply(0.5 * (x @ w.T).astype(np.float64) + bias) + residual
    assert dispatcher.gemv(x, w, bias, activation="silu", alpha=0.5, beta=1.0, out=residual) is residual
    np.testing.assert_allclose(residual, expected, rtol=1e-5, atol=1e-5)


def test_no_vectors_and_no_inputs() -> None:
    assert dispatcher.gemv(random(0, 33), random(9, 33)).shape == (0, 9)
    np.testing.assert_array_equal(dispatcher.gemv(random(2, 0), random(3, 0), random(3)), [random(3)] * 2)


def test_the_order_of_weights_follows_their_strides() -> None:
    bound = {"bias": None, "activation": "identity", "reads_out": False}
    for strides, order in (((64, 1), WeightOrder.NK), ((1, 48), WeightOrder.KN)):
        weight = layout(48, 64, strides=strides)
        problem = CALL.bind(input=layout(2, 64), weight=weight, out=layout(2, 48), **bound).problem
        assert problem.order is order
        assert (problem.n, problem.k, problem.m, problem.ldw) == (48, 64, 2, max(strides))


def test_weights_may_be_one_for_the_batch() -> None:
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
def test_wrong_inputs_are_named(arguments: tuple[Layout, ...], message: str) -> None:
    inputs = dict(zip(("input", "weight", "bias"), (*arguments, None), strict=False))
    with pytest.raises((TypeError, ValueError), match=message):
        CALL.types(**inputs, activation="identity")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dispatcher.gemv(random(17, 8), random(5, 8)), "17 vectors: gemv takes 16 at most"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), activation="tanh"), "activation='tanh': expected one of"),
        (lambda: dispatcher.gemv(random(8, 2).T, random(5, 8)), "expected contiguous rows"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), random(10)[::2]), r"bias has strides \(2,\)"),
        (lambda: dispatcher.gemv(random(2, 8, 3).swapaxes(1, 2), random(2, 5, 8)), "expected contiguous vectors"),
        (lambda: dispatcher.gemv(random(2, 8), random(5, 8), beta=1.0), "pass out="),
    ],
)
def test_wrong_calls_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
