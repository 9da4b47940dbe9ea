"""codegen/cuda/numbers.cuh converts as NumPy and ml_dtypes do."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from autotune.codegen.model.problem import Array

DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
EVERY = np.arange(1 << 16, dtype=np.uint16)
HEADERS = ("numbers",)
LOOP = "for (int i = t; i < {count}; i += 64) {{ {statement} }}"
Kernel = Callable[..., Any]
Run = Callable[..., Array]


def floats(name: str) -> Array:
    """Every number of the type, the middle to its neighbour with the floats beside it, and random bits."""
    exact = EVERY.view(DTYPES[name]).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        middle = exact + (np.roll(exact, -1) - exact) / 2
    beside = (middle.view(np.int32)[:, None] + np.arange(-1, 2, dtype=np.int32)).view(np.uint32)
    drawn = np.random.default_rng(0).integers(1 << 32, size=1 << 16, dtype=np.uint32)
    return np.concatenate([exact.view(np.uint32), beside.ravel(), drawn]).view(np.float32)


def assert_same_numbers(actual: Array, expected: Array) -> None:
    """The same bits, and a NaN for a NaN."""
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    nan = np.isnan(expected.astype(np.float32))
    assert np.isnan(actual.astype(np.float32)[nan]).all()
    np.testing.assert_array_equal(actual.view(bits)[~nan], expected.view(bits)[~nan])


@pytest.mark.parametrize("name", DTYPES)
def test_every_number_becomes_its_float(name: str, kernel: Kernel, run: Run) -> None:
    statement = f"y[i] = to_float(reinterpret_cast<const {name}*>(x)[i]);"
    source = kernel(LOOP.format(count=1 << 16, statement=statement), headers=HEADERS)
    y = run(source, EVERY.view(np.float32), 1 << 16)
    assert_same_numbers(y, EVERY.view(DTYPES[name]).astype(np.float32))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("saturated", [False, True])
def test_a_float_is_rounded_to_the_nearest_number_ties_to_even(
    name: str, saturated: bool, kernel: Kernel, run: Run
) -> None:
    x, dtype = floats(name), DTYPES[name]
    function = "from_float_saturated" if saturated else "from_float"
    statement = f"reinterpret_cast<{name}*>(y)[i] = {function}<{name}>(x[i]);"
    y = run(kernel(LOOP.format(count=x.size, statement=statement), headers=HEADERS), x, x.size // 2).view(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same_numbers(y, (np.clip(x, -largest, largest) if saturated else x).astype(dtype))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 8])
def test_arrays_are_converted_element_by_element(name: str, count: int, kernel: Kernel, run: Run) -> None:
    body = f"""float values[{count}];
    for (int i = 0; i < {count}; ++i) values[i] = x[{count} * t + i];
    {name} rounded[{count}]; from_floats(rounded, values); to_floats(values, rounded);
    for (int i = 0; i < {count}; ++i) y[{count} * t + i] = values[i];"""
    x = np.random.default_rng(1).standard_normal(64 * count).astype(np.float32)
    y = run(kernel(body, headers=HEADERS), x, x.size)
    assert_same_numbers(y, x.astype(DTYPES[name]).astype(np.float32))
