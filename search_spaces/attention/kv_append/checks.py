"""kv_append: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.schedule import KvAppendSchedule
from autotune.search_spaces.attention.small import apart


def checks(problem: KvAppendProblem, schedule: KvAppendSchedule) -> list[tuple[KvAppendProblem, KvAppendSchedule]]:
    """A few tokens into pages without gaps; and into pages of an odd number of slots, with gaps between all heads."""
    strides: dict[str, Any] = {field: 0 for stated in problem.layouts.values() for field in stated.fields}
    whole = replace(problem, tokens=6, heads=2, pages=3, page=4, **strides)
    odd = replace(problem, tokens=7, heads=3, pages=4, page=3, **strides)
    return [(whole, schedule), (apart(odd, schedule.vector_width * problem.dtype.bytes, 1), schedule)]
