"""codegen/cuda/wmma.cuh: products of matrices in shared memory, in every layout, by wmma and by FMAs."""

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.emulator import EmulatorError

TYPES = {
    "WmmaFloat16": (DType.FLOAT16, 16),
    "WmmaBfloat16": (DType.BFLOAT16, 16),
    "WmmaTf32": (DType.FLOAT32, 8),
    "WmmaInt8": (DType.INT8, 16),
}
# x has A and B, one after another; y gets 2·A·B + 3.
PRODUCT = """float* words = tile_memory<float>();
for (int i = t; i < n; i += 32) words[i] = x[i];
__syncwarp();
const auto* a = reinterpret_cast<const TYPE::Number*>(words);
const auto* b = reinterpret_cast<const TYPE::Number*>(words + n / 2);
TYPE::Sum d[8];
for (int i = 0; i < 8; ++i) d[i] = 3;
CALL;
CALL;
auto* sums = reinterpret_cast<TYPE::Sum*>(words + 512);
STORE;
__syncwarp();
for (int i = t; i < 256; i += 32) y[i] = sums[i];"""
STORED = "wmma_store_tile<TYPE>(sums, d)"
BY_FMA = "multiply_tiles_by_fma<TYPE, LAYOUT>(d, a, b)", "for (int i = 0; i < 8; ++i) sums[i * 32 + t] = d[i]"


def source(kernel, name, layout, call, store=STORED, threads=32):
    body = PRODUCT.replace("CALL", call).replace("STORE", store).replace("TYPE", name).replace("LAYOUT", layout)
    return kernel(body, threads=threads, shared_bytes=4096, headers=("tile_memory", "wmma"))


def words(*matrices):
    return np.concatenate([np.ascontiguousarray(matrix).reshape(-1).view(np.float32) for matrix in matrices])


@pytest.mark.parametrize("layout", ["true, true", "true, false", "false, true", "false, false"])
@pytest.mark.parametrize("name", TYPES)
def test_products_in_every_layout(name, layout, kernel, run):
    dtype, terms = TYPES[name]
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((16, terms), (terms, 16)))
    if dtype is not DType.INT8:
        a[3, 5], b[7, 2] = np.inf, np.nan
    a_along_k, b_along_k = (word == "true" for word in layout.split(", "))
    x = words((a if a_along_k else a.T).astype(dtype.numpy), (b.T if b_along_k else b).astype(dtype.numpy))
    calls = {"wmma_multiply_tiles<TYPE, LAYOUT>(d, a, b)": STORED}
    calls |= {} if dtype in (DType.FLOAT16, DType.INT8) else dict([BY_FMA])
    with np.errstate(invalid="ignore"):
        expected = 2 * (a @ b) + 3
    for call, store in calls.items():
        found = run(source(kernel, name, layout, call, store), x, 256).reshape(16, 16)
        np.testing.assert_array_equal(found, expected)


LOAD = """unsigned fa[8], fb[8];
wmma_load<TYPE, OperandA, WmmaLayout<true>>(fa, a OFFSET, STRIDE);
wmma_load<TYPE, OperandB, WmmaLayout<true>>(fb, b, 16);
wmma_multiply<TYPE, WmmaLayout<LAYOUT>, WmmaLayout<true>>(d, fa, fb)"""


def test_a_fragment_is_multiplied_as_it_was_loaded(kernel, run):
    """Another layout than that of the load is another matrix, as it may be on a GPU."""
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    call = f"{{ {LOAD.replace('OFFSET', '').replace('STRIDE', '16')}; }}"
    found = {layout: run(source(kernel, "WmmaFloat16", layout, call), words(a, b), 256) for layout in ("true", "false")}
    right = 2 * (a.astype(np.float32) @ b.astype(np.float32)) + 3
    np.testing.assert_array_equal(found["true"].reshape(16, 16), right)
    assert not np.array_equal(found["false"].reshape(16, 16), right)


@pytest.mark.parametrize(
    ("offset", "stride", "message"),
    [
        ("+ 8", "16", "a matrix of wmma.load lies at byte 16 of shared memory, which is not aligned to 32 bytes"),
        ("", "24", "a matrix of wmma.load has rows that are 48 bytes apart, which is no multiple of 32"),
        ("+ t / 16 * 16", "16", "lane 16 gives another address of a matrix than lane 0"),
    ],
)
def test_rows_are_aligned_and_all_lanes_name_the_same(offset, stride, message, kernel, run):
    call = f"{{ {LOAD.replace('OFFSET', offset).replace('STRIDE', stride)}; }}"
    with pytest.raises(EmulatorError, match=message):
        run(source(kernel, "WmmaFloat16", "true", call), np.zeros(256, np.float32), 256)


def test_what_other_lanes_wrote_is_waited_for(kernel, run):
    program = source(kernel, "WmmaInt8", "true, true", "wmma_multiply_tiles<TYPE, LAYOUT>(d, a, b)")
    racy = type(program)(program.source.replace("__syncwarp();\nconst", "const"), program.arguments, program.steps)
    with pytest.raises(EmulatorError, match="race"):
        run(racy, np.zeros(128, np.float32), 256)
