"""codegen/cuda/tensor_core*.cuh: the fragments of mma are those of the PTX manual, and so are the sums."""

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.emulator import EmulatorError

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


def fragments(a, b, d):
    """The registers of all lanes: "Matrix Fragments for mma.m16n8k16 with floating point type", elements a0 … a7."""
    of_a = [a[GROUP + 8 * (i // 2 % 2), 2 * IN_GROUP + (i & 1) + 8 * (i >= 4)] for i in range(8)]
    of_b = [b[2 * IN_GROUP + (i & 1) + 8 * (i >= 2), GROUP] for i in range(4)]
    of_d = [d[GROUP + 8 * (i >= 2), 2 * IN_GROUP + (i & 1)].view(np.uint32) for i in range(4)]
    pairs = np.stack([*of_a, *of_b], axis=1).view(np.uint16).astype(np.uint32)
    registers = pairs[:, ::2] | pairs[:, 1::2] << 16
    return np.concatenate([registers, np.stack(of_d, axis=1)], axis=1).astype(np.uint32).view(np.float32).reshape(-1)


def product_of(result):
    """D by what the lanes hold of it."""
    d = np.empty((16, 8), np.float32)
    for i in range(4):
        d[GROUP + 8 * (i >= 2), 2 * IN_GROUP + (i & 1)] = result.reshape(32, 4)[:, i]
    return d


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_fragments_are_those_of_the_manual(dtype, kernel, run):
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    a[3, 5], b[7, 2], d[9, 1] = np.inf, np.nan, -np.inf
    source = kernel(PRODUCT.replace("NUMBER", dtype.cuda), threads=32, headers=("tensor_core",))
    found = run(source, fragments(a.astype(dtype.numpy), b.astype(dtype.numpy), d), 128)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(product_of(found), a @ b + d)


# How products of other types are called, their types and what their registers hold.
E4M3, E5M2, INT8, TF32 = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8, DType.FLOAT32
MMA_SYNC = "../matmul/gemm/mma_sync"
NARROW = PRODUCT.replace("add_product<NUMBER>(d, a, b);", "CALL")
INTEGERS = NARROW.replace("float d[4]", "int d[4]").replace("d[i] = x[10 * t + 6 + i]", "d[i] = own[6 + i]")
CALLS = {
    "add_product_of_tf32(d, a, b);": (TF32, TF32, "tensor_core_tf32"),
    "add_product_of_int8(d, a, b);": (INT8, INT8, "tensor_core_8bit"),
    "add_product_of_float8<float8_e4m3, float8_e4m3>(d, a, b);": (E4M3, E4M3, "tensor_core_8bit"),
    "add_product_of_float8<float8_e4m3, float8_e5m2>(d, a, b);": (E4M3, E5M2, "tensor_core_8bit"),
    "add_product_of_float8<float8_e5m2, float8_e4m3>(d, a, b);": (E5M2, E4M3, "tensor_core_8bit"),
    "add_product_of_float8<float8_e5m2, float8_e5m2>(d, a, b);": (E5M2, E5M2, "tensor_core_8bit"),
    # What devices without such products do.
    "for (int i = 0; i < 4; ++i) { if (i % 2) add_quarter_of_int8<2>(d, a[i], b[i / 2]); "
    "else add_quarter_of_int8<0>(d, a[i], b[i / 2]); }": (INT8, INT8, "tensor_core_8bit"),
    "add_product_as_float16<float8_e4m3, float8_e5m2>(d, a, b);": (E4M3, E5M2, f"{MMA_SYNC}/float8_products"),
    "add_product_as_float16<float8_e5m2, float8_e4m3>(d, a, b);": (E5M2, E4M3, f"{MMA_SYNC}/float8_products"),
    "const float4 sums = sum_of_tf32_products(make_float4(d[0], d[1], d[2], d[3]), "
    "make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b[0], b[1])); "
    "d[0] = sums.x; d[1] = sums.y; d[2] = sums.z; d[3] = sums.w;": (TF32, TF32, f"{MMA_SYNC}/tf32_products"),
}


def registers(a, b, d):
    """The same for elements of any size, whose registers hold 4 bytes along k: "Matrix Fragments for mma.m16n8k8 …"."""
    of_a, of_b = (np.ascontiguousarray(x).view(np.uint32).reshape(len(x), 8) for x in (a, np.ascontiguousarray(b.T)))
    listed = [of_a[GROUP + 8 * (i % 2), IN_GROUP + 4 * (i // 2)] for i in range(4)]
    listed += [of_b[GROUP, IN_GROUP + 4 * i] for i in range(2)]
    listed += [d[GROUP + 8 * (i >= 2), 2 * IN_GROUP + (i & 1)].view(np.uint32) for i in range(4)]
    return np.stack(listed, axis=1).view(np.float32).reshape(-1)


@pytest.mark.parametrize("call", CALLS)
def test_fragments_of_other_types_are_those_of_the_manual(call, kernel, run):
    of_a, of_b, header = CALLS[call]
    terms, integers = 32 // of_a.bytes, of_a is INT8
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((16, terms), (terms, 8), (16, 8)))
    if not integers:
        a[3, 5], d[9, 1] = np.nan, -np.inf
    held = d.astype(np.int32 if integers else np.float32)
    source = kernel((INTEGERS if integers else NARROW).replace("CALL", call), threads=32, headers=(header,))
    found = run(source, registers(a.astype(of_a.numpy), b.astype(of_b.numpy), held), 128)
    np.testing.assert_array_equal(product_of(found), a @ b + d)


def test_numbers_become_those_of_tf32(kernel, run):
    """Ties go away from zero, and what is not finite stays so."""
    x = np.float32([1 + 2**-11, -(1 + 2**-11), 1 + 2**-11 - 2**-23, 2.0**-149, np.inf, -np.inf, np.nan, 3.4e38])
    x[6:7].view(np.uint32)[:] = 0x7FFFFFFF  # the NaN that arithmetic gives
    source = kernel("y[t] = __uint_as_float(round_to_tf32(__float_as_uint(x[t])));", threads=8,
                    headers=("tensor_core_tf32",))  # fmt: skip
    with np.errstate(over="ignore"):
        expected = np.float32([1 + 2**-10, -(1 + 2**-10), 1, 0, np.inf, -np.inf, np.nan, 3.4e38])
    found = run(source, x, 8)
    np.testing.assert_array_equal(found[:7], expected[:7])
    assert abs(found[7] / np.float32(3.4e38) - 1) < 2**-11


def test_sums_of_float8_keep_14_bits(kernel, run):
    """Of 2^14 + 1 the last bit is cut off; FP32 would keep it."""
    a, b = np.zeros((16, 32), E4M3.numpy), np.zeros((32, 8), E4M3.numpy)
    a[:, 0], b[0] = 1, 1
    for large, expected in ((2.0**13, 2.0**13 + 1), (2.0**14, 2.0**14)):
        source = kernel(NARROW.replace("CALL", list(CALLS)[2]), threads=32, headers=("tensor_core_8bit",))
        found = run(source, registers(a, b, np.full((16, 8), large, np.float32)), 128)
        np.testing.assert_array_equal(product_of(found), np.full((16, 8), expected))


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_devices_without_the_type_multiply_alike(dtype, kernel, run):
    """gemm's products by FMAs, which exchange what tensor cores have of other lanes."""
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    called = """const float4 sums = sum_of_products<NUMBER>(make_float4(d[0], d[1], d[2], d[3]),
    make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b[0], b[1]));
d[0] = sums.x; d[1] = sums.y; d[2] = sums.z; d[3] = sums.w;"""
    body = PRODUCT.replace("add_product<NUMBER>(d, a, b);", called).replace("NUMBER", dtype.cuda)
    source = kernel(body, threads=32, headers=("products",))
    found = run(source, fragments(a.astype(dtype.numpy), b.astype(dtype.numpy), d), 128)
    np.testing.assert_array_equal(product_of(found), a @ b + d)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_eight_terms_are_the_first(dtype, kernel, run):
    random = np.random.default_rng(0)
    a, b, d = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    called = f"const unsigned first[2] = {{a[0], a[1]}}; add_half_product<{dtype.cuda}>(d, first, b[0]);"
    body = PRODUCT.replace("add_product<NUMBER>(d, a, b);", called)
    source = kernel(body, threads=32, headers=("tensor_core",))
    found = run(source, fragments(a.astype(dtype.numpy), b.astype(dtype.numpy), d), 128)
    np.testing.assert_array_equal(product_of(found), a[:, :8] @ b[:8] + d)


def test_sums_are_cut_off(kernel, run):
    """As tensor cores do it: a kernel may not rely on rounding to nearest."""
    a, b = np.zeros((16, 16), np.float16), np.zeros((16, 8), np.float16)
    a[:, :2], b[:2] = 1, np.float16([[1], [2.0**-24]])
    d = np.full((16, 8), -(2.0 + 2.0**-22), np.float32)
    source = kernel(PRODUCT.replace("NUMBER", "float16"), threads=32, headers=("tensor_core",))
    found = product_of(run(source, fragments(a, b, d), 128))
    np.testing.assert_array_equal(found, np.nextafter(np.float32(-(1 + 2.0**-22)), np.float32(0), dtype=np.float32))


def test_all_lanes_take_part(kernel, run):
    source = kernel(f"if (t < 31) {{ {PRODUCT.replace('NUMBER', 'float16')} }}", threads=32, headers=("tensor_core",))
    with pytest.raises(EmulatorError, match="a product of matrices by 31 lanes of a warp"):
        run(source, np.zeros(320, np.float32), 128)
