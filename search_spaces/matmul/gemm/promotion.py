"""gemm: when sums of float8 go from tensor cores to FP32."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import EXACT_FLOAT8_TERMS, FLOAT8, SCALE_BLOCK
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule


def promoted(problem: GemmProblem, schedule: GemmSchedule) -> int:
    """What may be asked for of `promote`: sums of other types than float8 are exact enough."""
    if problem.dtype not in FLOAT8:
        return 0
    return schedule.promote if problem.fast_accumulation else EXACT_FLOAT8_TERMS


def sum_violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    """Sums in tensor cores that are not as exact as the problem asks for, or that end within a tile."""
    promote = schedule.promote
    if problem.dtype not in FLOAT8:
        if promote:
            yield f"promote {promote} is for float8, not for {problem.dtype}: expected 0"
    elif not problem.fast_accumulation and not 0 < promote <= EXACT_FLOAT8_TERMS:
        yield (
            f"promote {promote} leaves more than {EXACT_FLOAT8_TERMS} terms to tensor cores, which keep about 14 bits: "
            f"expected {EXACT_FLOAT8_TERMS} at most without fast_accumulation"
        )
    elif problem.scales is Scales.BLOCK and SCALE_BLOCK % promote:
        yield f"promote {promote} does not divide the {SCALE_BLOCK} terms of a scale"
    if promote % schedule.block_k:
        yield f"promote {promote} is not a multiple of block_k {schedule.block_k}"
