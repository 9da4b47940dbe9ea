"""CUDA's words mean in the emulator what the CUDA programming guide says."""

from dataclasses import replace

import numpy as np
import pytest

from autotune.emulator import SEEDS

X = np.arange(1, 65, dtype=np.float32)
T = np.arange(64)
LANE, SEGMENT = T % 32, T // 8 * 8
BITS = np.array([int(t).bit_length() for t in T])
POPULATION = np.array([int(t).bit_count() for t in T])

EXPRESSIONS = {
    "__shfl_sync(~0u, x[t], 5)": X[T - LANE + 5],
    "__shfl_sync(~0u, x[t], t * 7)": X[T - LANE + T * 7 % 32],
    "__shfl_sync(~0u, x[t], 3, 8)": X[SEGMENT + 3],
    "__shfl_xor_sync(~0u, x[t], 9)": X[T ^ 9],
    "__shfl_up_sync(~0u, x[t], 3)": X[np.where(LANE >= 3, T - 3, T)],
    "__shfl_up_sync(~0u, x[t], 3, 8)": X[np.where(T % 8 >= 3, T - 3, T)],
    "__shfl_down_sync(~0u, x[t], 3)": X[np.where(LANE < 29, T + 3, T)],
    "__shfl_down_sync(~0u, x[t], 3, 8)": X[np.where(T % 8 < 5, T + 3, T)],
    "__shfl_sync(~0u, static_cast<double>(x[t]) / 3, 4) * 3": X[T - LANE + 4],
    "t % 2 ? __shfl_xor_sync(0xaaaaaaaau, x[t], 2) : x[t]": np.where(T % 2, X[T ^ 2], X),
    "t % 2 ? __shfl_sync(0xaaaaaaaau, x[t], 2) : x[t]": np.where(T % 2, np.float32(np.nan), X),  # lane 2 gives nothing
    "__ballot_sync(~0u, t % 32 == 3 || t == 36)": np.where(T < 32, 1 << 3, 1 << 3 | 1 << 4),
    "__any_sync(~0u, t == 40)": T >= 32,
    "__all_sync(~0u, t != 40)": T < 32,
    "__match_any_sync(~0u, t % 3) & 255": sum(np.where((T - LANE + i) % 3 == T % 3, 2**i, 0) for i in range(8)),
    "t % 2 ? __match_any_sync(0xaaaaaaaau, x[t]) : 0": np.where(T % 2, 2.0**LANE, 0),
    "__reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, -t)": np.where(T < 32, 496, 1520) - T // 32 * 32,
    "__reduce_min_sync(~0u, 7u - t)": np.where(T < 32, 0, np.float32(2**32 - 56)),
    "__reduce_min_sync(~0u, 7 - t) + int(__reduce_xor_sync(~0u, t == 5 ? 192u : 0u))": np.where(T < 32, 168, -56),
    "__reduce_and_sync(~0u, t | 8u) + __reduce_or_sync(~0u, t & 9u)": np.where(T < 32, 17, 49),
    "t % 2 ? __reduce_add_sync(0xaaaaaaaau, 1) : 0": np.where(T % 2, 16, 0),
    "__popc(t) + 100 * __popcll(3ull << t)": POPULATION + np.where(T == 63, 100, 200),
    "__clz(t) + 100 * __clzll(t)": (32 - BITS) + 100 * (64 - BITS),
    "__ffs(t & 12) + 100 * __ffsll(1ll << t)": np.where(T & 4, 3, np.where(T & 8, 4, 0)) + 100 * (T + 1),
    "__brev(1u << (t % 32))": 2.0 ** (31 - LANE),
    "__brevll(1ull << t)": 2.0 ** (63 - T),
    "min(3, t) + max(2.5f, x[t]) + min(1ll, 2ll)": np.minimum(3, T) + np.maximum(2.5, X) + 1,
    "min(3u, t - 5) + 100 * max(t, 9u) + min(x[t], 2.5)": np.where(T < 5, 3, np.minimum(3, T - 5))
    + 100 * np.maximum(T, 9)
    + np.minimum(X, 2.5),  # an int beside an unsigned int counts as one
    "__uint_as_float(__float_as_uint(x[t]) ^ 0x80000000u)": -X,
    "__int_as_float(__float_as_int(x[t]))": X,
    "fmaf(x[t], 2.0f, 1.0f) + __fmaf_rn(x[t], x[t], 0.0f)": X * 2 + 1 + X * X,
    "make_float4(1, 2, x[t], 4).z + make_int2(t, 3).x": X + T,
    "__ldg(x + t) + __ldcg(reinterpret_cast<const float2*>(x) + t / 2).y": X + X[T // 2 * 2 + 1],
    "sizeof(float3) + 100 * alignof(float3) + 1000 * alignof(double2) + 10000 * alignof(uchar4)": np.full(64, 56412),
    "blockDim.x + 1000 * gridDim.x + warpSize * blockIdx.y": np.full(64, 1064),
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression(expression, kernel, run):
    source = kernel(f"y[t] = {expression};")
    for seed in SEEDS:
        np.testing.assert_array_equal(run(source, X, 64, seed=seed, alignment=8), EXPRESSIONS[expression])


@pytest.mark.parametrize(
    ("statement", "total"),
    [
        ("atomicAdd(w, 2)", 128),
        ("atomicAdd(reinterpret_cast<float*>(w), 0.5f)", 32),
        ("atomicAdd(reinterpret_cast<double*>(w), x[t])", 64 * 65 / 2),
        ("atomicMax(w, t)", 63),
        ("atomicMin(w, -t)", -63),
        ("atomicCAS(w, 0, 7)", 7),
        ("atomicCAS(w, 1, 7)", 0),
        ("atomicOr(w, t)", 63),
        ("atomicXor(w, t | 64)", 0),
        ("atomicAnd(w, t)", 0),
        ("atomicCAS(reinterpret_cast<unsigned long long*>(w), 0, 1ull << 40)", 2**40),
        ("atomicMax(reinterpret_cast<long long*>(w), 1ll << t % 40)", 2**39),
        ("atomicExch(reinterpret_cast<unsigned*>(w), 9)", 9),
    ],
)
def test_an_atomic_returns_the_old_value_and_is_no_race(statement, total, kernel, run):
    target = statement.split("(w")[0].split("<")[-1].rstrip(">") if "cast" in statement else "int*"
    source = kernel(
        f"""int* w = static_cast<int*>(arguments.workspace);
        y[t] = {statement}; __syncthreads(); if (t == 0) y[64] = *reinterpret_cast<{target}>(w);""",
        workspace_bytes=8,
    )
    for seed in SEEDS:
        y = run(source, X, 65, seed=seed)
        assert y[64] == total
        assert 0 in y[:64]  # the first of them found the workspace as it was


def test_blocks_have_three_dimensions(kernel, run):
    source = kernel("y[t + 4 * (threadIdx.y + 2 * threadIdx.z)] = 100 * threadIdx.z + 10 * threadIdx.y + t;")
    source = replace(source, steps=(replace(source.launch, grid=(1, 1, 1), block=(4, 2, 3)),))
    z, y, x = np.indices((3, 2, 4))
    np.testing.assert_array_equal(run(source, X, 24), (100 * z + 10 * y + x).ravel())


def test_asynchronous_copies_fill_up_with_zeros(kernel, run):
    source = kernel(
        """if (t < 16) async_copy_guarded<16>(s + 4 * t, x + 4 * t, 4 * (t % 5)); async_commit(); async_wait<0>();
        __syncthreads(); y[t] = s[t];"""
    )
    expected = np.where(T % 4 < T // 4 % 5, X, 0)
    np.testing.assert_array_equal(run(source, X, 64, alignment=16), expected)


def test_groups_of_asynchronous_copies_land_in_order(kernel, run):
    source = kernel(
        """async_copy<4>(s + t, x + t); async_commit(); async_copy<4>(s + 64 + t, x + t); async_commit();
        async_wait<1>(); float early = s[t]; async_wait<0>(); y[t] = early + s[64 + t];""",
        shared_bytes=512,
    )
    np.testing.assert_array_equal(run(source, X, 64), 2 * X)


def test_bytes_may_be_shared_by_different_threads(kernel, run):
    source = kernel(
        """char* bytes = dynamic_shared<char>(); s[t] = x[t]; __syncthreads();
        bytes[t] = t; __syncthreads(); y[t] = bytes[63 - t] + (t < 16 ? 0 : s[t]);"""
    )
    np.testing.assert_array_equal(run(source, X, 64), 63 - T + np.where(T < 16, 0, X))
