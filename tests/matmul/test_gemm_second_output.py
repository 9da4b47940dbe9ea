"""Kernels of gemm by wgmma whose second output goes by tensor copies; tests/contract runs drawn ones."""

from __future__ import annotations

from typing import Any

import pytest
from matmul.gemm_cases import LIMITS, TF32
from planted import check_caught

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR

BOTH: dict[str, Any] = {"transpose_b": True, "activation": Activation.GELU_TANH, "preactivation": True}


def schedule(words: str) -> WgmmaSchedule:
    block_k = "" if "BK=" in words else "BK=64 "
    return WgmmaSchedule.parse(f"{block_k}vector_d=2 tensor_store=1 {words}".split())


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
    problem, chosen = GemmProblem(200, 144, 136, **BOTH, **fields), schedule(words)
    assert chosen.kept_boxes(problem)
    verify(problem, OPERATOR.program(problem, chosen, LIMITS))


@pytest.mark.parametrize(
    ("fields", "words"), [({"residual": True}, "BM=64 BN=64 stages=2"), ({}, "BM=64 BN=88 stages=2")]
)
def test_threads_store_it_otherwise(fields: dict[str, Any], words: str) -> None:
    """Where C comes by stages, and where a buffer has several boxes."""
    problem, chosen = GemmProblem(72, 200, 72, **BOTH, **fields), schedule(f"{words} consumers=1")
    assert not chosen.kept_boxes(problem)
    verify(problem, OPERATOR.program(problem, chosen, LIMITS))


# Bugs planted in the source: what is replaced, and by what.
BUGS = {
    "D in both": ("rows.of_z = output == 0;", "rows.of_z = false;"),
    "both in D": ("rows.of_z ? arguments.map_z : arguments.map_d", "arguments.map_d"),
    "each in the other": ("rows.of_z ? arguments.map_z", "!rows.of_z ? arguments.map_z"),
    "a buffer is filled while it is stored": ("read<store_buffers - 1>", "read<store_buffers>"),
    "one buffer for both": ("buffers + output * store_bytes", "buffers"),
    "no proxy fence": ("      proxy_fence();\n", ""),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_detected(bug: str) -> None:
    problem = GemmProblem(64, 128, 64, **BOTH)
    right = OPERATOR.program(problem, schedule("BM=64 BN=128 consumers=1 stages=2"), LIMITS)
    check_caught(problem, right, *BUGS[bug])
