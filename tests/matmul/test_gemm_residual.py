"""Kernels of gemm by wgmma whose C comes by tensor copies; tests/contract runs drawn ones."""

from typing import Any

import pytest
from matmul.gemm_cases import FP32, SPEC, wgmma

from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.compiler import compile_kernel
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"transpose_a": True, "out_dtype": FP32}, "BM=128 BN=64 stages=2 grid_blocks=2 whole_tiles=1"),
        ({"out_dtype": FP32}, "BM=64 BN=64 stages=3 pingpong=1 grid_blocks=1 whole_tiles=1"),
        ({"transpose_b": True, "out_dtype": FP32}, "BM=128 BN=64 stages=3 consumers=1 cluster_n=2 wait_depth=1"),
        ({"transpose_b": True, "batch": 2, "bias": Bias.ROW}, "BM=64 BN=80 stages=2 consumers=1 cluster_m=2"),
        ({"gate": Gate.HALVES, "preactivation": True}, "BM=64 BN=128 stages=2 consumers=1"),
        ({"transpose_b": True, "batch": 2, "bias": Bias.COLUMN}, "BM=128 BN=72 stages=2"),
    ],
)
def test_it_comes_by_stages(fields: dict[str, Any], words: str) -> None:
    problem = GemmProblem(200, 144, 136, residual=True, **fields)
    chosen = wgmma(f"{words} tensor_store=1")
    assert chosen.residual_stages(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


@pytest.mark.parametrize(
    "words",
    [
        "BM=64 BN=64 consumers=1 tensor_store=1 grid_blocks=5",
        "BM=64 BN=64 consumers=1 tensor_store=1 cluster_k=2",
        "BM=64 BN=64 consumers=1",
    ],
)
def test_threads_load_it_otherwise(words: str) -> None:
    """Where blocks share k, and without tensor stores."""
    problem = GemmProblem(72, 128, 136, transpose_b=True, out_dtype=FP32, residual=True)
    chosen = wgmma(f"{words} stages=2")
    assert not chosen.residual_stages(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"out_dtype": FP32}, "BM=64 BN=64 stages=3 grid_blocks=1 whole_tiles=1"),
        ({"transpose_b": True}, "BM=64 BN=72 stages=2 grid_blocks=2 whole_tiles=1"),
        ({"transpose_a": True, "out_dtype": FP32}, "BM=128 BN=96 stages=2 grid_blocks=1 whole_tiles=1 wait_depth=1"),
        ({"batch": 2, "bias": Bias.ROW, "out_dtype": FP32}, "BM=64 BN=96 stages=2 consumers=3"),
        ({"gate": Gate.HALVES}, "BM=64 BN=128 stages=2 cluster_n=2 grid_blocks=2 whole_tiles=1"),
    ],
)
def test_it_comes_by_a_ring_to_consumers_that_take_turns(fields: dict[str, Any], words: str) -> None:
    problem = GemmProblem(200, 288, 136, residual=True, **fields)
    chosen = wgmma(f"{words} tensor_store=1 pingpong=1")
    assert chosen.residual_ring(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


@pytest.mark.parametrize(
    "words", ["BM=128 BN=256 stages=4", "BM=128 BN=128 stages=5 pingpong=1", "BM=128 BN=192 stages=4 pingpong=1"]
)
def test_nothing_spills(words: str) -> None:
    problem = GemmProblem(4096, 14336, 256, True, out_dtype=FP32, residual=True)
    chosen = wgmma(f"{words} tensor_store=1 wait_depth=1 grid_blocks=132 whole_tiles=1")
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert resources.registers == chosen.footprint(problem).registers
