"""codegen/cuda/float8.cuh and number_pairs.cuh: exact conversions of all codes, and arithmetic on pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array

Kernel = Callable[..., Any]
Run = Callable[..., Array]
CODES = np.arange(256, dtype=np.uint8)


def test_every_code_is_converted(kernel: Kernel, run: Run) -> None:
    body = """const unsigned char code = t;
    y[t] = to_float(float8_e4m3{code});
    y[256 + t] = first_of<float16>(float16_pair(code | 0x3800u));
    y[512 + t] = second_of<float16>(float16_pair(code << 8 | 0x38u));"""
    source = kernel(body, threads=256, headers=("float8", "number_pairs"))
    found = run(source, np.zeros(1, np.float32), 3 * 256).reshape(3, 256)
    for converted in found:
        np.testing.assert_array_equal(converted, CODES.view(DType.FLOAT8_E4M3.numpy).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_pairs_are_multiplied_and_added(dtype: DType, kernel: Kernel, run: Run) -> None:
    number = dtype.cuda
    body = f"""const auto pair = fma_pair<{number}>(pair_of<{number}>(x[t], x[64 + t]), pair_of<{number}>(2.0f, -0.5f),
                                                    pair_of<{number}>(3.0f, x[t]));
    y[t] = first_of<{number}>(pair);
    y[64 + t] = second_of<{number}>(pair);"""
    x = np.random.default_rng(0).integers(-50, 50, 128).astype(np.float32)
    first, second = x.reshape(2, 64)
    expected = np.concatenate([2 * first + 3, -0.5 * second + first])
    found = run(kernel(body, headers=("number_pairs",)), x, 128)
    np.testing.assert_array_equal(found, expected.astype(dtype.numpy).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3, DType.FLOAT8_E5M2])
def test_numbers_are_rounded_once(dtype: DType, kernel: Kernel, run: Run) -> None:
    """Ties, numbers that are subnormal or too large, infinities and NaN."""
    x = np.concatenate([np.arange(-32, 31) / 64 + 1, [np.nan]]).astype(np.float32) * np.float32(2.0**-9)
    large = np.array([448, 463, 465, 57344, 61439, 61441, np.inf, -np.inf, np.nan], np.float32)
    x[: large.size] = large
    body = f"y[t] = to_float(from_float<{dtype.cuda}>(x[t]));"
    found = run(kernel(body, headers=("narrow",)), x, 64)
    np.testing.assert_array_equal(found, x.astype(dtype.numpy).astype(np.float32))
