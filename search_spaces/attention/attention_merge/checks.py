"""attention_merge: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.attention.attention_merge.problem import AttentionMergeProblem
from autotune.codegen.attention.attention_merge.schedule import AttentionMergeSchedule
from autotune.search_spaces.attention.small import apart


def checks(
    problem: AttentionMergeProblem, schedule: AttentionMergeSchedule
) -> list[tuple[AttentionMergeProblem, AttentionMergeSchedule]]:
    """A few rows without gaps; and an odd number in a batch, with gaps between all heads."""
    strides: dict[str, Any] = {field: 0 for stated in problem.layouts.values() for field in stated.fields}
    whole = replace(problem, batch=1, queries=8, heads=2, **strides)
    odd = replace(problem, batch=2, queries=5, heads=3, **strides)
    return [(whole, schedule), (apart(odd, schedule.vector_width * problem.dtype.bytes, 1), schedule)]
