"""codegen/cuda/tensor_core.cuh: the fragments of mma.m16n8k16 are those of the PTX manual, and so are the sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotune.codegen.dtype import DType
from autotune.codegen.problem import Array
from autotune.emulator import EmulatorError

Kernel = Callable[..., Any]
Run = Callable[..., Array]

# x has the registers of each lane: four of A, two of B and four of D. y has those of D.
PRODUCT = """const unsigned* own = reinterpret_cast<const unsigned*>(x) + 10 * t;
unsigned a[4], b[2];
float d[4];
for (int i = 0; i < 4; ++i) { a[i] = own[i]; d[i] = x[10 * t + 6 + i]; }
for (int i = 0; i < 2; ++i) b[i] = own[4 + i];
add_product<NUMBER>(d, a, b);
for (int i = 0; i < 4; ++i) y[4 * t + i] = d[i];"""
LANES = np.arange(32)
GROUP, IN_GROUP = LANES >> 2, LANES % 4


def fragments(a: Array, b: Array, d: Array) -> Array:
    """The registers of all lanes: "Matrix Fragments for mma.m16n8k16 with floating point type", elements a0 … a7."""
    of_a = [a[GROUP + 8 * (i // 2 % 2), 2 * IN_GROUP + (i & 1) + 8 * (i >= 4)] for i in range(8)]
    of_b = [b[2 * IN_GROUP + (i & 1) + 8 * (i >= 2), GROUP] for i in range(4)]
    of_d = [d[GROUP + 8 * (i >= 2), 2 * IN_GROUP + (i & 1)].view(np.uint32) for i in range(4)]
    pairs = np.stack([*of_a, *of_b], axis=1).view(np.uint16).astype(np.uint32)
    registers = pairs[:, ::2] | pairs[:, 1::2] << 16
    return np.concatenate([registers, np.stack(of_d, axis=1)], axis=1).astype(np.uint32).view(np.float32).reshape(-1)


def product_of(result: Array) -> Array:
    """D by what the lanes hold of it."""
    d = np.empty((16, 8), np.float32)
    for i in range(4):
        d[GROUP + 8 * (i >= 2), 2 * IN_GROUP + (i & 1)] = result.reshape(32, 4)[:, i]
    return d


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_fragments_are_those_of_the_manual(dtype: DType, kernel: Kernel, run: Run) -> None:
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    a[3, 5], b[7, 2], d[9, 1] = np.inf, np.nan, -np.inf
    source = kernel(PRODUCT.replace("NUMBER", dtype.cuda), threads=32, headers=("tensor_core",))
    found = run(source, fragments(a.astype(dtype.numpy), b.astype(dtype.numpy), d), 128)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(product_of(found), a @ b + d)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_devices_without_the_type_multiply_alike(dtype: DType, kernel: Kernel, run: Run) -> None:
    """gemm's products by FMAs, which exchange what tensor cores have of other lanes."""
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    called = """const float4 sums = sum_of_products<NUMBER>(make_float4(d[0], d[1], d[2], d[3]),
    make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b[0], b[1]));
d[0] = sums.x; d[1] = sums.y; d[2] = sums.z; d[3] = sums.w;"""
    body = PRODUCT.replace("add_product<NUMBER>(d, a, b);", called).replace("NUMBER", dtype.cuda)
    source = kernel(body, threads=32, headers=("../matmul/gemm/products",))
    found = run(source, fragments(a.astype(dtype.numpy), b.astype(dtype.numpy), d), 128)
    np.testing.assert_array_equal(product_of(found), a @ b + d)


def test_eight_terms_are_the_first(kernel: Kernel, run: Run) -> None:
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    called = "const unsigned first[2] = {a[0], a[1]}; add_product_of_8(d, first, b[0]);"
    body = PRODUCT.replace("add_product<NUMBER>(d, a, b);", called)
    source = kernel(body, threads=32, headers=("tensor_core",))
    found = run(source, fragments(a.astype(np.float16), b.astype(np.float16), d), 128)
    np.testing.assert_array_equal(product_of(found), a[:, :8] @ b[:8] + d)


def test_sums_are_cut_off(kernel: Kernel, run: Run) -> None:
    """As tensor cores do it: a kernel may not rely on rounding to nearest."""
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16)
    a[:, :2], b[:2] = 1, np.float16([[1], [2.0**-24]])
    d = np.full((16, 8), -(2.0 + 2.0**-22), np.float32)
    source = kernel(PRODUCT.replace("NUMBER", "float16"), threads=32, headers=("tensor_core",))
    found = product_of(run(source, fragments(a, b, d), 128))
    np.testing.assert_array_equal(found, np.nextafter(np.float32(-(1 + 2.0**-22)), np.float32(0), dtype=np.float32))


def test_all_lanes_take_part(kernel: Kernel, run: Run) -> None:
    source = kernel(f"if (t < 31) {{ {PRODUCT.replace('NUMBER', 'float16')} }}", threads=32, headers=("tensor_core",))
    with pytest.raises(EmulatorError, match="a product of matrices by 31 lanes of a warp"):
        run(source, np.zeros(320, np.float32), 128)
