"""Bulk copies from shared to global memory: what lands where, and what a kernel may forget."""

import numpy as np
import pytest

from autotune.emulator import EmulatorError

SEEDS = range(4)
X = np.arange(64, dtype=np.float32)
STORE = """
  s[t] = x[t] + 1;
  proxy_fence();
  __syncthreads();
  if (t == 0) { bulk_store(y, s, 256); store_commit(); store_wait_read<0>(); }
  __syncthreads();
  s[t] = 0;
"""


@pytest.fixture
def outcome(kernel, run):
    return lambda body, seed: run(kernel(body, headers=("tensor_store",)), X, 64, alignment=16, seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_bytes_are_stored(seed, outcome):
    np.testing.assert_array_equal(outcome(STORE, seed), X + 1)


@pytest.mark.parametrize(
    ("right", "planted", "error"),
    [
        ("proxy_fence();", "", "a bulk store reads byte .* wrote, with no proxy fence between"),
        ("fence();\n  __syncthreads();", "fence();", "race: |wrote, with no proxy fence between"),
        (" store_wait_read<0>();", "", "race: writes byte .* a bulk store read|may read shared memory, with no wait"),
        ("}\n  __syncthreads();", "}", "race: |wrote, with no proxy fence between"),
        ("s, 256", "s, 250", "a bulk store of 250 bytes .* expected multiples of 16"),
        ("y, s,", "y + 16, s,", "writes bytes 64 to 319 of y"),
    ],
)
def test_a_bug_is_caught_in_every_order(right, planted, error, outcome):
    assert STORE.count(right) == 1
    for seed in SEEDS:
        with pytest.raises(EmulatorError, match=error):
            outcome(STORE.replace(right, planted), seed)
