"""Each kernel is right as it stands, and has one bug planted that every order of the threads must show."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from doc_pages import ROOT, blocks

from autotune.codegen.model.problem import Array
from autotune.emulator import SEEDS, EmulatorError
from autotune.emulator.build import FILL, kernel_flags

N = 64
X = np.arange(1, N + 1, dtype=np.float32)
ALL_SEEDS = (*SEEDS, 3, 4)


@dataclass(frozen=True)
class Plant:
    """A right kernel, the words to replace in it, what the emulator then says, and what is right."""

    name: str
    body: str
    old: str
    new: str
    error: str
    y: Array = field(default_factory=lambda: X[::-1])
    build: dict[str, Any] = field(default_factory=dict)
    run: dict[str, int] = field(default_factory=dict)


REVERSE = "s[t] = x[t]; __syncthreads(); y[t] = s[63 - t];"
ASYNC = "async_copy<4>(s + t, x + t); async_commit(); async_wait<0>(); __syncthreads(); y[t] = s[63 - t];"
VECTORS = "if (t < 16) reinterpret_cast<float4*>(y)[t] = reinterpret_cast<const float4*>(x)[t];"
LAST_BLOCK = """
  float* part = static_cast<float*>(arguments.workspace) + 4;
  part[blockIdx.x * 64 + t] = x[t] * (blockIdx.x + 1);
  __threadfence();
  __syncthreads();
  int* last = dynamic_shared<int>();
  if (t == 0) {
    *last = atomicAdd(static_cast<int*>(arguments.workspace), 1) == 1;
    __threadfence();  // after the atomic
  }
  __syncthreads();
  if (!*last) return;
  if (t == 0) *static_cast<int*>(arguments.workspace) = 0;
  y[t] = part[t] + part[64 + t];
"""
FENCE, FENCE_AFTER = "__threadfence();\n  __syncthreads();", "__syncthreads(); if (t == 0) { __threadfence(); }"
TWO_BLOCKS = {"blocks": 2, "workspace_bytes": 16 + 2 * 256}
# Blocks in the order of their tickets: each adds its own part to what the one before it left.
LOOK_BACK = """
  unsigned* words = static_cast<unsigned*>(arguments.workspace);
  float* sums = static_cast<float*>(arguments.workspace) + 4;
  unsigned* shared = dynamic_shared<unsigned>();
  if (t == 0) shared[0] = atomicAdd(words, 1u);
  __syncthreads();
  const unsigned ticket = shared[0];
  if (ticket > 0 && t == 0) while (load_acquire(words + ticket) == 0) {}
  __syncthreads();
  const float sum = x[t] + (ticket > 0 ? sums[64 * (ticket - 1) + t] : 0.0f);
  sums[64 * ticket + t] = sum;
  __syncthreads();  // before the release
  if (t == 0) store_release(words + ticket + 1, 1u);
  y[64 * ticket + t] = sum;
"""
LOOKED_BACK = {"blocks": 2, "workspace_bytes": 16 + 2 * 256, "headers": ("acquire_release",)}

EXCHANGE = """
  const int rank = blockIdx.x % 2;
  cluster_barrier();
  s[t] = x[t] * (blockIdx.x + 1);
  cluster_barrier();  // before reads
  const float* theirs = shared_of_rank(s, rank ^ 1);
  const float value = theirs[63 - t];
  cluster_barrier();  // before it ends
  y[blockIdx.x * 64 + t] = value;
