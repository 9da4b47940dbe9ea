"""codegen/cuda/narrow.cuh rounds to 8 bits as ml_dtypes does, and so PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.streaming.map.convert import converted

Kernel = Callable[..., Any]
Run = Callable[..., Array]
FLOAT8 = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2)
CODES = np.arange(256, dtype=np.uint8)


def floats(dtype: DType) -> Array:
    """Every number of the type, the middle to the next one and the floats beside it, what is too large, random bits."""
    if dtype is DType.INT8:
        exact = np.arange(-130, 131, dtype=np.float32)
    else:
        numbers = CODES.view(dtype.numpy).astype(np.float32)
        exact = np.sort(numbers[np.isfinite(numbers)])
    exact = np.append(exact, np.float32([2 * dtype.largest + 1, -2 * dtype.largest - 1]))
    middle = np.concatenate([exact[:-1] + np.diff(exact) / 2, [464, -464, 61440, -61440]]).astype(np.float32)
    beside = (middle.view(np.int32)[:, None] + np.arange(-1, 2, dtype=np.int32)).ravel().view(np.float32)
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38])
    drawn = np.random.default_rng(0).integers(1 << 32, size=4096, dtype=np.uint32).view(np.float32)
    found = np.concatenate([exact, beside, special, drawn]).astype(np.float32)
    return np.resize(found, -(-found.size // 256) * 256)


@pytest.mark.parametrize("dtype", [*FLOAT8, DType.INT8])
def test_every_code_becomes_its_float(dtype: DType, kernel: Kernel, run: Run) -> None:
    body = f"const unsigned char code = t; y[t] = to_float(reinterpret_cast<const {dtype.cuda}&>(code));"
    found = run(kernel(body, threads=256, headers=("narrow",)), np.zeros(1, np.float32), 256)
    np.testing.assert_array_equal(found, CODES.view(dtype.numpy).astype(np.float32))


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("dtype", [*FLOAT8, DType.INT8])
def test_a_float_is_rounded_once(dtype: DType, saturate: bool, kernel: Kernel, run: Run) -> None:
    x, function = floats(dtype), "from_float_saturated" if saturate else "from_float"
    rounded = f"reinterpret_cast<{dtype.cuda}*>(y)[i] = {function}<{dtype.cuda}>(x[i]);"
    loop = f"for (int i = t; i < {x.size}; i += 64) {rounded}"
    found = run(kernel(loop, headers=("narrow",)), x, x.size // 4).view(dtype.numpy)
    expected = converted(x, dtype, saturate)
    nan = np.isnan(expected.astype(np.float32))
    assert np.isnan(found.astype(np.float32)[nan]).all()
    np.testing.assert_array_equal(found.view(np.uint8)[~nan], expected.view(np.uint8)[~nan])
