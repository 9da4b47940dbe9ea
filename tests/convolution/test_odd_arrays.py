"""What drawn numbers seldom show: single taps and pixels, signs of zero, large activations, what no filter sees."""

import numpy as np
import pytest

from autotune import dispatcher
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.emulator import verify
from autotune.search_spaces.convolution import conv2d, conv2d_weight
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
TAPS = [(r, s) for r in range(3) for s in range(2)]
IMAGES = np.arange(1, 2 * 5 * 6 * 4 + 1, dtype=np.float32).reshape(2, 5, 6, 4)
STEPS = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 3)}


def one_tap_each():
    """A filter for each tap, which takes channel 2 there."""
    weight = np.zeros((len(TAPS), 3, 2, 4), np.float32)
    for number, (r, s) in enumerate(TAPS):
        weight[number, r, s, 2] = 1
    return weight


def seen(images):
    """What a filter's taps see of images, each at the places of all pixels of the result: an image for each tap."""
    padded = np.pad(images, ((0, 0), (1, 1), (2, 2), (0, 0)))
    return [padded[:, r : r + 5 : 2, 3 * s : 3 * s + 7] for r, s in TAPS]


def test_each_tap_takes_its_own_pixels():
    found = dispatcher.conv2d(IMAGES, one_tap_each(), **STEPS)
    np.testing.assert_array_equal(found, np.stack([one[..., 2] for one in seen(IMAGES)], axis=-1))


def test_each_pixel_goes_back_to_what_its_taps_took():
    """The gradient of a single pixel is the filter, around what the pixel sees."""
    grad = np.zeros((2, 3, 7, len(TAPS)), np.float32)
    grad[1, 1, 3] = np.arange(1, len(TAPS) + 1)
    expected = np.zeros((2, 7, 10, 4), np.float32)  # with what lies beside images
    for number, (r, s) in enumerate(TAPS):
        expected[1, 2 + r, 3 + 3 * s, 2] = number + 1
    found = dispatcher.conv2d_input(grad, one_tap_each(), (5, 6), **STEPS)
    np.testing.assert_array_equal(found, expected[:, 1:-1, 2:-2])
    filters = dispatcher.conv2d_weight(IMAGES, grad, (3, 2), **STEPS)
    of_pixel = np.stack([one[1, 1, 3] for one in seen(IMAGES)]).reshape(3, 2, 4)
    np.testing.assert_array_equal(filters, of_pixel * grad[1, 1, 3][:, None, None, None])


def test_a_group_sees_nothing_of_its_neighbour():
    images, weight = np.ones((1, 4, 5, 4), np.float32), np.ones((4, 1, 1, 2), np.float32)
    images[..., 2:] = np.nan
    found = dispatcher.conv2d(images, weight, groups=2)
    np.testing.assert_array_equal(found[..., :2], 2)
    assert np.isnan(found[..., 2:]).all()


def test_zeros_of_either_sign_add_up_to_zero():
    images, weight = np.full((1, 3, 3, 4), -0.0, np.float32), np.ones((2, 3, 3, 4), np.float32)
    found = dispatcher.conv2d(images, weight, padding=1)
    assert not found.any() and not np.signbit(found).any()


def test_large_numbers_do_not_overflow_in_an_activation():
    images = np.array([-np.inf, -1e30, -100, -20, 0, 20, 100, 1e30], np.float32).reshape(1, 2, 4, 1)
    found = dispatcher.conv2d(images, np.ones((1, 1, 1, 1), np.float32), activation="silu").reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = images.reshape(-1) / (1 + np.exp(-images.astype(np.float64).reshape(-1)))
    np.testing.assert_allclose(found[1:], expected[1:], rtol=1e-6, atol=1e-30)
    assert np.isnan(found[0])  # -inf·0, as PyTorch has it
    steps = np.repeat(images.reshape(-1)[2:7], 2)[None, None]
    found = dispatcher.causal_conv1d(steps, np.array([[0, 1]], np.float32), activation="silu")
    np.testing.assert_allclose(found[0, 0], np.repeat(expected[2:7], 2), rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize(
    "problem",
    [
        Conv2dProblem(7, 3, 3, 4, 1, 2, 2, 1, 1, 5, 6, 7, 9),  # taps apart by more than an image
        Conv2dProblem(1, 257, 7, 9, 2, 1, 2, 3, 4),  # strides over pixels that nothing sees
        Conv2dProblem(3, 6, 4, 5, 2, 3, 3, groups=3),  # two filters for each channel
    ],
    ids=lambda problem: problem.key,
)
def test_unusual_geometry(problem):
    verify(problem, conv2d.OPERATOR.program(problem, conv2d.OPERATOR.default(problem, SPEC), SPEC))


def test_a_gradient_of_one_pixel():
    problem = Conv2dWeightProblem(5, 3, 3, 2, 1, 3, 2)
    verify(problem, conv2d_weight.OPERATOR.program(problem, conv2d_weight.OPERATOR.default(problem, SPEC), SPEC))
