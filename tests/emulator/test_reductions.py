"""codegen/cuda/row_reduce.cuh and tickets.cuh reduce rows of every width, and miss no barrier."""

import numpy as np
import pytest

from autotune.emulator import SEEDS, EmulatorError

NAN, INF = np.nan, np.inf
THREADS = 256
X = np.random.default_rng(0).integers(-99, 99, THREADS).astype(np.float32)
SPECIAL = np.resize(np.float32([1, 5, -INF, 5, -7, NAN, NAN, 3, -INF, -INF, INF, 0]), THREADS)


def rows(x, threads):
    return x.reshape(-1, threads)


def along_rows(function, x, threads):
    with np.errstate(invalid="ignore"):
        return np.repeat(function(rows(x, threads), axis=1), threads).astype(np.float32)


@pytest.mark.parametrize("threads", [1, 8, 16, 32, 64, 256])
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("reduce_row<{threads}>(x[t], Sum(), s)", np.sum),
        ("reduce_row<{threads}>(x[t], Max(), s)", np.max),
        ("reduce_row<{threads}>(x[t], Min(), s)", np.min),
        ("reduce_row<{threads}>(static_cast<long long>(x[t]) << 33, Max(), wide) >> 33", np.max),
        ("reduce_row<{threads}>(Indexed<float, int>{{x[t], t % {threads}}}, ArgMax(), indexed).index", np.argmax),
    ],
)
def test_a_row_is_reduced(expression, expected, threads, kernel, run):
    body = """auto wide = dynamic_shared<long long>(); auto indexed = dynamic_shared<Indexed<float, int>>();
    y[t] = """ + expression.format(threads=threads)
    source = kernel(f"{body};", threads=THREADS, headers=("row_reduce",))
    for x in (X,) if "long" in expression else (X, SPECIAL):
        np.testing.assert_array_equal(run(source, x, THREADS), along_rows(expected, x, threads))


SOFTMAX = "const auto all = reduce_row<{threads}>(softmax_term(x[t]), AddSoftmaxSums(), dynamic_shared<SoftmaxSum>());"


@pytest.mark.parametrize("threads", [8, 64])
def test_sums_of_a_softmax_survive_infinities(threads, kernel, run):
    x = X / 8
    rows(x, threads)[1] = -INF
    rows(x, threads)[2, ::2] = -INF
    rows(x, threads)[3, 5] = NAN
    source = kernel(
        SOFTMAX.format(threads=threads) + "y[t] = all.max; y[256 + t] = all.sum;", threads=THREADS,
        headers=("row_reduce",),
    )  # fmt: skip
    largest = along_rows(np.max, x, threads)
    with np.errstate(invalid="ignore"):
        terms = np.where(x == -INF, 0, np.exp2(x.astype(np.float64) - largest)).astype(np.float64)
    for seed in SEEDS:
        y = run(source, x, 2 * THREADS, seed=seed)
        np.testing.assert_array_equal(y[:THREADS], largest)
        sums = np.repeat(rows(terms, threads).sum(axis=1), threads)
        np.testing.assert_allclose(y[THREADS:], sums, rtol=2e-6)
        for row in y.reshape(2, -1, threads).swapaxes(0, 1):  # the same bits in every thread
            assert np.unique(row.view(np.uint32), axis=1).shape[1] == 1


def test_a_softmax_of_infinity_counts_it(kernel, run):
    source = kernel(SOFTMAX.format(threads=8) + "y[t] = all.max + all.sum;", headers=("row_reduce",))
    x = np.where(np.arange(64) % 8 < 2, np.float32(INF), 0).astype(np.float32)
    np.testing.assert_array_equal(run(source, x, 64), np.full(64, np.float32(INF)))
    source = kernel(SOFTMAX.format(threads=8) + "y[t] = all.sum;", headers=("row_reduce",))
    np.testing.assert_array_equal(run(source, x, 64), np.full(64, 2.0))


CLUSTER = """
  Barrier& arrived = *reinterpret_cast<Barrier*>(s + 60);
  if (t == 0) {{
    arrived.init(1);
    barriers_fence();
  }}
  cluster_arrive();
  cluster_wait();
  float value = reduce_row<64>(x[t] * (blockIdx.x + 1), Sum(), s);
  value = reduce_cluster<{blocks}>(value, Sum(), s + 2, arrived);
  y[blockIdx.x * 64 + t] = value;
"""


@pytest.mark.parametrize("blocks", [2, 8, 16])
def test_a_cluster_is_reduced(blocks, kernel, run):
    build = {"blocks": 2 * blocks, "cluster": blocks, "headers": ("row_reduce",)}
    x = X[:64]
    weights = np.arange(1, 2 * blocks + 1).reshape(2, blocks).sum(axis=1)
    expected = np.repeat(weights, 64 * blocks) * x.sum()
    body = CLUSTER.format(blocks=blocks)
    for seed in SEEDS:
        np.testing.assert_array_equal(run(kernel(body, **build), x, 128 * blocks, seed=seed), expected)
        with pytest.raises(EmulatorError, match=r"before any cluster barrier|no barrier between"):
            run(kernel(body.replace("cluster_wait();", ""), **build), x, 128 * blocks, seed=seed)


@pytest.mark.parametrize("blocks", [1, 5, 300])
def test_the_last_block_combines_all_partials(blocks, kernel, run):
    body = """
    int* counter = static_cast<int*>(arguments.workspace);
    float value = reduce_row<64>(x[t] + blockIdx.x, Sum(), s);
    const int index = blockIdx.x, count = gridDim.x;
    const bool last = reduce_blocks<64>(value, 0.0f, Sum(), index, count, reinterpret_cast<float*>(counter + 1),
                                        counter, s);
    if (last) y[t] = value;"""
    build = {"blocks": blocks, "workspace_bytes": 4 + 4 * blocks, "headers": ("tickets",)}
    expected = np.full(64, blocks * X[:64].sum() + 64 * blocks * (blocks - 1) // 2)
    for seed in SEEDS:
        np.testing.assert_array_equal(run(kernel(body, **build), X[:64], 64, seed=seed, runs=2), expected)


def test_scratch_needs_a_barrier_before_it_is_used_again(kernel, run):
    twice = (
        "const float a = reduce_row<64>(x[t], Sum(), s); __syncthreads(); y[t] = a + reduce_row<64>(x[t], Max(), s);"
    )
    right, wrong = (kernel(body, headers=("row_reduce",)) for body in (twice, twice.replace("__syncthreads();", "")))
    for seed in SEEDS:
        np.testing.assert_array_equal(run(right, X[:64], 64, seed=seed), np.full(64, X[:64].sum() + X[:64].max()))
        with pytest.raises(EmulatorError, match=r"race: .* of shared memory"):
            run(wrong, X[:64], 64, seed=seed)
