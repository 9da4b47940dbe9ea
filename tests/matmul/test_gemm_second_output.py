"""Kernels of gemm by wgmma whose second output goes by tensor copies; tests/contract runs drawn ones."""

from dataclasses import replace
from typing import Any

import pytest
from contract.wide_layouts import untouched
from matmul.gemm_cases import SPEC, TF32, wgmma

from autotune import emulator
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR

BOTH: dict[str, Any] = {"transpose_b": True, "activation": Activation.GELU_TANH, "preactivation": True}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"bias": Bias.ROW}, "BM=128 BN=64 stages=2 grid_blocks=2 whole_tiles=1"),
        ({"batch": 2}, "BM=64 BN=144 stages=2 consumers=1 cluster_m=2"),
        ({"bias": Bias.COLUMN, "ldd": 152}, "BM=64 BN=64 stages=3 pingpong=1 grid_blocks=1 whole_tiles=1"),
        ({"residual": True}, "BM=64 BN=128 stages=3 consumers=1 cluster_k=2"),
        ({"dtype": TF32}, "BM=64 BN=64 BK=32 stages=3 consumers=1"),
    ],
)
def test_it_is_stored_in_boxes(fields: dict[str, Any], words: str) -> None:
    problem, chosen = GemmProblem(200, 144, 136, **BOTH, **fields), wgmma(f"tensor_store=1 {words}")
    assert chosen.kept_boxes(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


@pytest.mark.parametrize(
    ("fields", "words"), [({"residual": True}, "BM=64 BN=64 stages=2"), ({}, "BM=64 BN=88 stages=2")]
)
def test_threads_store_it_otherwise(fields: dict[str, Any], words: str) -> None:
    """Where C comes by stages, and where a buffer has several boxes."""
    problem, chosen = GemmProblem(72, 200, 72, **BOTH, **fields), wgmma(f"tensor_store=1 {words} consumers=1")
    assert not chosen.kept_boxes(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


def test_a_row_that_begins_beyond_32_bits() -> None:
    """The last tile of a dense output of 2^31 elements: one row, which is all that exists of it here."""
    problem = GemmProblem(2**16 + 1, 2**15, 64, **BOTH)
    program = OPERATOR.program(
        problem, replace(wgmma("tensor_store=1 BM=64 BN=64 consumers=1 stages=2"), tensor_store=False), SPEC
    )
    tile = problem.m // 64 * (problem.n // 64)
    first = "locate(blockIdx.x / cluster_blocks, tiling)"
    assert first in program.source
    program = replace(
        program,
        source=program.source.replace(first, f"locate({tile}, tiling)"),
        steps=(replace(program.launch, grid=(1, 1, 1)),),
    )
    far = (2, problem.n), ((problem.m - 1) * problem.n, 1)
    tensors = [
        replace(tensor, shape=far[0], strides=far[1]) if tensor.name in ("d", "z") else tensor
        for tensor in problem.tensors
    ]
    arrays = {tensor.name: untouched(tensor) for tensor in tensors}
    arrays["a"][-problem.k :], arrays["b"][:] = 2, 1
    emulator.run(program, tensors, arrays, {"alpha": 1.0, "beta": 0.0})
    assert (arrays["z"][-problem.n :] == 128).sum() == 64
