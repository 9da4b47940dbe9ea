"""Conversions to and from numbers of 16 and 8 bits are those of NumPy and ml_dtypes; arithmetic on pairs of them."""

import ml_dtypes
import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.streaming.map.convert import converted

DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
EVERY = np.arange(1 << 16, dtype=np.uint16)
HEADERS = ("numbers",)
LOOP = "for (int i = t; i < {count}; i += 64) {{ {statement} }}"


def floats(name):
    """Every number of the type, the middle to its neighbour with the floats beside it, and random bits."""
    exact = EVERY.view(DTYPES[name]).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        middle = exact + (np.roll(exact, -1) - exact) / 2
    beside = (middle.view(np.int32)[:, None] + np.arange(-1, 2, dtype=np.int32)).view(np.uint32)
    drawn = np.random.default_rng(0).integers(1 << 32, size=1 << 16, dtype=np.uint32)
    return np.concatenate([exact.view(np.uint32), beside.ravel(), drawn]).view(np.float32)


def assert_same_numbers(actual, expected):
    """The same bits, and a NaN for a NaN."""
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    nan = np.isnan(expected.astype(np.float32))
    assert np.isnan(actual.astype(np.float32)[nan]).all()
    np.testing.assert_array_equal(actual.view(bits)[~nan], expected.view(bits)[~nan])


@pytest.mark.parametrize("name", DTYPES)
def test_every_number_becomes_its_float(name, kernel, run):
    statement = f"y[i] = to_float(reinterpret_cast<const {name}*>(x)[i]);"
    source = kernel(LOOP.format(count=1 << 16, statement=statement), headers=HEADERS)
    y = run(source, EVERY.view(np.float32), 1 << 16)
    assert_same_numbers(y, EVERY.view(DTYPES[name]).astype(np.float32))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("saturated", [False, True])
def test_a_float_is_rounded_to_the_nearest_number_ties_to_even(name, saturated, kernel, run):
    x, dtype = floats(name), DTYPES[name]
    function = "from_float_saturated" if saturated else "from_float"
    statement = f"reinterpret_cast<{name}*>(y)[i] = {function}<{name}>(x[i]);"
    y = run(kernel(LOOP.format(count=x.size, statement=statement), headers=HEADERS), x, x.size // 2).view(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same_numbers(y, (np.clip(x, -largest, largest) if saturated else x).astype(dtype))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 8])
def test_arrays_are_converted_element_by_element(name, count, kernel, run):
    body = f"""float values[{count}];
    for (int i = 0; i < {count}; ++i) values[i] = x[{count} * t + i];
    {name} rounded[{count}]; from_floats(rounded, values); to_floats(values, rounded);
    for (int i = 0; i < {count}; ++i) y[{count} * t + i] = values[i];"""
    x = np.random.default_rng(1).standard_normal(64 * count).astype(np.float32)
    y = run(kernel(body, headers=HEADERS), x, x.size)
    assert_same_numbers(y, x.astype(DTYPES[name]).astype(np.float32))


FLOAT8 = (DType.FLOAT8_E4M3, DType.FLOAT8_E5M2)
CODES = np.arange(256, dtype=np.uint8)


def floats_of_8_bits(dtype):
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
def test_every_code_becomes_its_float(dtype, kernel, run):
    body = f"const unsigned char code = t; y[t] = to_float(reinterpret_cast<const {dtype.cuda}&>(code));"
    found = run(kernel(body, threads=256, headers=("narrow",)), np.zeros(1, np.float32), 256)
    np.testing.assert_array_equal(found, CODES.view(dtype.numpy).astype(np.float32))


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("dtype", [*FLOAT8, DType.INT8])
def test_a_float_is_rounded_once(dtype, saturate, kernel, run):
    x, function = floats_of_8_bits(dtype), "from_float_saturated" if saturate else "from_float"
    rounded = f"reinterpret_cast<{dtype.cuda}*>(y)[i] = {function}<{dtype.cuda}>(x[i]);"
    loop = f"for (int i = t; i < {x.size}; i += 64) {rounded}"
    found = run(kernel(loop, headers=("narrow",)), x, x.size // 4).view(dtype.numpy)
    expected = converted(x, dtype, saturate)
    nan = np.isnan(expected.astype(np.float32))
    assert np.isnan(found.astype(np.float32)[nan]).all()
    np.testing.assert_array_equal(found.view(np.uint8)[~nan], expected.view(np.uint8)[~nan])


def test_every_code_and_pair_is_converted(kernel, run):
    body = """const unsigned char code = t;
    y[t] = to_float(float8_e4m3{code});
    y[256 + t] = first_of<float16>(float16_pair(code | 0x3800u));
    y[512 + t] = second_of<float16>(float16_pair(code << 8 | 0x38u));"""
    source = kernel(body, threads=256, headers=("float8", "number_pairs"))
    found = run(source, np.zeros(1, np.float32), 3 * 256).reshape(3, 256)
    for one in found:
        np.testing.assert_array_equal(one, CODES.view(DType.FLOAT8_E4M3.numpy).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_pairs_are_multiplied_and_added(dtype, kernel, run):
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
