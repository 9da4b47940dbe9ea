"""gemv's quantised weights and its tensor cores: each code stands for its number, in its group, row and vector."""

import numpy as np
import pytest
from matmul.gemv_cases import BF16, FP8, FP16, FP32, INT4, INT8, SPEC, scheduled

from autotune import emulator
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemv import OPERATOR
from autotune.verification import launch_arrays

N, K = 131, 75
PLACES = np.array([0, 1, 2, 3, 4, 7, 8, 15, 31, 32, 33, 63, 64, 65, 73, 74])  # of the one in each vector
ROWS = "threads=128 TPO=16 strips=2"


def program(problem, words):
    return OPERATOR.program(problem, scheduled(words), SPEC)


def computed(problem, words, arrays):
    emulator.run(program(problem, words), problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=0)
    return arrays["y"].reshape(problem.m, problem.n)


def number(problem, arrays, stored, n, k):
    """A weight by what is stored."""
    rows, columns = (128, 128) if problem.weights is FP8 and problem.group_size else (1, problem.group_size or K)
    group = n // rows * -(-K // columns) + k // columns
    code, zero = stored[n, k // problem.weights.packed], 0
    if problem.weights is INT4:
        code, zero = code >> 4 * (k % 2) & 15, int(arrays["zeros"][group]) if problem.zeros else 8
    return float(arrays["scales"][group]) * (float(code) - zero)


def test_loads_may_begin_within_a_group():
    problem = GemvProblem(N, K, 2, dtype=FP32, weights=INT4, group_size=32, ldw=48, scale_dtype=BF16)
    verify(problem, program(problem, "threads=128 TPO=8 strips=2 vector_width=1 loads_in_flight=4"))


@pytest.mark.parametrize(
    ("weights", "group_size", "dtype", "words"),
    [
        (INT4, 32, FP32, "vector_width=1"),
        (INT4, 64, FP32, "vector_width=2"),
        (INT4, 32, FP16, "vector_width=16"),
        (INT4, 32, FP16, "vector_width=4 kernel=tensor_core"),
        (INT4, 64, BF16, "vector_width=8 kernel=tensor_core"),
        (INT4, 32, FP16, "vector_width=4 kernel=tensor_core spread_x=1"),
        (INT4, 64, BF16, "vector_width=8 kernel=tensor_core spread_x=1"),
        (INT8, 0, FP32, "vector_width=1"),
        (INT8, 32, BF16, "vector_width=16"),
        (INT8, 32, FP16, "vector_width=8 kernel=tensor_core"),
        (INT8, 32, FP16, "vector_width=8 kernel=tensor_core spread_x=1"),
        (INT8, 0, BF16, "vector_width=4 kernel=tensor_core"),
        (FP8, 128, FP32, "vector_width=2"),
        (FP8, 0, BF16, "vector_width=16"),
        (FP8, 128, FP16, "vector_width=16 kernel=tensor_core"),
        (FP8, 128, BF16, "vector_width=4 kernel=tensor_core"),
        (FP8, 128, BF16, "vector_width=4 kernel=tensor_core spread_x=1"),
    ],
)
def test_each_code_is_its_number(weights, group_size, dtype, words):
    """Vectors with a single one, and scales that are powers of two: nothing is rounded."""
    kinds = {"weights": weights, "group_size": group_size, "zeros": weights is INT4 and dtype is FP16}
    columns = 48 if weights is INT4 else 80
    problem = GemvProblem(N, K, len(PLACES), dtype=dtype, **kinds, ldw=columns, scale_dtype=BF16)
    arrays = launch_arrays(problem, 0)
    arrays["x"] = np.eye(K)[PLACES].astype(dtype.numpy).reshape(-1)
    arrays["scales"] = (2.0 ** (np.arange(arrays["scales"].size) % 5 - 2)).astype(BF16.numpy)
    stored = np.resize(arrays["w"], (N, columns))
    expected = [[number(problem, arrays, stored, n, k) for n in range(N)] for k in PLACES]
    np.testing.assert_array_equal(computed(problem, f"{ROWS} {words}", arrays).astype(np.float64), expected)


@pytest.mark.parametrize("unit", ["fma", "tensor_core", "tensor_core spread_x=1"])
def test_scales_may_be_anything_finite(unit):
    """0, subnormal, large, with the zero points at both ends; what is not a number stays in its row."""
    problem = GemvProblem(6, 64, 2, dtype=BF16, weights=INT4, group_size=64, zeros=True)
    arrays = launch_arrays(problem, 0)
    arrays["scales"][:] = [0, 1e-40, 1e30, 1, np.nan, -2]
    arrays["zeros"][:] = [0, 15, 0, 15, 7, 8]
    codes = np.stack([arrays["w"] & 15, arrays["w"] >> 4], axis=-1).reshape(6, 64).astype(np.float64)
    w = (codes - arrays["zeros"][:, None]) * arrays["scales"].astype(np.float64)[:, None]
    expected = arrays["x"].reshape(2, 64).astype(np.float64) @ w.T
    y = computed(problem, f"threads=64 TPO=4 strips=2 vector_width=4 kernel={unit}", arrays)
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=2**-7, atol=1e-40)


def test_nan_of_8_bits_stays_in_its_row():
    problem = GemvProblem(9, 40, 3, dtype=FP16, weights=FP8)
    arrays = launch_arrays(problem, 0)
    arrays["w"].view(np.uint8)[[5 * 40 + 3, 7 * 40 + 39]] = 0x7F, 0xFF
    for unit in ("fma", "tensor_core", "tensor_core spread_x=1"):
        y = computed(problem, f"threads=64 TPO=4 strips=2 vector_width=4 kernel={unit}", arrays)
        np.testing.assert_array_equal(np.isnan(y.astype(np.float32)).all(axis=0), np.isin(np.arange(9), (5, 7)))
