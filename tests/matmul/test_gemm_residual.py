"""Kernels of gemm by wgmma whose C comes by tensor copies; tests/contract runs drawn ones."""

from __future__ import annotations

from typing import Any

import pytest
from matmul.gemm_cases import FP32, SPEC
from planted import check_caught

from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.compiler import compile_kernel
from autotune.emulator import verify
from autotune.search_spaces.matmul.gemm import OPERATOR


def schedule(words: str) -> WgmmaSchedule:
    return WgmmaSchedule.parse(f"BK=64 vector_d=2 {words}".split())


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
    chosen = schedule(f"{words} tensor_store=1")
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
    chosen = schedule(f"{words} stages=2")
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
    chosen = schedule(f"{words} tensor_store=1 pingpong=1")
    assert chosen.residual_ring(problem)
    verify(problem, OPERATOR.program(problem, chosen, SPEC))


@pytest.mark.parametrize(
    "words", ["BM=128 BN=256 stages=4", "BM=128 BN=128 stages=5 pingpong=1", "BM=128 BN=192 stages=4 pingpong=1"]
)
def test_nothing_spills(words: str) -> None:
    problem = GemmProblem(4096, 14336, 256, True, out_dtype=FP32, residual=True)
    chosen = schedule(f"{words} tensor_store=1 wait_depth=1 grid_blocks=132 whole_tiles=1")
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert resources.registers == chosen.footprint(problem).registers


# Bugs planted in the source: what is replaced, by what, and a problem and a schedule that show it.
SUM = GemmProblem(64, 192, 64, transpose_b=True, out_dtype=FP32, residual=True)
TWO_STEPS = "BM=64 BN=192 consumers=1 stages=2"
TURNS = (
    GemmProblem(320, 192, 64, transpose_b=True, out_dtype=FP32, residual=True),
    "BM=64 BN=192 stages=2 pingpong=1 grid_blocks=1 whole_tiles=1",
)
THREE_STEPS = (
    GemmProblem(64, 512, 192, transpose_b=True, out_dtype=FP32, residual=True),
    "BM=64 BN=256 consumers=1 stages=3 grid_blocks=1 whole_tiles=1",
)
BUGS: dict[str, tuple[str, str, GemmProblem, str]] = {
    "no wait for it": (
        "    stages.full[turn.stage()].wait(turn.parity());\n#pragma unroll\n    for (int i = 0; i < boxes_of(step)",
        "#pragma unroll\n    for (int i = 0; i < boxes_of(step)",
        SUM,
        TWO_STEPS,
    ),
    "no wait for the stage that it takes": (
        "    stages.empty[turn.stage()].wait(turn.parity() ^ 1);\n    full",
        "    full",
        SUM,
        TWO_STEPS,
    ),
    "bytes of whole stages": ("boxes * (product_rows * store_row_bytes)", "store_bytes", SUM, TWO_STEPS),
    "the boxes of another step": ("step * stage_boxes + i % boxes", "i % boxes", SUM, TWO_STEPS),
    "no barrier before it is stored": (
        "      named_barrier(1 + own.number, warpgroup_threads);\n      if (threadIdx",
        "      if (threadIdx",
        SUM,
        TWO_STEPS,
    ),
    "the last stage released while it is stored": ("release_stored<0>", "release_stored<4>", SUM, TWO_STEPS),
    "a stage released while it is stored": ("release_stored<1>", "release_stored<4>", *THREE_STEPS),
    "no wait for a box of the ring": ("    stages.ring_full[turn.box()].wait(turn.parity());\n", "", *TURNS),
    "a box that is filled while it is stored": (
        "    stages.ring_empty[turn.box()].wait(turn.parity() ^ 1);\n",
        "",
        *TURNS,
    ),
    "the bytes of two boxes": ("expect(product_rows * store_row_bytes)", "expect(2 * store_bytes)", *TURNS),
    "the boxes of the other's": ("ring.skip(consumer_boxes);", "", *TURNS),
    "the parity of skipped boxes": ("parity_ ^= box /", "parity_ = box /", *TURNS),
    "the turn of boxes is kept": ("ring_next[next].arrive()", "ring_next[own.number].arrive()", *TURNS),
    "the parity of turns": ("ring, parity ^ 1, next", "ring, parity, next", *TURNS),
    "a box released before it has been read": ("        store_wait_read<1>();\n", "", *TURNS),
    "the last box released before it has been read": (
        "ring_next[next].arrive();\n        store_wait_read<0>();\n",
        "ring_next[next].arrive();\n",
        *TURNS,
    ),
    "columns of other rows": (
        "apart * (odd ? 1 - i : i)) + SumRows::column());",
        "apart * i) + SumRows::column());",
        SUM,
        TWO_STEPS,
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_detected(bug: str) -> None:
    before, after, problem, words = BUGS[bug]
    right = OPERATOR.program(problem, schedule(f"{words} tensor_store=1"), SPEC)
    check_caught(problem, right, before, after)
