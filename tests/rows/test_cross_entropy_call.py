"""cross_entropy and cross_entropy_backward on NumPy arrays, which the emulator computes."""

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.model.dtype import DType

BF16 = DType.BFLOAT16.numpy
X = (4 * np.random.default_rng(0).standard_normal((2, 3, 40))).astype(np.float32)
TARGET = np.array([[0, 7, -100], [39, 20, 3]])
UPSTREAM = np.array([[1, 2, 3], [-1, 0.5, 0.25]], np.float32)


def losses(x, target, smoothing=0, square=0, cap=0):
    """Losses and their gradients."""
    x = x.astype(np.float64)
    z = cap * np.tanh(x / cap) if cap else x
    lse = np.log(np.exp(z).sum(-1, keepdims=True))
    label = (np.arange(x.shape[-1]) == target[..., None]) * (1 - smoothing) + smoothing / x.shape[-1]
    loss = lse[..., 0] - (label * z).sum(-1) + square * lse[..., 0] ** 2
    gradient = np.exp(z - lse) * (1 + 2 * square * lse) - label
    gradient *= 1 - (z / cap) ** 2 if cap else 1
    kept = target != -100
    return loss * kept, gradient * kept[..., None]


@pytest.mark.parametrize(
    "options", [{}, {"label_smoothing": 0.2}, {"label_smoothing": 0.2, "lse_square_scale": 0.1, "softcap": 6.0}]
)
def test_losses_and_gradients(options):
    loss, gradient = losses(X, TARGET, *options.values())
    lse, found = np.empty((2, 3), np.float32), np.empty_like(X)
    np.testing.assert_allclose(dispatcher.cross_entropy(X, TARGET, **options, lse=lse), loss, rtol=1e-5, atol=1e-5)
    again = dispatcher.cross_entropy(X, TARGET, **options, grad_loss=UPSTREAM, grad_input=found)
    np.testing.assert_allclose(again, loss, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found, gradient * UPSTREAM[..., None], rtol=1e-4, atol=1e-5)
    backward = dispatcher.cross_entropy_backward(X, TARGET, lse, UPSTREAM, **options)
    np.testing.assert_allclose(backward, found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("one", [np.array(0.5, np.float32), np.full(1, 0.5, np.float32)], ids=["scalar", "element"])
def test_the_gradient_takes_the_place_of_the_logits(one):
    x = X.astype(BF16)
    _, gradient = losses(x, TARGET)
    dispatcher.cross_entropy(x, TARGET.astype(np.int32), grad_loss=one, grad_input=x)
    np.testing.assert_allclose(x.astype(np.float64), gradient / 2, rtol=2.0**-7, atol=1e-6)


def test_any_column_may_be_ignored():
    expected = losses(X, TARGET)[0] * (TARGET != 7) + losses(X, np.full((2, 3), 5))[0] * 0
    found = dispatcher.cross_entropy(X, TARGET, ignore_index=7)
    np.testing.assert_array_equal(np.isnan(found), TARGET == -100)  # is no column now
    np.testing.assert_allclose(np.nan_to_num(found), expected, rtol=1e-5)


def test_one_row_and_none():
    np.testing.assert_allclose(
        dispatcher.cross_entropy(X[0, 1], TARGET[0, 1:2].reshape(())), losses(X, TARGET)[0][0, 1]
    )
    assert dispatcher.cross_entropy(X[:0], TARGET[:0]).shape == (0, 3)


ROWS = np.empty((2, 3), np.float32)


test_bad_arguments_get_one_line = refused(
    lambda target, options: dispatcher.cross_entropy(X, target, **options),
    [
        ((TARGET[:1], {}), r"target has shape \(1, 3\): expected \(2, 3\), one for each row of input"),
        ((TARGET.astype(np.int16), {}), "TypeError: target has dtype int16: expected int64 or int32"),
        ((TARGET.T.copy().T, {}), r"target has shape .* and strides \(1, 2\): expected a contiguous array"),
        ((TARGET, {"label_smoothing": 1.5}), "label_smoothing=1.5: expected"),
        ((TARGET, {"softcap": -1.0}), "softcap=-1.0: expected"),
        ((TARGET, {"grad_loss": ROWS}), "grad_input is missing: the gradients of the losses and of input"),
        ((TARGET, {"grad_input": X.copy()}), "grad_loss is missing"),
        ((TARGET, {"grad_loss": ROWS[0], "grad_input": X.copy()}), r"of shape \(2, 3\) or of one element"),
        ((TARGET, {"ignore_index": 0.5}), "TypeError: ignore_index"),
    ],
)


def test_log_sums_of_another_shape_are_refused():
    with pytest.raises(
        ValueError, match=r"lse has dtype float32 and shape \(3,\): expected float32 of shape \(2, 3\)$"
    ):
        dispatcher.cross_entropy_backward(X, TARGET, ROWS[0], UPSTREAM)