"""
EXCHANGED = np.concatenate([X[::-1] * factor for factor in (2, 1, 4, 3)])
READ_BY_ONE = EXCHANGE.replace("= theirs[63 - t];", "= rank ? 0 : theirs[63 - t];")
READ_TWICE = EXCHANGE.replace("value;", "value + s[0]; __syncthreads(); s[t] = 0; cluster_barrier();")
CLUSTERS = {"blocks": 4, "cluster": 2}

PLANTS = [
    Plant("barrier before reads", REVERSE, "__syncthreads();", "", r"race: .* of shared memory"),
    Plant("barrier before writes",
          "s[t] = x[t]; __syncthreads(); float v = s[63 - t]; __syncthreads(); s[t] = v; y[t] = s[t];",
          "s[63 - t]; __syncthreads();", "s[63 - t];", r"race: .* of shared memory"),
    Plant("barrier before a write by the last reader",
          "s[t] = x[t]; __syncthreads(); float v = s[t] + (t < 32 ? s[t + 32] : 0); __syncthreads(); y[t] = s[t] = v;",
          ": 0); __syncthreads();", ": 0);", r"race: .* of shared memory", X + np.where(X > 32, 0, X + 32)),
    Plant("barrier before a write after another's read",
          "s[t] = x[t]; __syncthreads(); float v = t < 32 ? s[t + 32] : 0; __syncthreads(); y[t] = s[t] = v;",
          ": 0; __syncthreads();", ": 0;", r"race: .* of shared memory", np.append(X[32:], np.zeros(32, np.float32))),
    Plant("warp barrier", "s[t] = x[t]; __syncwarp(); y[t] = s[t ^ 31];", "__syncwarp();", "", "race: ",
          np.concatenate([X[31::-1], X[:31:-1]])),
    Plant("warp barrier for block barrier", REVERSE, "__syncthreads", "__syncwarp", "race: "),
    Plant("race in global memory", "y[t] = x[63 - t];", "y[t]", "y[t / 2]", r"race: writes byte \d+ of y"),
    Plant("race of blocks", "y[blockIdx.x * 64 + t] = x[t];", "blockIdx.x * 64 + t", "t",
          "race: writes byte .* which another block wrote", np.tile(X, 2), {"blocks": 2}),
    Plant("cluster barrier before reads", EXCHANGE, "cluster_barrier();  // before reads", "",
          "race: .* shared memory of rank .*, with no cluster barrier", EXCHANGED, CLUSTERS),
    Plant("block barrier for cluster barrier", EXCHANGE, "cluster_barrier();  // before reads", "__syncthreads();",
          "race: .* shared memory of rank .*, with no cluster barrier", EXCHANGED, CLUSTERS),
    Plant("cluster barrier before a block ends", EXCHANGE, "cluster_barrier();  // before it ends", "",
          "which has ended|ends while another block may access", EXCHANGED, CLUSTERS),
    Plant("cluster barrier before a block that is read ends", READ_BY_ONE,
          "cluster_barrier();  // before it ends", "", "which has ended|ends while another block may access",
          EXCHANGED * np.repeat([1, 0, 1, 0], 64).astype(np.float32), CLUSTERS),
    Plant("cluster barrier before writes", READ_TWICE, "cluster_barrier();  // before it ends", "",
          "race: .* shared memory of rank .*, with no cluster barrier",
          EXCHANGED + np.repeat([1, 2, 3, 4], 64).astype(np.float32), CLUSTERS),
    Plant("shared memory before all blocks have begun", EXCHANGE, "cluster_barrier();\n  s[t] =",
          "s[t] = *shared_of_rank(s + t, rank ^ 1) +", "before any cluster barrier", EXCHANGED, CLUSTERS),
    Plant("cluster barrier in one block", EXCHANGE, "cluster_barrier();  // before it ends",
          "if (rank == 0) cluster_barrier();", "has ended|ends while", EXCHANGED, CLUSTERS),
    Plant("a rank too many", EXCHANGE, "rank ^ 1", "rank + 1", "rank 2 of a cluster of 2 blocks", EXCHANGED, CLUSTERS),
    Plant("overrun of another block", EXCHANGE, "[63 - t]", "[64 - t]",
          "reads bytes 256 to 259 of shared memory of rank", EXCHANGED, CLUSTERS),
    Plant("not shared memory", EXCHANGE, "shared_of_rank(s,", "shared_of_rank(x,",
          "not in the block's shared memory", EXCHANGED, CLUSTERS),
    Plant("race in a cluster", EXCHANGE, "y[blockIdx.x * 64 + t]", "y[blockIdx.x / 2 * 64 + t]",
          "race: writes byte .* of block .* wrote, with no cluster barrier", EXCHANGED, CLUSTERS),
    Plant("missing wait", ASYNC, "async_wait<0>();", "", "asynchronous copy .* is not waited for"),
    Plant("wait for too little", ASYNC, "async_wait<0>", "async_wait<1>", "asynchronous copy .* is not waited for"),
    Plant("missing commit", ASYNC, "async_commit();", "", "asynchronous copy .* is not waited for"),
    Plant("wait without barrier", ASYNC, "__syncthreads();", "", "race: |not waited for"),
    Plant("asynchronous overrun", "async_copy_guarded<16>(s + 4 * t, x + 4 * t, 16 * (t < 16)); async_commit();"
          "async_wait<0>(); for (int i = 0; i < 4; ++i) y[4 * t + i] = s[4 * t + i];",
          "(t < 16)", "(t <= 16)", "reads bytes 256 to 271 of x, which has 256 bytes",
          np.append(X, np.zeros(16, np.float32)), {"threads": 20, "shared_bytes": 320}, {"alignment": 16}),
    Plant("read past the end", "y[t] = t + 1 < n ? x[t + 1] : 0;", "t + 1 < n", "t + 1 <= n",
          r"thread \(63, 0, 0\): reads bytes 256 to 259 of x", np.append(X[1:], np.float32(0))),
    Plant("read before the start", "y[t] = t > 0 ? x[t - 1] : 0;", "t > 0", "t >= 0", "reads bytes -4 to -1 of x",
          np.append(np.float32(0), X[:-1])),
    Plant("write past the end", "if (t < n) y[t] = 65 - x[t];", "if (t < n) y[t] = 65 - x[t]", "if (t <= n) y[t] = 1",
          "writes bytes 256 to 259 of y", build={"threads": 96}),
    Plant("write past the end of shared memory", REVERSE, "s[t] = x[t]", "s[t + 1] = x[t]",
          "writes bytes 256 to 259 of shared memory, which has 256 bytes"),
    Plant("write to an input", "y[t] = x[63 - t];", "y[t]", "const_cast<float*>(x)[t]", "of x, an input"),
    Plant("wild pointer", "y[t] = x[63 - t];", "x[63 - t]", "*reinterpret_cast<float*>(t + 4096)",
          "belongs to no buffer"),
    Plant("early exit before a barrier", REVERSE, "s[t] = x[t];", "if (t == 63) return; s[t] = x[t];",
          r"divergent: waits at the barrier of line \d+, but thread \(63, 0, 0\) has ended"),
    Plant("barrier in a branch", REVERSE, "__syncthreads();", "if (t < 32)\n__syncthreads();\nelse __syncthreads();",
          "divergent: waits at the barrier of line"),
    Plant("lane that does not vote", "int any = __any_sync(~0u, t == 63); __syncthreads(); y[t] = t / 32 == any;",
          "__any_sync(~0u, t == 63)", "t == 5 ? 0 : __any_sync(~0u, t == 63)",
          r"divergent: waits .* line \d+, but thread \(\d+, 0, 0\) waits at line", np.ones(N, np.float32)),
    Plant("mask without the lane itself", "y[t] = 65 - __shfl_sync(~0u, x[t], t);", "~0u", "15u", "leaves out the"),
    Plant("misaligned vector", VECTORS, "(x)[t]", "(x + 1)[t / 2]", "reads 16 bytes at once at byte .* of x", X,
          run={"alignment": 16}),
    Plant("vector wider than the alignment", "y[t] = x[t]; if (n < 0) { " + VECTORS + " }", "n < 0", "t == 0",
          "16 bytes at once at byte 0 of [xy]", X, run={"alignment": 8}),
    Plant("vector taken apart", "if (t < 16) { float4 v = reinterpret_cast<const float4*>(x)[t]; y[4 * t] = v.x;"
          "y[4 * t + 1] = v.y; y[4 * t + 2] = v.z; y[4 * t + 3] = v.w; }", "(x)[t]", "(x + 2)[t / 2]",
          "reads 16 bytes at once", X, run={"alignment": 16}),
    Plant("misaligned asynchronous copy", ASYNC, "async_copy<4>(s + t, x + t);",
          "if (t < 8) async_copy<16>(s + 4 * t, x + 4 * t);", "an asynchronous copy of 16 bytes reads address"),
    Plant("output read before it is written", "y[t] = 1; y[t] += 64 - x[t];", "y[t] = 1;", "", "reads .* before it"),
    Plant("missing fence", LAST_BLOCK, FENCE, "__syncthreads();", "which another block wrote", 3 * X,
          TWO_BLOCKS),
    Plant("fence of one thread only", LAST_BLOCK, FENCE, "if (t == 0) __threadfence();\n  __syncthreads();",
          "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("no barrier between fence and atomic", LAST_BLOCK, FENCE, "__threadfence();",
          "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("fence by the thread of the atomic", LAST_BLOCK.replace(FENCE, FENCE_AFTER), "{ __threadfence(); }", "{ }",
          "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("fence before an atomic in shared memory alone",
          LAST_BLOCK.replace("// after the atomic", "atomicExch(last + 1, 0);"), FENCE, "__syncthreads();",
          "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("no fence after the atomic", LAST_BLOCK, "__threadfence();  // after the atomic", "",
          "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("a fence after the atomic by another thread", LAST_BLOCK, "    __threadfence();  // after the atomic\n  }",
          "  }\n  if (t == 1) __threadfence();", "which another block wrote", 3 * X, TWO_BLOCKS),
    Plant("what another block wrote by __ldg", LAST_BLOCK, "y[t] = part[t]", "y[t] = __ldg(part + t)",
          "by __ldg, and this launch wrote it", 3 * X, TWO_BLOCKS),
    Plant("what another thread writes by __ldg", "float* w = static_cast<float*>(arguments.workspace); float v = w[t];"
          "__syncthreads(); w[63 - t] = x[t]; __syncthreads(); y[t] = w[t] + v;", "v = w[t];", "v = __ldg(w + t);",
          "writes byte .* of workspace, and this launch read it by __ldg", build={"workspace_bytes": 256}),
    Plant("missing atomic", LAST_BLOCK, "atomicAdd(static_cast<int*>(arguments.workspace), 1)",
          "(*static_cast<int*>(arguments.workspace))++", "which another block", 3 * X, TWO_BLOCKS),
    Plant("release without a barrier", LOOK_BACK, "__syncthreads();  // before the release", "",
          "which another block wrote", np.concatenate([X, 2 * X]), LOOKED_BACK),
    Plant("store that does not release", LOOK_BACK, "store_release(words + ticket + 1, 1u)", "words[ticket + 1] = 1",
          "which another block wrote", np.concatenate([X, 2 * X]), LOOKED_BACK),
    Plant("a word that blocks wait for, stored twice", "unsigned* word = static_cast<unsigned*>(arguments.workspace);"
          "if (t < 2) autotune_emulator::store_relaxed(word + t, 1u); y[t] = x[63 - t];", "word + t", "word",
          "stores bytes 0 to 3 of workspace again", build={"workspace_bytes": 16}),
    Plant("warp barrier of some lanes", "s[t] = x[t]; __syncwarp(); if (t % 32 < 16) __syncwarp(0xffffu);"
          "y[t] = s[t ^ 31];", "__syncwarp(); if", "if", "race: ", np.concatenate([X[31::-1], X[:31:-1]])),
    Plant("signed overflow", "int most = n + 2147483583; y[t] = most > 0 ? x[63 - t] : 0;", "3583", "3584",
          r"line \d+: 64 \+ 2147483584 overflows 'int'"),
    Plant("signed overflow of a product", "long long far = n * 1ll * 4294967296; y[t] = far > 0 ? x[63 - t] : 0;",
          "n * 1ll", "n * 67108864ll", r"line \d+: 64 \* \d+ overflows 'long long int'"),
    Plant("endless loop", "y[t] = x[63 - t];", "y[t]", "while (n) {} y[t]", "did not end within 1 s",
          run={"cpu_seconds": 1}),
    Plant("endless recursion", "struct F { static float f(const float* p, int i) { volatile float v[64]; v[i] = p[i];"
          "return i < 0 ? v[0] : i == 0 ? v[i] : f(p, i - 1) + v[i] - p[i]; } }; y[t] = 65 - x[t] + 0 * F::f(x, t);",
          "i == 0", "i > 99", "crashed with SIG|reads bytes"),
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_bug_is_caught_in_every_order(plant, kernel, run):
    assert plant.body.count(plant.old) == 1
    right, wrong = (kernel(body, **plant.build) for body in (plant.body, plant.body.replace(plant.old, plant.new)))
    seeds = SEEDS[:1] if "cpu_seconds" in plant.run else ALL_SEEDS
    for seed in seeds:
        np.testing.assert_array_equal(run(right, X, plant.y.size, seed=seed, **plant.run), plant.y)
        with pytest.raises(EmulatorError, match=plant.error) as caught:
            run(wrong, X, plant.y.size, seed=seed, **plant.run)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(FILL not in kernel_flags(("g++",)), reason="g++ has it from version 12 on")
def test_variables_start_with_a_pattern(kernel, run):
    y = run(kernel("float v[2]; v[t % 2] = x[t]; y[t] = v[n % 2];"), X, N)
    np.testing.assert_array_equal(y[::2], X[::2])
    assert set(y[1::2].tobytes()) == {0xFE}


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_shared_memory_starts_as_nan_in_every_block(seed, kernel, run):
    source = kernel("if (t < 63 || blockIdx.x == 1) s[t] = x[t]; y[64 * blockIdx.x + t] = s[t];", blocks=2)
    y = run(source, X, 128, seed=seed)
    assert np.isnan(y[63])
    np.testing.assert_array_equal(np.delete(y, 63), np.delete(np.tile(X, 2), 63))


def test_a_second_launch_needs_a_workspace_that_is_fit_for_it(kernel, run):
    right = kernel(LAST_BLOCK, **TWO_BLOCKS)
    wrong = kernel(LAST_BLOCK.replace("if (t == 0) *static_cast<int*>(arguments.workspace) = 0;", ""), **TWO_BLOCKS)
    for runs in (1, 2, 3):
        np.testing.assert_array_equal(run(right, X, N, runs=runs), 3 * X)
    np.testing.assert_array_equal(run(wrong, X, N), 3 * X)
    assert np.isnan(run(wrong, X, N, runs=2)).all()


def test_the_messages_in_the_docs_are_those_of_two_bugs(kernel, run):
    shown = next(block for block in blocks(ROOT / "docs" / "emulator.md") if block.language == "text")
    bodies = "y[t] = t + 1 <= n ? x[t + 1] : 0;", "s[t] = x[t]; y[t] = t == 1 ? s[62] : 0;"
    for body, line in zip(bodies, shown.code.splitlines(), strict=True):
        with pytest.raises(EmulatorError) as caught:
            run(kernel(body), X, N, seed=SEEDS[1])
        assert str(caught.value) == line
