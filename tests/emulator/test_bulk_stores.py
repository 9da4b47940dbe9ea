"""Bulk copies from shared to global memory: what lands where, and what a kernel may forget."""

import numpy as np
import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.emulator import EmulatorError, run

SEEDS = range(4)
X = np.arange(64, dtype=np.float32)
ARGUMENTS = (Argument("x", "const float*"), Argument("y", "float*"))

STORE = """
  tile[t] = x[t] + 1;
  proxy_fence();
  __syncthreads();
  if (t == 0) { bulk_store(y, tile, 256); store_commit(); store_wait_read<0>(); }
  __syncthreads();
  tile[t] = 0;
"""


def outcome(body: str, seed: int) -> Array:
    source = f"""{inlined("cuda/shared_memory.cuh", "cuda/tensor_store.cuh")}
{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void __launch_bounds__(64) kernel(const Arguments arguments) {{
  const float* x = arguments.x;
  float* y = arguments.y;
  const int t = threadIdx.x;
  float* tile = dynamic_shared<float>();
  {body}
}}
"""
    y = np.full(64, np.nan, np.float32)
    tensors = (
        Tensor.flat("x", DType.FLOAT32, 64, Role.INPUT, 16),
        Tensor.flat("y", DType.FLOAT32, 64, Role.OUTPUT, 16),
    )
    program = Program(source, ARGUMENTS, (Launch("kernel", (1, 1, 1), (64, 1, 1), 256),))
    run(program, tensors, {"x": X, "y": y}, {}, seed=seed)
    return y


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_bytes_are_stored(seed: int) -> None:
    np.testing.assert_array_equal(outcome(STORE, seed), X + 1)


@pytest.mark.parametrize(
    ("right", "planted", "error"),
    [
        ("proxy_fence();", "", "a bulk store reads byte .* wrote, with no proxy fence between"),
        ("fence();\n  __syncthreads();", "fence();", "race: |wrote, with no proxy fence between"),
        (
            " store_wait_read<0>();",
            "",
            "race: writes byte .* a bulk store read|may read shared memory, with no wait",
        ),
        ("}\n  __syncthreads();", "}", "race: |wrote, with no proxy fence between"),
        ("tile, 256", "tile, 250", "a bulk store of 250 bytes .* expected multiples of 16"),
        ("y, tile", "y + 16, tile", "writes bytes 64 to 319 of y"),
    ],
)
def test_a_bug_is_caught_in_every_order(right: str, planted: str, error: str) -> None:
    assert STORE.count(right) == 1
    for seed in SEEDS:
        with pytest.raises(EmulatorError, match=error):
            outcome(STORE.replace(right, planted), seed)
