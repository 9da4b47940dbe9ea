"""Kernels of gemm by wgmma that load factors and biases of columns before products; tests/contract runs drawn ones."""

from typing import Any

import pytest
from matmul.gemm_cases import E4M3, INT8, by_wgmma

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.emulator import verify

OF_ROWS: dict[str, Any] = {"scales": Scales.ROW, "out_dtype": OutDType.BFLOAT16}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"bias": Bias.ROW}, "BM=128 BN=64 stages=2 grid_blocks=2 whole_tiles=1"),
        ({"bias": Bias.ROW, "batch": 2}, "BM=64 BN=144 stages=2 consumers=1 cluster_m=2"),
        ({"bias": Bias.ROW, "activation": Activation.SILU}, "BM=64 BN=88 stages=2 consumers=1"),
        ({"bias": Bias.ROW, "residual": True}, "BM=64 BN=128 stages=3 consumers=1"),
        ({"bias": Bias.ROW}, "BM=64 BN=64 stages=3 pingpong=1 grid_blocks=1 whole_tiles=1"),
        ({"bias": Bias.ROW}, "BM=64 BN=64 stages=2 consumers=1 grid_blocks=8"),
        ({"dtype": E4M3, **OF_ROWS}, "BM=64 BN=128 BK=128 stages=2 consumers=1 promote=128"),
        ({"dtype": INT8, **OF_ROWS}, "BM=128 BN=96 BK=128 stages=2"),
        ({"dtype": INT8, "bias": Bias.ROW, **OF_ROWS}, "BM=64 BN=192 BK=128 stages=2 consumers=1"),
    ],
)
def test_they_are_those_of_their_columns(fields: dict[str, Any], words: str) -> None:
    problem = GemmProblem(200, 208, 144, transpose_b=True, **fields)
    program = by_wgmma(problem, f"tensor_store=1 {words}")
    assert "HeldColumns" in program.source
    verify(problem, program)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"out_dtype": OutDType.FLOAT32}, "BM=64 BN=64 stages=2"),
        ({"gate": Gate.HALVES, "activation": Activation.SILU}, "BM=64 BN=64 stages=2"),
        ({}, "BM=64 BN=64 stages=2 cluster_k=2"),
    ],
)
def test_others_are_loaded_for_each_box(fields: dict[str, Any], words: str) -> None:
    problem = GemmProblem(72, 208, 144, transpose_b=True, bias=Bias.ROW, **fields)
    program = by_wgmma(problem, f"tensor_store=1 {words} consumers=1")
    assert "HeldColumns" not in program.source
    verify(problem, program)
