"""Kernels of gemm by wgmma that take an operand in TF32 from registers; tests/contract runs drawn ones."""

from typing import Any

import numpy as np
import pytest
from matmul.gemm_cases import SPEC, TF32, by_wgmma, wgmma

from autotune import emulator
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.compiler import compile_kernel
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR

ACROSS = {"tt": {"transpose_a": True, "transpose_b": True}, "nn": {}}


@pytest.mark.parametrize(("layout", "words"), [("tt", ""), ("nn", "swap=1")])
def test_each_step_along_k_counts_once(layout: str, words: str) -> None:
    """A has one element other than 0 in each row, at another k each; so D has the rows of op(B)."""
    problem = GemmProblem(72, 96, 72, dtype=TF32, **ACROSS[layout])
    numbers = np.random.default_rng(0).integers(-9, 10, 72 * 96).astype(np.float32)
    arrays = {"a": np.eye(72, dtype=np.float32)[:, ::-1].ravel(), "b": numbers, "d": np.zeros(72 * 96, np.float32)}
    kernel = by_wgmma(problem, f"BK=32 wait_depth=1 BM=64 BN=32 consumers=1 stages=2 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=1)
    stored = problem.tensors[1].view(numbers)[0]
    rows = (stored.T if problem.transpose_b else stored)[::-1]
    np.testing.assert_array_equal(problem.tensors[2].view(arrays["d"])[0], rows)


@pytest.mark.parametrize(
    ("layout", "fields", "words"),
    [
        ("tt", {"batch": 2}, "BM=128 BN=32 stages=2 tensor_store=1"),
        ("tt", {"residual": True}, "BM=64 BN=64 stages=3 consumers=1 tensor_store=1 cluster_n=2"),
        ("nn", {"bias": Bias.ROW}, "BM=128 BN=64 stages=2 swap=1 tensor_store=1 grid_blocks=2 whole_tiles=1"),
        ("nn", {"residual": True}, "BM=64 BN=96 stages=2 swap=1 tensor_store=1 pingpong=1 grid_blocks=1 whole_tiles=1"),
        ("nn", {"bias": Bias.COLUMN}, "BM=128 BN=40 stages=3 swap=1 consumers=1 cluster_k=2"),
    ],
)
def test_sums_are_right(layout: str, fields: dict[str, Any], words: str) -> None:
    problem = GemmProblem(136, 200, 136, dtype=TF32, **ACROSS[layout], **fields)
    verify(problem, by_wgmma(problem, f"BK=32 wait_depth=1 {words}"))


@pytest.mark.parametrize(("layout", "words"), [("tt", ""), ("nn", "swap=1")])
def test_products_are_not_serialised_and_nothing_spills(layout: str, words: str) -> None:
    problem = GemmProblem(4096, 4096, 4096, dtype=TF32, **ACROSS[layout])
    chosen = wgmma(f"BK=32 wait_depth=1 BM=128 BN=256 stages=4 tensor_store=1 grid_blocks=132 whole_tiles=1 {words}")
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert resources.registers == chosen.footprint(problem).registers


@pytest.mark.parametrize(
    ("layout", "swap", "prepared"), [("tt", False, ""), ("nn", True, ""), ("nt", False, ""), ("tn", False, "b")]
)
def test_the_first_seed_transposes_no_more_than_it_must(layout: str, swap: bool, prepared: str) -> None:
    chosen = OPERATOR.default(GemmProblem(4096, 4096, 4096, layout[0] == "t", layout[1] == "t", dtype=TF32), SPEC)
    ahead = "".join(x for x in "ab" if getattr(chosen, f"prepare_{x}") is not Prepare.NONE)
    assert (chosen.kernel, chosen.swap, ahead, chosen.tensor_store) == ("wgmma", swap, prepared, True)
