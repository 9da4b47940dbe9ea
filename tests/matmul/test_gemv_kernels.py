"""What gemv's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

import numpy as np
import pytest
from matmul.gemv_cases import BF16, FP16, SPEC, scheduled

from autotune import emulator
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.contract.nvrtc import compile_unoptimised
from autotune.search_spaces.matmul.gemv import OPERATOR
from autotune.verification import launch_arrays


def program(problem, words):
    return OPERATOR.program(problem, scheduled(words), SPEC)


def computed(problem, words, arrays, alpha, beta):
    scalars = {"alpha": alpha, "beta": beta}
    emulator.run(program(problem, words), problem.tensors, arrays, scalars, seed=0)
    return arrays["y"]


@pytest.mark.parametrize("order", WeightOrder)
def test_without_alpha_no_product_counts(order):
    problem = GemvProblem(7, 40, 2, order, FP16, bias=True, beta_nonzero=True)
    arrays = launch_arrays(problem, 0)
    arrays["w"][3], arrays["x"][50] = np.inf, np.nan
    expected = arrays["bias"].astype(np.float32) + 0.5 * arrays["y"].astype(np.float32).reshape(2, 7)
    y = computed(problem, "threads=64", arrays, 0.0, 0.5)
    np.testing.assert_array_equal(y.reshape(2, 7), expected.astype(np.float16))


def test_an_infinite_alpha_of_no_products_counts_for_nothing():
    problem = GemvProblem(5, 0, bias=True)
    arrays = launch_arrays(problem, 0)
    np.testing.assert_array_equal(computed(problem, "threads=64", arrays, np.inf, 0.0), arrays["bias"])


def test_without_beta_y_does_not_count():
    problem = GemvProblem(5, 8, beta_nonzero=True)
    arrays = launch_arrays(problem, 0)
    arrays["y"][:] = np.nan
    y = computed(problem, "threads=64", arrays, 1.0, 0.0)
    np.testing.assert_allclose(y, arrays["w"].reshape(5, 8) @ arrays["x"], rtol=1e-5)


@pytest.mark.parametrize("activation", FUSED)
def test_activations_of_any_number(activation):
    """By weights of 1 they are applied to x: infinities, NaN, and numbers whose exponentials overflow."""
    values = np.float32([-np.inf, -1e30, -200, -30, -5, -1, -1e-3, -0.0, 0, 1e-30, 1e-3, 0.5, 3, 30, 200, 1e30, np.inf])
    problem = GemvProblem(1, 1, 16, activation=activation)
    for numbers in (values[:16], values[-16:], np.full(16, np.nan, np.float32)):
        arrays = launch_arrays(problem, 0) | {"x": numbers.copy(), "w": np.float32([1])}
        y = computed(problem, "threads=64", arrays, 1.0, 0.0)
        np.testing.assert_allclose(y, activation.apply(numbers.astype(np.float64)), rtol=2e-6, atol=1e-6)


def test_gelu_and_silu_at_known_points():
    """Values of PyTorch's functions."""
    z = np.float64([-1, 0.5, 2])
    np.testing.assert_allclose(Activation.GELU.apply(z), [-0.15865525, 0.34573123, 1.95449974], rtol=1e-7)
    np.testing.assert_allclose(Activation.GELU_TANH.apply(z), [-0.15880801, 0.34571401, 1.95459769], rtol=1e-7)
    np.testing.assert_allclose(Activation.SILU.apply(z), [-0.26894142, 0.31122967, 1.76159416], rtol=1e-7)


def test_one_source_serves_all_sizes_alike():
    small, large = GemvProblem(64, 512, dtype=BF16), GemvProblem(4096, 8192, dtype=BF16)
    words = "threads=64 TPO=32 strips=2 vector_width=8 loads_in_flight=2"
    assert program(small, words).source == program(large, words).source
    special = [program(problem, f"{words} specialize=shape").source for problem in (small, large)]
    assert special[0] != special[1]


def test_no_vectors_make_a_kernel_that_compiles():
    compile_unoptimised(program(GemvProblem(5, 7, m=0), ""), "sm_90")
