"""Kernels of gemm by wgmma for Dᵀ whose results of 16 bits tensor copies store; tests/contract runs drawn ones."""

from dataclasses import replace

import pytest
from matmul.gemm_cases import FP16, SPEC, by_wgmma, wgmma

from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.compiler import compile_kernel
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (GemmProblem(264, 136, 200, ldd=144, residual=True), "BM=64 BN=96 consumers=1 stages=2 specialize=shape"),
        (GemmProblem(19, 72, 200, transpose_b=True, bias=Bias.ROW), "BM=64 BN=24 consumers=1 stages=2"),
        (GemmProblem(9, 136, 136, dtype=FP16, bias=Bias.COLUMN), "BM=128 BN=8 stages=2 wait_depth=1"),
        (GemmProblem(104, 136, 200, True), "BM=64 BN=72 stages=2 pingpong=1 grid_blocks=1 whole_tiles=1"),
        (GemmProblem(100, 136, 264), "BM=128 BN=40 stages=2 cluster_k=2"),
        (GemmProblem(160, 128, 136), "BM=128 BN=80 consumers=1 stages=2 cluster_m=2"),
        (GemmProblem(200, 72, 200), "BM=64 BN=128 consumers=1 stages=2 grid_blocks=3"),
    ],
)
def test_columns_of_a_tile_become_rows_of_boxes(problem: GemmProblem, words: str) -> None:
    verify(problem, by_wgmma(problem, f"swap=1 tensor_store=1 {words}"))


def test_d_has_more_rows_than_columns() -> None:
    """Those of Dᵀ are farther apart than D's, and as aligned."""
    problem, chosen = (
        GemmProblem(1024, 768, 3072),
        wgmma("swap=1 tensor_store=1 BM=64 BN=96 BK=128 consumers=1 stages=5 wait_depth=1"),
    )
    assert not OPERATOR.violations(problem, chosen, SPEC)
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert OPERATOR.violations(replace(problem, ldd=772), chosen, SPEC)
