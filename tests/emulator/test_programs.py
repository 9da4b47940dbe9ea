"""Programs of several steps: launches of several entries, and memsets of the workspace between them."""

from dataclasses import replace

import numpy as np
import pytest

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.emulator import SEEDS, EmulatorError, run

ARGUMENTS = (Argument("x", "const float*"), Argument("y", "float*"), Argument("workspace", "unsigned*"))
SOURCE = f"""{inlined("cuda/shared_memory.cuh")}
{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void count(const Arguments arguments) {{
  const int bin = static_cast<int>(arguments.x[blockIdx.x * blockDim.x + threadIdx.x]);
  atomicAdd(arguments.workspace + bin, 1u);
  if (threadIdx.x == 0 && blockIdx.x == 0) arguments.y[0] = 7.0f;
}}
extern "C" __global__ void shift(const Arguments arguments) {{
  unsigned* shared = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x;
  shared[t] = arguments.workspace[t];
  __syncthreads();
  arguments.y[1 + t] = shared[(t + 1) % 8] + arguments.y[0];
}}
"""
X = np.random.default_rng(0).integers(8, size=256).astype(np.float32)
CLEAR, COUNT, SHIFT = Memset(0, 32), Launch("count", (4, 1, 1), (64, 1, 1)), Launch("shift", (1, 1, 1), (8, 1, 1), 32)
PROGRAM = Program(SOURCE, ARGUMENTS, (CLEAR, COUNT, SHIFT), 40)
TENSORS = (
    Tensor.flat("x", DType.FLOAT32, 256, Role.INPUT, 16),
    Tensor.flat("y", DType.FLOAT32, 9, Role.OUTPUT, 16),
)


def outcome(program: Program, seed: int = 0, runs: int = 1) -> np.ndarray:
    y = np.full(9, np.nan, np.float32)
    run(program, TENSORS, {"x": X, "y": y}, {}, seed=seed, runs=runs)
    return y


@pytest.mark.parametrize("runs", [1, 2])
def test_steps_run_in_order_on_one_workspace(runs: int) -> None:
    counts = np.bincount(X.astype(int), minlength=8)
    for seed in SEEDS:
        np.testing.assert_array_equal(outcome(PROGRAM, seed, runs), [7, *(np.roll(counts, -1) + 7)])


def test_a_forgotten_memset_shows_in_the_second_run() -> None:
    wrong = replace(PROGRAM, steps=(COUNT, SHIFT))
    np.testing.assert_array_equal(outcome(wrong), outcome(PROGRAM))
    assert (outcome(wrong, runs=2) != outcome(PROGRAM)).any()


def test_a_memset_sets_its_bytes_alone() -> None:
    steps = (Memset(0, 40, 1), CLEAR, Memset(4, 4, 0xFF), SHIFT)
    program = replace(PROGRAM, steps=steps, source=SOURCE.replace("arguments.y[0];", "0;"))
    np.testing.assert_array_equal(outcome(program)[1:], [2.0**32, 0, 0, 0, 0, 0, 0, 0])


def test_every_launch_has_its_own_shared_memory() -> None:
    steps = (CLEAR, replace(COUNT, shared_bytes=64), replace(SHIFT, shared_bytes=28))
    with pytest.raises(EmulatorError, match="bytes 28 to 31 of shared memory, which has 28 bytes"):
        outcome(replace(PROGRAM, steps=steps))


def test_an_output_is_read_in_no_step_before_it_is_written() -> None:
    with pytest.raises(EmulatorError, match="reads byte 0 of y, an output, before it was written"):
        outcome(replace(PROGRAM, steps=(CLEAR, SHIFT, COUNT)))


def test_a_memset_beyond_the_workspace() -> None:
    with pytest.raises(EmulatorError, match="sets bytes 8 to 40 of the workspace, which has 40 bytes"):
        outcome(replace(PROGRAM, steps=(Memset(8, 33), COUNT)))
